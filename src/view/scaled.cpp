#include "view/scaled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "satin/error.h"

namespace satin::view {
namespace {

constexpr double endless = std::numeric_limits<double>::max();

Length scaled(const Length& length, double scale, bool whole) {
  if (length.percent) return length;
  const double value = length.value * scale;
  return {whole ? std::round(value) : value};
}

PixelBox scaled(const PixelBox& box, double scale) {
  const auto edge = [scale](std::int64_t at) { return std::llround(static_cast<double>(at) * scale); };
  const std::int64_t left = edge(box.x), top = edge(box.y);
  return {left, top, std::max<std::int64_t>(edge(box.x + box.width) - left, 1),
          std::max<std::int64_t>(edge(box.y + box.height) - top, 1)};
}

std::string scaled(const ParameterRecord& parameter, const std::string& text, double scale) {
  const std::string& name = parameter.name;
  switch (parameter.kind) {
    case ParameterKind::real:
      return print_real(std::clamp(parse_real(name, text, -endless, endless) * scale, parameter.minimum,
                                   parameter.maximum));
    case ParameterKind::integer: {
      const auto value = parse_real(name, text, -endless, endless);
      const double odd = std::fmod(std::abs(value), 2);  // windows are odd, and stay so
      return print_real(std::max(2 * std::round((value * scale - odd) / 2) + odd, parameter.minimum));
    }
    case ParameterKind::length:
      return print_length(scaled(parse_length(name, text, -endless, endless), scale, false));
    case ParameterKind::radius: {
      const Radius radius = parse_radius(name, text, 0, endless);
      return print_radius(
          {scaled(radius.x, scale, parameter.whole), scaled(radius.y, scale, parameter.whole)});
    }
    case ParameterKind::point: {
      const Point point = parse_point(name, text);
      return print_point({scaled(point.x, scale, false), scaled(point.y, scale, false)});
    }
    case ParameterKind::boxes: {
      std::vector<PixelBox> boxes = parse_boxes(name, text);
      for (PixelBox& box : boxes) box = scaled(box, scale);
      return print_boxes(boxes);
    }
    default:
      return text;
  }
}

/// Sets those that are told, or those that are left at their defaults.
void set_scaled(Parameters& to, const Parameters& from, double scale, bool told) {
  for (const ParameterRecord& parameter : from.filter().parameters) {
    const std::string text = from.get(parameter.name);
    const bool in_pixels = parameter.unit == "px";
    if (text.empty() || (text != parameter.default_text) != told || (!told && !in_pixels)) continue;
    to.set(parameter.name, in_pixels ? scaled(parameter, text, scale) : text);
  }
}

/// A default may stand beside a parameter that is told in its place: then it does not count.
void set_defaults(Parameters& to, const Parameters& from, double scale) {
  try {
    set_scaled(to, from, scale, false);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

Pipeline scaled(const Pipeline& pipeline, int level) {
  const double scale = std::ldexp(1.0, -level);
  Pipeline result;
  for (const PipelineStep& step : pipeline) {
    PipelineStep& small =
        result.emplace_back(PipelineStep{Parameters(step.parameters.filter()), step.side_inputs});
    set_scaled(small.parameters, step.parameters, scale, true);
    set_defaults(small.parameters, step.parameters, scale);
    // In a smaller preview a small box or mask may vanish, which is no error there.
    constexpr const char* lenient = "allow-nothing";
    if (level > 0 && step.parameters.filter().find_parameter(lenient) != nullptr)
      small.parameters.set(lenient, "true");
  }
  return result;
}

}  // namespace satin::view
