// PFM: 32-bit floats, one or three channels, rows from bottom to top.

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "io/codec_steps.h"

namespace satin::io {
namespace {

bool sniff_pfm(Bytes bytes, std::string_view) {
  return (starts_with(bytes, "PF") || starts_with(bytes, "Pf")) && bytes.size() > 2 &&
         (bytes[2] == std::byte{'\n'} || bytes[2] == std::byte{' '} || bytes[2] == std::byte{'\r'});
}

// The sign of the scale gives the byte order. Its magnitude is a unit on which no two programs agree, so
// values are read as they are stored.
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

Shape read_shape(TextHeader& text, Bytes bytes) {
  const std::uint64_t width = text.number(), height = text.number();
  return shape_of(width, height, bytes[1] == std::byte{'F'} ? 3 : 1, Type::f32, Alpha::none);
}

/// Reads a header within the limits. The rows after it come from bottom to top.
StoredRows find_rows(Bytes bytes, const ReadLimits& limits) {
  TextHeader text(bytes, "PFM", 2);
  const Shape shape = read_shape(text, bytes);
  const auto width = static_cast<std::uint64_t>(shape.width),
             height = static_cast<std::uint64_t>(shape.height);
  const bool swapped = read_little_endian(text) != (std::endian::native == std::endian::little);
  check_limits(width, height, shape.channels, shape.type, limits);
  const Bytes data = text.rest();
  const std::size_t samples = static_cast<std::size_t>(shape.channels) * width;
  StoredRows rows{"PFM", shape};
  rows.start = static_cast<std::uint64_t>(data.data() - bytes.data());
  rows.row_bytes = samples * sizeof(float);
  rows.upwards = true;
  rows.decode = [samples, swapped](Bytes stored, std::byte* pixels) {
    std::memcpy(pixels, stored.data(), stored.size());
    if (swapped) swap_bytes(pixels, samples, sizeof(float));
  };
  if (data.size() / rows.row_bytes < height) truncated("PFM");
  return rows;
}

Picture decode_pfm(Bytes bytes, const ReadOptions& options) {
  return read_stored(bytes, find_rows(bytes, options.limits), options);
}

std::unique_ptr<RowReader> open_pfm_rows(const InputFile& file, Bytes bytes, const FilePicture&,
                                         const ReadOptions& options) {
  return stored_rows(file, find_rows(bytes, without_bytes(options.limits)), options);
}

FileBytes encode_pfm(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const bool little = std::endian::native == std::endian::little;
  Sink sink;
  sink.text(std::string(shape.channels == 3 ? "PF\n" : "Pf\n") + std::to_string(shape.width) + " " +
            std::to_string(shape.height) + (little ? "\n-1.0\n" : "\n1.0\n"));
  for (std::int64_t y = shape.height - 1; y >= 0; --y)
    sink.add({image.at(0, y), static_cast<std::size_t>(image.strides.row)});
  return std::move(sink.bytes);
}

}  // namespace

Codec pfm_codec() {
  Codec codec{"PFM", {".pfm"}, sniff_pfm, decode_pfm, encode_pfm, {set_of(Type::f32), set_of(1, 3)}};
  codec.shape = [](Bytes start) {
    TextHeader text(start, "PFM", 2);
    return read_shape(text, start);
  };
  codec.open_rows = open_pfm_rows;
  return codec;
}

}  // namespace satin::io
