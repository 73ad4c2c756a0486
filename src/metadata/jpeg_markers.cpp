#include "metadata/jpeg_markers.h"

#include <algorithm>
#include <map>

#include "metadata/extended_xmp.h"
#include "metadata/iptc.h"
#include "metadata/resolution.h"

namespace satin::io {
namespace {

constexpr int app0 = 0xE0, app1 = 0xE1, app2 = 0xE2, app13 = 0xED, comment = 0xFE;
constexpr std::string_view jfif_name{"JFIF\0", 5};
constexpr std::string_view exif_name{"Exif\0\0", 6};
constexpr std::string_view icc_name{"ICC_PROFILE\0", 12};
constexpr std::string_view photoshop_name{"Photoshop 3.0\0", 14};

/// The parts of a profile, which carry their number, from 1, and their count (ICC.1, B.4).
struct ProfileParts {
  std::map<unsigned, Bytes> parts;
  unsigned count = 0;

  void add(Bytes segment) {
    if (segment.size() < icc_name.size() + 2) return;
    parts[byte_at(segment, icc_name.size())] = segment.subspan(icc_name.size() + 2);
    count = byte_at(segment, icc_name.size() + 1);
  }

  [[nodiscard]] FileBytes joined() const {
    FileBytes profile;
    if (parts.size() != count || count == 0 || parts.begin()->first != 1 || parts.rbegin()->first != count)
      return profile;
    for (const auto& [number, part] : parts) profile.insert(profile.end(), part.begin(), part.end());
    return profile;
  }
};

JpegSegment segment_of(int marker, std::string_view name, Bytes content) {
  JpegSegment segment{marker, copy_of(std::as_bytes(std::span(name)))};
  segment.content.insert(segment.content.end(), content.begin(), content.end());
  return segment;
}

void add_resources(std::vector<JpegSegment>& segments, Bytes resources) {
  constexpr std::size_t most = jpeg_segment_limit - photoshop_name.size();
  for (; !resources.empty(); resources = resources.subspan(std::min(most, resources.size())))
    segments.push_back(segment_of(app13, photoshop_name, resources.first(std::min(most, resources.size()))));
}

/// The packet with its extension, which must be the one that it names.
void join(FileBytes& xmp, const ExtendedXmp& extended, std::vector<std::string>& warnings) {
  if (extended.empty()) return;
  const std::optional<FileBytes> packet = extended.packet(extended_guid(xmp));
  std::optional<FileBytes> both = packet ? joined_xmp(xmp, *packet) : std::nullopt;
  if (both)
    xmp = std::move(*both);
  else
    warnings.emplace_back("The extended XMP packet is damaged and was left out.");
}

}  // namespace

bool sniff_jpeg(Bytes bytes, std::string_view) { return starts_with(bytes, "\xff\xd8\xff"); }

Metadata jpeg_metadata(Bytes bytes, std::vector<std::string>& warnings) {
  Metadata metadata;
  ExtendedXmp extended;
  ProfileParts profile;
  FileBytes resources;  // of Photoshop, cut into segments anywhere
  std::size_t at = 2;
  while (at + 4 <= bytes.size() && byte_at(bytes, at) == 0xFF) {
    const unsigned marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    constexpr unsigned start_of_scan = 0xDA;
    if (marker == start_of_scan) break;
    const std::size_t length = be16(bytes, at + 2);
    if (length < 2 || length > bytes.size() - at - 2) break;
    const Bytes segment = bytes.subspan(at + 4, length - 2);
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
    at += 2 + length;
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

}  // namespace satin::io
