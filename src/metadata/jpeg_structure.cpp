#include "metadata/jpeg_structure.h"

#include <algorithm>
#include <utility>

#include "metadata/exif_reader.h"
#include "metadata/jpeg_markers.h"

namespace satin::io {
namespace {

constexpr unsigned start_of_scan = 0xDA, end_of_image = 0xD9, app1 = 0xE1, app2 = 0xE2;
constexpr std::string_view mpf_name{"MPF\0", 4};
constexpr std::string_view extended_name{"http://ns.adobe.com/xmp/extension/\0", 35};

/// RST0 to RST7, TEM and SOI have no length behind them.
constexpr bool stands_alone(unsigned marker) { return (marker >= 0xD0 && marker <= 0xD8) || marker == 0x01; }

/// The next marker at or behind `at`; the file's size if there is none.
std::size_t marker_from(Bytes file, std::size_t at) {
  for (; at + 1 < file.size(); ++at)
    if (byte_at(file, at) == 0xFF && byte_at(file, at + 1) != 0 && byte_at(file, at + 1) != 0xFF) return at;
  return file.size();
}

/// Behind the segment whose marker stands at `at`; the file's size if it is not whole.
std::size_t behind_segment(Bytes file, std::size_t at) {
  if (at + 4 > file.size()) return file.size();
  const std::size_t length = be16(file, at + 2);
  return length < 2 || length > file.size() - at - 2 ? file.size() : at + 2 + length;
}

/// Places and sizes of an index (DC-007, 5.2.3.3), from the start of its header on.
std::vector<std::pair<std::uint32_t, std::uint32_t>> mpf_entries(Bytes index) {
  constexpr std::uint32_t entries_tag = 0xB002;
  constexpr std::size_t entry_bytes = 16;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  const ExifReader reader(index);
  const auto entry = reader.valid() ? reader.find(reader.first_directory(), entries_tag) : std::nullopt;
  if (!entry || entry->value > index.size()) return result;
  const std::size_t bytes = std::min<std::size_t>(entry->count, index.size() - entry->value);
  for (std::size_t i = 0; i + entry_bytes <= bytes; i += entry_bytes)
    result.emplace_back(reader.u32(entry->value + i + 8), reader.u32(entry->value + i + 4));
  return result;
}

}  // namespace

std::vector<JpegPart> jpeg_parts(Bytes file) {
  std::vector<JpegPart> parts;
  if (!starts_with(file, "\xff\xd8")) return parts;
  for (std::size_t at = marker_from(file, 2); at + 4 <= file.size(); at = marker_from(file, at)) {
    const unsigned marker = byte_at(file, at + 1);
    if (marker == start_of_scan || marker == end_of_image) break;
    if (stands_alone(marker)) {
      at += 2;
      continue;
    }
    const std::size_t end = behind_segment(file, at);
    if (end - at < 4 || end - at != 2U + be16(file, at + 2)) break;
    parts.push_back({marker, at, file.subspan(at + 4, end - at - 4)});
    at = end;
  }
  return parts;
}

std::size_t jpeg_size(Bytes file) {
  if (!starts_with(file, "\xff\xd8")) return 0;
  for (std::size_t at = marker_from(file, 2); at < file.size(); at = marker_from(file, at)) {
    const unsigned marker = byte_at(file, at + 1);
    if (marker == end_of_image) return at + 2;
    at = stands_alone(marker) ? at + 2 : behind_segment(file, at);
  }
  return 0;
}

bool is_lossless_jpeg(Bytes file) {
  return std::ranges::any_of(jpeg_parts(file), [](const JpegPart& part) {
    return part.marker == 0xC3 || part.marker == 0xC7 || part.marker == 0xCB || part.marker == 0xCF;
  });
}

std::vector<Bytes> mpf_pictures(Bytes file) {
  std::vector<Bytes> pictures;
  for (const JpegPart& part : jpeg_parts(file)) {
    if (part.marker != app2 || !starts_with(part.content, mpf_name)) continue;
    const std::size_t header = part.at + 4 + mpf_name.size();
    for (const auto& [offset, size] : mpf_entries(part.content.subspan(mpf_name.size()))) {
      const std::size_t start = offset == 0 ? 0 : header + offset;  // 0 is the first picture
      const bool inside = start <= file.size() && size <= file.size() - start;
      pictures.push_back(inside ? file.subspan(start, size) : Bytes());
    }
    break;
  }
  return pictures;
}

FileBytes jpeg_alone(Bytes file) {
  const std::size_t size = jpeg_size(file);
  FileBytes result;
  std::size_t kept = 0;
  for (const JpegPart& part : jpeg_parts(file.first(size))) {
    const bool of_others = (part.marker == app2 && starts_with(part.content, mpf_name)) ||
                           (part.marker == app1 && (starts_with(part.content, xmp_name) ||
                                                    starts_with(part.content, extended_name)));
    if (!of_others) continue;
    result.insert(result.end(), file.begin() + static_cast<std::ptrdiff_t>(kept),
                  file.begin() + static_cast<std::ptrdiff_t>(part.at));
    kept = part.at + 4 + part.content.size();
  }
  result.insert(result.end(), file.begin() + static_cast<std::ptrdiff_t>(kept),
                file.begin() + static_cast<std::ptrdiff_t>(size));
  return result;
}

}  // namespace satin::io
