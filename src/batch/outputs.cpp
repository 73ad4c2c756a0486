#include "batch/outputs.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "batch/quoted.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& writable_extensions() {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> extensions;
    for (const FormatInfo& format : formats())
      if (format.writes)
        extensions.insert(extensions.end(), format.extensions.begin(), format.extensions.end());
    return extensions;
  }();
  return known;
}

bool is_writable_extension(std::string extension) {
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string>& known = writable_extensions();
  return std::find(known.begin(), known.end(), extension) != known.end();
}

std::string known_extensions() {
  std::string text;
  for (const std::string& extension : writable_extensions()) text += (text.empty() ? "" : " ") + extension;
  return text;
}

void check_format(const std::string& format) {
  if (format.empty() || is_writable_extension(format)) return;
  throw Error(ErrorKind::usage, "'" + format + "' is not a format that can be written." +
                                    did_you_mean(format, writable_extensions()) + "\nThere are " +
                                    known_extensions() + ".");
}

bool ends_with_separator(const fs::path& path) { return !path.empty() && !path.has_filename(); }

std::string default_extension(const fs::path& input, const BatchOptions& options, OutputKind kind) {
  if (!options.format.empty()) return options.format;
  if (kind == OutputKind::json) return ".json";
  return kind == OutputKind::table ? ".npy" : input.extension().string();
}

fs::path name_of(const Batch& work, std::size_t index) {
  const BatchOptions& options = work.options;
  if (!work.folder_output) return options.output;
  const fs::path input = work.files.path(index);
  const fs::path relative = work.files.relative(index);
  const fs::path extension = default_extension(input, options, output_kind(work.pipeline));
  if (NamePattern::is_one(options.output))
    return NamePattern(options.output).fill(name_fields(input, relative, extension));
  return (options.output / relative).replace_extension(extension);
}

void refuse_file_for_many(const BatchOptions& options) {
  const bool looks_like_file = !ends_with_separator(options.output) && options.output.has_extension() &&
                               is_writable_extension(options.output.extension().string());
  std::error_code ignored;
  if (!looks_like_file || fs::is_directory(options.output, ignored)) return;
  throw Error(ErrorKind::usage,
              "Several inputs go into a folder, but " + quoted(options.output) +
                  " looks like a file.\nName a folder; end its name with '/' if that is one.");
}

}  // namespace

bool output_is_folder(const InputList& inputs, const BatchOptions& options) {
  std::error_code ignored;
  return inputs.many || ends_with_separator(options.output) || NamePattern::is_one(options.output) ||
         fs::is_directory(options.output, ignored);
}

void check_extension(const fs::path& output) {
  const std::string extension = output.extension().string();
  if (is_writable_extension(extension)) return;
  const std::string reason = extension.empty()
                                 ? "has no extension that names a format"
                                 : "has the extension '" + extension + "', which cannot be written";
  throw Error(ErrorKind::usage, "The output " + quoted(output) + " " + reason + ".\nUse --format or one of " +
                                    known_extensions() + ".");
}

void check_output_name(const InputList& inputs, const BatchOptions& options, OutputKind kind) {
  if (options.output.empty())
    throw Error(ErrorKind::usage, "There is no output. Name it with -o FILE, -o FOLDER/ or -o -.");
  check_format(options.format);
  if (!output_is_folder(inputs, options)) {
    if (!is_stream(options.output) && options.format.empty() && kind != OutputKind::json)
      check_extension(options.output);
    return;
  }
  if (is_stream(options.output))
    throw Error(ErrorKind::usage, "Standard output takes one picture, not several. Name a folder with -o.");
  if (is_stream(inputs.files.path(0)))
    throw Error(ErrorKind::usage, "A picture from standard input has no name. Name the output file with -o.");
  if (NamePattern::is_one(options.output)) return static_cast<void>(NamePattern(options.output));
  if (inputs.many) refuse_file_for_many(options);
}

NameFields name_fields(const fs::path& input, const fs::path& relative, const fs::path& extension) {
  const auto folder_of = [](const fs::path& path) {
    return path.has_parent_path() ? path.parent_path().native() : std::string(".");
  };
  std::string ext = extension.native();
  if (!ext.empty()) ext.erase(0, 1);
  return {folder_of(input), folder_of(relative), input.filename().native(), input.stem().native(), ext};
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

std::string output_format(const BatchFile& file, const BatchOptions& options, OutputKind kind) {
  if (!options.format.empty() || !is_stream(file.output)) return options.format;
  std::string extension = default_extension(file.input, options, kind);
  if (is_writable_extension(extension) || kind == OutputKind::json) return extension;
  throw Error(ErrorKind::usage,
              "The format for standard output is not known. Name it with --format, such as png.");
}

}  // namespace satin::batch

namespace satin {

std::filesystem::path folder_of_gallery(const std::filesystem::path& page) {
  return page.parent_path() / (page.stem() += "_files");
}

BatchFile Batch::file(std::size_t index) const {
  return {files.path(index), batch::name_of(*this, index), std::nullopt};
}

}  // namespace satin
