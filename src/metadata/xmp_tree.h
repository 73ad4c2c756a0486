#pragma once
// XMP packets as a tree (ISO 16684-1), for what is looked up in them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

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
