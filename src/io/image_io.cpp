// The public functions of satin/io.h over the list of codecs.

#include <algorithm>
#include <new>
#include <utility>

#include "file.h"
#include "satin/error.h"
#include "support.h"

namespace satin {
namespace {

using io::Bytes;
using io::Codec;

std::vector<std::string> usual_extensions() {
  std::vector<std::string> words;
  for (const Codec& codec : io::codecs())
    if (codec.encode != nullptr) words.emplace_back(codec.extensions.front());
  return words;
}

/// The codec that reads these bytes. Throws Error(input), without the name of the file.
const Codec& codec_for(Bytes bytes, std::string_view extension) {
  for (const Codec& codec : io::codecs()) {
    if (!codec.sniff(bytes, extension)) continue;
    if (codec.decode == nullptr)
      throw Error(ErrorKind::input, std::string(codec.name) + " files are not read. " + codec.advice);
    return codec;
  }
  std::vector<std::string> names;
  for (const Codec& codec : io::codecs())
    if (codec.decode != nullptr) names.emplace_back(codec.name);
  throw Error(ErrorKind::input,
              "this is not an image format that Satin reads. Convert it to " + io::one_of(names) + ".");
}

/// Puts the name of the file before the messages of `work`.
template <class Work>
auto named(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::environment, name + ": there is not enough memory for this picture.");
  } catch (const std::length_error&) {
    throw Error(ErrorKind::environment, name + ": there is not enough memory for this picture.");
  }
}

std::string extension_of(const std::filesystem::path& path, const WriteOptions& options) {
  if (options.format.empty()) return io::lower(path.extension().string());
  return io::lower((options.format.front() == '.' ? "" : ".") + options.format);
}

/// The codec that writes this shape under this extension. Throws Error(usage).
const Codec& codec_for(const std::string& extension, const Shape& shape, const WriteOptions& options) {
  if (extension.empty())
    throw Error(ErrorKind::usage, "the name has no extension, which chooses the format. Use " +
                                      io::one_of(usual_extensions()) + ".");
  const auto& list = io::codecs();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Codec& codec) {
    return std::find(codec.extensions.begin(), codec.extensions.end(), extension) != codec.extensions.end();
  });
  if (found == list.end())
    throw Error(ErrorKind::usage, "'" + extension + "' is not a format that Satin writes. Use " +
                                      io::one_of(usual_extensions()) + ".");
  if (found->encode == nullptr)
    throw Error(ErrorKind::usage, std::string(found->name) + " files are not written. " + found->advice);
  if (shape.frames != 1)
    throw Error(ErrorKind::usage, "a file holds one frame. Write the frames one by one.");
  if (std::string reason = io::why_not(*found, shape); !reason.empty()) throw Error(ErrorKind::usage, reason);
  if (options.quality < 1 || options.quality > 100)
    throw Error(ErrorKind::usage,
                "the quality " + std::to_string(options.quality) + " is not between 1 and 100.");
  if (found->require != nullptr) found->require();
  return *found;
}

/// A dense, interleaved RGB picture with the pixels of the view; the view itself if it is one.
struct Prepared {
  Image copy;
  ImageView view;
};

template <class Value>
void swap_red_and_blue(const MutableImageView& view) {
  const std::int64_t count = view.shape.width * view.shape.height;
  auto* values = reinterpret_cast<Value*>(view.data);
  for (std::int64_t i = 0; i < count; ++i, values += view.shape.channels) std::swap(values[0], values[2]);
}

Prepared prepare(const ImageView& image) {
  if (image.memory != Memory::host)
    throw Error(ErrorKind::usage, "the picture is in device memory. Copy it first.");
  const bool dense = image.interleaved() && image.strides.row == interleaved_strides(image.shape).row;
  const bool swapped = image.shape.order == Order::bgr && image.shape.channels >= 3;
  if (dense && !swapped) return {{}, image};
  Prepared result{copy_of(image), {}};
  const MutableImageView view = result.copy.view();
  if (swapped) {
    switch (size_of(view.shape.type)) {
      case 1:
        swap_red_and_blue<std::uint8_t>(view);
        break;
      case 2:
        swap_red_and_blue<std::uint16_t>(view);
        break;
      case 4:
        swap_red_and_blue<std::uint32_t>(view);
        break;
      default:
        swap_red_and_blue<std::uint64_t>(view);
        break;
    }
  }
  result.view = view;
  result.view.shape.order = Order::rgb;
  return result;
}

std::vector<std::byte> encode(const ImageView& image, const std::string& extension,
                              const WriteOptions& options) {
  if (image.empty()) throw Error(ErrorKind::usage, "there is no picture to write.");
  validate(image.shape);
  const Codec& codec = codec_for(extension, image.shape, options);
  const Prepared prepared = prepare(image);
  return codec.encode(prepared.view, options);
}

std::string types_of(const Codec& codec) {
  std::string text;
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64})
    if ((codec.holds.types & io::set_of(type)) != 0)
      text += (text.empty() ? "" : " ") + std::string(name_of(type));
  return text;
}

std::string channels_of(const Codec& codec) {
  std::string text;
  for (int n = 1; n <= 4; ++n)
    if ((codec.holds.channels & io::set_of(n)) != 0) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text;
}

}  // namespace

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> result;
  for (const Codec& codec : io::codecs()) {
    if (codec.decode == nullptr && codec.encode == nullptr) continue;
    FormatInfo info;
    info.name = codec.name;
    info.extensions.assign(codec.extensions.begin(), codec.extensions.end());
    info.reads = codec.decode != nullptr;
    info.writes = codec.encode != nullptr;
    info.types = types_of(codec);
    info.channels = channels_of(codec);
    result.push_back(std::move(info));
  }
  return result;
}

Image decode_image(std::span<const std::byte> bytes, const std::string& name, const ReadLimits& limits) {
  return named(name, [&] {
    if (bytes.empty()) throw Error(ErrorKind::input, "the file is empty. Get a complete copy of it.");
    const std::string extension = io::lower(std::filesystem::path(name).extension().string());
    return codec_for(bytes, extension).decode(bytes, limits);
  });
}

Image read_image(const std::filesystem::path& path, const ReadLimits& limits) {
  const std::string name = io::is_standard_stream(path) ? "standard input" : path.string();
  const std::string extension = io::lower(path.extension().string());
  std::vector<std::byte> bytes;
  try {
    bytes = io::read_file(path, limits.bytes, [&](Bytes start) {
      named(name, [&] { static_cast<void>(codec_for(start, extension)); });
    });
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::environment, name + ": there is not enough memory for the file.");
  }
  return decode_image(bytes, name, limits);
}

void check_writable(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options) {
  const std::string name = io::is_standard_stream(path) ? "standard output" : path.string();
  named(name, [&] {
    validate(shape);
    static_cast<void>(codec_for(extension_of(path, options), shape, options));
  });
  io::check_target(path, options.overwrite);
}

void check_target(const std::filesystem::path& path, bool overwrite) { io::check_target(path, overwrite); }

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes, bool overwrite) {
  io::write_file(path, bytes, overwrite);
}

void write_image(const std::filesystem::path& path, const ImageView& image, const WriteOptions& options) {
  check_writable(path, image.shape, options);
  const std::string name = io::is_standard_stream(path) ? "standard output" : path.string();
  const std::vector<std::byte> bytes =
      named(name, [&] { return encode(image, extension_of(path, options), options); });
  io::write_file(path, bytes, options.overwrite);
}

std::vector<std::byte> encode_image(const ImageView& image, const std::string& extension,
                                    const WriteOptions& options) {
  return named("output", [&] { return encode(image, io::lower(extension), options); });
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
