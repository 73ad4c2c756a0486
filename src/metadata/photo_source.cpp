#include "metadata/photo_source.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "metadata/base64.h"
#include "metadata/jpeg_markers.h"
#include "metadata/jpeg_structure.h"
#include "metadata/photo_exif.h"
#include "satin/error.h"

namespace satin::io {
namespace {

constexpr std::string_view gdepth = "http://ns.google.com/photos/1.0/depthmap/";
constexpr std::string_view gimage = "http://ns.google.com/photos/1.0/image/";
constexpr std::string_view gfocus = "http://ns.google.com/photos/1.0/focus/";
constexpr std::string_view dynamic_depth = "http://ns.google.com/photos/dd/1.0/depthmap/";
constexpr std::string_view dynamic_image = "http://ns.google.com/photos/dd/1.0/image/";

/// A container's namespace, and that of its items.
struct ContainerSpaces {
  std::string_view container, item;
};
constexpr ContainerSpaces containers[] = {
    {"http://ns.google.com/photos/dd/1.0/container/", "http://ns.google.com/photos/dd/1.0/item/"},
    {"http://ns.google.com/photos/1.0/container/", "http://ns.google.com/photos/1.0/container/item/"}};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::input,
              "its depth cannot be used: " + what + ". Give a depth image by --depth FILE.");
}

/// The picture in a property; empty if there is none or it is no base 64.
FileBytes picture_of(const XmpNode& xmp, std::string_view space) {
  const XmpNode* data = xmp.find(space, "Data");
  std::optional<FileBytes> bytes = data == nullptr ? std::nullopt : from_base64(data->text);
  return bytes ? std::move(*bytes) : FileBytes();
}

DepthWords words_of(const XmpNode& xmp, std::string_view space) {
  return {xmp.text_of(space, "Format"), xmp.text_of(space, "Near"), xmp.text_of(space, "Far"),
          xmp.text_of(space, "Units")};
}

std::optional<double> number_of(const XmpNode& xmp, std::string_view space, std::string_view name) {
  const std::string text = xmp.text_of(space, name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// FocalDistance is in the unit of the depth; the focal point in parts of the picture's width and height.
std::optional<PhotoFocus> google_focus(const XmpNode& xmp, int orientation) {
  PhotoFocus focus{{}, {}, "GFocus"};
  if (const auto distance = number_of(xmp, gfocus, "FocalDistance"); distance && *distance > 0)
    focus.distance = distance;
  const auto x = number_of(xmp, gfocus, "FocalPointX"), y = number_of(xmp, gfocus, "FocalPointY");
  if (x && y && *x >= 0 && *x <= 1 && *y >= 0 && *y <= 1) focus.place = upright_point(*x, *y, orientation);
  return focus.distance || focus.place ? std::optional(std::move(focus)) : std::nullopt;
}

/// A file behind the picture.
struct ContainerItem {
  std::string mime, uri, semantic;
  Bytes bytes;  ///< empty where it does not lie in the file
};

/// The items of a directory. They lie one behind another behind the picture and its padding; an item without
/// a length has the bytes of the one before it.
std::vector<ContainerItem> container_items(Bytes file, const XmpNode& xmp, const ContainerSpaces& spaces) {
  std::vector<ContainerItem> items;
  std::size_t at = jpeg_size(file);
  for (const XmpNode* node : xmp.all(spaces.container, "Item")) {
    const auto bytes_of = [&](std::string_view name) {
      const double bytes = number_of(*node, spaces.item, name).value_or(0);
      return bytes > 0 && bytes < static_cast<double>(file.size()) ? static_cast<std::size_t>(bytes)
             : bytes > 0                                           ? file.size()
                                                                   : 0;
    };
    ContainerItem item{node->text_of(spaces.item, "Mime"),
                       node->text_of(spaces.item, "DataURI"),
                       node->text_of(spaces.item, "Semantic"),
                       {}};
    const std::size_t length = bytes_of("Length");
    if (items.empty()) {
      item.bytes = file.first(at);
    } else if (length == 0) {
      item.bytes = items.back().bytes;
    } else {
      if (at <= file.size() && length <= file.size() - at) item.bytes = file.subspan(at, length);
      at += length;
    }
    at += bytes_of("Padding");
    items.push_back(std::move(item));
  }
  return items;
}

const ContainerItem* find_item(const std::vector<ContainerItem>& items, std::string_view semantic,
                               std::string_view uri) {
  const auto found = std::ranges::find_if(items, [&](const ContainerItem& item) {
    return uri.empty() ? item.semantic == semantic : item.uri == uri;
  });
  return found == items.end() ? nullptr : &*found;
}

/// The address of the image that is the original, as Dynamic Depth's cameras name it.
std::string original_uri(const XmpNode& xmp) {
  for (const XmpNode* semantic : xmp.all(dynamic_image, "ItemSemantic"))
    if (semantic->text == "Original") return xmp.text_of(dynamic_image, "ItemURI");
  return {};
}

void read_container(PhotoSource& source, Bytes file, const XmpNode& xmp, const ContainerSpaces& spaces) {
  const std::vector<ContainerItem> items = container_items(file, xmp, spaces);
  const bool dynamic = xmp.find(dynamic_depth, "DepthURI") != nullptr;
  const ContainerItem* depth = find_item(items, "Depth", xmp.text_of(dynamic_depth, "DepthURI"));
  if (depth != nullptr && !source.depth) {
    if (depth->bytes.empty()) refuse("its container names bytes that are not in the file");
    const std::string_view space = dynamic ? dynamic_depth : gdepth;
    source.depth = DepthItem{google_terms(dynamic ? "Dynamic Depth" : "GDepth", words_of(xmp, space)),
                             copy_of(depth->bytes), depth->mime, "container item"};
  }
  const ContainerItem* original = find_item(items, "Original", original_uri(xmp));
  if (original != nullptr && !original->bytes.empty() && source.original.file.empty())
    source.original = {copy_of(original->bytes), "container item Original"};
}

void read_google(PhotoSource& source, Bytes file, const XmpNode& xmp, int orientation) {
  source.focus = google_focus(xmp, orientation);
  if (FileBytes original = picture_of(xmp, gimage); !original.empty())
    source.original = {std::move(original), "GImage:Data"};
  if (FileBytes item = picture_of(xmp, gdepth); !item.empty())
    source.depth = DepthItem{google_terms("GDepth", words_of(xmp, gdepth)), std::move(item),
                             xmp.text_of(gdepth, "Mime"), "GDepth:Data"};
  for (const ContainerSpaces& spaces : containers)
    if (xmp.find(spaces.container, "Item") != nullptr) read_container(source, file, xmp, spaces);
  if (!source.depth && xmp.find(gdepth, "Near") != nullptr)
    refuse("GDepth is there without its picture (GDepth:Data), or that is damaged");
}

/// The XMP of one JPEG, which for auxiliary pictures is never extended.
std::optional<XmpNode> xmp_of(Bytes jpeg) {
  constexpr unsigned app1 = 0xE1;
  for (const JpegPart& part : jpeg_parts(jpeg))
    if (part.marker == app1 && starts_with(part.content, xmp_name))
      return parse_xmp(part.content.subspan(xmp_name.size()));
  return std::nullopt;
}

void read_apple(PhotoSource& source, Bytes file) {
  const std::vector<Bytes> pictures = mpf_pictures(file);
  for (std::size_t i = 1; i < pictures.size(); ++i) {
    const std::optional<XmpNode> xmp = xmp_of(pictures[i]);
    if (!xmp) continue;
    if (std::string matte = apple_matte(*xmp); !matte.empty())
      source.mattes.push_back({std::move(matte), copy_of(pictures[i])});
    if (source.depth) continue;
    if (std::optional<DepthTerms> terms = apple_terms(*xmp))
      source.depth = DepthItem{std::move(*terms), copy_of(pictures[i]), "image/jpeg",
                               "picture " + std::to_string(i + 1) + " of the MPF index"};
  }
}

}  // namespace

PhotoSource photo_source(Bytes file, Bytes xmp, int orientation) {
  PhotoSource source;
  try {
    if (const std::optional<XmpNode> tree = parse_xmp(xmp)) read_google(source, file, *tree, orientation);
    read_apple(source, file);
  } catch (const Error& error) {
    source.depth.reset();
    source.problem = error.what();
  }
  return source;
}

}  // namespace satin::io
