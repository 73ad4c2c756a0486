#pragma once
// XMP packets (ISO 16684-1): the few properties that speak of the pixels; where properties lie in the text,
// so that a packet can be made of two, and two of one; the packet as a tree, for what is looked up in it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// The orientation of the stored picture, 1 to 8: by EXIF, or by the packet (tiff:Orientation) where EXIF
/// says none; nothing if neither does.
[[nodiscard]] std::optional<int> stored_orientation(Bytes exif, Bytes xmp);

/// Makes the packet speak of a picture of this size and orientation: those, the pixel dimensions; no picture
/// in it, and no word of pictures that lay behind it in its file. The result is UTF-8. False for a packet
/// that is not well formed: it becomes empty, as nobody knows what it holds.
[[nodiscard]] bool describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height,
                                   int orientation = 1);

/// Most bytes for the names of a packet's elements, which each spell out a namespace that is written once.
constexpr std::size_t most_xmp_names = std::size_t{16} << 20;

/// A property of what the packet describes: a child or an attribute of an rdf:Description.
struct XmpProperty {
  std::string space, name;
  std::string value;               ///< of an attribute, or the text of an element without children
  std::size_t begin = 0, end = 0;  ///< its text in the packet
  std::size_t description = 0;     ///< that it belongs to
  bool is_attribute = false;
};

struct XmpProperties {
  /// How an rdf:Description with every prefix of its place begins, and the name that ends it.
  struct Description {
    std::string start, name;
  };
  std::vector<XmpProperty> properties;
  std::vector<Description> descriptions;
  std::size_t end = 0;  ///< before the end of rdf:RDF
};

/// Nothing if the packet is not well formed, not UTF-8, has no room for properties or far too many.
[[nodiscard]] std::optional<XmpProperties> xmp_properties(Bytes packet);

/// Elements that may stand in any packet: the properties that are chosen, as many flags as there are
/// properties.
[[nodiscard]] std::string descriptions_with(const XmpProperties& all, const std::vector<bool>& chosen,
                                            Bytes packet);

/// The packet without zeros behind it, which are no XML: single ones, or units of UTF-16.
[[nodiscard]] Bytes without_zeros(Bytes packet);

/// An element of a packet, or an attribute of one, which RDF takes for the same.
struct XmpNode {
  std::string space;  ///< namespace; empty for what has none
  std::string name;   ///< without its prefix
  std::string text;   ///< between its tags, without blanks around it
  std::vector<XmpNode> children;

  /// The first below this one, depth first; null if there is none.
  [[nodiscard]] const XmpNode* find(std::string_view wanted_space, std::string_view wanted_name) const;
  /// The text of that; empty if there is none.
  [[nodiscard]] std::string text_of(std::string_view wanted_space, std::string_view wanted_name) const;
  /// All of them, in the order of the packet.
  [[nodiscard]] std::vector<const XmpNode*> all(std::string_view wanted_space,
                                                std::string_view wanted_name) const;
};

/// Nothing for a packet that is not well formed, that declares entities, or whose elements lie deeper than 64
/// in one another, or are a million.
[[nodiscard]] std::optional<XmpNode> parse_xmp(Bytes packet);

}  // namespace satin::io
