// Radiance HDR (RGBE): read by stb_image, written here with run lengths.

#include <algorithm>
#include <array>
#include <cmath>

#include "satin/error.h"
#include "stb.h"
#include "support.h"

namespace satin::io {
namespace {

bool sniff_hdr(Bytes bytes, std::string_view) {
  return starts_with(bytes, "#?RADIANCE\n") || starts_with(bytes, "#?RGBE\n");
}

Image decode_hdr(Bytes bytes, const ReadLimits& limits) { return decode_with_stb("HDR", bytes, limits); }

/// Mantissas of 8 bits under the exponent of the largest channel; v = mantissa * 2^(e - 136).
std::array<unsigned, 4> to_rgbe(const float* rgb) {
  const float largest = std::max({rgb[0], rgb[1], rgb[2]});
  if (largest < 1e-38F) return {0, 0, 0, 0};
  int exponent = 0;
  std::frexp(largest, &exponent);
  const auto mantissa = [&](float v) { return std::lround(std::ldexp(double{v}, 8 - exponent)); };
  if (mantissa(largest) > 255) ++exponent;  // rounded up to the next power of two
  return {static_cast<unsigned>(mantissa(rgb[0])), static_cast<unsigned>(mantissa(rgb[1])),
          static_cast<unsigned>(mantissa(rgb[2])), static_cast<unsigned>(exponent + 128)};
}

/// Counts above 128 repeat a byte, others announce that many different ones.
void write_runs(Sink& sink, const std::vector<unsigned char>& values) {
  const std::size_t count = values.size();
  const auto run_at = [&](std::size_t at) {
    std::size_t length = 1;
    while (at + length < count && length < 127 && values[at + length] == values[at]) ++length;
    return length;
  };
  constexpr std::size_t worth_it = 3;
  std::size_t at = 0;
  while (at < count) {
    const std::size_t run = run_at(at);
    if (run >= worth_it) {
      sink.u8(128 + static_cast<unsigned>(run));
      sink.u8(values[at]);
      at += run;
      continue;
    }
    std::size_t end = at + 1;
    while (end < count && end - at < 128 && run_at(end) < worth_it) ++end;
    sink.u8(static_cast<unsigned>(end - at));
    sink.text({reinterpret_cast<const char*>(values.data() + at), end - at});
    at = end;
  }
}

void check_values(const ImageView& image) {
  constexpr float largest = 1.6e38F;
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const auto* row = image.row<float>(y);
    for (std::int64_t i = 0; i < image.shape.width * 3; ++i)
      if (!(row[i] >= 0.0F && row[i] <= largest))
        throw Error(ErrorKind::input, "HDR holds no negative, infinite or undefined values, and pixel " +
                                          std::to_string(i / 3) + ", " + std::to_string(y) +
                                          " is such. Write .pfm, .tiff or .npy instead.");
  }
}

FileBytes encode_hdr(const ImageView& image, const WriteOptions&) {
  check_values(image);
  const Shape& shape = image.shape;
  Sink sink;
  sink.text("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(shape.height) + " +X " +
            std::to_string(shape.width) + "\n");
  const bool runs =
      shape.width >= 8 && shape.width < 32768;  // the format has run lengths for these widths alone
  std::array<std::vector<unsigned char>, 4> planes;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::vector<unsigned char>& plane : planes) plane.clear();
    const auto* row = image.row<float>(y);
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::array<unsigned, 4> pixel = to_rgbe(row + x * 3);
      for (std::size_t c = 0; c < 4; ++c) {
        if (runs) planes[c].push_back(static_cast<unsigned char>(pixel[c]));
        if (!runs) sink.u8(pixel[c]);
      }
    }
    if (!runs) continue;
    sink.le16(0x0202);
    sink.u8(static_cast<unsigned>(shape.width) >> 8);
    sink.u8(static_cast<unsigned>(shape.width) & 255U);
    for (const std::vector<unsigned char>& plane : planes) write_runs(sink, plane);
  }
  return std::move(sink.bytes);
}

}  // namespace

Codec hdr_codec() {
  Codec codec{"HDR", {".hdr", ".rgbe"}, sniff_hdr, decode_hdr, encode_hdr, {}, ""};
  codec.holds.types = set_of(Type::f32);
  codec.holds.channels = set_of(3);
  codec.holds.max_side = 1 << 24;
  return codec;
}

}  // namespace satin::io
