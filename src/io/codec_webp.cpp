// WebP by OpenCV; the container is looked at here.

#include "opencv_codec.h"
#include "orientation.h"
#include "support.h"

namespace satin::io {
namespace {

constexpr std::size_t riff_header = 12;

std::uint32_t le24(Bytes b, std::size_t at) { return le16(b, at) | byte_at(b, at + 2) << 16; }

struct Contents {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  bool animated = false;
  Bytes exif;
};

void read_size(Bytes chunk, Contents& contents) {
  const Bytes data = chunk.subspan(8);
  if (starts_with(chunk, "VP8X") && data.size() >= 10) {
    constexpr unsigned animation = 2;
    contents.animated = (byte_at(data, 0) & animation) != 0;
    contents.width = le24(data, 4) + 1;
    contents.height = le24(data, 7) + 1;
  } else if (starts_with(chunk, "VP8 ") && data.size() >= 10 && contents.width == 0) {
    contents.width = le16(data, 6) & 0x3FFFU;
    contents.height = le16(data, 8) & 0x3FFFU;
  } else if (starts_with(chunk, "VP8L") && data.size() >= 5 && contents.width == 0) {
    const std::uint32_t bits = le32(data, 1);
    contents.width = (bits & 0x3FFFU) + 1;
    contents.height = (bits >> 14 & 0x3FFFU) + 1;
  }
}

Contents read_contents(Bytes bytes) {
  Contents contents;
  const std::uint64_t end = std::uint64_t{le32(bytes, 4)} + 8;
  if (end > bytes.size()) truncated("WebP");
  bytes = bytes.first(end);
  std::size_t at = riff_header;
  while (at <= bytes.size() && bytes.size() - at >= 8) {
    const std::size_t length = le32(bytes, at + 4);
    if (length > bytes.size() - at - 8) truncated("WebP");
    const Bytes chunk = bytes.subspan(at, length + 8);
    read_size(chunk, contents);
    if (starts_with(chunk, "ANIM") || starts_with(chunk, "ANMF")) contents.animated = true;
    if (starts_with(chunk, "EXIF")) contents.exif = chunk.subspan(8);
    at += 8 + length + length % 2;
  }
  return contents;
}

Image decode_webp(Bytes bytes, const ReadLimits& limits) {
  const Contents contents = read_contents(bytes);
  if (contents.animated)
    unsupported("WebP", "animation", "Save the frames as .png first, for example with anim_dump or ffmpeg.");
  if (contents.width == 0 || contents.height == 0) damaged("WebP", "it holds no picture");
  check_limits(contents.width, contents.height, 4, Type::u8, limits);
  Bytes exif = contents.exif;
  constexpr std::string_view prefix{"Exif\0\0", 6};  // left over from JPEG by some writers
  if (starts_with(exif, prefix)) exif = exif.subspan(prefix.size());
  return upright(decode_with_opencv("WebP", bytes, limits), exif_orientation(exif));
}

FileBytes encode_webp(const ImageView& image, const WriteOptions& options) {
  return encode_with_opencv("WebP", image, ".webp", options.quality);
}

}  // namespace

Codec webp_codec() {
  Codec codec{"WebP", {".webp"}, sniff_webp, decode_webp, encode_webp, {}, "", require_opencv};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.max_side = 16383;
  return codec;
}

}  // namespace satin::io
