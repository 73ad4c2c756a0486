#include "metadata/photo_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin::io {
namespace {

constexpr std::string_view apdi = "http://ns.apple.com/pixeldatainfo/1.0/";
constexpr std::string_view depth_data = "http://ns.apple.com/depthData/1.0/";

std::optional<double> parsed(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

double number(const std::string& name, const std::string& text) {
  const std::optional<double> value = parsed(text);
  if (!value || std::isnan(*value)) refuse_depth(name + " is '" + text + "', which is not a number");
  return *value;
}

/// Throws unless near and far are a range. Apple's files have disparities below 0, beyond infinity, so `far`
/// may be infinite or negative.
void check(const DepthCoding& coding) {
  const bool inverse = coding.format == DepthCoding::Format::range_inverse;
  const bool ends = inverse ? coding.near != 0 && coding.far != 0 && std::isfinite(coding.near)
                            : std::isfinite(coding.near) && std::isfinite(coding.far);
  if (!ends || coding.near == coding.far)
    refuse_depth("Near " + print_real(coding.near) + " and Far " + print_real(coding.far) +
                 " are not a range");
}

/// Sets the texts for GDepth from the coding.
void set_texts(DepthTerms& terms) {
  terms.format = terms.coding.format == DepthCoding::Format::range_linear ? "RangeLinear" : "RangeInverse";
  terms.near = print_real(terms.coding.near);
  terms.far = std::isinf(terms.coding.far) ? "inf" : print_real(terms.coding.far);
}

enum Tag : std::uint32_t {
  exif_directory = 0x8769,
  subject_area = 0x9214,
  pixel_x_dimension = 0xA002,
  pixel_y_dimension = 0xA003,
  focal_length_35 = 0xA405,
};

/// Returns the numbers of a tag of the EXIF directory; empty if it is missing.
std::vector<std::uint32_t> numbers_of(Bytes exif, Tag tag) {
  const ExifReader reader(exif);
  const auto pointer = reader.find(reader.first_directory(), exif_directory);
  const auto entry = pointer ? reader.find(pointer->value, tag) : std::nullopt;
  return entry ? reader.numbers(*entry) : std::vector<std::uint32_t>();
}

double number_of(Bytes exif, Tag tag, double otherwise) {
  const std::vector<std::uint32_t> numbers = numbers_of(exif, tag);
  return numbers.size() == 1 && numbers[0] != 0 ? numbers[0] : otherwise;
}

constexpr std::string_view gdepth = "http://ns.google.com/photos/1.0/depthmap/";
constexpr std::string_view gimage = "http://ns.google.com/photos/1.0/image/";
constexpr std::string_view gfocus = "http://ns.google.com/photos/1.0/focus/";
constexpr std::string_view dynamic_depth = "http://ns.google.com/photos/dd/1.0/depthmap/";
constexpr std::string_view dynamic_image = "http://ns.google.com/photos/dd/1.0/image/";

/// The namespaces of a container and of its items.
struct ContainerSpaces {
  std::string_view container, item;
};
constexpr ContainerSpaces containers[] = {
    {"http://ns.google.com/photos/dd/1.0/container/", "http://ns.google.com/photos/dd/1.0/item/"},
    {"http://ns.google.com/photos/1.0/container/", "http://ns.google.com/photos/1.0/container/item/"}};

/// Returns the picture in the property Data; empty if it is missing or not base 64.
FileBytes picture_of(const XmpNode& xmp, std::string_view space) {
  const XmpNode* data = xmp.find(space, "Data");
  std::optional<FileBytes> bytes = data == nullptr ? std::nullopt : from_base64(data->text);
  return bytes ? std::move(*bytes) : FileBytes();
}

/// The texts of depth terms in a file; empty where it has none.
struct DepthWords {
  std::string format, near, far, units;
};

DepthWords words_of(const XmpNode& xmp, std::string_view space) {
  return {xmp.text_of(space, "Format"), xmp.text_of(space, "Near"), xmp.text_of(space, "Far"),
          xmp.text_of(space, "Units")};
}

std::optional<double> number_of(const XmpNode& xmp, std::string_view space, std::string_view name) {
  return parsed(xmp.text_of(space, name));
}

/// Reads GFocus: FocalDistance in the unit of the depth, and the focal point as fractions of width and
/// height.
std::optional<PhotoFocus> google_focus(const XmpNode& xmp, int orientation) {
  PhotoFocus focus{{}, {}, "GFocus"};
  if (const auto distance = number_of(xmp, gfocus, "FocalDistance"); distance && *distance > 0)
    focus.distance = distance;
  const auto x = number_of(xmp, gfocus, "FocalPointX"), y = number_of(xmp, gfocus, "FocalPointY");
  if (x && y && *x >= 0 && *x <= 1 && *y >= 0 && *y <= 1) focus.place = upright_point(*x, *y, orientation);
  return focus.distance || focus.place ? std::optional(std::move(focus)) : std::nullopt;
}

/// Returns the items of one container. They follow each other behind the picture and its padding. An item
/// without a length has the bytes of the one before it.
std::vector<ContainerItem> items_of(Bytes file, const XmpNode& xmp, const ContainerSpaces& spaces) {
  std::vector<ContainerItem> items;
  std::size_t at = jpeg_size(file);
  for (const XmpNode* node : xmp.all(spaces.container, "Item")) {
    const auto bytes_of = [&](std::string_view name) {
      const double bytes = number_of(*node, spaces.item, name).value_or(0);
      return bytes > 0 && bytes < static_cast<double>(file.size()) ? static_cast<std::size_t>(bytes)
             : bytes > 0                                           ? file.size()
                                                                   : 0;
    };
    ContainerItem item{node->text_of(spaces.item, "DataURI"), node->text_of(spaces.item, "Semantic"), {}};
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

/// Returns the URI of the original, as Dynamic Depth's cameras name it.
std::string original_uri(const XmpNode& xmp) {
  for (const XmpNode* semantic : xmp.all(dynamic_image, "ItemSemantic"))
    if (semantic->text == "Original") return xmp.text_of(dynamic_image, "ItemURI");
  return {};
}

/// Returns the terms of GDepth or Dynamic Depth. Throws Error(input) for invalid terms.
DepthTerms google_terms(const std::string& standard, const DepthWords& words) {
  DepthTerms terms;
  terms.format = words.format.empty() ? "RangeInverse" : words.format;
  if (terms.format != "RangeInverse" && terms.format != "RangeLinear")
    refuse_depth("the format '" + terms.format + "' is not RangeInverse or RangeLinear");
  terms.coding.format =
      terms.format == "RangeLinear" ? DepthCoding::Format::range_linear : DepthCoding::Format::range_inverse;
  terms.coding.near = number("Near", words.near);
  terms.coding.far = number("Far", words.far);
  check(terms.coding);
  terms.near = words.near;
  terms.far = words.far;
  terms.metric = !words.units.empty() && words.units != "None";
  terms.metres = words.units == "mm" ? 0.001 : 1;
  if (terms.metric && words.units != "m" && words.units != "mm" && words.units != "Meters")
    refuse_depth("its unit '" + words.units + "' is not m or mm");
  if (terms.metric) terms.units = words.units == "mm" ? "mm" : "m";
  terms.name = standard + " " + terms.format;
  return terms;
}

void read_container(PhotoSource& source, Bytes file, const XmpNode& xmp, const ContainerSpaces& spaces) {
  const std::vector<ContainerItem> items = items_of(file, xmp, spaces);
  const bool dynamic = xmp.find(dynamic_depth, "DepthURI") != nullptr;
  const ContainerItem* depth = find_item(items, "Depth", xmp.text_of(dynamic_depth, "DepthURI"));
  if (depth != nullptr && !source.depth) {
    if (depth->bytes.empty()) refuse_depth("its container names bytes that are not in the file");
    const std::string_view space = dynamic ? dynamic_depth : gdepth;
    source.depth = DepthItem{google_terms(dynamic ? "Dynamic Depth" : "GDepth", words_of(xmp, space)),
                             copy_of(depth->bytes), "container item"};
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
    source.depth = DepthItem{google_terms("GDepth", words_of(xmp, gdepth)), std::move(item), "GDepth:Data"};
  for (const ContainerSpaces& spaces : containers)
    if (xmp.find(spaces.container, "Item") != nullptr) read_container(source, file, xmp, spaces);
  if (!source.depth && xmp.find(gdepth, "Near") != nullptr)
    refuse_depth("GDepth is there without its picture (GDepth:Data), or that is damaged");
}

/// Reads the XMP of an auxiliary picture, which is never extended.
std::optional<XmpNode> xmp_of(Bytes jpeg) {
  constexpr unsigned app1 = 0xE1;
  for (const PlacedSegment& segment : placed_segments(jpeg))
    if (segment.marker == app1 && starts_with(segment.content, xmp_name))
      return parse_xmp(segment.content.subspan(xmp_name.size()));
  return std::nullopt;
}

void read_apple(PhotoSource& source, Bytes file) {
  const std::vector<Bytes> pictures = mpf_pictures(file);
  for (std::size_t i = 1; i < pictures.size(); ++i) {
    const std::optional<XmpNode> xmp = xmp_of(pictures[i]);
    if (!xmp) continue;
    if (std::string matte = matte_of_type(xmp->text_of(apdi, "AuxiliaryImageType")); !matte.empty())
      source.mattes.push_back({std::move(matte), copy_of(pictures[i])});
    if (source.depth) continue;
    if (std::optional<DepthTerms> terms = apple_terms(*xmp))
      source.depth = DepthItem{std::move(*terms), copy_of(pictures[i]),
                               "picture " + std::to_string(i + 1) + " of the MPF index"};
  }
}

}  // namespace

std::vector<ContainerItem> container_items(Bytes file, const XmpNode& xmp) {
  std::vector<ContainerItem> all;
  for (const ContainerSpaces& spaces : containers) {
    std::vector<ContainerItem> items = items_of(file, xmp, spaces);
    std::ranges::move(items, std::back_inserter(all));
  }
  return all;
}

void refuse_depth(const std::string& what) {
  throw Error(ErrorKind::input,
              "its depth cannot be used: " + what + ". Give a depth image by --depth FILE.");
}

std::optional<DepthTerms> apple_terms(const XmpNode& xmp) {
  const std::string type = xmp.text_of(apdi, "AuxiliaryImageType");
  const bool disparity = type.ends_with("disparity");
  if (!disparity && !type.ends_with("depth")) return std::nullopt;
  const double lowest = number("FloatMinValue", xmp.text_of(apdi, "FloatMinValue"));
  const double highest = number("FloatMaxValue", xmp.text_of(apdi, "FloatMaxValue"));
  DepthTerms terms;
  terms.coding.format = disparity ? DepthCoding::Format::range_inverse : DepthCoding::Format::range_linear;
  terms.coding.near = disparity ? 1 / highest : lowest;
  terms.coding.far = disparity ? 1 / lowest : highest;
  check(terms.coding);
  terms.turned = disparity;  // the largest disparity is the nearest
  terms.metric = true;
  set_texts(terms);
  terms.units = "m";
  terms.name = disparity ? "Apple disparity" : "Apple depth";
  if (const std::string accuracy = xmp.text_of(depth_data, "Accuracy"); !accuracy.empty())
    terms.name += " of " + accuracy + " accuracy";
  return terms;
}

DepthTerms relative_terms(double dark, double light, bool distances) {
  DepthTerms terms;
  terms.coding = distances ? DepthCoding{DepthCoding::Format::range_linear, dark, light}
                           : DepthCoding{DepthCoding::Format::range_inverse, 1 / light, 1 / dark};
  check(terms.coding);
  terms.turned = !distances;
  set_texts(terms);
  terms.name = distances ? "depth picture" : "disparity picture";
  return terms;
}

std::string matte_of_type(std::string_view type) {
  for (const auto& [end, name] :
       {std::pair("aux:portraiteffectsmatte", "portrait"), std::pair("aux:semantichairmatte", "hair"),
        std::pair("aux:semanticskinmatte", "skin"), std::pair("aux:semanticteethmatte", "teeth"),
        std::pair("aux:semanticglassesmatte", "glasses"), std::pair("aux:semanticskymatte", "sky")})
    if (type.ends_with(end)) return name;
  return {};
}

Point upright_point(double x, double y, int orientation) {
  if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8) x = 1 - x;
  if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7) y = 1 - y;
  if (orientation >= 5) std::swap(x, y);
  return {{100 * x, true}, {100 * y, true}};
}

std::optional<PhotoFocus> exif_focus(Bytes exif, std::int64_t width, std::int64_t height, int orientation) {
  const std::vector<std::uint32_t> area = numbers_of(exif, subject_area);
  if (area.size() < 2 || area.size() > 4) return std::nullopt;
  const double x = area[0] / number_of(exif, pixel_x_dimension, static_cast<double>(width));
  const double y = area[1] / number_of(exif, pixel_y_dimension, static_cast<double>(height));
  if (!(x <= 1 && y <= 1)) return std::nullopt;
  return PhotoFocus{{}, upright_point(x, y, orientation), "EXIF SubjectArea"};
}

std::optional<double> exif_focal_length(Bytes exif) {
  const double length = number_of(exif, focal_length_35, 0);
  return length > 0 ? std::optional(length) : std::nullopt;
}

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
