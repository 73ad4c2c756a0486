// The public functions of satin/io.h: they choose a codec for a file and for a picture, check options and
// limits, and put the name of the file before every message.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/codec.h"
#include "io/codec_steps.h"
#include "io/convert.h"
#include "io/file.h"
#include "io/file_pictures.h"
#include "metadata/colour_profile.h"
#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"
#include "metadata/png_chunks.h"
#include "metadata/xmp.h"
#include "satin/error.h"
#include "satin/file_info.h"
#include "satin/row_files.h"

namespace satin::io {
namespace {

/// Returns the names of pictures and data of a file that are not kept and belong to its whole picture.
std::vector<std::string> left_out(const Codec& codec, Bytes bytes, const Picture& picture) {
  const std::string_view xmp = text_of(picture.metadata.xmp);
  const auto names = [&](std::string_view space) { return xmp.find(space) != std::string_view::npos; };
  std::vector<std::string> found;
  const bool has_map = picture.gain_map || (codec.facts != nullptr && codec.facts(bytes).gain_map);
  if (has_map && !picture.gain_map) found.emplace_back("gain map");
  if (names("http://ns.google.com/photos/1.0/depthmap/") ||
      names("http://ns.google.com/photos/dd/1.0/depthmap/"))
    found.emplace_back("depth");
  if (names("http://ns.google.com/photos/1.0/image/")) found.emplace_back("original");
  const std::size_t known = has_map ? 2 : 1;
  if (codec.several.list != nullptr && sniff_jpeg(bytes, {}) && mpf_pictures(bytes).size() > known)
    found.emplace_back("pictures of the MPF index");
  return found;
}

/// Thrown in place of decoding when the stored size is known.
struct HeaderRead : Error {
  explicit HeaderRead(const Shape& stored) : Error(ErrorKind::cancelled, "header"), shape(stored) {}
  Shape shape;
};

/// Returns the orientation of a JPEG or PNG without decoding it; nothing for other formats and if it could be
/// in compressed text.
std::optional<int> orientation_in(Bytes bytes) {
  if (sniff_jpeg(bytes, {})) {
    std::vector<std::string> warnings;
    const Metadata metadata = jpeg_metadata(bytes, warnings);
    return stored_orientation(metadata.exif, metadata.xmp).value_or(1);
  }
  if (!sniff_png(bytes, {})) return std::nullopt;
  const PngChunks chunks = scan_png(bytes, false);
  const std::optional<int> orientation = exif_orientation(chunks.exif);
  return orientation || !chunks.xmp.empty() ? orientation : std::optional(1);
}

/// Throws Error(usage) if files of this format hold one picture only.
void check_holds_several(const Codec& codec) {
  if (codec.several.encode != nullptr) return;
  throw Error(
      ErrorKind::usage,
      std::string(codec.name) +
          " files hold one picture, and there are several. Use .tiff or .exr, or choose one with --page.");
}

Picture decode(const Codec& codec, Bytes bytes, const FilePicture& picture, const ReadOptions& options) {
  const auto read = [&] {
    if (codec.several.decode != nullptr && (codec.decode == nullptr || picture.at != 0))
      return codec.several.decode(bytes, picture, options);
    if (picture.at != 0) return codec.decode(bytes.subspan(picture.at), options);
    const bool photo = options.photo_depth && codec.decode_photo != nullptr;
    return photo ? codec.decode_photo(bytes, options) : codec.decode(bytes, options);
  };
  Picture result = read();
  warn_left_out(picture, result.warnings);
  result.format = codec.extensions.front();
  if (options.gain_map && picture.at == 0 && codec.read_gain_map != nullptr)
    add_gain_map(codec, bytes, options, result);
  result.left_out = left_out(codec, bytes, result);
  return result;
}

FileInfo file_info(const Codec& codec, Bytes bytes, const ReadOptions& options) {
  std::vector<FilePicture> pictures{FilePicture{}};
  if (codec.several.list != nullptr) pictures = codec.several.list(bytes, options);
  const bool chosen = options.page || !options.part.empty();
  FileInfo info;
  info.picture =
      decode(codec, bytes, chosen ? chosen_picture(codec, bytes, options) : pictures.front(), options);
  const Metadata& metadata = info.picture.metadata;
  if (info.picture.photo) complete_photo(*info.picture.photo, metadata, info.picture.image.shape());
  const FileFacts facts = codec.facts != nullptr ? codec.facts(bytes) : FileFacts{};
  info.format = codec.name;
  info.bytes = bytes.size();
  info.pages = pictures.size();
  for (const FilePicture& picture : pictures)
    if (!picture.name.empty()) info.parts.push_back(picture.name);
  info.orientation = facts.orientation.value_or(stored_orientation(metadata.exif, metadata.xmp).value_or(1));
  info.gain_map = facts.gain_map;
  if (!metadata.icc.empty()) info.profile = profile_name(metadata.icc);
  return info;
}

}  // namespace
}  // namespace satin::io

namespace satin {
namespace {

using io::Bytes;
using io::Codec;
using io::codec_for;
using io::name_of_input;
using io::named;

std::string name_of_output(const std::filesystem::path& path) {
  return io::is_standard_stream(path) ? "standard output" : printable(path.native());
}

/// Returns a sentence with the usual extensions of the formats that are written.
std::string usual_extensions() {
  std::vector<std::string> words;
  for (const Codec& codec : io::codecs())
    if (codec.writes()) words.emplace_back(codec.extensions.front());
  return " Use " + io::one_of(words) + ".";
}

std::string extension_of(const std::filesystem::path& path, const WriteOptions& options) {
  if (options.format.empty()) return io::lower(path.extension().string());
  return io::lower((options.format.front() == '.' ? "" : ".") + options.format);
}

/// Returns the codec with this extension, in lower case, or null.
const Codec* find_codec(std::string_view extension) {
  for (const Codec& codec : io::codecs())
    if (std::find(codec.extensions.begin(), codec.extensions.end(), extension) != codec.extensions.end())
      return &codec;
  return nullptr;
}

/// Returns the codec with this extension if it writes files, or null.
const Codec* find_writer(const std::string& extension) {
  const Codec* const codec = find_codec(io::lower(extension));
  return codec == nullptr || !codec->writes() ? nullptr : codec;
}

/// Returns the codec that writes this shape under this extension. Throws Error(usage).
const Codec& codec_for(const std::string& extension, const Shape& shape, const WriteOptions& options) {
  if (extension.empty())
    throw Error(ErrorKind::usage,
                "the name has no extension, which chooses the format." + usual_extensions());
  const Codec* const found = find_codec(extension);
  if (found == nullptr)
    throw Error(ErrorKind::usage,
                "'" + extension + "' is not a format that Satin writes." + usual_extensions());
  if (!found->writes())
    throw Error(ErrorKind::usage, std::string(found->name) + " files are not written. " + found->advice);
  if (shape.frames != 1)
    throw Error(ErrorKind::usage, "a file holds one frame. Write the frames one by one.");
  const Shape written = options.convert ? io::shape_for(*found, shape) : shape;
  if (std::string reason = io::why_not(*found, written); !reason.empty())
    throw Error(ErrorKind::usage, reason);
  if (options.quality && (*options.quality < 1 || *options.quality > 100))
    throw Error(ErrorKind::usage,
                "the quality " + std::to_string(*options.quality) + " is not between 1 and 100.");
  if (options.photo != nullptr && found->name != std::string_view("JPEG"))
    throw Error(ErrorKind::usage,
                std::string(found->name) +
                    " files keep no depth of a photograph. Write a .jpg, or drop --keep-depth.");
  return io::loaded(*found);
}

/// Returns a dense, interleaved RGB view of the pixels: `image` itself if it is that, otherwise of `copy`.
ImageView prepared(const ImageView& image, Image& copy) {
  if (image.memory != Memory::host)
    throw Error(ErrorKind::usage, "the picture is in device memory. Copy it first.");
  const bool dense = image.interleaved() && image.strides.row == interleaved_strides(image.shape).row;
  const bool swapped = image.shape.order == Order::bgr && image.shape.channels >= 3;
  if (dense && !swapped) return image;
  copy = copy_of(image);
  MutableImageView view = copy.view();
  if (swapped)
    io::swap_red_and_blue(view.data, static_cast<std::size_t>(view.shape.width * view.shape.height),
                          static_cast<std::size_t>(view.shape.channels), size_of(view.shape.type));
  view.shape.order = Order::rgb;
  return view;
}

std::vector<std::byte> encode(std::span<const ImageView> images, const std::string& extension,
                              std::span<const WriteOptions> options) {
  std::vector<Image> copies(images.size());
  std::vector<ImageView> views;
  std::vector<WriteOptions> own(options.begin(), options.end());
  const Codec* codec = nullptr;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (images[i].empty()) throw Error(ErrorKind::usage, "there is no picture to write.");
    validate(images[i].shape);
    codec = &codec_for(extension, images[i].shape, options[i]);
    if (images.size() > 1) io::check_holds_several(*codec);
    if (images.size() == 1 && options[i].photo != nullptr) {
      io::KeptPhoto kept = io::keep_photo(images[i], options[i]);
      if (options[i].gain_map != nullptr) kept.options.gain_map = &kept.gain_map;
      const ImageView image = kept.image;
      return encode({&image, 1}, extension, {&kept.options, 1});
    }
    views.push_back(prepared(images[i], copies[i]));
    if (const Shape written = io::shape_for(*codec, images[i].shape);
        options[i].convert && written.type != images[i].shape.type) {
      copies[i] = io::converted(views[i], written, options[i].dither, options[i].metadata);
      views[i] = copies[i].view();
    }
    if (!io::describes(options[i].metadata.icc, images[i].shape.channels)) own[i].metadata.icc.clear();
  }
  const bool alone = images.size() == 1 && codec->encode != nullptr;
  return alone ? codec->encode(views.front(), own.front()) : codec->several.encode(views, own);
}

/// Completes the facts about a decoded picture, and corrects its metadata blocks for the upright shape.
Picture described(Picture picture) {
  const Shape& shape = picture.image.shape();
  if (picture.photo) io::complete_photo(*picture.photo, picture.metadata, shape);
  Framing framing = Framing::whole(static_cast<double>(shape.width), static_cast<double>(shape.height));
  if (picture.reduction > 1)
    framing = {.width = static_cast<double>(picture.full_width),
               .height = static_cast<double>(picture.full_height),
               .box_width = static_cast<double>(picture.full_width),
               .box_height = static_cast<double>(picture.full_height),
               .result_width = framing.width,
               .result_height = framing.height};
  io::describe_upright(picture.metadata, shape, framing, picture.warnings);
  return picture;
}

/// Returns the codec that reads these bytes, which are a whole file.
const Codec& codec_for_file(Bytes bytes, const std::string& name) {
  if (bytes.empty()) throw Error(ErrorKind::input, "the file is empty. Get a complete copy of it.");
  return codec_for(bytes, io::lower(std::filesystem::path(name).extension().string()));
}

std::vector<Picture> decode_pictures(Bytes bytes, const std::string& name, const ReadOptions& options) {
  std::vector<Picture> pictures;
  const Codec& codec = named(name, [&]() -> const Codec& { return codec_for_file(bytes, name); });
  const auto chosen = named(name, [&] { return io::chosen_pictures(codec, bytes, options); });
  std::uint64_t left = options.limits.bytes;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    named(chosen.size() > 1 ? name + ", " + codec.several.word + " " + number : name,
          [&] { pictures.push_back(described(io::decode(codec, bytes, chosen[i], options))); });
    const std::uint64_t size = byte_size(pictures.back().image.shape());
    if (size > left)
      throw Error(ErrorKind::input, name + ": its pictures are together over the limit of " +
                                        std::to_string(options.limits.bytes) +
                                        " bytes. Raise it (--max-bytes), or choose one of them.");
    left -= size;
  }
  return pictures;
}

/// Checks the header against the limits. Damage is left to Codec::decode.
void check_start(const Codec& codec, Bytes start, const ReadOptions& options) {
  Shape shape;
  try {
    shape = codec.shape(start);
  } catch (const Error&) {
    return;
  }
  io::accept(static_cast<std::uint64_t>(shape.width), static_cast<std::uint64_t>(shape.height),
             shape.channels, shape.type, options);
}

/// Reads a file whose beginning is that of a picture. Reads only the beginning if `wanted` rejects its
/// format.
std::vector<std::byte> bytes_of(
    const std::filesystem::path& path, const ReadOptions& options,
    bool (*wanted)(const Codec&) = [](const Codec&) { return true; }) {
  const std::string name = name_of_input(path);
  const std::string extension = io::lower(path.extension().string());
  try {
    return io::read_file(path, options.limits.bytes, [&](Bytes start) {
      return named(name, [&] {
        const Codec& codec = codec_for(start, extension);
        if (codec.shape != nullptr) check_start(codec, start, options);
        return wanted(codec);
      });
    });
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::environment, name + ": there is not enough memory for the file.");
  }
}

std::string with_blanks(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> result;
  for (const Codec& codec : io::codecs()) {
    if (!codec.reads() && !codec.writes()) continue;
    FormatInfo info;
    info.name = codec.name;
    info.extensions.assign(codec.extensions.begin(), codec.extensions.end());
    info.reads = codec.reads();
    info.writes = codec.writes();
    info.pages = codec.several.word != nullptr && codec.decode == nullptr;
    info.types = with_blanks(io::types_in(codec.holds));
    info.channels = with_blanks(io::channels_in(codec.holds));
    result.push_back(std::move(info));
  }
  return result;
}

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options) {
  return named(name, [&] {
    const Codec& codec = codec_for_file(bytes, name);
    return described(io::decode(codec, bytes, io::chosen_picture(codec, bytes, options), options));
  });
}

Image decode_image(std::span<const std::byte> bytes, const std::string& name, const ReadLimits& limits) {
  return decode_picture(bytes, name, {.limits = limits}).image;
}

Picture read_picture(const std::filesystem::path& path, const ReadOptions& options) {
  return decode_picture(bytes_of(path, options), name_of_input(path), options);
}

std::vector<Picture> read_pictures(const std::filesystem::path& path, const ReadOptions& options) {
  std::vector<Picture> pictures;
  if (options.all_pages) return decode_pictures(bytes_of(path, options), name_of_input(path), options);
  pictures.push_back(read_picture(path, options));
  return pictures;
}

std::size_t count_pictures(const std::filesystem::path& path, const ReadOptions& options) {
  const std::string name = name_of_input(path);
  const std::vector<std::byte> bytes =
      bytes_of(path, options, [](const Codec& codec) { return codec.several.list != nullptr; });
  return named(name, [&]() -> std::size_t {
    const Codec& codec = codec_for_file(bytes, name);
    if (options.all_pages) return io::chosen_pictures(codec, bytes, options).size();
    static_cast<void>(io::chosen_picture(codec, bytes, options));
    return 1;
  });
}

Shape read_shape(const std::filesystem::path& path, const ReadOptions& options) {
  try {
    return open_rows(path, options)->shape();
  } catch (const Error&) {
    // another format, or one that is not stored row by row
  }
  const io::InputFile file(path);
  return named(file.name(), [&] {
    const io::MappedFile mapped(file);
    const Bytes bytes = mapped.bytes();
    const Codec& codec = codec_for(bytes, io::lower(path.extension().string()));
    const io::FilePicture picture = options.all_pages ? io::chosen_pictures(codec, bytes, options).front()
                                                      : io::chosen_picture(codec, bytes, options);
    const std::optional<int> orientation = picture.at == 0 ? io::orientation_in(bytes) : std::nullopt;
    ReadOptions header = options;
    header.enough = {};
    header.accept = {};
    if (orientation) header.accept = [](const Shape& shape, std::uint64_t) { throw io::HeaderRead(shape); };
    try {
      return io::decode(codec, bytes, picture, header).image.shape();
    } catch (const io::HeaderRead& read) {
      Shape shape = read.shape;
      if (*orientation >= 5) std::swap(shape.width, shape.height);
      return shape;
    }
  });
}

FileInfo read_file_info(const std::filesystem::path& path, const ReadOptions& options) {
  const std::string name = name_of_input(path);
  const std::vector<std::byte> bytes = bytes_of(path, options);
  ReadOptions with_photo = options;
  with_photo.photo_depth = true;
  with_photo.gain_map = true;
  return named(name, [&] { return io::file_info(codec_for_file(bytes, name), bytes, with_photo); });
}

Picture read_only_picture(const std::filesystem::path& path, const ReadOptions& options) {
  const std::string name = name_of_input(path);
  const std::vector<std::byte> bytes = bytes_of(path, options);
  return named(name, [&] {
    const Codec& codec = codec_for_file(bytes, name);
    return described(io::decode(codec, bytes, io::only_picture(codec, bytes, options), options));
  });
}

Image read_image(const std::filesystem::path& path, const ReadLimits& limits) {
  return read_picture(path, {.limits = limits}).image;
}

std::string what_is_converted(const std::string& extension, const Shape& shape) {
  const Codec* codec = find_writer(extension);
  if (codec == nullptr) return {};
  const Shape written = io::shape_for(*codec, shape);
  if (written.type == shape.type) return {};
  if (written.type == Type::f32)
    return std::string(codec->name) + " holds no " + name_of(shape.type) + ": codes became linear light.";
  const std::string from = shape.type == Type::f32 ? "floats became sRGB codes, clipped to 0 to 1, of "
                                                   : "16 bits were rounded to ";
  return std::string(codec->name) + " holds no " + name_of(shape.type) + ": " + from +
         std::to_string(size_of(written.type) * 8) + " bits.";
}

std::string what_is_lost(const std::string& extension, const Metadata& metadata,
                         std::span<const NamedChannel> channels, bool gain_map) {
  const Codec* codec = find_writer(extension);
  if (codec == nullptr) return {};
  std::vector<std::string> lost;
  const auto check = [&](io::Carried block, bool present, const char* what) {
    if (present && (codec->holds.metadata & io::set_of(block)) == 0) lost.emplace_back(what);
  };
  using io::Carried;
  check(Carried::icc, !metadata.icc.empty(), "ICC profile");
  check(Carried::exif, !metadata.exif.empty(), "EXIF");
  if (metadata.exif.size() > codec->holds.longest_exif) lost.emplace_back("EXIF above 64 KiB");
  check(Carried::xmp, !metadata.xmp.empty(), "XMP");
  check(Carried::iptc, !metadata.iptc.empty(), "IPTC");
  const bool in_exif = (codec->holds.metadata & io::set_of(Carried::exif)) != 0 &&
                       io::resolution_of_exif(metadata.exif).has_value();
  check(Carried::resolution, metadata.resolution && !in_exif, "resolution");
  check(Carried::comments, !metadata.jpeg_comments.empty(), "JPEG comments");
  check(Carried::png, !metadata.png_texts.empty(), "PNG text");
  check(Carried::png, !metadata.png_time.empty(), "tIME");
  check(Carried::png, !metadata.significant_bits.empty(), "sBIT");
  const PngColour& colour = metadata.png;
  const bool is_srgb = colour.code_points && (*colour.code_points)[0] == 1 && (*colour.code_points)[1] == 13;
  check(Carried::png, colour.code_points && !is_srgb, "cICP");
  check(Carried::png, colour.gamma && !colour.srgb_intent, "gAMA");
  check(Carried::png, colour.chromaticities && !colour.srgb_intent, "cHRM");
  check(Carried::gain_map, gain_map, "gain map");
  check(Carried::windows, metadata.exr && metadata.exr->data != metadata.exr->display, "data window");
  for (const NamedChannel& channel : channels)
    if ((codec->holds.metadata & io::set_of(io::Carried::channels)) == 0)
      lost.push_back("channel " + channel.name);
  return lost.empty() ? std::string() : std::string(codec->name) + " holds no " + io::one_of(lost) + ".";
}

bool fits_jpeg(const std::filesystem::path& file) {
  std::optional<bool> fits;
  const auto look = [&](Bytes bytes) {
    const Codec& codec = io::reader_of(bytes, io::lower(file.extension().string()));
    if (codec.fits_jpeg != nullptr)
      fits = codec.fits_jpeg(bytes);
    else  // a format that needs no closer look
      fits = codec.holds.types == io::set_of(Type::u8) && codec.holds.alpha == io::set_of(Alpha::none);
    return !fits;
  };
  try {
    const std::vector<std::byte> bytes = io::read_file(file, ReadLimits{}.bytes, look);
    if (!fits) look(bytes);
    return fits.value_or(false);
  } catch (const Error&) {
    return false;  // reading the picture reports the reason
  }
}

void check_writable(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options) {
  named(name_of_output(path), [&] {
    validate(shape);
    static_cast<void>(codec_for(extension_of(path, options), shape, options));
  });
  io::check_target(path, options.overwrite);
}

void check_target(const std::filesystem::path& path, bool overwrite) { io::check_target(path, overwrite); }

bool is_misleading_for_json(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 7> tables = {".csv",  ".tsv", ".txt", ".xls",
                                                      ".xlsx", ".xml", ".yaml"};
  const std::string extension = io::lower(path.extension().string());
  const auto holds = [&](const FormatInfo& format) {
    return std::ranges::find(format.extensions, extension) != format.extensions.end();
  };
  return std::ranges::find(tables, extension) != tables.end() || std::ranges::any_of(formats(), holds);
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes, bool overwrite) {
  io::write_file(path, bytes, overwrite);
}

void write_image(const std::filesystem::path& path, const ImageView& image, const WriteOptions& options) {
  write_pages(path, {&image, 1}, {&options, 1});
}

void write_pages(const std::filesystem::path& path, std::span<const ImageView> images,
                 std::span<const WriteOptions> options) {
  if (images.empty() || images.size() != options.size())
    throw Error(ErrorKind::usage, "write_pages() takes one picture or more, and options for each.");
  for (std::size_t i = 0; i < images.size(); ++i) check_writable(path, images[i].shape, options[i]);
  const std::string name = name_of_output(path);
  const std::vector<std::byte> bytes =
      named(name, [&] { return encode(images, extension_of(path, options.front()), options); });
  io::write_file(path, bytes, options.front().overwrite, options.front().modified,
                 options.front().before_rename);
}

void check_holds_pages(const std::filesystem::path& path, const WriteOptions& options) {
  const std::string name = name_of_output(path);
  const Codec* const codec = find_writer(extension_of(path, options));
  if (codec != nullptr) named(name, [&] { io::check_holds_several(io::loaded(*codec)); });
}

std::vector<std::byte> encode_image(const ImageView& image, const std::string& extension,
                                    const WriteOptions& options) {
  return named("output", [&] { return encode({&image, 1}, io::lower(extension), {&options, 1}); });
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  namespace fs = std::filesystem;
  if (io::is_standard_stream(a) || io::is_standard_stream(b)) return false;
  std::error_code error_a, error_b;
  if (fs::equivalent(a, b, error_a) && !error_a) return true;
  const fs::path full_a = fs::weakly_canonical(fs::absolute(a, error_a), error_a);
  const fs::path full_b = fs::weakly_canonical(fs::absolute(b, error_b), error_b);
  return !error_a && !error_b && full_a == full_b;
}

}  // namespace satin
