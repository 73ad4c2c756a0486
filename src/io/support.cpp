#include "io/support.h"

#include "satin/error.h"

namespace satin::io {

std::string partial_warning(const char* format) {
  return std::string("the ") + format + " data is damaged or ends early; part of the picture is missing.";
}

void check_limits(std::uint64_t width, std::uint64_t height, int channels, Type type,
                  const ReadLimits& limits) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height);
  if (width == 0 || height == 0)
    throw Error(ErrorKind::input,
                "the picture is " + size + " and has no pixels. Get an undamaged copy of the file.");
  if (width > limits.pixels || height > limits.pixels / width)
    throw Error(ErrorKind::input, "the picture of " + size + " is over the limit of " +
                                      std::to_string(limits.pixels) +
                                      " pixels. Raise it (--max-pixels), or make the picture smaller.");
  if (channels < 1 || channels > 4)
    throw Error(ErrorKind::input, "the picture has " + std::to_string(channels) +
                                      " channels; 1 to 4 are read. Store fewer channels in a file.");
  const std::uint64_t pixel = size_of(type) * static_cast<std::uint64_t>(channels);
  if (width * height > limits.bytes / pixel)
    throw Error(ErrorKind::input, "the picture of " + size + ", " + std::to_string(channels) + " x " +
                                      name_of(type) + " is over the limit of " +
                                      std::to_string(limits.bytes) +
                                      " bytes. Raise it (--max-bytes), or make the picture smaller.");
}

Image allocate(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha,
               const ReadOptions& options) {
  check_limits(width, height, channels, type, options.limits);
  Shape shape;
  shape.width = static_cast<std::int64_t>(width);
  shape.height = static_cast<std::int64_t>(height);
  shape.channels = channels;
  shape.type = type;
  shape.alpha = alpha;
  return Image(shape, options.allocator);
}

std::string one_of(const std::vector<std::string>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace satin::io
