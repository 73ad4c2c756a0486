#include "metadata/png_chunks.h"

#include <array>

#include "metadata/bytes.h"

namespace satin::io {
namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1U) != 0 ? 0xEDB88320U ^ c >> 1 : c >> 1;
    table[n] = c;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

}  // namespace

bool sniff_png(Bytes bytes, std::string_view) { return starts_with(bytes, signature); }

std::uint32_t crc32_of(Bytes bytes) noexcept {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::byte b : bytes)
    crc = crc_table[(crc ^ std::to_integer<std::uint32_t>(b)) & 255U] ^ crc >> 8;
  return ~crc;
}

PngChunks scan_png(Bytes bytes, bool check_sums) {
  PngChunks result;
  std::size_t at = signature.size();
  while (at <= bytes.size() && bytes.size() - at >= 12) {
    const std::size_t length = be32(bytes, at);
    if (length > bytes.size() - at - 12) break;
    const auto is = [&](std::string_view name) { return starts_with(bytes, name, at + 4); };
    if (check_sums && result.bad_chunk.empty() &&
        crc32_of(bytes.subspan(at + 4, length + 4)) != be32(bytes, at + 8 + length))
      result.bad_chunk = text_of(bytes.subspan(at + 4, 4));
    if (is("acTL")) result.animated = true;
    if (is("eXIf")) result.exif = bytes.subspan(at + 8, length);
    if (is("IEND")) {
      result.complete = true;
      break;
    }
    at += length + 12;
  }
  return result;
}

void refuse_animation(const PngChunks& chunks) {
  if (chunks.animated)
    unsupported("PNG", "animation (APNG)",
                "Save the frames as separate .png files first, for example with ffmpeg.");
}

}  // namespace satin::io
