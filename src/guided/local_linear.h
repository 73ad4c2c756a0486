#pragma once
// The guided filter: a linear function of the guide in every window, and the mean of those that cover a
// pixel.

#include <cstdint>

#include "core/operation.h"
#include "guided/maths/local_linear.h"
#include "satin/border.h"

namespace satin {

struct LocalLinearOperation;

struct LocalLinearJob {
  using Operation = LocalLinearOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  LinearRead picture;
  LinearRead guide;
  LinearLayout layout;
  std::int64_t reach_x = 0;  ///< windows are 2 reach + 1 wide
  std::int64_t reach_y = 0;
  Border border = Border::shrink;  ///< all but constant
  double eps = 1e-2;               ///< of values with white = 1
  LinearFormat format;
  bool narrow = false;             ///< no value is negative and every sum over a window is below 2^32
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
};

/// Views of one run. The guide is the picture where a picture guides itself.
struct LocalLinearImages {
  ImageView picture;
  ImageView guide;
  ImageView mask;
  MutableImageView output;                   ///< aliases none of them
  Measured* measured = nullptr;              ///< of a float picture; its guide_not_finite is set
  const Measured* guide_measured = nullptr;  ///< of a float guide
};

struct LocalLinearOperation : Operation {
  virtual void run(const LocalLinearImages& images, Stream stream) = 0;
};

/// Pixels of the largest window.
[[nodiscard]] std::uint64_t largest_fit(const LocalLinearJob& job);

/// The largest magnitude of the integers.
[[nodiscard]] std::uint64_t largest_linear_value(const LinearRead& read);

/// The one place that bounds the sums. Fills in float_bits and cut of the job's picture and guide, the format
/// of its coefficients, and `narrow`, such that over windows of n <= 2^31 pixels, with guides up to 2^g and
/// pictures up to 2^p:
///   n 2^(2 g) < 2^63 and n 2^(g + p) < 2^63    products;
///   n 2^(slope_range + slope_fraction) <= 2^62  slopes, each one below 2^50;
///   n 2^(p + 15 + offset_fraction) <= 2^62      offsets, each one below 2^51: |b| <= 2^p + 3 * 2^(p + 13).
/// Slopes are held within 2^(p - g + 13): with eps >= 1e-9, white being the largest guide, no slope is
/// steeper than the deviation of p by 2 sqrt(eps). Throws Error(usage) if a bound cannot be met.
void choose_linear_bits(LocalLinearJob& job);

}  // namespace satin
