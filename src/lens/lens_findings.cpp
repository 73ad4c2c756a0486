#include "lens/lens_findings.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lens/lens_focus.h"
#include "satin/error.h"

namespace satin {
namespace {

std::string short_number(double value, int digits = 4) {
  std::array<char, 32> text{};
  const auto [end, code] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  return {text.data(), end};
}

std::string range_text(double low, double high) { return short_number(low) + " to " + short_number(high); }

[[noreturn]] void refuse_focus(const LensState& found, const DepthRule& rule, const LensFocus& focus) {
  const double a = told_focus(found.lowest, rule, focus);
  const double b = told_focus(found.highest, rule, focus);
  std::string text = "focus " + print_real(*focus.focus) + ": the depth has values from " +
                     range_text(std::min(a, b), std::max(a, b)) + ". ";
  const double scaled = *focus.focus * (rule.gain < 0 ? -rule.gain : rule.gain);
  if (!focus.depth_scale && !focus.depth_range && scaled >= std::min(a, b) && scaled <= std::max(a, b))
    text += "Stored codes count as 0 to 1: " + print_real(*focus.focus) + " is " + short_number(scaled) + ".";
  else
    text += "Give one of them, or a place by --focus-at X,Y.";
  throw Error(ErrorKind::input, text);
}

/// The largest strength by which the percentiles of the depth stay within the largest radius, in the words
/// of the one that was given.
std::string fitting_strength(const LensState& found, const DepthRule& rule, const LensFocus& focus) {
  const double reach = std::max(found.high - found.near_edge, found.far_edge - found.low);
  const double share = rule.largest / (reach * found.strength);
  const auto rounded = [](double value) { return short_number(value, 3); };
  if (rule.focal_length != 0) return "--f-number " + rounded(focus.f_number.value_or(usual_f_number) / share);
  if (rule.spanned == 0) return "--strength " + rounded(found.strength / 256 * share);
  return "--strength " + rounded(focus.strength.value_or(usual_strength).value * share) + "%";
}

std::string held_warning(const LensState& found, const DepthRule& rule, const LensFocus& focus) {
  const double low = rule.distances ? 1 / found.high : found.low;
  const double high = rule.distances ? 1 / found.low : found.high;
  return "More than half of the picture is blurred by the largest radius, --max-radius " +
         print_real(focus.max_radius) + ": the depth has values from " + range_text(low, high) + ". " +
         fitting_strength(found, rule, focus) + " fits.";
}

}  // namespace

double told_focus(double value, const DepthRule& rule, const LensFocus& focus) {
  return focus.invert_depth && !focus.depth_range ? rule.offset - value : value;
}

double largest_found_radius(const LensState& found, const DepthRule& rule) {
  double largest = 0;
  for (const double value : {found.lowest, found.highest}) {
    const double inverse = rule.distances ? 1 / value : value;
    const double beyond = std::max({inverse - found.near_edge, found.far_edge - inverse, 0.0});
    largest = std::max(largest, std::min(beyond * found.strength, rule.largest));
  }
  return largest / 256;
}

void tell_findings(const LensState& found, const DepthRule& rule, const LensFocus& focus,
                   std::vector<std::string>& warnings) {
  const auto refuse_input = [](const char* what) { throw Error(ErrorKind::input, what); };
  if ((found.problems & nothing_known) != 0)
    refuse_input("The depth image holds no known value at all: check --unknown, --depth-kind and the file.");
  if ((found.problems & focus_on_unknown) != 0)
    refuse_input(
        "The depth around the place of focus is unknown: choose another --focus-at, or give --focus V.");
  if ((found.problems & focus_too_near) != 0)
    refuse_input(
        "The depth at the place of focus is nearer than the focal length: check --depth-unit and "
        "--depth-scale.");
  if (found.unknown != 0)
    warnings.push_back(std::to_string(found.unknown) +
                       " depth values are unknown: they were filled from those around them.");
  const bool held = (found.problems & mostly_held) != 0;
  // A depth of one value has no range: a focus beside it blurs the whole picture evenly.
  if ((found.problems & focus_outside) != 0 && (found.lowest < found.highest || held))
    refuse_focus(found, rule, focus);
  if (held) warnings.push_back(held_warning(found, rule, focus));
}

}  // namespace satin
