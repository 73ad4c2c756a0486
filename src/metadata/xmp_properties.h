#pragma once
// Where the properties lie in the text of an XMP packet, so that a packet can be made of two, and two of one.

#include <optional>

#include "metadata/bytes.h"

namespace satin::io {

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

/// Most bytes for the names of a packet's elements, which each spell out a namespace that is written once.
constexpr std::size_t most_xmp_names = std::size_t{16} << 20;

/// Nothing if the packet is not well formed, not UTF-8, has no room for properties or far too many.
[[nodiscard]] std::optional<XmpProperties> xmp_properties(Bytes packet);

/// Elements that may stand in any packet: the properties that are chosen, as many flags as there are
/// properties.
[[nodiscard]] std::string descriptions_with(const XmpProperties& all, const std::vector<bool>& chosen,
                                            Bytes packet);

/// Appends a value as it stands in an attribute.
void append_escaped(std::string& text, std::string_view value);

/// The packet without zeros behind it, which are no XML: single ones, or units of UTF-16.
[[nodiscard]] Bytes without_zeros(Bytes packet);

}  // namespace satin::io
