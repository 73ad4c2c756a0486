#include "metadata/depth_terms.h"

#include <charconv>
#include <cmath>

#include "satin/error.h"
#include "satin/param.h"

namespace satin::io {
namespace {

constexpr std::string_view apdi = "http://ns.apple.com/pixeldatainfo/1.0/";
constexpr std::string_view depth_data = "http://ns.apple.com/depthData/1.0/";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::input,
              "its depth cannot be used: " + what + ". Give a depth image by --depth FILE.");
}

double number(const std::string& name, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::isnan(value))
    refuse(name + " is '" + text + "', which is no number");
  return value;
}

/// Disparities below 0, which Apple's files hold, lie beyond infinity: `far` may be infinite or negative.
void check(const DepthCoding& coding) {
  const bool inverse = coding.format == DepthCoding::Format::range_inverse;
  const bool ends = inverse ? coding.near != 0 && coding.far != 0 && std::isfinite(coding.near)
                            : std::isfinite(coding.near) && std::isfinite(coding.far);
  if (!ends || coding.near == coding.far)
    refuse("Near " + print_real(coding.near) + " and Far " + print_real(coding.far) + " span no range");
}

}  // namespace

DepthTerms google_terms(const std::string& standard, const DepthWords& words) {
  DepthTerms terms;
  terms.format = words.format.empty() ? "RangeInverse" : words.format;
  if (terms.format != "RangeInverse" && terms.format != "RangeLinear")
    refuse("the format '" + terms.format + "' is not RangeInverse or RangeLinear");
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
    refuse("its unit '" + words.units + "' is not m or mm");
  if (terms.metric) terms.units = words.units == "mm" ? "mm" : "m";
  terms.name = standard + " " + terms.format;
  return terms;
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
  terms.format = disparity ? "RangeInverse" : "RangeLinear";
  terms.near = print_real(terms.coding.near);
  terms.far = std::isinf(terms.coding.far) ? "inf" : print_real(terms.coding.far);
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
  terms.format = distances ? "RangeLinear" : "RangeInverse";
  terms.near = print_real(terms.coding.near);
  terms.far = std::isinf(terms.coding.far) ? "inf" : print_real(terms.coding.far);
  terms.name = distances ? "depth picture" : "disparity picture";
  return terms;
}

std::string apple_matte(const XmpNode& xmp) { return matte_of_type(xmp.text_of(apdi, "AuxiliaryImageType")); }

std::string matte_of_type(std::string_view type) {
  for (const auto& [end, name] :
       {std::pair("aux:portraiteffectsmatte", "portrait"), std::pair("aux:semantichairmatte", "hair"),
        std::pair("aux:semanticskinmatte", "skin"), std::pair("aux:semanticteethmatte", "teeth"),
        std::pair("aux:semanticglassesmatte", "glasses"), std::pair("aux:semanticskymatte", "sky")})
    if (type.ends_with(end)) return name;
  return {};
}

}  // namespace satin::io
