#pragma once
// XMP of JPEG files (XMP specification, part 3, 1.1.3): a packet in one segment, and what has no room there
// in further ones, the extended packet. The first one names it by its MD5 digest.

#include <map>
#include <optional>
#include <string>

#include "metadata/bytes.h"

namespace satin::io {

/// What the content of a segment of an extended packet begins with.
constexpr std::string_view extended_xmp_name{"http://ns.adobe.com/xmp/extension/\0", 35};

/// Collects the segments of extended packets, which may lie in any order and belong to several packets.
class ExtendedXmp {
 public:
  /// False if this content of an APP1 segment is none of them. The bytes must outlive the object.
  bool add(Bytes segment);

  [[nodiscard]] bool empty() const noexcept { return packets_.empty(); }

  /// The packet of this GUID; nothing if a part is missing or is there twice, or if the digest is another.
  [[nodiscard]] std::optional<FileBytes> packet(const std::string& guid) const;

 private:
  struct Parts {
    std::size_t length = 0;
    std::multimap<std::size_t, Bytes> by_offset;
  };
  std::map<std::string, Parts> packets_;  ///< by GUID
};

/// The GUID that the packet of a file names, as it is written there; empty if there is none.
[[nodiscard]] std::string extended_guid(Bytes xmp);

/// One packet that holds the properties of both; nothing if one of them is not well formed.
[[nodiscard]] std::optional<FileBytes> joined_xmp(Bytes xmp, Bytes extended);

/// Contents of APP1 segments: the packet, or if it is longer than a segment, the smaller properties in a
/// packet that names another with the larger ones, and the segments of that.
[[nodiscard]] std::vector<FileBytes> xmp_segments(Bytes xmp);

/// The digest as 32 digits, in upper case.
[[nodiscard]] std::string md5_of(Bytes bytes);

}  // namespace satin::io
