#include "batch/outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "batch/gain_maps.h"
#include "batch/manifest.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

bool is_writable(const std::string& extension) { return is_extension_of(&FormatInfo::writes, extension); }

std::string known_extensions() {
  std::string text;
  for (const std::string& extension : extensions_of(&FormatInfo::writes))
    text += (text.empty() ? "" : " ") + extension;
  return text;
}

void check_format(const std::string& format) {
  if (format.empty() || is_writable(format)) return;
  throw Error(ErrorKind::usage, "'" + format + "' is not a format that can be written." +
                                    did_you_mean(format, extensions_of(&FormatInfo::writes)) +
                                    "\nThere are " + known_extensions() + ".");
}

bool ends_with_separator(const fs::path& path) { return !path.empty() && !path.has_filename(); }

/// Quality of JPEG that replaces other formats. Above it, files grow faster than pictures improve.
constexpr int stand_in_quality = 92;

std::string default_extension(const fs::path& input, StandIn stand_in, const BatchOptions& options,
                              OutputKind kind) {
  if (!options.format.empty()) return options.format;
  if (kind == OutputKind::json) return ".json";
  if (const std::string own = input.extension().string(); writes_rows(options))
    return is_tiff(own) ? own : ".tif";
  if (kind == OutputKind::table) return ".npy";
  if (stand_in == StandIn::none) return input.extension().string();
  return stand_in == StandIn::jpeg ? ".jpg" : ".png";
}

/// Whether outputs take the extensions of their inputs.
bool takes_extensions(const Batch& work) {
  const BatchOptions& options = work.options;
  if (options.in_place || !options.format.empty() || output_kind(work.pipeline) != OutputKind::image)
    return false;
  if (writes_rows(options)) return false;
  if (!work.folder_output) return is_stream(options.output);
  return !NamePattern::is_one(options.output) || options.output.native().find("{ext}") != std::string::npos;
}

/// Returns the number in the series as text: "07" for 7 in a series of 10 to 99.
std::string index_text(const Batch& work, std::size_t index) {
  const std::string text = std::to_string(index % work.series() + 1);
  return std::string(std::to_string(work.series()).size() - text.size(), '0') + text;
}

fs::path name_of(const Batch& work, std::size_t index) {
  const BatchOptions& options = work.options;
  const std::size_t file = index / work.series();
  if (options.in_place) return work.files.path(file);
  if (!work.folder_output) return options.output;
  const fs::path input = work.files.path(file);
  const fs::path relative = work.files.relative(file);
  const fs::path extension =
      default_extension(input, work.files.stand_in(file), options, output_kind(work.pipeline));
  if (NamePattern::is_one(options.output)) {
    NameFields fields = name_fields(input, relative, extension);
    if (!options.series.empty()) fields["index"] = index_text(work, index);
    if (const auto sizes = work.output_sizes.find(input); sizes != work.output_sizes.end()) {
      const Shape& size = sizes->second[index % work.series()];
      fields["width"] = size.width == 0 ? "unknown" : std::to_string(size.width);
      fields["height"] = size.width == 0 ? "unknown" : std::to_string(size.height);
    }
    return output_pattern(options).fill(fields);
  }
  return (options.output / relative).replace_extension(extension);
}

void refuse_file_for_many(const BatchOptions& options) {
  const bool looks_like_file = !ends_with_separator(options.output) && options.output.has_extension() &&
                               is_writable(options.output.extension().string());
  std::error_code ignored;
  if (!looks_like_file || fs::is_directory(options.output, ignored)) return;
  throw Error(ErrorKind::usage,
              "Several inputs go into a folder, but " + quoted(options.output) +
                  " looks like a file.\nName a folder; end its name with '/' if that is one.");
}

/// Returns the names of the metadata blocks of a file, without the profile.
std::string blocks_of(const Metadata& metadata) {
  std::string names;
  for (const auto& [name, is_empty] :
       {std::pair("EXIF", metadata.exif.empty()), std::pair("XMP", metadata.xmp.empty()),
        std::pair("IPTC", metadata.iptc.empty()), std::pair("JPEG comments", metadata.jpeg_comments.empty()),
        std::pair("PNG text", metadata.png_texts.empty())})
    if (!is_empty) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

std::optional<fs::file_time_type> time_of(const fs::path& input) {
  std::error_code error;
  if (!fs::is_regular_file(input, error)) return std::nullopt;
  const fs::file_time_type time = fs::last_write_time(input, error);
  return error ? std::nullopt : std::optional(time);
}

/// Identity of a file behind any links.
using Identity = std::pair<dev_t, ino_t>;

struct Status {
  Identity identity;
  bool regular = false;
  bool folder = false;
};

std::optional<Status> status_of(const fs::path& path) {
  struct stat status {};
  if (is_stream(path) || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Status{{status.st_dev, status.st_ino}, S_ISREG(status.st_mode), S_ISDIR(status.st_mode)};
}

/// Resolves the links in names of outputs, as far as they exist. Caches the last folder.
class RealNames {
 public:
  std::string of(const fs::path& output) {
    std::error_code ignored;
    if (fs::is_symlink(output, ignored)) return fs::weakly_canonical(output, ignored).native();
    const fs::path folder = output.parent_path();
    if (!known_ || folder != folder_) {
      known_ = true;
      folder_ = folder;
      real_ = fs::weakly_canonical(folder.empty() ? "." : folder, ignored);
    }
    return (real_ / output.filename()).native();
  }

 private:
  bool known_ = false;
  fs::path folder_;
  fs::path real_;
};

[[noreturn]] void refuse_collision(const BatchFile& first, const BatchFile& second) {
  throw Error(ErrorKind::usage, quoted(first.input) + " and " + quoted(second.input) +
                                    " would both be written to " + quoted(second.output) +
                                    ".\nRename one of them, or run them separately.");
}

/// A file that is read, with the index of the input, or one past the last for a side input.
struct Owner {
  Identity identity;
  std::size_t file;
};

/// Returns every file that is read and stays as it is, sorted by identity.
std::vector<Owner> identities_of_inputs(const Batch& work) {
  std::vector<Owner> inputs;
  const auto add = [&](const fs::path& path, std::size_t file) {
    if (const auto status = status_of(path)) inputs.push_back({status->identity, file});
  };
  for (std::size_t i = 0; i < work.files.size(); ++i) {
    if (!work.options.in_place) add(work.files.path(i), i);
    for (const PipelineStep& step : work.pipeline)
      for (const SideInput& side : step.side_inputs)
        if (is_side_pattern(side) || i == 0) add(work.side_path(side, i * work.series()), work.files.size());
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const Owner& a, const Owner& b) { return a.identity < b.identity; });
  return inputs;
}

void refuse_input(const Batch& work, const std::vector<Owner>& inputs, const fs::path& output,
                  const Identity& identity) {
  const auto found =
      std::lower_bound(inputs.begin(), inputs.end(), identity,
                       [](const Owner& owner, const Identity& wanted) { return owner.identity < wanted; });
  if (found == inputs.end() || found->identity != identity) return;
  const std::string name =
      found->file < work.files.size() ? "the input " + quoted(work.files.path(found->file)) : "a side input";
  throw Error(ErrorKind::usage, "The output " + quoted(output) + " is the same file as " + name +
                                    ".\nName another output. --in-place replaces the inputs.");
}

bool may_exist(const Batch& work, const fs::path& output) {
  const BatchOptions& options = work.options;
  return options.in_place || options.overwrite || options.skip_existing ||
         (work.manifest && work.manifest->knows(output));
}

/// Returns the folders of files that exist or are made.
std::set<fs::path> check_existing(const Batch& work) {
  std::set<fs::path> folders;
  std::optional<std::vector<Owner>> inputs;
  std::size_t existing = 0;
  fs::path first;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const fs::path output = work.file(i).output;
    const auto status = status_of(output);
    if (!is_stream(output) && (!status || status->regular)) folders.insert(folder_of(output));
    if (!status) continue;
    if (status->folder)
      throw Error(ErrorKind::usage, "The output " + quoted(output) + " is a folder. Name a file.");
    if (!status->regular) {
      check_target(output, true);
      continue;
    }
    if (!inputs) inputs = identities_of_inputs(work);
    refuse_input(work, *inputs, output, status->identity);
    if (!may_exist(work, output) && existing++ == 0) first = output;
  }
  if (existing == 0) return folders;
  const bool one = existing == 1;
  const std::string others = one ? " exists" : " and " + std::to_string(existing - 1) + " more exist";
  const std::string them = one ? "it" : "them";
  const std::string left = " leaves " + them + ", --overwrite replaces " + them + ".";
  throw Error(ErrorKind::usage, "The output " + quoted(first) + others + " already" +
                                    (work.manifest ? ", and the manifest of --resume does not know " + them +
                                                         ".\n--skip-existing in place of --resume" + left
                                                   : ". --skip-existing" + left));
}

/// Checks a file that is written beside the outputs; `what` is its name in messages.
void check_by_product(const Batch& work, const std::string& what, const fs::path& path) {
  if (path.empty()) return;
  RealNames names;
  const std::string real = names.of(path);
  for (std::size_t i = 0; i < work.size(); ++i)
    if (names.of(work.file(i).output) == real)
      throw Error(ErrorKind::usage,
                  "The " + what + " " + quoted(path) + " is an output as well. Name another file.");
  if (const auto status = status_of(path))
    refuse_input(work, identities_of_inputs(work), path, status->identity);
}

void check_gallery(const Batch& work) {
  const fs::path& page = work.options.gallery;
  if (page.empty()) return;
  if (is_stream(page))
    throw Error(ErrorKind::usage,
                "The gallery has pictures beside it. Name a file for it, such as page.html.");
  check_by_product(work, "gallery", page);
  if (!work.options.report.empty() && RealNames().of(page) == RealNames().of(work.options.report))
    throw Error(ErrorKind::usage,
                "The gallery " + quoted(page) + " is the report as well. Name another file.");
  const bool may_replace = work.options.overwrite || work.options.resume;
  check_target(page, may_replace);
  const fs::path folder = folder_of_gallery(page);
  const auto status = status_of(folder);
  if (status && !status->folder)
    throw Error(ErrorKind::usage,
                quoted(folder) + " is a file, but the gallery needs a folder of that name.");
  if (status && !may_replace)
    throw Error(ErrorKind::usage, "The folder " + quoted(folder) +
                                      " of the gallery exists already. --overwrite puts pictures into it.");
}

void check_folder_of_single(const fs::path& folder) {
  std::error_code ignored;
  const fs::file_status status = fs::status(folder, ignored);
  if (!fs::exists(status))
    throw Error(ErrorKind::usage, "The folder " + quoted(folder) + " does not exist. Create it first.");
  if (!fs::is_directory(status))
    throw Error(ErrorKind::usage, quoted(folder) + " is not a folder. Name another output.");
}

fs::path nearest_existing(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(fs::status(folder, ignored))) folder = folder_of(folder.lexically_normal());
  return folder;
}

void check_permission(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error(ErrorKind::usage, quoted(folder) + " is a file, not a folder. Name another output.");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(ErrorKind::input,
                "The folder " + quoted(folder) + " cannot be written: " + std::strerror(errno) + ".");
}

}  // namespace

bool output_is_folder(const InputList& inputs, const BatchOptions& options) {
  std::error_code ignored;
  return options.in_place || inputs.many || ends_with_separator(options.output) ||
         NamePattern::is_one(options.output) || fs::is_directory(options.output, ignored);
}

void check_extension(const fs::path& output) {
  const std::string extension = output.extension().string();
  if (is_writable(extension)) return;
  std::string reason = "has no extension that names a format";
  if (!extension.empty())
    reason = "has the extension '" + extension + "', which " +
             (is_picture(output) ? "Satin reads but does not write" : "cannot be written");
  throw Error(ErrorKind::usage, "The output " + quoted(output) + " " + reason + ".\nUse --format or one of " +
                                    known_extensions() + ".");
}

void check_output_name(const InputList& inputs, const Pipeline& pipeline, const BatchOptions& options) {
  if (options.in_place) return;
  const OutputKind kind = output_kind(pipeline);
  if (options.output.empty())
    throw Error(ErrorKind::usage, "There is no output. Name it with -o FILE, -o FOLDER/ or -o -.");
  check_format(options.format);
  const bool counts = !options.series.empty();
  if (counts && !output_pattern(options).has("index") && !changes_size(options.series.front()))
    static_cast<void>(NamePattern(options.output, counts));  // throws: all pictures have one size
  const bool names_files = !output_is_folder(inputs, options) || NamePattern::is_one(options.output);
  if (kind == OutputKind::json && names_files && is_misleading_for_json(options.output))
    throw Error(ErrorKind::usage, "The output " + quoted(options.output) + " of " +
                                      pipeline.back().parameters.filter().name + " is JSON, not " +
                                      options.output.extension().string().substr(1) +
                                      ".\nName a .json file.");
  if (!output_is_folder(inputs, options)) {
    if (!is_stream(options.output) && options.format.empty() && kind != OutputKind::json)
      check_extension(options.output);
    return;
  }
  if (is_stream(options.output))
    throw Error(ErrorKind::usage,
                "Standard output can hold one picture, not several. Name a folder with -o.");
  if (is_stream(inputs.files.path(0)))
    throw Error(ErrorKind::usage, "A picture from standard input has no name. Name the output file with -o.");
  if (NamePattern::is_one(options.output)) return static_cast<void>(output_pattern(options));
  if (inputs.many) refuse_file_for_many(options);
}

NameFields name_fields(const fs::path& input, const fs::path& relative, const fs::path& extension) {
  std::string ext = extension.native();
  if (!ext.empty()) ext.erase(0, 1);
  return {{"dir", folder_of(input).native()},
          {"sub", folder_of(relative).native()},
          {"name", input.filename().native()},
          {"stem", input.stem().native()},
          {"ext", ext}};
}

void choose_stand_ins(Batch& work) {
  if (!takes_extensions(work)) return;
  for (std::size_t i = 0; i < work.files.size(); ++i) {
    const fs::path input = work.files.path(i);
    if (is_picture(input) && !is_writable(input.extension().string()))
      work.files.set_stand_in(i, fits_jpeg(input) ? StandIn::jpeg : StandIn::png);
  }
}

NamePattern output_pattern(const BatchOptions& options) {
  return NamePattern(options.output, !options.series.empty(), true);
}

void find_sizes(Batch& work) {
  work.output_sizes.clear();
  if (!NamePattern::is_one(work.options.output) || !output_pattern(work.options).has_size()) return;
  for (std::size_t i = 0; i < work.files.size(); ++i) {
    const fs::path input = work.files.path(i);
    std::vector<Shape>& sizes = work.output_sizes[input];
    sizes.assign(work.series(), Shape{});
    try {
      const Shape picture = read_shape(input, work.options.read);
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        const Framing framing = framing_of(work.steps(i * work.series() + k), picture.width, picture.height);
        sizes[k].width = static_cast<std::int64_t>(framing.result_width);
        sizes[k].height = static_cast<std::int64_t>(framing.result_height);
      }
    } catch (const Error&) {
      // reading or filtering the picture reports the reason
    }
  }
}

void create_folder_of(const fs::path& file) {
  if (!file.has_parent_path()) return;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (!error) return;
  const bool full = error == std::errc::no_space_on_device;
  throw Error(full ? ErrorKind::environment : ErrorKind::input,
              "The folder " + quoted(file.parent_path()) + " cannot be created: " + error.message() + ".");
}

std::string output_format(const BatchFile& file, const BatchOptions& options, OutputKind kind,
                          const std::string& of_input) {
  if (!options.format.empty() || !is_stream(file.output)) return options.format;
  const fs::path named = is_stream(file.input) ? fs::path("-" + of_input) : file.input;
  std::string extension = default_extension(named, file.stand_in, options, kind);
  if (is_writable(extension) || kind == OutputKind::json) return extension;
  throw Error(ErrorKind::usage,
              "The format for standard output is not known. Name it with --format, such as png.");
}

WriteOptions write_options(const BatchFile& file, const Picture& source, const BatchOptions& options,
                           OutputKind kind) {
  WriteOptions result;
  result.format = output_format(file, options, kind, source.format);
  result.quality = options.quality;
  if (!result.quality && file.stand_in == StandIn::jpeg && !source.metadata.jpeg)
    result.quality = stand_in_quality;
  result.convert = kind == OutputKind::image;
  result.dither = options.dither;
  result.modified = time_of(file.input);
  result.metadata = source.metadata;
  result.channels = source.channels;
  if (options.strip || kind == OutputKind::table) {
    Metadata coding;
    coding.jpeg = source.metadata.jpeg;
    coding.half_floats = source.metadata.half_floats;
    coding.exr = source.metadata.exr;
    result.metadata = std::move(coding);
    result.channels = {};
  }
  return result;
}

void drop_revealing_data(Picture& source, const BatchOptions& options) {
  if (options.strip) return;
  if (!source.channels.empty())
    throw Error(ErrorKind::input, "beside its colours the file has the channel " +
                                      source.channels.front().name +
                                      (source.channels.size() > 1 ? " and others" : "") +
                                      ", which would stay as it is. Leave such channels out with --strip.");
  if (!options.keep_metadata) {
    source.metadata = redacted(source.metadata);
  } else if (const std::string blocks = blocks_of(source.metadata); !blocks.empty()) {
    source.warnings.push_back(blocks + " of the file stay, and may show what was covered.");
  }
}

namespace {

/// Returns the pixels of a channel that a result shows. Nothing if they would have to be computed.
std::optional<Image> cut(const Image& plane, const Framing& framing) {
  if (framing.result_width != framing.box_width || framing.result_height != framing.box_height) return {};
  ImageView box = plane.view();
  box.data = box.at(static_cast<std::int64_t>(framing.x), static_cast<std::int64_t>(framing.y));
  box.shape.width = static_cast<std::int64_t>(framing.box_width);
  box.shape.height = static_cast<std::int64_t>(framing.box_height);
  return copy_of(box);
}

}  // namespace

Picture framed(const Picture& source, const Framing& framing, const BatchOptions& options) {
  Picture result;
  result.metadata = source.metadata;
  result.format = source.format;
  result.warnings = source.warnings;
  std::vector<std::string> dropped = frame(result.metadata, framing);
  for (const NamedChannel& channel : source.channels)
    if (std::optional<Image> plane = cut(channel.plane, framing))
      result.channels.push_back({channel.name, std::move(*plane)});
    else
      dropped.push_back("channel " + channel.name);
  if (source.gain_map) result.gain_map = framed(*source.gain_map, framing);
  for (const std::string& name : source.left_out) {
    const bool is_kept = options.keep_depth && (name == "depth" || name == "original");
    const bool is_unwanted = options.gain_map == GainMapUse::drop && name == "gain map";
    if (!is_kept && !is_unwanted) dropped.push_back(name);
  }
  std::string list;
  for (const std::string& name : dropped) list += (list.empty() ? "" : ", ") + name;
  if (!list.empty() && !options.strip)
    result.warnings.push_back(
        "the size changed, and data that describe the whole picture were left out: " + list + ".");
  return result;
}

std::vector<std::string> file_warnings(const BatchFile& file, const Picture& source, const Shape& output,
                                       const WriteOptions& options) {
  std::vector<std::string> warnings = source.warnings;
  const std::string extension = options.format.empty() ? file.output.extension().string() : options.format;
  for (const std::string& text :
       {options.convert ? what_is_converted(extension, output) : std::string(),
        what_is_lost(extension, options.metadata, options.channels, options.gain_map != nullptr)})
    if (!text.empty()) warnings.push_back(text);
  return warnings;
}

void check_distinct(const Batch& work) {
  RealNames names;
  std::vector<std::pair<std::uint64_t, std::size_t>> outputs;
  outputs.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const BatchFile file = work.file(i);
    // An input that is not a picture by its name fails alone, and the others are processed.
    if (work.folder_output && work.options.format.empty() && is_picture(file.input) &&
        output_kind(work.pipeline) != OutputKind::json)
      check_extension(file.output);
    if (!is_stream(file.output)) outputs.emplace_back(Hash().add(names.of(file.output)).value(), i);
  }
  std::sort(outputs.begin(), outputs.end());
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    for (std::size_t k = i; k > 0 && outputs[k - 1].first == outputs[i].first; --k) {
      const BatchFile first = work.file(outputs[k - 1].second);
      const BatchFile second = work.file(outputs[i].second);
      const bool same_input = outputs[k - 1].second / work.series() == outputs[i].second / work.series();
      if (!same_input && names.of(first.output) == names.of(second.output)) refuse_collision(first, second);
    }
  }
}

void check_outputs(const Batch& work) {
  const std::set<fs::path> folders = check_existing(work);
  check_by_product(work, "report", work.options.report);
  check_gallery(work);
  for (const fs::path& path : folders) {
    if (!work.folder_output) check_folder_of_single(path);
    check_permission(nearest_existing(path));
  }
}

}  // namespace satin::batch

namespace satin {

std::filesystem::path folder_of_gallery(const std::filesystem::path& page) {
  return page.parent_path() / (page.stem() += "_files");
}

BatchFile Batch::file(std::size_t index) const {
  const std::size_t file = index / series();
  return {files.path(file), batch::name_of(*this, index), std::nullopt, files.stand_in(file)};
}

std::string Batch::notice() const {
  std::string text;
  for (const std::string& warning : side_warnings) text += (text.empty() ? "" : "\n") + warning;
  std::size_t jpeg = 0, png = 0;
  std::string extension;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const StandIn kind = files.stand_in(i);
    if (kind == StandIn::none) continue;
    if (extension.empty()) extension = files.path(i).extension().string();
    ++(kind == StandIn::jpeg ? jpeg : png);
  }
  if (extension.empty()) return text;
  const std::string quality = std::to_string(options.quality.value_or(batch::stand_in_quality));
  text += (text.empty() ? "'" : "\n'") + extension + "' is read but not written: ";
  if (jpeg != 0) text += std::to_string(jpeg) + " as .jpg (quality " + quality + ")" + (png != 0 ? ", " : "");
  if (png != 0) text += std::to_string(png) + " as .png";
  return text + ". --format names another format.";
}

}  // namespace satin
