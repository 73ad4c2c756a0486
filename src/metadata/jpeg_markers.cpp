#include "metadata/jpeg_markers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "metadata/exif.h"
#include "metadata/iptc.h"
#include "metadata/xmp.h"

namespace satin::io {
namespace {

constexpr unsigned app0 = 0xE0, app1 = 0xE1, app2 = 0xE2, app13 = 0xED, comment = 0xFE;
constexpr unsigned start_of_scan = 0xDA, end_of_image = 0xD9;
constexpr std::string_view jfif_name{"JFIF\0", 5};
constexpr std::string_view icc_name{"ICC_PROFILE\0", 12};
constexpr std::string_view photoshop_name{"Photoshop 3.0\0", 14};

/// The segments of a profile, which have a number, from 1, and their count (ICC.1, B.4).
struct ProfileSegments {
  std::map<unsigned, Bytes> segments;
  unsigned count = 0;

  void add(Bytes segment) {
    if (segment.size() < icc_name.size() + 2) return;
    segments[byte_at(segment, icc_name.size())] = segment.subspan(icc_name.size() + 2);
    count = byte_at(segment, icc_name.size() + 1);
  }

  [[nodiscard]] FileBytes joined() const {
    FileBytes profile;
    if (segments.size() != count || count == 0 || segments.begin()->first != 1 ||
        segments.rbegin()->first != count)
      return profile;
    for (const auto& [number, content] : segments)
      profile.insert(profile.end(), content.begin(), content.end());
    return profile;
  }
};

JpegSegment segment_of(unsigned marker, std::string_view name, Bytes content) {
  JpegSegment segment{marker, copy_of(std::as_bytes(std::span(name)))};
  segment.content.insert(segment.content.end(), content.begin(), content.end());
  return segment;
}

void add_resources(std::vector<JpegSegment>& segments, Bytes resources) {
  constexpr std::size_t most = jpeg_segment_limit - photoshop_name.size();
  for (; !resources.empty(); resources = resources.subspan(std::min(most, resources.size())))
    segments.push_back(segment_of(app13, photoshop_name, resources.first(std::min(most, resources.size()))));
}

/// Joins a packet with the extended packet that it names.
void join(FileBytes& xmp, const ExtendedXmp& extended, std::vector<std::string>& warnings) {
  if (extended.empty()) return;
  const std::optional<FileBytes> packet = extended.packet(extended_guid(xmp));
  std::optional<FileBytes> both = packet ? joined_xmp(xmp, *packet) : std::nullopt;
  if (both)
    xmp = std::move(*both);
  else
    warnings.emplace_back("The extended XMP packet is damaged and was left out.");
}

constexpr std::string_view mpf_name{"MPF\0", 4};

/// Whether the marker has no segment: RST0 to RST7, TEM and SOI.
constexpr bool has_no_segment(unsigned marker) {
  return (marker >= 0xD0 && marker <= 0xD8) || marker == 0x01;
}

/// Returns the end of the segment with its marker at `at`, or the file's size if it is not complete.
std::size_t end_of_segment(Bytes file, std::size_t at) {
  if (at + 4 > file.size()) return file.size();
  const std::size_t length = be16(file, at + 2);
  return length < 2 || length > file.size() - at - 2 ? file.size() : at + 2 + length;
}

/// An entry of the index (DC-007, 5.2.3.3).
struct MpfEntry {
  std::uint32_t type;    ///< kind of the picture ("MP Type Code")
  std::uint32_t offset;  ///< offset from the start of the index's header; 0: the first picture
  std::uint32_t size;
};

std::vector<MpfEntry> mpf_entries(Bytes index) {
  constexpr std::uint32_t entries_tag = 0xB002;
  constexpr std::size_t entry_bytes = 16;
  constexpr std::uint32_t type_bits = 0xFFFFFF;
  std::vector<MpfEntry> result;
  const ExifReader reader(index);
  const auto entry = reader.find(reader.first_directory(), entries_tag);
  if (!entry || entry->value > index.size()) return result;
  const std::size_t bytes = std::min<std::size_t>(entry->count, index.size() - entry->value);
  for (std::size_t i = 0; i + entry_bytes <= bytes; i += entry_bytes)
    result.push_back({reader.u32(entry->value + i) & type_bits, reader.u32(entry->value + i + 8),
                      reader.u32(entry->value + i + 4)});
  return result;
}

/// Calls visit(entry, start) for the pictures of the index; `start` is the offset in the file.
template <class Visit>
void for_mpf_pictures(Bytes file, const Visit& visit) {
  const std::vector<PlacedSegment> segments = placed_segments(file);
  const auto index = std::ranges::find_if(segments, [](const PlacedSegment& segment) {
    return segment.marker == app2 && starts_with(segment.content, mpf_name);
  });
  if (index == segments.end()) return;
  const std::size_t header = index->at + 4 + mpf_name.size();
  for (const MpfEntry& entry : mpf_entries(index->content.subspan(mpf_name.size())))
    visit(entry, entry.offset == 0 ? 0 : header + entry.offset);
}

/// Whether a picture is a gain map, depth or a matte by its own XMP or by ISO 21496-1.
bool is_auxiliary(Bytes jpeg) {
  constexpr std::string_view spaces[] = {
      "http://ns.adobe.com/hdr-gain-map/", "http://ns.apple.com/HDRGainMap/",
      "http://ns.apple.com/pixeldatainfo/", "http://ns.apple.com/depthData/"};
  return std::ranges::any_of(placed_segments(jpeg), [&](const PlacedSegment& segment) {
    if (segment.marker == app2) return starts_with(segment.content, iso_gain_map_name);
    return segment.marker == app1 && std::ranges::any_of(spaces, [&](std::string_view space) {
             return text_of(segment.content).find(space) != std::string_view::npos;
           });
  });
}

}  // namespace

std::size_t marker_from(Bytes file, std::size_t at) {
  for (; at + 1 < file.size(); ++at)
    if (byte_at(file, at) == 0xFF && byte_at(file, at + 1) != 0 && byte_at(file, at + 1) != 0xFF) return at;
  return file.size();
}

bool sniff_jpeg(Bytes bytes, std::string_view) { return starts_with(bytes, "\xff\xd8\xff"); }

Metadata jpeg_metadata(Bytes bytes, std::vector<std::string>& warnings) {
  Metadata metadata;
  ExtendedXmp extended;
  ProfileSegments profile;
  FileBytes resources;  // Photoshop's resources, which are divided into segments anywhere
  for (const auto& [marker, at, segment] : placed_segments(bytes)) {
    if (marker == app0 && starts_with(segment, jfif_name)) metadata.resolution = resolution_of_jfif(segment);
    if (marker == comment) metadata.jpeg_comments.push_back(copy_of(segment));
    if (marker == app1 && metadata.exif.empty() && starts_with(segment, exif_name))
      metadata.exif = copy_of(segment.subspan(exif_name.size()));
    if (marker == app1 && metadata.xmp.empty() && starts_with(segment, xmp_name))
      metadata.xmp = copy_of(segment.subspan(xmp_name.size()));
    if (marker == app1) extended.add(segment);
    if (marker == app2 && starts_with(segment, icc_name)) profile.add(segment);
    if (marker == app13 && starts_with(segment, photoshop_name))
      resources.insert(resources.end(), segment.begin() + static_cast<std::ptrdiff_t>(photoshop_name.size()),
                       segment.end());
  }
  metadata.icc = profile.joined();
  metadata.iptc = iptc_in_resources(resources);
  join(metadata.xmp, extended, warnings);
  return metadata;
}

std::vector<JpegSegment> jpeg_segments(const Metadata& metadata) {
  std::vector<JpegSegment> segments;
  if (!metadata.exif.empty() && metadata.exif.size() <= longest_jpeg_exif)
    segments.push_back(segment_of(app1, exif_name, metadata.exif));
  for (FileBytes& content : xmp_segments(metadata.xmp)) segments.push_back({app1, std::move(content)});
  if (!metadata.iptc.empty()) add_resources(segments, resources_of_iptc(metadata.iptc));
  for (const FileBytes& text : metadata.jpeg_comments) segments.push_back({comment, text});
  const std::size_t most = jpeg_segment_limit - icc_name.size() - 2;
  const std::size_t count = (metadata.icc.size() + most - 1) / most;
  if (count > 255) return segments;
  for (std::size_t i = 0; i < count; ++i) {
    std::string head(icc_name);
    head += static_cast<char>(i + 1);
    head += static_cast<char>(count);
    const Bytes icc(metadata.icc);
    segments.push_back(segment_of(app2, head, icc.subspan(i * most, std::min(most, icc.size() - i * most))));
  }
  return segments;
}

std::vector<PlacedSegment> placed_segments(Bytes file) {
  std::vector<PlacedSegment> segments;
  if (!starts_with(file, "\xff\xd8")) return segments;
  for (std::size_t at = marker_from(file, 2); at + 4 <= file.size(); at = marker_from(file, at)) {
    const unsigned marker = byte_at(file, at + 1);
    if (marker == start_of_scan || marker == end_of_image) break;
    if (has_no_segment(marker)) {
      at += 2;
      continue;
    }
    const std::size_t end = end_of_segment(file, at);
    if (end - at < 4 || end - at != 2U + be16(file, at + 2)) break;
    segments.push_back({marker, at, file.subspan(at + 4, end - at - 4)});
    at = end;
  }
  return segments;
}

std::size_t jpeg_size(Bytes file) {
  if (!starts_with(file, "\xff\xd8")) return 0;
  for (std::size_t at = marker_from(file, 2); at < file.size(); at = marker_from(file, at)) {
    const unsigned marker = byte_at(file, at + 1);
    if (marker == end_of_image) return at + 2;
    at = has_no_segment(marker) ? at + 2 : end_of_segment(file, at);
  }
  return 0;
}

bool is_lossless_jpeg(Bytes file) {
  return std::ranges::any_of(placed_segments(file), [](const PlacedSegment& segment) {
    const unsigned marker = segment.marker;
    return marker == 0xC3 || marker == 0xC7 || marker == 0xCB || marker == 0xCF;
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
  std::vector<std::size_t> offsets;
  for_mpf_pictures(file, [&](const MpfEntry& entry, std::size_t start) {
    const std::uint32_t kind = entry.type >> 16;
    if (start == 0 || start >= file.size() || kind == large_thumbnail || kind == gain_map) return;
    const Bytes picture = file.subspan(start);
    if (starts_with(picture, "\xff\xd8\xff") && (entry.type != undefined || !is_auxiliary(picture)))
      offsets.push_back(start);
  });
  return offsets;
}

FileBytes jpeg_alone(Bytes file) {
  const std::size_t size = jpeg_size(file);
  FileBytes result;
  std::size_t kept = 0;
  for (const PlacedSegment& segment : placed_segments(file.first(size))) {
    const bool refers_to_others =
        (segment.marker == app2 &&
         (starts_with(segment.content, mpf_name) || starts_with(segment.content, iso_gain_map_name))) ||
        (segment.marker == app1 &&
         (starts_with(segment.content, xmp_name) || starts_with(segment.content, extended_xmp_name)));
    if (!refers_to_others) continue;
    result.insert(result.end(), file.begin() + static_cast<std::ptrdiff_t>(kept),
                  file.begin() + static_cast<std::ptrdiff_t>(segment.at));
    kept = segment.at + 4 + segment.content.size();
  }
  result.insert(result.end(), file.begin() + static_cast<std::ptrdiff_t>(kept),
                file.begin() + static_cast<std::ptrdiff_t>(size));
  return result;
}

}  // namespace satin::io
