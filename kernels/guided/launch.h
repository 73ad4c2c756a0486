#pragma once
// Launches of local linear models, in the manner of kernels/device/launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "guided/local_linear.h"
#include "kernels/device/launch.h"

namespace satin::kernels {

/// Planes of integers, four and four interleaved in a picture: plane i is channel i % 4 of group i / 4, and
/// the last group has as many channels as are left. Rows are multiples of 32 bytes.
struct LinearGroups {
  static constexpr int planes = 4;
  static constexpr int most = 7;
  Target group[most];
};

/// Sums are u32 for narrow jobs and u64 otherwise; coefficients are u64.
struct LocalLinearArguments {
  LocalLinearJob job;
  Measured* measured = nullptr;  ///< of a float picture; gets guide_not_finite
  const Measured* guide_measured = nullptr;
  Source picture;
  Source guide;
  Source mask;
  Target output;
  LinearGroups values;  ///< written: one pixel's part in every sum, or coefficients
  LinearGroups tables;  ///< read: summed-area tables of the values
};

/// values = what a pixel adds to the sums.
void linear_moments(const LocalLinearArguments& arguments, StreamHandle stream);
/// values = coefficients, of the tables of moments.
void linear_coefficients(const LocalLinearArguments& arguments, StreamHandle stream);
/// output = the filtered picture, of the tables of coefficients.
void linear_results(const LocalLinearArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
