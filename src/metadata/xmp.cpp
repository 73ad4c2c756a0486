// Packets are parsed by expat and copied as they are, but for the elements and attributes that speak of the
// pixels: those are told by namespace, whatever their prefix, in UTF-8 and UTF-16 alike.

#include "metadata/xmp.h"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "metadata/pixel_tags.h"
#include "metadata/xmp_properties.h"
#include "metadata/xmp_tree.h"

namespace satin::io {
namespace {

constexpr std::string_view rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr std::string_view tiff = "http://ns.adobe.com/tiff/1.0/";
constexpr std::string_view exif = "http://ns.adobe.com/exif/1.0/";
constexpr std::string_view basic = "http://ns.adobe.com/xap/1.0/";
constexpr std::string_view photoshop = "http://ns.adobe.com/photoshop/1.0/";

/// Everything in these namespaces shows the picture as it was, or speaks of pictures behind it in its file.
constexpr std::string_view of_other_pictures[] = {
    "http://ns.adobe.com/xap/1.0/g/img/",             // xmpGImg: thumbnails
    "http://ns.google.com/photos/1.0/image/",         // GImage: the original
    "http://ns.google.com/photos/1.0/depthmap/",      // GDepth: depth, which lies as the picture lay
    "http://ns.google.com/photos/1.0/focus/",         // GFocus: what was sharp in the picture as it was
    "http://ns.google.com/photos/dd/1.0/device/",     // cameras with depth, of Dynamic Depth
    "http://ns.google.com/photos/1.0/container/",     // items behind the picture: originals, gain maps
    "http://ns.google.com/photos/dd/1.0/container/",  // the same of Dynamic Depth
    "http://ns.adobe.com/hdr-gain-map/1.0/",          // gain maps
    "http://ns.apple.com/HDRGainMap/1.0/",            // gain maps
    "http://ns.adobe.com/xmp/note/",                  // extended XMP, which is not carried
};

struct Name {
  std::string_view space;
  std::string_view local;
};

bool is_of_another_picture(const Name& name) {
  if (std::ranges::find(of_other_pictures, name.space) != std::end(of_other_pictures)) return true;
  return (name.space == basic && name.local == "Thumbnails") ||
         (name.space == photoshop && name.local == "Thumbnail");
}

struct Size {
  std::int64_t width, height;
  int orientation;
};

/// What the property must say of a picture of this size; nothing for other properties.
std::optional<std::string> value_of(const Name& name, const Size& size) {
  if (name.space == tiff && name.local == "Orientation") return std::to_string(size.orientation);
  if ((name.space == tiff && name.local == "ImageWidth") ||
      (name.space == exif && name.local == "PixelXDimension"))
    return std::to_string(size.width);
  if ((name.space == tiff && name.local == "ImageLength") ||
      (name.space == exif && name.local == "PixelYDimension"))
    return std::to_string(size.height);
  return std::nullopt;
}

/// Copies a packet through expat. The raw text of whatever is kept arrives by the default handler, in UTF-8.
class Copy {
 public:
  explicit Copy(const Size& size) : size_(size), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* copy, const char* name, const char** attributes) {
          static_cast<Copy*>(copy)->start(name, attributes);
        },
        [](void* copy, const char* name) { static_cast<Copy*>(copy)->end(name); });
    XML_SetDefaultHandler(parser_.get(), [](void* copy, const char* text, int length) {
      static_cast<Copy*>(copy)->add({text, static_cast<std::size_t>(length)});
    });
    // The copy is UTF-8, whatever the declaration said.
    XML_SetXmlDeclHandler(parser_.get(), [](void*, const char*, const char*, int) {});
    // A declared entity could hold anything; XMP has no document type (ISO 16684-1, 7.2).
    XML_SetStartDoctypeDeclHandler(parser_.get(), [](void* copy, const char*, const char*, const char*, int) {
      XML_StopParser(static_cast<Copy*>(copy)->parser_.get(), XML_FALSE);
    });
  }

  /// Nothing if the packet is not well formed.
  [[nodiscard]] std::optional<std::string> of(Bytes packet) {
    const auto* text = reinterpret_cast<const char*>(packet.data());
    if (packet.size() > largest_packet) return std::nullopt;
    if (XML_Parse(parser_.get(), text, static_cast<int>(packet.size()), XML_TRUE) != XML_STATUS_OK)
      return std::nullopt;
    return std::move(text_);
  }

 private:
  static constexpr std::size_t largest_packet = std::size_t{1} << 30;

  /// How a prefix is declared from here on.
  struct Prefix {
    std::string prefix, space;
    std::size_t depth;
  };

  /// An element whose start was written anew.
  struct Rewritten {
    std::size_t depth;
    std::size_t begin;   ///< of its text
    std::size_t behind;  ///< its start; npos if that says something
  };

  /// A prefix that nobody declared could mean anything: the packet is then not well formed (Namespaces in
  /// XML).
  [[nodiscard]] Name name_of(std::string_view qualified, bool attribute) const {
    const std::size_t colon = qualified.find(':');
    const std::string_view prefix =
        colon == std::string_view::npos ? std::string_view() : qualified.substr(0, colon);
    const std::string_view local = colon == std::string_view::npos ? qualified : qualified.substr(colon + 1);
    if (attribute && prefix.empty()) return {{}, local};
    const auto found = std::find_if(prefixes_.rbegin(), prefixes_.rend(),
                                    [&](const Prefix& known) { return known.prefix == prefix; });
    if (found != prefixes_.rend()) return {found->space, local};
    if (!prefix.empty() && prefix != "xml" && prefix != "xmlns") XML_StopParser(parser_.get(), XML_FALSE);
    return {{}, local};
  }

  void declare(const char** attributes) {
    for (; attributes[0] != nullptr; attributes += 2) {
      const std::string_view name = attributes[0];
      if (name == "xmlns")
        prefixes_.push_back({"", attributes[1], depth_});
      else if (name.starts_with("xmlns:"))
        prefixes_.push_back({std::string(name.substr(6)), attributes[1], depth_});
    }
  }

  void start(const char* qualified, const char** attributes) {
    ++depth_;
    declare(attributes);
    if (dropped_ != 0) return;
    const Name name = name_of(qualified, false);
    if (is_of_another_picture(name)) {
      dropped_ = depth_;
      return;
    }
    value_.reset();
    if (is_changed(attributes))
      write_start(qualified, attributes);
    else
      XML_DefaultCurrent(parser_.get());
    value_ = value_of(name, size_);
  }

  void write_start(const char* qualified, const char** attributes) {
    const std::size_t begin = text_.size();
    bool kept = false;  // something that is no word about names
    text_ += '<';
    text_ += qualified;
    for (; attributes[0] != nullptr; attributes += 2) {
      const Name attribute = name_of(attributes[0], true);
      if (is_of_another_picture(attribute)) continue;
      kept = kept || (!std::string_view(attributes[0]).starts_with("xmlns") && attribute.local != "about");
      text_ += ' ';
      text_ += attributes[0];
      text_ += "=\"";
      append_escaped(text_, value_of(attribute, size_).value_or(attributes[1]));
      text_ += '"';
    }
    text_ += '>';
    rewritten_.push_back({depth_, begin, kept ? std::string::npos : text_.size()});
  }

  [[nodiscard]] bool is_changed(const char** attributes) const {
    for (; attributes[0] != nullptr; attributes += 2)
      if (const Name name = name_of(attributes[0], true);
          is_of_another_picture(name) || value_of(name, size_).has_value())
        return true;
    return false;
  }

  void end(const char* qualified) {
    if (dropped_ == 0) {
      const bool is_empty_tag = XML_GetCurrentByteCount(parser_.get()) == 0;
      if (value_ && !is_empty_tag) text_ += *value_;
      value_.reset();
      if (!rewritten_.empty() && rewritten_.back().depth == depth_) {
        if (is_empty(rewritten_.back()))
          text_.resize(rewritten_.back().begin);
        else
          text_ += std::string("</") + qualified + '>';
        rewritten_.pop_back();
      } else {
        XML_DefaultCurrent(parser_.get());
      }
    }
    if (dropped_ == depth_) dropped_ = 0;
    while (!prefixes_.empty() && prefixes_.back().depth == depth_) prefixes_.pop_back();
    --depth_;
  }

  /// True if nothing is left of an element but its name.
  [[nodiscard]] bool is_empty(const Rewritten& element) const {
    return element.behind != std::string::npos &&
           text_.find_first_not_of(" \t\r\n", element.behind) == std::string::npos;
  }

  void add(std::string_view text) {
    if (dropped_ == 0 && !(value_ && !text.starts_with('<'))) text_ += text;
  }

  Size size_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::string text_;
  std::vector<Prefix> prefixes_;
  std::vector<Rewritten> rewritten_;
  std::size_t depth_ = 0;
  std::size_t dropped_ = 0;           ///< depth of the element that is left out; 0: none
  std::optional<std::string> value_;  ///< the text of the element that was just begun
};

}  // namespace

std::optional<int> stored_orientation(Bytes exif_block, Bytes xmp) {
  const std::optional<int> of_exif = exif_orientation(exif_block);
  const std::optional<XmpNode> tree = of_exif || xmp.empty() ? std::nullopt : parse_xmp(xmp);
  const XmpNode* const root = tree ? tree->find(rdf, "RDF") : nullptr;
  if (root == nullptr) return of_exif;
  // Descriptions further down are of other pictures, such as ingredients.
  for (const XmpNode& description : root->children)
    for (const XmpNode& property : description.children)
      if (property.space == tiff && property.name == "Orientation" && property.text.size() == 1 &&
          property.text[0] >= '1' && property.text[0] <= '8')
        return property.text[0] - '0';
  return std::nullopt;
}

bool describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height, int orientation) {
  if (xmp.empty()) return true;
  const Bytes tree = without_zeros(xmp);
  std::optional<std::string> text = Copy({width, height, orientation}).of(tree);
  const auto left = text ? xmp_properties(std::as_bytes(std::span(*text))) : std::nullopt;
  if (left && left->properties.empty() && text->size() < tree.size()) text->clear();
  xmp = text ? copy_of(std::as_bytes(std::span(*text))) : FileBytes();
  return text.has_value();
}

}  // namespace satin::io
