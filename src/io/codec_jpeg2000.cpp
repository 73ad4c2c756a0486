// JPEG 2000 by OpenCV, reading alone; size and completeness are looked at here.

#include <algorithm>
#include <array>

#include "io/opencv_codec.h"
#include "io/support.h"

namespace satin::io {
namespace {

constexpr const char* format = "JPEG 2000";

/// The codestream inside the boxes of a .jp2 file; the whole of a bare codestream.
Bytes find_codestream(Bytes bytes) {
  if (starts_with(bytes, "\xff\x4f\xff\x51")) return bytes;
  std::size_t at = 0;
  while (bytes.size() - at >= 8) {
    std::uint64_t length = be32(bytes, at);
    std::size_t header = 8;
    if (length == 1) {
      if (bytes.size() - at < 16) truncated(format);
      length = std::uint64_t{be32(bytes, at + 8)} << 32 | be32(bytes, at + 12);
      header = 16;
    }
    if (length == 0) length = bytes.size() - at;
    if (length < header) damaged(format, "a box is shorter than its header");
    if (length > bytes.size() - at) truncated(format);
    if (starts_with(bytes, "jp2c", at + 4)) return bytes.subspan(at + header, length - header);
    at += length;
  }
  truncated(format);
}

Picture decode_jpeg2000(Bytes bytes, const ReadOptions& options) {
  const Bytes stream = find_codestream(bytes);
  constexpr std::size_t size_segment = 42;
  if (stream.size() < size_segment) truncated(format);
  if (!starts_with(stream, "\xff\x4f\xff\x51")) damaged(format, "its codestream has no size");
  const std::uint32_t right = be32(stream, 8), bottom = be32(stream, 12);
  const std::uint32_t left = be32(stream, 16), top = be32(stream, 20);
  const std::uint32_t components = be16(stream, 40);
  if (right <= left || bottom <= top) damaged(format, "its size is not positive");
  const int channels = static_cast<int>(std::min<std::uint32_t>(components, 1000));
  check_limits(right - left, bottom - top, channels, Type::u16, options.limits);
  // The decoder fills in what is missing.
  if (!starts_with(stream.last(2), "\xff\xd9")) truncated(format);
  return decode_with_opencv(format, bytes, options);
}

}  // namespace

Codec jpeg2000_codec() {
  return {format,
          {".jp2", ".j2k", ".j2c", ".jpf"},
          sniff_jpeg2000,
          decode_jpeg2000,
          nullptr,
          {},
          "Satin does not write JPEG 2000. Write .png, .tiff or .webp instead.",
          require_opencv};
}

}  // namespace satin::io
