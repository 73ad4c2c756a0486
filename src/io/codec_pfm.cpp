// PFM: 32-bit floats, one or three channels, rows from bottom to top.

#include <bit>
#include <cmath>
#include <cstring>

#include "io/text_header.h"

namespace satin::io {
namespace {

bool sniff_pfm(Bytes bytes, std::string_view) {
  return (starts_with(bytes, "PF") || starts_with(bytes, "Pf")) && bytes.size() > 2 &&
         (bytes[2] == std::byte{'\n'} || bytes[2] == std::byte{' '} || bytes[2] == std::byte{'\r'});
}

// The sign of the scale tells the byte order. Its size is a unit that no two programs agree on; values are
// read as they are stored.
bool read_little_endian(TextHeader& text) {
  std::string_view word = text.word();
  if (word.empty()) truncated("PFM");
  if (word.front() == '+') word.remove_prefix(1);
  double scale = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), scale);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(scale) || scale == 0.0)
    damaged("PFM", "its scale is not a number");
  return scale < 0.0;
}

Picture decode_pfm(Bytes bytes, const ReadOptions& options) {
  const int channels = bytes[1] == std::byte{'F'} ? 3 : 1;
  TextHeader text(bytes, "PFM", 2);
  const std::uint64_t width = text.number();
  const std::uint64_t height = text.number();
  const bool little = read_little_endian(text);
  check_limits(width, height, channels, Type::f32, options.limits);
  const Bytes data = text.rest();
  const std::size_t row_bytes = static_cast<std::size_t>(channels) * sizeof(float) * width;
  if (data.size() / row_bytes < height) truncated("PFM");
  Image image = allocate(width, height, channels, Type::f32, Alpha::none, options);
  for (std::size_t y = 0; y < height; ++y)
    std::memcpy(image.data() + (height - 1 - y) * row_bytes, data.data() + y * row_bytes, row_bytes);
  if (little != (std::endian::native == std::endian::little))
    swap_bytes(image.data(), row_bytes / sizeof(float) * height, sizeof(float));
  return image;
}

FileBytes encode_pfm(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const bool little = std::endian::native == std::endian::little;
  Sink sink;
  sink.text(std::string(shape.channels == 3 ? "PF\n" : "Pf\n") + std::to_string(shape.width) + " " +
            std::to_string(shape.height) + (little ? "\n-1.0\n" : "\n1.0\n"));
  for (std::int64_t y = shape.height - 1; y >= 0; --y)
    sink.text({reinterpret_cast<const char*>(image.at(0, y)), static_cast<std::size_t>(image.strides.row)});
  return std::move(sink.bytes);
}

}  // namespace

Codec pfm_codec() {
  return {"PFM", {".pfm"}, sniff_pfm, decode_pfm, encode_pfm, {set_of(Type::f32), set_of(1, 3)}, ""};
}

}  // namespace satin::io
