// Three parsers on expat: Reader finds properties and their positions, TreeParser builds a tree, and Copy
// copies a packet without the elements and attributes of other pictures, and with new values for size and
// orientation. Names are compared by namespace, whatever their prefix, in UTF-8 and UTF-16. Extended
// packets of JPEG follow at the end.

#include "metadata/xmp.h"

#include <expat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <utility>

#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"

namespace satin::io {
namespace {

/// Runs expat for `Handler`, which derives from this class and has start(name, attributes) and end(name). A
/// document type stops the parser, because its entities could hold anything; XMP has none (ISO 16684-1, 7.2).
template <class Handler>
class PacketParser {
 public:
  PacketParser(const PacketParser&) = delete;
  PacketParser& operator=(const PacketParser&) = delete;

  void stop() const { XML_StopParser(parser(), XML_FALSE); }

 protected:
  explicit PacketParser(XML_Parser parser) : parser_(parser, &XML_ParserFree) {
    if (parser == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser, static_cast<Handler*>(this));
    XML_SetElementHandler(
        parser,
        [](void* handler, const char* name, const char** attributes) {
          static_cast<Handler*>(handler)->start(name, attributes);
        },
        [](void* handler, const char* name) { static_cast<Handler*>(handler)->end(name); });
    XML_SetStartDoctypeDeclHandler(parser, [](void* handler, const char*, const char*, const char*, int) {
      static_cast<Handler*>(handler)->stop();
    });
  }
  ~PacketParser() = default;

  [[nodiscard]] XML_Parser parser() const { return parser_.get(); }

  /// Returns false if the packet is not well formed.
  bool parse(Bytes packet) {
    constexpr std::size_t largest_packet = std::size_t{1} << 30;
    const auto* text = reinterpret_cast<const char*>(packet.data());
    return packet.size() <= largest_packet &&
           XML_Parse(parser(), text, static_cast<int>(packet.size()), XML_TRUE) == XML_STATUS_OK;
  }

 private:
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
};

constexpr std::string_view rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr std::string_view xml = "http://www.w3.org/XML/1998/namespace";
constexpr char separator = '\n';  // between namespace and name in expat's names

struct Name {
  std::string_view space, local;
};

Name split(std::string_view name) {
  const std::size_t at = name.rfind(separator);
  return at == std::string_view::npos ? Name{{}, name} : Name{name.substr(0, at), name.substr(at + 1)};
}

bool is_zero(std::byte value) { return value == std::byte{0}; }

/// Every packet begins with a byte order mark or in ASCII.
bool is_utf16(Bytes packet) {
  return packet.size() > 1 && (is_zero(packet[0]) || is_zero(packet[1]) || byte_at(packet, 0) >= 0xFE);
}

constexpr std::string_view blanks = " \t\r\n";

/// An attribute of a start tag. Declarations of prefixes have neither name nor value.
struct Attribute {
  std::string_view text;     ///< name and value as they are written
  std::string_view written;  ///< name as it is written
  bool declares_prefix;
  Name name{};
  std::string_view value{};
};

/// Returns the attributes of a start tag, of which expat gives names and values.
std::vector<Attribute> attributes_in(std::string_view tag, const char** values) {
  std::vector<Attribute> attributes;
  std::size_t at = tag.find_first_of(blanks);
  while ((at = tag.find_first_not_of(blanks, at)) != std::string_view::npos) {
    const std::size_t open = tag.find_first_of("\"'", at);
    if (open == std::string_view::npos) break;
    const std::size_t close = tag.find(tag[open], open + 1);
    const std::string_view text = tag.substr(at, close + 1 - at);
    const std::string_view written = text.substr(0, text.find_first_of(" \t\r\n="));
    Attribute& attribute = attributes.emplace_back(
        Attribute{text, written, written == "xmlns" || written.starts_with("xmlns:")});
    at = close + 1;
    if (attribute.declares_prefix) continue;
    attribute.name = split(values[0]);
    attribute.value = values[1];
    values += 2;
  }
  return attributes;
}

/// Appends a value as written in an attribute.
void append_escaped(std::string& text, std::string_view value) {
  using Escape = std::pair<char, std::string_view>;
  constexpr Escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},   {'"', "&quot;"},
                                {'\t', "&#9;"}, {'\n', "&#10;"}, {'\r', "&#13;"}};
  for (const char c : value)
    if (const auto* found = std::ranges::find(escapes, c, &Escape::first); found != std::end(escapes))
      text += found->second;
    else
      text += c;
}

/// Finds the properties of a packet and their positions.
class Reader : public PacketParser<Reader> {
 public:
  explicit Reader(Bytes packet) : PacketParser(XML_ParserCreateNS("UTF-8", separator)), packet_(packet) {
    XML_SetCharacterDataHandler(parser(), [](void* reader, const char* text, int length) {
      static_cast<Reader*>(reader)->add({text, static_cast<std::size_t>(length)});
    });
    XML_SetNamespaceDeclHandler(
        parser(),
        [](void* reader, const char* prefix, const char* space) {
          static_cast<Reader*>(reader)->prefixes_.push_back(
              {prefix != nullptr ? prefix : "", space != nullptr ? space : ""});
        },
        [](void* reader, const char*) { static_cast<Reader*>(reader)->prefixes_.pop_back(); });
  }

  [[nodiscard]] std::optional<XmpProperties> read() {
    // Expat also reads UTF-16, but then its positions count other bytes.
    const bool good = !is_utf16(packet_) && parse(packet_);
    return good && result_.end != 0 ? std::optional(std::move(result_)) : std::nullopt;
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

  void end(const char* /*name*/) {
    if (rdf_depth_ != 0 && depth_ == rdf_depth_ + 2) result_.properties.back().end = position() + length();
    if (depth_ == rdf_depth_ && length() != 0) result_.end = position();
    if (depth_ == rdf_depth_) rdf_depth_ = 0;
    --depth_;
  }

 private:
  struct Prefix {
    std::string prefix, space;
  };

  [[nodiscard]] std::size_t position() const {
    return static_cast<std::size_t>(XML_GetCurrentByteIndex(parser()));
  }
  [[nodiscard]] std::size_t length() const {
    return static_cast<std::size_t>(XML_GetCurrentByteCount(parser()));
  }

  void count(const Name& name) {
    names_size_ += sizeof(XmpProperty) + name.space.size();
    if (names_size_ > most_xmp_names) stop();
  }

  /// Attributes of RDF or without a namespace identify what is described; all others are properties.
  void add_description(const char** attributes) {
    const std::string_view tag = text_of(packet_.subspan(position(), length()));
    XmpProperties::Description& description = result_.descriptions.emplace_back();
    description.name = tag.substr(1, tag.find_first_of(" \t\r\n/>") - 1);
    description.start = '<' + description.name;
    append_prefixes(description.start);
    for (const Attribute& attribute : attributes_in(tag, attributes)) {
      const auto& [space, local] = attribute.name;
      if (attribute.declares_prefix) continue;
      if (space.empty() || space == rdf || space == xml) {
        (description.start += ' ') += attribute.text;
        continue;
      }
      count(attribute.name);
      const auto begin = static_cast<std::size_t>(attribute.text.data() - text_of(packet_).data());
      result_.properties.push_back({std::string(space), std::string(local), std::string(attribute.value),
                                    begin, begin + attribute.text.size(), result_.descriptions.size() - 1,
                                    true});
    }
  }

  /// Appends the declared prefixes, of which later ones hide earlier ones. Limits keep hostile packets from
  /// growing; valid ones declare a few dozen.
  void append_prefixes(std::string& start) {
    constexpr std::size_t most_prefixes = 1000, slack = 1 << 16;
    if (prefixes_.size() > most_prefixes || starts_size_ > packet_.size() + slack) {
      stop();
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

  void add(std::string_view text) {
    if (rdf_depth_ != 0 && depth_ == rdf_depth_ + 2) result_.properties.back().value += text;
  }

  Bytes packet_;
  XmpProperties result_;
  std::vector<Prefix> prefixes_;
  std::size_t starts_size_ = 0;  ///< bytes of all descriptions' start tags
  std::size_t names_size_ = 0;   ///< bytes of all properties' names
  std::size_t depth_ = 0;
  std::size_t rdf_depth_ = 0;  ///< depth of rdf:RDF while it is open
};

constexpr std::size_t deepest = 64;
constexpr std::size_t most_nodes = 1 << 20;  // a node needs 30 times the bytes of the shortest tag

XmpNode node_of(std::string_view qualified) {
  const Name name = split(qualified);
  return {std::string(name.space), std::string(name.local), {}, {}};
}

void trim(std::string& text) {
  text.erase(text.find_last_not_of(blanks) + 1);
  text.erase(0, text.find_first_not_of(blanks));
}

class TreeParser : public PacketParser<TreeParser> {
 public:
  TreeParser() : PacketParser(XML_ParserCreateNS(nullptr, separator)), open_(1) {
    XML_SetCharacterDataHandler(parser(), [](void* tree, const char* text, int length) {
      static_cast<TreeParser*>(tree)->open_.back().text.append(text, static_cast<std::size_t>(length));
    });
  }

  std::optional<XmpNode> of(Bytes packet) {
    if (!parse(packet)) return std::nullopt;
    return std::move(open_.front());
  }

  void start(const char* qualified, const char** attributes) {
    names_ += std::string_view(qualified).size();
    for (const char** name = attributes; *name != nullptr; name += 2)
      names_ += std::string_view(*name).size();
    if (open_.size() > deepest || ++nodes_ > most_nodes || names_ > most_xmp_names) return stop();
    XmpNode node = node_of(qualified);
    for (; attributes[0] != nullptr; attributes += 2, ++nodes_) {
      node.children.push_back(node_of(attributes[0]));
      node.children.back().text = attributes[1];
    }
    open_.push_back(std::move(node));
  }

  void end(const char* /*name*/) {
    XmpNode node = std::move(open_.back());
    open_.pop_back();
    trim(node.text);
    open_.back().children.push_back(std::move(node));
  }

 private:
  std::vector<XmpNode> open_;  ///< a root without a name, and the open elements
  std::size_t nodes_ = 0;
  std::size_t names_ = 0;  ///< bytes of all nodes' names
};

constexpr std::string_view tiff = "http://ns.adobe.com/tiff/1.0/";
constexpr std::string_view exif = "http://ns.adobe.com/exif/1.0/";
constexpr std::string_view basic = "http://ns.adobe.com/xap/1.0/";
constexpr std::string_view photoshop = "http://ns.adobe.com/photoshop/1.0/";

/// Namespaces of other pictures: previews of the old state, or pictures behind this one in its file.
constexpr std::string_view spaces_of_other_pictures[] = {
    "http://ns.adobe.com/xap/1.0/g/img/",             // xmpGImg: thumbnails
    "http://ns.google.com/photos/1.0/image/",         // GImage: the original
    "http://ns.google.com/photos/1.0/depthmap/",      // GDepth: depth, in the old orientation
    "http://ns.google.com/photos/1.0/focus/",         // GFocus: focus, in the old orientation
    "http://ns.google.com/photos/dd/1.0/device/",     // Dynamic Depth: cameras with depth
    "http://ns.google.com/photos/1.0/container/",     // items behind the picture: originals, gain maps
    "http://ns.google.com/photos/dd/1.0/container/",  // Dynamic Depth: the same
    "http://ns.adobe.com/hdr-gain-map/1.0/",          // gain maps
    "http://ns.apple.com/HDRGainMap/1.0/",            // gain maps
    "http://ns.adobe.com/xmp/note/",                  // extended XMP, which is not carried
};

bool is_of_another_picture(const Name& name) {
  if (std::ranges::find(spaces_of_other_pictures, name.space) != std::end(spaces_of_other_pictures))
    return true;
  return (name.space == basic && name.local == "Thumbnails") ||
         (name.space == photoshop && name.local == "Thumbnail");
}

constexpr std::string_view camera_raw = "http://ns.adobe.com/camera-raw-settings/1.0/";
constexpr std::string_view panorama = "http://ns.google.com/photos/1.0/panorama/";

/// Properties that name places in the picture, which a crop moves or cuts off.
struct PlacedProperties {
  std::string_view space;
  std::string_view begins;  ///< the names of the properties begin with this
  bool on_resize;           ///< whether a new size makes them wrong too
  const char* name;         ///< name for the user
};
constexpr PlacedProperties placed_properties[] = {
    {"http://www.metadataworkinggroup.com/schemas/regions/", "", false, "regions in XMP"},
    {"http://ns.microsoft.com/photo/1.2/", "RegionInfo", false, "regions in XMP"},
    {"http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "ImageRegion", true, "regions in XMP"},
    {camera_raw, "Crop", true, "crops of Camera Raw"},
    {camera_raw, "HasCrop", true, "crops of Camera Raw"},
    {exif, "SubjectArea", true, "the subject's place in XMP"},
    {exif, "SubjectLocation", true, "the subject's place in XMP"},
    {exif, "FocalPlaneXResolution", true, "the resolution of the focal plane in XMP"},
    {exif, "FocalPlaneYResolution", true, "the resolution of the focal plane in XMP"}};

/// Changes that are made to a copy of a packet.
struct Size {
  std::int64_t width, height;
  int orientation;
  const Framing* framing = nullptr;            ///< null: the size did not change
  std::map<std::string, std::string> panes{};  ///< new values of the panorama's properties
};

/// Returns the properties that the result no longer has, or null.
const PlacedProperties* misplaced(const Name& name, const Size& size) {
  if (size.framing == nullptr) return nullptr;
  const auto* found = std::ranges::find_if(placed_properties, [&](const PlacedProperties& placed) {
    return name.space == placed.space && name.local.starts_with(placed.begins) &&
           (placed.on_resize || size.framing->cuts());
  });
  return found == std::end(placed_properties) ? nullptr : found;
}

/// Returns the new values of the panorama's properties (photo sphere XMP), which count pixels.
std::map<std::string, std::string> panes_of(const XmpNode& packet, const Framing& framing) {
  std::map<std::string, std::string> panes;
  const double x = framing.result_width / framing.box_width, y = framing.result_height / framing.box_height;
  const auto set = [&](const std::string& name, double offset, double scale) {
    const double value = (std::atof(packet.text_of(panorama, name).c_str()) + offset) * scale;
    constexpr double most = 1e9;  // pixels; other texts are no sizes
    if (std::abs(value) < most) panes[name] = std::to_string(std::llround(value));
  };
  set("FullPanoWidthPixels", 0, x);
  set("FullPanoHeightPixels", 0, y);
  set("CroppedAreaLeftPixels", framing.x, x);
  set("CroppedAreaTopPixels", framing.y, y);
  set("CroppedAreaImageWidthPixels", framing.box_width - framing.width, x);
  set("CroppedAreaImageHeightPixels", framing.box_height - framing.height, y);
  return panes;
}

/// Returns the new value of a property about size or orientation; nothing for other properties.
std::optional<std::string> value_of(const Name& name, const Size& size) {
  if (name.space == panorama)
    if (const auto pane = size.panes.find(std::string(name.local)); pane != size.panes.end())
      return pane->second;
  if (name.space == tiff && name.local == "Orientation") return std::to_string(size.orientation);
  if ((name.space == tiff && name.local == "ImageWidth") ||
      (name.space == exif && name.local == "PixelXDimension"))
    return std::to_string(size.width);
  if ((name.space == tiff && name.local == "ImageLength") ||
      (name.space == exif && name.local == "PixelYDimension"))
    return std::to_string(size.height);
  return std::nullopt;
}

/// Copies a packet. The raw text of all that is kept arrives through the default handler, in UTF-8.
class Copy : public PacketParser<Copy> {
 public:
  explicit Copy(Size size) : PacketParser(XML_ParserCreateNS(nullptr, separator)), size_(std::move(size)) {
    XML_SetDefaultHandler(parser(), [](void* copy, const char* text, int length) {
      static_cast<Copy*>(copy)->add({text, static_cast<std::size_t>(length)});
    });
    // Drops the declaration, whose encoding may differ.
    XML_SetXmlDeclHandler(parser(), [](void*, const char*, const char*, int) {});
  }

  /// Returns nothing if the packet is not well formed.
  [[nodiscard]] std::optional<std::string> of(Bytes packet) {
    if (!parse(packet)) return std::nullopt;
    return std::move(text_);
  }

  /// Returns the names of misplaced properties that were dropped.
  [[nodiscard]] const std::vector<std::string>& gone() const noexcept { return gone_; }

  void start(const char* qualified, const char** attributes) {
    ++depth_;
    if (dropped_ != 0) return;
    const Name name = split(qualified);
    if (drops(name)) {
      dropped_ = depth_;
      return;
    }
    value_.reset();
    const std::size_t begin = text_.size();
    XML_DefaultCurrent(parser());
    rewrite(begin, attributes);
    value_ = value_of(name, size_);
  }

  void end(const char* /*name*/) {
    if (dropped_ == 0) {
      const bool is_empty_tag = XML_GetCurrentByteCount(parser()) == 0;
      if (value_ && !is_empty_tag) text_ += *value_;
      value_.reset();
      const bool is_rewritten = !rewritten_.empty() && rewritten_.back().depth == depth_;
      if (is_rewritten && is_empty(rewritten_.back()))
        text_.resize(rewritten_.back().begin);
      else
        XML_DefaultCurrent(parser());
      if (is_rewritten) rewritten_.pop_back();
    }
    if (dropped_ == depth_) dropped_ = 0;
    --depth_;
  }

 private:
  /// An element whose start tag was rewritten.
  struct Rewritten {
    std::size_t depth;
    std::size_t begin;   ///< position of its start tag in text_
    std::size_t behind;  ///< position after its start tag; npos if that has attributes to keep
  };

  /// Rewrites the start tag at `begin` if it has attributes about size, orientation or another picture.
  void rewrite(std::size_t begin, const char** values) {
    const std::string tag = text_.substr(begin);
    std::string changed = tag.substr(0, tag.find_first_of(" \t\r\n/>"));
    bool is_changed = false;
    bool keeps = false;  // attributes other than declarations and rdf:about
    for (const Attribute& attribute : attributes_in(tag, values)) {
      const std::optional<std::string> value = value_of(attribute.name, size_);
      const bool is_dropped = drops(attribute.name);
      is_changed = is_changed || value || is_dropped;
      if (is_dropped) continue;
      keeps = keeps || (!attribute.declares_prefix && attribute.name.local != "about");
      (changed += ' ') += value ? attribute.written : attribute.text;
      if (value) changed += "=\"" + *value + '"';
    }
    if (!is_changed) return;
    text_.resize(begin);
    text_ += changed += tag.ends_with("/>") ? "/>" : ">";
    rewritten_.push_back({depth_, begin, keeps ? std::string::npos : text_.size()});
  }

  /// Whether the property describes another picture, or places in this one that a new size moved.
  bool drops(const Name& name) {
    if (is_of_another_picture(name)) return true;
    const PlacedProperties* gone = misplaced(name, size_);
    if (gone != nullptr && std::ranges::find(gone_, gone->name) == gone_.end())
      gone_.emplace_back(gone->name);
    return gone != nullptr;
  }

  [[nodiscard]] bool is_empty(const Rewritten& element) const {
    return element.behind != std::string::npos &&
           text_.find_first_not_of(blanks, element.behind) == std::string::npos;
  }

  void add(std::string_view text) {
    if (dropped_ == 0 && !(value_ && !text.starts_with('<'))) text_ += text;
  }

  Size size_;
  std::string text_;
  std::vector<std::string> gone_;
  std::vector<Rewritten> rewritten_;
  std::size_t depth_ = 0;
  std::size_t dropped_ = 0;           ///< depth of the element that is dropped; 0: none
  std::optional<std::string> value_;  ///< new text of the current element
};

}  // namespace

const XmpNode* XmpNode::find(std::string_view wanted_space, std::string_view wanted_name) const {
  for (const XmpNode& child : children) {
    if (child.space == wanted_space && child.name == wanted_name) return &child;
    if (const XmpNode* below = child.find(wanted_space, wanted_name)) return below;
  }
  return nullptr;
}

std::string XmpNode::text_of(std::string_view wanted_space, std::string_view wanted_name) const {
  const XmpNode* node = find(wanted_space, wanted_name);
  return node == nullptr ? std::string() : node->text;
}

std::vector<const XmpNode*> XmpNode::all(std::string_view wanted_space, std::string_view wanted_name) const {
  std::vector<const XmpNode*> found;
  for (const XmpNode& child : children) {
    if (child.space == wanted_space && child.name == wanted_name) found.push_back(&child);
    for (const XmpNode* below : child.all(wanted_space, wanted_name)) found.push_back(below);
  }
  return found;
}

std::optional<XmpNode> parse_xmp(Bytes packet) { return TreeParser().of(without_zeros(packet)); }

std::optional<XmpProperties> xmp_properties(Bytes packet) { return Reader(packet).read(); }

std::string descriptions_with(const XmpProperties& all, const std::vector<bool>& chosen, Bytes packet) {
  std::string result;
  bool is_open = false;  // the start tag of the last description is not closed
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

Bytes without_zeros(Bytes packet) {
  const std::size_t unit = is_utf16(packet) ? 2 : 1;
  while (packet.size() >= unit && std::ranges::all_of(packet.last(unit), is_zero))
    packet = packet.first(packet.size() - unit);
  return packet;
}

std::optional<int> stored_orientation(Bytes exif_block, Bytes xmp) {
  const std::optional<int> of_exif = exif_orientation(exif_block);
  const std::optional<XmpNode> tree = of_exif || xmp.empty() ? std::nullopt : parse_xmp(xmp);
  const XmpNode* const root = tree ? tree->find(rdf, "RDF") : nullptr;
  if (root == nullptr) return of_exif;
  // Nested descriptions are about other pictures, such as ingredients.
  for (const XmpNode& description : root->children)
    for (const XmpNode& property : description.children)
      if (property.space == tiff && property.name == "Orientation" && property.text.size() == 1 &&
          property.text[0] >= '1' && property.text[0] <= '8')
        return property.text[0] - '0';
  return std::nullopt;
}

/// Rewrites the packet. Returns false if it is not well formed, and clears it.
static bool rewrite(FileBytes& xmp, Copy& copy) {
  const Bytes tree = without_zeros(xmp);
  std::optional<std::string> text = copy.of(tree);
  const auto left = text ? xmp_properties(std::as_bytes(std::span(*text))) : std::nullopt;
  if (left && left->properties.empty() && text->size() < tree.size()) text->clear();
  xmp = text ? copy_of(std::as_bytes(std::span(*text))) : FileBytes();
  return text.has_value();
}

bool describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height, int orientation) {
  if (xmp.empty()) return true;
  Copy copy({width, height, orientation});
  return rewrite(xmp, copy);
}

std::vector<std::string> frame_in_xmp(FileBytes& xmp, const Framing& framing) {
  if (xmp.empty()) return {};
  Size size{static_cast<std::int64_t>(framing.result_width), static_cast<std::int64_t>(framing.result_height),
            1, &framing};
  if (const std::optional<XmpNode> packet = parse_xmp(xmp)) size.panes = panes_of(*packet, framing);
  Copy copy(std::move(size));
  static_cast<void>(rewrite(xmp, copy));
  return copy.gone();
}

namespace {

// MD5 (RFC 1321).

constexpr std::size_t block_size = 64;
using State = std::array<std::uint32_t, 4>;

/// Returns the integer parts of 2^32 |sin(i)|, i from 1 (section 3.4).
const std::array<std::uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<std::uint32_t, 64> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 4294967296.0);
    return values;
  }();
  return table;
}

struct Step {
  std::uint32_t mixed;  ///< result of the round's function of three words
  std::size_t word;     ///< index of a word of the block
};

Step step_of(const State& s, std::size_t i) {
  const auto [a, b, c, d] = s;
  switch (i / 16) {
    case 0:
      return {(b & c) | (~b & d), i};
    case 1:
      return {(b & d) | (c & ~d), (5 * i + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * i + 5) % 16};
    default:
      return {c ^ (b | ~d), 7 * i % 16};
  }
}

void add_block(State& state, Bytes block) {
  static constexpr int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  State s = state;
  for (std::size_t i = 0; i < block_size; ++i) {
    const Step step = step_of(s, i);
    const std::uint32_t sum = s[0] + step.mixed + sines()[i] + le32(block, 4 * step.word);
    s = {s[3], s[1] + std::rotl(sum, rotations[i / 16][i % 4]), s[1], s[2]};
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

/// Returns the last bytes, followed by a one bit, zeros, and the length in bits.
FileBytes last_blocks(Bytes rest, std::uint64_t length) {
  Sink sink;
  sink.add(rest);
  sink.u8(0x80);
  while (sink.position % block_size != block_size - 8) sink.u8(0);
  sink.le32(static_cast<std::uint32_t>(length * 8));
  sink.le32(static_cast<std::uint32_t>(length >> 29));
  return std::move(sink.bytes);
}

// Extended packets.

constexpr std::string_view note = "http://ns.adobe.com/xmp/note/";
constexpr std::size_t guid_size = 32;
constexpr std::size_t head_size = extended_xmp_name.size() + guid_size + 8;
constexpr std::string_view packet_start =
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
    "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">";
constexpr std::string_view packet_end = "</rdf:RDF></x:xmpmeta>";

std::string note_of(const std::string& guid) {
  return "<rdf:Description xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" rdf:about=\"\" "
         "xmlns:xmpNote=\"" +
         std::string(note) + "\" xmpNote:HasExtendedXMP=\"" + guid + "\"/>";
}

FileBytes with_name(std::string_view name, std::string_view text) {
  Sink sink;
  sink.text(name);
  sink.text(text);
  return std::move(sink.bytes);
}

/// Chooses the largest properties until their text is at least as long as the excess; all if they are not
/// enough.
std::vector<bool> largest_properties(const XmpProperties& all, std::size_t excess) {
  std::vector<std::size_t> order(all.properties.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::size_t i) { return all.properties[i].end - all.properties[i].begin; };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return size(a) > size(b) || (size(a) == size(b) && a < b);
  });
  std::vector<bool> chosen(all.properties.size());
  for (std::size_t sum = 0; const std::size_t i : order) {
    if (sum >= excess) break;
    chosen[i] = true;
    sum += size(i);
  }
  return chosen;
}

/// Returns the packet without the chosen properties, and with a note that names the packet that holds them.
std::string remaining_packet(const XmpProperties& all, const std::vector<bool>& chosen, Bytes xmp,
                             const std::string& guid) {
  const std::string_view text = text_of(xmp);
  std::string result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    result += text.substr(at, all.properties[i].begin - at);
    at = all.properties[i].end;
  }
  result += text.substr(at, all.end - at);
  result += note_of(guid);
  return result += text.substr(all.end);
}

void add_extended(std::vector<FileBytes>& segments, const std::string& packet, const std::string& guid) {
  constexpr std::size_t most = jpeg_segment_limit - head_size;
  for (std::size_t at = 0; at < packet.size(); at += most) {
    Sink sink;
    sink.text(extended_xmp_name);
    sink.text(guid);
    sink.be32(static_cast<std::uint32_t>(packet.size()));
    sink.be32(static_cast<std::uint32_t>(at));
    sink.text(std::string_view(packet).substr(at, most));
    segments.push_back(std::move(sink.bytes));
  }
}

}  // namespace

std::string md5_of(Bytes bytes) {
  State state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  const std::size_t whole = bytes.size() / block_size * block_size;
  const FileBytes last = last_blocks(bytes.subspan(whole), bytes.size());
  for (const Bytes blocks : {bytes.first(whole), Bytes(last)})
    for (std::size_t at = 0; at < blocks.size(); at += block_size)
      add_block(state, blocks.subspan(at, block_size));
  std::string digits;
  for (const std::uint32_t word : state)
    for (int shift : {4, 0, 12, 8, 20, 16, 28, 24}) digits += "0123456789ABCDEF"[word >> shift & 15U];
  return digits;
}

bool ExtendedXmp::add(Bytes segment) {
  if (segment.size() < head_size || !starts_with(segment, extended_xmp_name)) return false;
  std::string guid(text_of(segment.subspan(extended_xmp_name.size(), guid_size)));
  Packet& packet = packets_[lower(guid)];
  packet.length = be32(segment, extended_xmp_name.size() + guid_size);
  packet.by_offset.emplace(be32(segment, extended_xmp_name.size() + guid_size + 4),
                           segment.subspan(head_size));
  return true;
}

std::optional<FileBytes> ExtendedXmp::packet(const std::string& guid) const {
  const auto found = packets_.find(lower(guid));
  if (found == packets_.end()) return std::nullopt;
  FileBytes packet;
  for (const auto& [offset, content] : found->second.by_offset) {
    if (offset != packet.size()) return std::nullopt;
    packet.insert(packet.end(), content.begin(), content.end());
  }
  if (packet.size() != found->second.length || lower(md5_of(packet)) != found->first) return std::nullopt;
  return packet;
}

std::string extended_guid(Bytes xmp) {
  if (const auto all = xmp_properties(without_zeros(xmp)))
    for (const XmpProperty& property : all->properties)
      if (property.space == note && property.name == "HasExtendedXMP") return property.value;
  return {};
}

std::optional<FileBytes> joined_xmp(Bytes xmp, Bytes extended) {
  xmp = without_zeros(xmp);
  extended = without_zeros(extended);
  const auto first = xmp_properties(xmp), second = xmp_properties(extended);
  if (!first || !second) return std::nullopt;
  Sink sink;
  sink.add(xmp.first(first->end));
  sink.text(descriptions_with(*second, std::vector<bool>(second->properties.size(), true), extended));
  sink.add(xmp.subspan(first->end));
  return std::move(sink.bytes);
}

std::vector<FileBytes> xmp_segments(Bytes xmp) {
  constexpr std::size_t most = jpeg_segment_limit - xmp_name.size();
  std::vector<FileBytes> segments;
  if (xmp.empty()) return segments;
  if (xmp.size() <= most) return {with_name(xmp_name, text_of(xmp))};
  const std::optional<XmpProperties> all = xmp_properties(xmp);
  if (!all) return segments;
  const std::string unnamed(guid_size, '0');
  const std::vector<bool> chosen = largest_properties(*all, xmp.size() + note_of(unnamed).size() - most);
  const std::string extended =
      std::string(packet_start) + descriptions_with(*all, chosen, xmp) + std::string(packet_end);
  const std::string guid = md5_of(std::as_bytes(std::span(extended)));
  std::string standard = remaining_packet(*all, chosen, xmp, guid);
  // Anything that is not a property, such as padding, may be dropped.
  if (standard.size() > most) standard = std::string(packet_start) + note_of(guid) + std::string(packet_end);
  segments.push_back(with_name(xmp_name, standard));
  add_extended(segments, extended, guid);
  return segments;
}

}  // namespace satin::io
