// PNG without libpng: stb_image reads, a small writer of our own writes 8 and 16 bits.

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "io/stb.h"
#include "io/support.h"
#include "metadata/exif.h"
#include "metadata/png_chunks.h"

namespace satin::io {
namespace {

Picture decode_png(Bytes bytes, const ReadOptions& options) {
  const PngChunks chunks = scan_png(bytes, true);
  refuse_unreadable(chunks);
  // stb looks at neither.
  if (!chunks.bad_chunk.empty())
    damaged("PNG", "the checksum of its " + chunks.bad_chunk + " chunk is wrong");
  if (!chunks.complete) truncated("PNG");
  return upright(decode_with_stb("PNG", bytes, options), exif_orientation(chunks.exif).value_or(1),
                 options.allocator);
}

unsigned paeth(unsigned left, unsigned above, unsigned corner) {
  const int estimate = static_cast<int>(left + above) - static_cast<int>(corner);
  const int to_left = std::abs(estimate - static_cast<int>(left));
  const int to_above = std::abs(estimate - static_cast<int>(above));
  const int to_corner = std::abs(estimate - static_cast<int>(corner));
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

/// One row with filter 4 (Paeth) of the PNG specification; `above` may be null.
void filter_row(const std::byte* row, const std::byte* above, std::size_t size, std::size_t pixel,
                std::byte* target) {
  *target++ = std::byte{4};
  for (std::size_t i = 0; i < size; ++i) {
    const auto value = [&](const std::byte* from, std::size_t back) {
      return from == nullptr || i < back ? 0U : std::to_integer<unsigned>(from[i - back]);
    };
    const unsigned predicted = paeth(value(row, pixel), value(above, 0), value(above, pixel));
    *target++ = static_cast<std::byte>(std::to_integer<unsigned>(row[i]) - predicted);
  }
}

void write_chunk(Sink& sink, std::string_view name, Bytes content) {
  sink.be32(static_cast<std::uint32_t>(content.size()));
  const std::size_t start = sink.position;
  sink.text(name);
  sink.add(content);
  sink.be32(crc32_of(Bytes(sink.bytes).subspan(start)));
}

FileBytes encode_png(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const auto row_bytes = static_cast<std::size_t>(image.strides.row);
  const auto rows = static_cast<std::size_t>(shape.height);
  const auto pixel = static_cast<std::size_t>(image.strides.pixel);
  const bool swap = shape.type == Type::u16 && std::endian::native == std::endian::little;

  FileBytes filtered((row_bytes + 1) * rows);
  std::array<FileBytes, 2> swapped{FileBytes(swap ? row_bytes : 0), FileBytes(swap ? row_bytes : 0)};
  const std::byte* above = nullptr;
  for (std::size_t y = 0; y < rows; ++y) {
    const std::byte* row = image.at(0, static_cast<std::int64_t>(y));
    if (swap) {
      FileBytes& copy = swapped[y % 2];
      std::memcpy(copy.data(), row, row_bytes);
      swap_bytes(copy.data(), row_bytes / 2, 2);
      row = copy.data();
    }
    filter_row(row, above, row_bytes, pixel, filtered.data() + (row_bytes + 1) * y);
    above = row;
  }

  constexpr std::array<unsigned, 4> colour_types{0, 4, 2, 6};
  Sink header;
  header.be32(static_cast<std::uint32_t>(shape.width));
  header.be32(static_cast<std::uint32_t>(shape.height));
  header.u8(shape.type == Type::u16 ? 16 : 8);
  header.u8(colour_types[static_cast<std::size_t>(shape.channels - 1)]);
  for (int i = 0; i < 3; ++i) header.u8(0);  // deflate, the five filters, not interlaced

  Sink sink;
  sink.text("\x89PNG\r\n\x1a\n");
  write_chunk(sink, "IHDR", header.bytes);
  write_chunk(sink, "IDAT", deflate_with_stb(filtered));
  write_chunk(sink, "IEND", {});
  return std::move(sink.bytes);
}

}  // namespace

Codec png_codec() {
  Codec codec{"PNG", {".png"}, sniff_png, decode_png, encode_png};
  codec.holds = {set_of(Type::u8, Type::u16), set_of(1, 2, 3, 4), set_of(Alpha::none, Alpha::straight)};
  return codec;
}

}  // namespace satin::io
