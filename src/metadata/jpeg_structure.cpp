#include "metadata/jpeg_structure.h"

#include <algorithm>

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

/// An entry of the index (DC-007, 5.2.3.3).
struct MpfEntry {
  std::uint32_t type;    ///< "MP Type Code": kind of the picture
  std::uint32_t offset;  ///< from the start of the index's header; 0: the first picture
  std::uint32_t size;
};

std::vector<MpfEntry> mpf_entries(Bytes index) {
  constexpr std::uint32_t entries_tag = 0xB002;
  constexpr std::size_t entry_bytes = 16;
  constexpr std::uint32_t type_bits = 0xFFFFFF;
  std::vector<MpfEntry> result;
  const ExifReader reader(index);
  const auto entry = reader.valid() ? reader.find(reader.first_directory(), entries_tag) : std::nullopt;
  if (!entry || entry->value > index.size()) return result;
  const std::size_t bytes = std::min<std::size_t>(entry->count, index.size() - entry->value);
  for (std::size_t i = 0; i + entry_bytes <= bytes; i += entry_bytes)
    result.push_back({reader.u32(entry->value + i) & type_bits, reader.u32(entry->value + i + 8),
                      reader.u32(entry->value + i + 4)});
  return result;
}

/// Calls visit(entry, start) for the pictures of the index; `start` is the place in the file.
template <class Visit>
void for_mpf_pictures(Bytes file, const Visit& visit) {
  const std::vector<JpegPart> parts = jpeg_parts(file);
  const auto index = std::ranges::find_if(
      parts, [](const JpegPart& part) { return part.marker == app2 && starts_with(part.content, mpf_name); });
  if (index == parts.end()) return;
  const std::size_t header = index->at + 4 + mpf_name.size();
  for (const MpfEntry& entry : mpf_entries(index->content.subspan(mpf_name.size())))
    visit(entry, entry.offset == 0 ? 0 : header + entry.offset);
}

/// Whether a picture is a gain map, depth or a matte by its own XMP or by ISO 21496-1.
bool is_auxiliary(Bytes jpeg) {
  constexpr std::string_view spaces[] = {
      "http://ns.adobe.com/hdr-gain-map/", "http://ns.apple.com/HDRGainMap/",
      "http://ns.apple.com/pixeldatainfo/", "http://ns.apple.com/depthData/"};
  return std::ranges::any_of(jpeg_parts(jpeg), [&](const JpegPart& part) {
    if (part.marker == app2) return starts_with(part.content, "urn:iso:std:iso:ts:21496:-1");
    return part.marker == app1 && std::ranges::any_of(spaces, [&](std::string_view space) {
             return text_of(part.content).find(space) != std::string_view::npos;
           });
  });
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
  for_mpf_pictures(file, [&](const MpfEntry& entry, std::size_t start) {
    const bool inside = start <= file.size() && entry.size <= file.size() - start;
    pictures.push_back(inside ? file.subspan(start, entry.size) : Bytes());
  });
  return pictures;
}

std::vector<std::size_t> further_jpegs(Bytes file) {
  constexpr std::uint32_t undefined = 0, large_thumbnail = 0x01, gain_map = 0x05;
  std::vector<std::size_t> places;
  for_mpf_pictures(file, [&](const MpfEntry& entry, std::size_t start) {
    const std::uint32_t kind = entry.type >> 16;
    if (start == 0 || start >= file.size() || kind == large_thumbnail || kind == gain_map) return;
    const Bytes picture = file.subspan(start);
    if (starts_with(picture, "\xff\xd8\xff") && (entry.type != undefined || !is_auxiliary(picture)))
      places.push_back(start);
  });
  return places;
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
