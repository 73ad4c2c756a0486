#pragma once
// XMP packets (ISO 16684-1): changing the properties that describe the pixels, finding properties in the text
// so that packets can be joined and divided, and parsing a packet as a tree.
//
// In JPEG files (XMP specification, part 3, 1.1.3) a packet is one segment. What does not fit is an extended
// packet in further segments, which the first one names by its MD5 digest.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

/// Returns the orientation of the stored picture, 1 to 8, from EXIF or otherwise from the packet
/// (tiff:Orientation); nothing if neither has one.
[[nodiscard]] std::optional<int> stored_orientation(Bytes exif, Bytes xmp);

/// Adapts the packet to a picture of this size and orientation, and removes pictures in it and all properties
/// of other pictures in its file. The result is UTF-8. Returns false for a packet that is not well formed,
/// and clears it because its content is unknown.
[[nodiscard]] bool describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height,
                                   int orientation = 1);

/// Adapts a packet that describe_in_xmp() made to a result of another size. Returns the names of properties
/// that were removed.
[[nodiscard]] std::vector<std::string> frame_in_xmp(FileBytes& xmp, const Framing& framing);

/// Largest number of bytes for the names of a packet's elements, each of which repeats its namespace.
constexpr std::size_t most_xmp_names = std::size_t{16} << 20;

/// A property: a child or an attribute of an rdf:Description.
struct XmpProperty {
  std::string space, name;
  std::string value;               ///< value of an attribute, or text of an element without children
  std::size_t begin = 0, end = 0;  ///< range of its text in the packet
  std::size_t description = 0;     ///< index of its description
  bool is_attribute = false;
};

struct XmpProperties {
  /// The start tag of an rdf:Description with all prefixes that are declared there, and the name for its end
  /// tag.
  struct Description {
    std::string start, name;
  };
  std::vector<XmpProperty> properties;
  std::vector<Description> descriptions;
  std::size_t end = 0;  ///< position of the end tag of rdf:RDF
};

/// Returns nothing if the packet is not well formed or not UTF-8, or if it has no rdf:RDF or too many
/// properties.
[[nodiscard]] std::optional<XmpProperties> xmp_properties(Bytes packet);

/// Returns descriptions with the chosen properties that can be inserted into any packet. `chosen` has a flag
/// for each property.
[[nodiscard]] std::string descriptions_with(const XmpProperties& all, const std::vector<bool>& chosen,
                                            Bytes packet);

/// Returns the packet without zeros at its end, which are single bytes or units of UTF-16.
[[nodiscard]] Bytes without_zeros(Bytes packet);

/// An element of a packet or an attribute, between which RDF makes no difference.
struct XmpNode {
  std::string space;  ///< namespace, or empty
  std::string name;   ///< name without its prefix
  std::string text;   ///< text between its tags, without blanks at its ends
  std::vector<XmpNode> children;

  /// Returns the first descendant of this name in depth-first order, or null.
  [[nodiscard]] const XmpNode* find(std::string_view wanted_space, std::string_view wanted_name) const;
  [[nodiscard]] std::string text_of(std::string_view wanted_space, std::string_view wanted_name) const;
  /// Returns all descendants of this name in the order of the packet.
  [[nodiscard]] std::vector<const XmpNode*> all(std::string_view wanted_space,
                                                std::string_view wanted_name) const;
};

/// Returns nothing for a packet that is not well formed, declares entities, or has elements nested deeper
/// than 64 or a million of them.
[[nodiscard]] std::optional<XmpNode> parse_xmp(Bytes packet);

/// Start of the content of a segment of an extended packet.
constexpr std::string_view extended_xmp_name{"http://ns.adobe.com/xmp/extension/\0", 35};

/// Collects the segments of extended packets, in any order and from several packets.
class ExtendedXmp {
 public:
  /// Adds the content of an APP1 segment. Returns false if it is no extended packet. The bytes must outlive
  /// the object.
  bool add(Bytes segment);

  [[nodiscard]] bool empty() const noexcept { return packets_.empty(); }

  /// Returns the packet of this GUID; nothing if a segment is missing or repeated, or if the digest differs.
  [[nodiscard]] std::optional<FileBytes> packet(const std::string& guid) const;

 private:
  struct Packet {
    std::size_t length = 0;
    std::multimap<std::size_t, Bytes> by_offset;
  };
  std::map<std::string, Packet> packets_;  ///< packets by GUID
};

/// Returns the GUID of the extended packet that a packet names, as written there; empty if there is none.
[[nodiscard]] std::string extended_guid(Bytes xmp);

/// Returns one packet with the properties of both; nothing if one of them is not well formed.
[[nodiscard]] std::optional<FileBytes> joined_xmp(Bytes xmp, Bytes extended);

/// Returns the contents of APP1 segments: the packet, or if it is longer than a segment, a packet with the
/// smaller properties that names an extended packet with the larger ones, and the segments of that.
[[nodiscard]] std::vector<FileBytes> xmp_segments(Bytes xmp);

/// Returns the MD5 digest as 32 digits in upper case.
[[nodiscard]] std::string md5_of(Bytes bytes);

}  // namespace satin::io
