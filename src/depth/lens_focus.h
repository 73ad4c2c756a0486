#pragma once
// The parameters of a lens, checked and worked out for one picture and its depth image.

#include <vector>

#include "depth/maths/circle_of_confusion.h"
#include "satin/image.h"
#include "satin/lens_focus.h"

namespace satin {

// What counts where neither is told.
inline constexpr Length usual_strength{1, true};
inline constexpr double usual_f_number = 2.8;

/// Records of the members of LensFocus; record::within() makes them a filter's own.
[[nodiscard]] std::vector<ParameterRecord> lens_focus_parameters();

/// Throws Error(usage) for values and combinations that are not valid, Error(input) for a focus outside the
/// picture.
[[nodiscard]] DepthRule depth_rule(const LensFocus& focus, const Shape& picture, const Shape& depth);

/// The channel of the depth image that holds the depth. Throws Error(usage) where that is not told.
[[nodiscard]] int depth_channel(const LensFocus& focus, const Shape& depth);

}  // namespace satin
