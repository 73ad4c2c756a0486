#include "metadata/xmp_properties.h"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <utility>

namespace satin::io {
namespace {

constexpr std::string_view rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr std::string_view xml = "http://www.w3.org/XML/1998/namespace";
constexpr char separator = '\n';  // of namespace and name, as expat gives them

struct Name {
  std::string_view space, local;
};

Name split(std::string_view name) {
  const std::size_t at = name.rfind(separator);
  return at == std::string_view::npos ? Name{{}, name} : Name{name.substr(0, at), name.substr(at + 1)};
}

bool is_zero(std::byte value) { return value == std::byte{0}; }

/// Every packet begins with a mark or in ASCII.
bool is_utf16(Bytes packet) {
  return packet.size() > 1 && (is_zero(packet[0]) || is_zero(packet[1]) || byte_at(packet, 0) >= 0xFE);
}

/// The attributes of a start tag, as they are written.
std::vector<std::string_view> attributes_in(std::string_view tag) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> attributes;
  std::size_t at = tag.find_first_of(blanks);
  while ((at = tag.find_first_not_of(blanks, at)) != std::string_view::npos) {
    const std::size_t open = tag.find_first_of("\"'", at);
    if (open == std::string_view::npos) break;
    const std::size_t close = tag.find(tag[open], open + 1);
    attributes.push_back(tag.substr(at, close + 1 - at));
    at = close + 1;
  }
  return attributes;
}

class Reader {
 public:
  explicit Reader(Bytes packet)
      : packet_(packet), parser_(XML_ParserCreateNS("UTF-8", separator), &XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* reader, const char* name, const char** attributes) {
          static_cast<Reader*>(reader)->start(name, attributes);
        },
        [](void* reader, const char*) { static_cast<Reader*>(reader)->end(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* reader, const char* text, int length) {
      static_cast<Reader*>(reader)->add({text, static_cast<std::size_t>(length)});
    });
    XML_SetNamespaceDeclHandler(
        parser_.get(),
        [](void* reader, const char* prefix, const char* space) {
          static_cast<Reader*>(reader)->prefixes_.push_back(
              {prefix != nullptr ? prefix : "", space != nullptr ? space : ""});
        },
        [](void* reader, const char*) { static_cast<Reader*>(reader)->prefixes_.pop_back(); });
    XML_SetStartDoctypeDeclHandler(parser_.get(),
                                   [](void* reader, const char*, const char*, const char*, int) {
                                     XML_StopParser(static_cast<Reader*>(reader)->parser_.get(), XML_FALSE);
                                   });
  }

  [[nodiscard]] std::optional<XmpProperties> read() {
    constexpr std::size_t largest_packet = std::size_t{1} << 30;
    // Expat would read UTF-16 as well, but counts other bytes then.
    if (packet_.size() > largest_packet || is_utf16(packet_)) return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(packet_.data());
    const bool good =
        XML_Parse(parser_.get(), text, static_cast<int>(packet_.size()), XML_TRUE) == XML_STATUS_OK;
    return good && result_.end != 0 ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  struct Prefix {
    std::string prefix, space;
  };

  [[nodiscard]] std::size_t position() const {
    return static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_.get()));
  }
  [[nodiscard]] std::size_t length() const {
    return static_cast<std::size_t>(XML_GetCurrentByteCount(parser_.get()));
  }

  void start(const char* qualified, const char** attributes) {
    ++depth_;
    const Name name = split(qualified);
    if (rdf_depth_ == 0 && result_.end == 0 && name.space == rdf && name.local == "RDF") rdf_depth_ = depth_;
    if (rdf_depth_ == 0) return;
    if (depth_ == rdf_depth_ + 1) add_description(attributes);
    if (depth_ == rdf_depth_ + 2) {
      count(name);
      result_.properties.push_back({std::string(name.space), std::string(name.local), "", position(), 0,
                                    result_.descriptions.size() - 1, false});
    }
    if (depth_ == rdf_depth_ + 3) result_.properties.back().value.clear();
  }

  void count(const Name& name) {
    names_size_ += sizeof(XmpProperty) + name.space.size();
    if (names_size_ > most_xmp_names) XML_StopParser(parser_.get(), XML_FALSE);
  }

  /// What is of RDF or of no namespace says what is described; every other attribute is a property.
  void add_description(const char** attributes) {
    const std::string_view tag = text_of(packet_.subspan(position(), length()));
    XmpProperties::Description& description = result_.descriptions.emplace_back();
    description.name = tag.substr(1, tag.find_first_of(" \t\r\n/>") - 1);
    description.start = '<' + description.name;
    append_prefixes(description.start);
    for (const std::string_view attribute : attributes_in(tag)) {
      const std::string_view written = attribute.substr(0, attribute.find_first_of(" \t\r\n="));
      if (written == "xmlns" || written.starts_with("xmlns:")) continue;
      const Name name = split(attributes[0]);
      if (name.space.empty() || name.space == rdf || name.space == xml) {
        (description.start += ' ') += attribute;
      } else {
        count(name);
        const auto begin = static_cast<std::size_t>(attribute.data() - text_of(packet_).data());
        result_.properties.push_back({std::string(name.space), std::string(name.local), attributes[1], begin,
                                      begin + attribute.size(), result_.descriptions.size() - 1, true});
      }
      attributes += 2;
    }
  }

  /// The last declaration of a prefix hides earlier ones. Limits keep hostile packets from growing: honest
  /// ones declare a few dozen.
  void append_prefixes(std::string& start) {
    constexpr std::size_t most_prefixes = 1000, slack = 1 << 16;
    if (prefixes_.size() > most_prefixes || starts_size_ > packet_.size() + slack) {
      XML_StopParser(parser_.get(), XML_FALSE);
      return;
    }
    std::set<std::string_view> seen;
    for (auto declared = prefixes_.rbegin(); declared != prefixes_.rend(); ++declared) {
      const auto& [prefix, space] = *declared;
      if (!seen.insert(prefix).second || space.empty()) continue;
      start += " xmlns" + (prefix.empty() ? "" : ':' + prefix) + "=\"";
      append_escaped(start, space);
      start += '"';
    }
    starts_size_ += start.size();
  }

  void end() {
    if (rdf_depth_ != 0 && depth_ == rdf_depth_ + 2) result_.properties.back().end = position() + length();
    if (depth_ == rdf_depth_ && length() != 0) result_.end = position();
    if (depth_ == rdf_depth_) rdf_depth_ = 0;
    --depth_;
  }

  void add(std::string_view text) {
    if (rdf_depth_ != 0 && depth_ == rdf_depth_ + 2) result_.properties.back().value += text;
  }

  Bytes packet_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  XmpProperties result_;
  std::vector<Prefix> prefixes_;
  std::size_t starts_size_ = 0;  ///< of all descriptions
  std::size_t names_size_ = 0;   ///< of all properties
  std::size_t depth_ = 0;
  std::size_t rdf_depth_ = 0;  ///< of rdf:RDF while it is open
};

}  // namespace

std::optional<XmpProperties> xmp_properties(Bytes packet) { return Reader(packet).read(); }

std::string descriptions_with(const XmpProperties& all, const std::vector<bool>& chosen, Bytes packet) {
  std::string result;
  bool is_open = false;  // the start tag of the last description
  std::size_t last = all.descriptions.size();
  const auto close = [&] {
    if (last != all.descriptions.size()) result += is_open ? "/>" : "</" + all.descriptions[last].name + '>';
  };
  for (std::size_t i = 0; i < all.properties.size(); ++i) {
    if (!chosen[i]) continue;
    const XmpProperty& property = all.properties[i];
    if (property.description != last) {
      close();
      last = property.description;
      result += all.descriptions[last].start;
      is_open = true;
    }
    if (is_open && !property.is_attribute) result += '>';
    if (property.is_attribute) result += ' ';
    is_open = property.is_attribute;
    result += text_of(packet.subspan(property.begin, property.end - property.begin));
  }
  close();
  return result;
}

void append_escaped(std::string& text, std::string_view value) {
  for (const char c : value) switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '"':
        text += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        text += "&#" + std::to_string(int{c}) + ";";
        break;
      default:
        text += c;
    }
}

Bytes without_zeros(Bytes packet) {
  const std::size_t unit = is_utf16(packet) ? 2 : 1;
  while (packet.size() >= unit && std::ranges::all_of(packet.last(unit), is_zero))
    packet = packet.first(packet.size() - unit);
  return packet;
}

}  // namespace satin::io
