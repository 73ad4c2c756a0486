// BMP: read by stb_image, written here.

#include <algorithm>
#include <cstring>

#include "io/stb.h"
#include "io/support.h"

namespace satin::io {
namespace {

constexpr std::size_t file_header = 14;
constexpr unsigned info_header = 40;
constexpr unsigned v4_header = 108;

bool sniff_bmp(Bytes bytes, std::string_view) {
  if (!starts_with(bytes, "BM") || bytes.size() < file_header + 12) return false;
  const std::uint32_t size = le32(bytes, file_header);
  return size == 12 || size == info_header || size == 52 || size == 56 || size == v4_header || size == 124;
}

struct Header {
  std::size_t pixels = 0;   ///< offset of the first row
  std::size_t palette = 0;  ///< offset of the palette
  std::int64_t width = 0;
  std::int64_t height = 0;
  unsigned bits = 0;
  std::size_t colours = 0;  ///< entries of four bytes between the headers and the pixels
};

/// Of the 40-byte header and its successors; the older one of 12 bytes is left to stb.
Header read_header(Bytes bytes) {
  Header header;
  const std::size_t size = le32(bytes, file_header);
  if (size < info_header || bytes.size() < file_header + info_header) return header;
  header.pixels = le32(bytes, 10);
  header.palette = file_header + size;
  header.width = static_cast<std::int32_t>(le32(bytes, file_header + 4));
  header.height = static_cast<std::int32_t>(le32(bytes, file_header + 8));
  if (header.height < 0) header.height = -header.height;
  header.bits = le16(bytes, file_header + 14);
  if (header.bits <= 8 && header.pixels > header.palette)
    header.colours = (header.pixels - header.palette) / 4;
  return header;
}

/// stb does not look whether the palette has the colours that pixels ask for.
void check_indices(Bytes bytes, const Header& header, std::size_t row_bytes) {
  if (header.bits == 0 || header.bits > 8 || header.colours >= std::size_t{1} << header.bits) return;
  const std::size_t per_byte = 8 / header.bits;
  for (std::int64_t y = 0; y < header.height; ++y)
    for (std::size_t x = 0; x < static_cast<std::size_t>(header.width); ++x) {
      const std::size_t at = header.pixels + static_cast<std::size_t>(y) * row_bytes + x / per_byte;
      const std::size_t shift = (per_byte - 1 - x % per_byte) * header.bits;
      if ((byte_at(bytes, at) >> shift & ((1U << header.bits) - 1)) >= header.colours)
        damaged("BMP", "a pixel has a colour that the palette lacks");
    }
}

void check_header(Bytes bytes, const Header& header, const ReadLimits& limits) {
  if (header.pixels == 0) return;
  if (header.width <= 0 || header.height <= 0) damaged("BMP", "its size is not positive");
  const auto width = static_cast<std::uint64_t>(header.width),
             height = static_cast<std::uint64_t>(header.height);
  check_limits(width, height, 1, Type::u8, limits);
  constexpr std::uint32_t bit_fields = 3;
  if (const std::uint32_t compression = le32(bytes, file_header + 16);
      compression != 0 && compression != bit_fields)
    unsupported("BMP", "compression", "Save it without compression.");
  if (header.bits != 1 && header.bits != 4 && header.bits != 8 && header.bits != 16 && header.bits != 24 &&
      header.bits != 32)
    unsupported("BMP", std::to_string(header.bits) + " bits a pixel", "Save it with 8 or 24 bits a pixel.");
  const std::uint64_t used = (width * header.bits + 7) / 8;
  const std::uint64_t row_bytes = (used + 3) / 4 * 4;
  if (header.pixels > bytes.size() || row_bytes * (height - 1) + used > bytes.size() - header.pixels)
    truncated("BMP");
  check_indices(bytes, header, row_bytes);
}

/// True for palettes in which every colour is a gray: such a file is a one-channel picture.
bool has_gray_palette(Bytes bytes, const Header& header) {
  if (header.colours == 0) return false;
  const std::size_t last = header.palette + std::min<std::size_t>(header.colours, 256) * 4;
  for (std::size_t at = header.palette; at < last; at += 4)
    if (bytes[at] != bytes[at + 1] || bytes[at] != bytes[at + 2]) return false;
  return true;
}

Picture decode_bmp(Bytes bytes, const ReadOptions& options) {
  const Header header = read_header(bytes);
  check_header(bytes, header, options.limits);
  Image image = decode_with_stb("BMP", bytes, options);
  if (image.shape().channels != 3 || !has_gray_palette(bytes, header)) return image;
  Shape shape = image.shape();
  shape.channels = 1;
  Image gray(shape, options.allocator);
  const std::byte* from = image.data();
  std::byte* to = gray.data();
  for (std::size_t i = 0; i < byte_size(shape); ++i) to[i] = from[i * 3];
  return gray;
}

void write_headers(Sink& sink, const Shape& shape, std::uint32_t row_bytes) {
  const bool alpha = shape.channels == 4;
  const std::uint32_t header = alpha ? v4_header : info_header;
  const std::uint32_t palette = shape.channels == 1 ? 256 * 4 : 0;
  const std::uint32_t offset = static_cast<std::uint32_t>(file_header) + header + palette;
  const std::uint32_t pixels = row_bytes * static_cast<std::uint32_t>(shape.height);
  sink.text("BM");
  sink.le32(offset + pixels);
  sink.le32(0);
  sink.le32(offset);
  sink.le32(header);
  sink.le32(static_cast<std::uint32_t>(shape.width));
  sink.le32(static_cast<std::uint32_t>(shape.height));
  sink.le16(1);  // planes
  sink.le16(static_cast<unsigned>(shape.channels) * 8);
  constexpr unsigned uncompressed = 0, bit_fields = 3;
  sink.le32(alpha ? bit_fields : uncompressed);
  sink.le32(pixels);
  for (int i = 0; i < 2; ++i) sink.le32(2835);  // 72 dots an inch
  for (int i = 0; i < 2; ++i) sink.le32(0);     // colours used and important: all
  if (alpha) {
    for (const std::uint32_t mask : {0x00FF0000U, 0x0000FF00U, 0x000000FFU, 0xFF000000U}) sink.le32(mask);
    sink.le32(0x73524742);  // colour space: "sRGB"
    for (int i = 0; i < 12; ++i) sink.le32(0);
  }
  for (std::uint32_t gray = 0; gray * 4 < palette; ++gray) sink.le32(gray * 0x010101U);
}

FileBytes encode_bmp(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto width = static_cast<std::size_t>(shape.width);
  FileBytes row((width * channels + 3) / 4 * 4);
  Sink sink;
  write_headers(sink, shape, static_cast<std::uint32_t>(row.size()));
  for (std::int64_t y = shape.height - 1; y >= 0; --y) {
    std::memcpy(row.data(), image.at(0, y), width * channels);
    if (channels >= 3) swap_red_and_blue(row.data(), width, channels, 1);
    sink.add(row);
  }
  return std::move(sink.bytes);
}

}  // namespace

Codec bmp_codec() {
  Codec codec{"BMP", {".bmp", ".dib"}, sniff_bmp, decode_bmp, encode_bmp};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.max_side = 32767;  // the size of the file has 32 bits
  return codec;
}

}  // namespace satin::io
