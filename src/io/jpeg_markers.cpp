#include "jpeg_markers.h"

#include "orientation.h"
#include "support.h"

namespace satin::io {

bool sniff_jpeg(Bytes bytes, std::string_view) { return starts_with(bytes, "\xff\xd8\xff"); }

int jpeg_orientation(Bytes bytes) noexcept {
  std::size_t at = 2;
  while (at + 4 <= bytes.size() && byte_at(bytes, at) == 0xFF) {
    const unsigned marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    constexpr unsigned start_of_scan = 0xDA, app1 = 0xE1;
    if (marker == start_of_scan) break;
    const std::size_t length = be16(bytes, at + 2);
    if (length < 2 || length > bytes.size() - at - 2) break;
    const Bytes segment = bytes.subspan(at + 4, length - 2);
    constexpr std::string_view exif{"Exif\0\0", 6};
    if (marker == app1 && starts_with(segment, exif)) return exif_orientation(segment.subspan(exif.size()));
    at += 2 + length;
  }
  return 1;
}

}  // namespace satin::io
