// TGA: read by stb_image, written here without compression.

#include <algorithm>
#include <array>
#include <cstring>

#include "io/stb.h"
#include "io/support.h"

namespace satin::io {
namespace {

constexpr std::size_t header_size = 18;
constexpr unsigned true_colour = 2, gray = 3, run_lengths = 8;
constexpr unsigned right_to_left = 0x10, top_down = 0x20;

// TGA has no signature: the header has to make sense in every field.
bool sniff_tga(Bytes bytes, std::string_view extension) {
  if (bytes.size() <= header_size) return false;
  const unsigned map = byte_at(bytes, 1), type = byte_at(bytes, 2) & ~run_lengths;
  const unsigned map_bits = byte_at(bytes, 7), bits = byte_at(bytes, 16), descriptor = byte_at(bytes, 17);
  if (byte_at(bytes, 2) > 11 || type < 1 || type > 3 || map > 1) return false;
  if (le16(bytes, 12) == 0 || le16(bytes, 14) == 0 || (descriptor & 0xC0U) != 0 || (descriptor & 15U) > 8)
    return false;
  const auto among = [](unsigned value, auto... allowed) { return ((value == allowed) || ...); };
  if (map == 1 ? !among(map_bits, 15U, 16U, 24U, 32U) : type == 1) return false;
  if (type == 1 && (!among(bits, 8U, 16U) || le16(bytes, 5) == 0)) return false;
  if (type == true_colour && !among(bits, 15U, 16U, 24U, 32U)) return false;
  if (type == gray && !among(bits, 8U, 16U)) return false;
  // Without a palette its fields are unused; a file that is not called .tga has to leave them zero.
  return extension == ".tga" || map == 1 || (le16(bytes, 3) == 0 && le16(bytes, 5) == 0);
}

Picture decode_tga(Bytes bytes, const ReadOptions& options) {
  const bool mirrored = (byte_at(bytes, 17) & right_to_left) != 0;
  // Not even the best run lengths make more than 128 pixels of two bytes.
  const std::uint64_t pixels = std::uint64_t{le16(bytes, 12)} * le16(bytes, 14);
  check_limits(le16(bytes, 12), le16(bytes, 14), 1, Type::u8, options.limits);
  if (pixels / 64 > bytes.size()) truncated("TGA");
  return upright(decode_with_stb("TGA", bytes, options), mirrored ? 2 : 1, options.allocator);
}

FileBytes encode_tga(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto width = static_cast<std::size_t>(shape.width);
  Sink sink;
  sink.u8(0);
  sink.u8(0);
  sink.u8(channels >= 3 ? true_colour : gray);
  sink.le32(0);
  sink.u8(0);
  sink.le32(0);  // origin
  sink.le16(static_cast<unsigned>(shape.width));
  sink.le16(static_cast<unsigned>(shape.height));
  sink.u8(static_cast<unsigned>(channels) * 8);
  sink.u8(top_down | (channels % 2 == 0 ? 8U : 0U));
  FileBytes row(width * channels);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::memcpy(row.data(), image.at(0, y), row.size());
    if (channels >= 3) swap_red_and_blue(row.data(), width, channels, 1);
    sink.add(row);
  }
  sink.le32(0);  // no extension area, no developer area
  sink.le32(0);
  sink.text({"TRUEVISION-XFILE.\0", 18});
  return std::move(sink.bytes);
}

}  // namespace

Codec tga_codec() {
  Codec codec{"TGA", {".tga"}, sniff_tga, decode_tga, encode_tga};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.max_side = 65535;
  return codec;
}

}  // namespace satin::io
