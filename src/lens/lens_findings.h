#pragma once
// What runs of a lens found in a depth image, in sentences.

#include <string>
#include <vector>

#include "lens/maths/circle_of_confusion.h"
#include "satin/lens_focus.h"

namespace satin {

/// Adds what may surprise to the warnings. Throws Error(input) where no focus or no depth was found, and for
/// a focus outside the depth.
void tell_findings(const LensState& found, const DepthRule& rule, const LensFocus& focus,
                   std::vector<std::string>& warnings);

/// A value as a user says it: that of inverted depth is as stored.
[[nodiscard]] double told_focus(double value, const DepthRule& rule, const LensFocus& focus);

/// The largest radius of the known depth values, in pixels.
[[nodiscard]] double largest_found_radius(const LensState& found, const DepthRule& rule);

}  // namespace satin
