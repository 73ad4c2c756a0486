#pragma once
// Pixels of babl as pixels of Satin: the format in which a pad is read, its shape, and the tone curves of its
// colour space.

#include <gegl.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "satin/tone_curves.h"
#include "satin/view.h"

namespace satin::host {

/// Meaning of the values that a filter reads from a pad.
enum class Reading : std::uint8_t {
  light,   ///< colours in linear light: babl decodes floats, Satin integers
  stored,  ///< colours as stored
  map,     ///< one stored value for each pixel
  mask     ///< one stored integer for each pixel
};

/// A format of babl, taken apart.
struct Layout {
  bool grey = false;
  bool alpha = true;
  bool premultiplied = false;
  std::string curve;  ///< mark in the names of its components: "" linear, "'" of its space, "~" of sRGB
  const Babl* space = nullptr;
  std::string type = "float";

  /// Returns the layout of a format; linear RGBA floats for null, and for models without red, green and blue.
  [[nodiscard]] static Layout of(const Babl* format);
  /// Returns the format.
  [[nodiscard]] const Babl* format() const;
};

inline Layout Layout::of(const Babl* format) {
  Layout layout;
  if (format == nullptr) return layout;
  layout.alpha = babl_format_has_alpha(format) != 0;
  const auto flags = static_cast<unsigned>(babl_get_model_flags(babl_format_get_model(format)));
  layout.grey = (flags & BABL_MODEL_FLAG_GRAY) != 0;
  if (!layout.grey && (flags & BABL_MODEL_FLAG_RGB) == 0) return layout;
  layout.premultiplied = (flags & BABL_MODEL_FLAG_ASSOCIATED) != 0;
  layout.curve = (flags & BABL_MODEL_FLAG_NONLINEAR) != 0    ? "'"
                 : (flags & BABL_MODEL_FLAG_PERCEPTUAL) != 0 ? "~"
                                                             : "";
  layout.space = babl_format_get_space(format);
  const std::string type = babl_get_name(babl_format_get_type(format, 0));
  if (type == "u8" || type == "u16") layout.type = type;
  return layout;
}

inline const Babl* Layout::format() const {
  std::string name;
  for (const char component : std::string_view(grey ? "Y" : "RGB"))
    name += component + curve + (premultiplied ? "a" : "");
  return babl_format_with_space((name + (alpha ? "A " : " ") + type).c_str(), space);
}

/// Returns the format nearest to a pad's own that Satin can read so.
[[nodiscard]] inline const Babl* format_for(const Babl* own, Reading reading) {
  Layout layout = Layout::of(own);
  const bool is_float = layout.type == "float";
  if (reading == Reading::light && (is_float || layout.curve.empty())) {
    layout.type = "float";
    layout.curve = "";
  }
  if (layout.type != "float") layout.premultiplied = false;
  if (reading == Reading::map || reading == Reading::mask) {
    layout.grey = true;
    layout.alpha = layout.premultiplied = false;
  }
  if (reading == Reading::mask && is_float) layout.type = "u16";
  return layout.format();
}

/// Returns the shape of a rectangle in a format of format_for().
[[nodiscard]] inline Shape shape_of(const GeglRectangle& box, const Babl* format) {
  const Layout layout = Layout::of(format);
  return {.width = box.width,
          .height = box.height,
          .channels = babl_format_get_n_components(format),
          .type = layout.type == "u8"    ? Type::u8
                  : layout.type == "u16" ? Type::u16
                                         : Type::f32,
          .alpha = !layout.alpha          ? Alpha::none
                   : layout.premultiplied ? Alpha::premultiplied
                                          : Alpha::straight};
}

/// Returns the metadata of a file whose pixels are in this space. GEGL turns the gAMA chunk of a PNG file (an
/// exponent times 100,000) into a space whose profile babl writes; the exponent in that profile is rounded,
/// so the chunk is restored.
[[nodiscard]] inline Metadata metadata_of(const Babl* space) {
  Metadata metadata;
  int size = 0;
  const char* const profile = babl_space_get_icc(space, &size);
  const std::string_view bytes(profile, profile == nullptr ? 0 : static_cast<std::size_t>(size));
  const Babl* red = nullptr;
  const Babl* green = nullptr;
  const Babl* blue = nullptr;
  double unused = 0;
  babl_space_get(space, &unused, &unused, &unused, &unused, &unused, &unused, &unused, &unused, &red, &green,
                 &blue);
  const bool is_linear = red == babl_trc("linear") && green == red && blue == red;
  const double exponent = is_linear ? 1 : babl_space_get_gamma(space);
  constexpr double unit = 100'000, tolerance = 1e-5;
  const double gamma = exponent > 0 ? unit / exponent : 0;
  if (gamma > 0 && std::fabs(gamma - std::round(gamma)) < tolerance &&
      bytes.find("babl profile") != bytes.npos)
    metadata.png.gamma = static_cast<std::uint32_t>(std::lround(gamma));
  const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
  if (!metadata.png.gamma) metadata.icc.assign(first, first + bytes.size());
  return metadata;
}

/// Returns the curves by which integers in this format are decoded to linear light, as the command decodes
/// those of a file; nothing if they are sRGB's, by which filters decode.
[[nodiscard]] inline std::optional<ToneCurves> tone_curves_of(const Babl* format) {
  const Layout layout = Layout::of(format);
  if (layout.curve != "'" || layout.space == babl_space("sRGB")) return std::nullopt;
  const Metadata metadata = metadata_of(layout.space);
  Shape pixel = shape_of({0, 0, 1, 1}, format);
  constexpr std::size_t colour_space = 16;  // in the header of a profile
  const bool is_grey = metadata.icc.size() > colour_space + 4 &&
                       std::memcmp(metadata.icc.data() + colour_space, "GRAY", 4) == 0;
  pixel.channels = is_grey ? 1 : 3;
  pixel.alpha = Alpha::none;
  return ToneCurves::of(metadata, pixel);
}

}  // namespace satin::host
