#pragma once
// The guided filter (He, Sun and Tang 2010): fits a linear function of the guide in every window, then
// averages the functions of all windows that cover a pixel. guided/maths/local_linear.h defines the
// arithmetic.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "core/maths/window.h"
#include "core/operation.h"
#include "guided/maths/local_linear.h"
#include "satin/border.h"
#include "satin/error.h"
#include "statistics/box_stats.h"

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
  Border border = Border::shrink;  ///< any but constant
  double eps = 1e-2;               ///< regularization, for values with white = 1
  LinearFormat format;
  bool sums_fit_32_bits = false;       ///< no value is negative and every sum over a window is below 2^32
  bool numerators_fit_double = false;  ///< no value is negative and n sum(u v) is at most 2^53
  std::uint32_t mask_maximum = 0;      ///< 255 or 65535; 0: no mask
};

/// Views of one run. A picture that guides itself is also the guide.
struct LocalLinearImages {
  ImageView picture;
  ImageView guide;
  ImageView mask;
  MutableImageView output;                   ///< no alias of the others
  Measured* measured = nullptr;              ///< measurements of a float picture; run() sets guide_not_finite
  const Measured* guide_measured = nullptr;  ///< measurements of a float guide
};

struct LocalLinearOperation : Operation {
  virtual void run(const LocalLinearImages& images, Stream stream) = 0;
};

[[nodiscard]] inline std::uint64_t largest_linear_value(const LinearRead& read) {
  if (read.type == Type::f32) return std::uint64_t{1} << read.float_bits;
  const std::uint64_t stored = read.type == Type::u8 ? 0xFF : 0xFFFF;
  if (!read.weighted) return stored;
  return read.cut == 0 ? stored * stored
                       : (stored * stored + (std::uint64_t{1} << (read.cut - 1))) >> read.cut;
}

/// Chooses the precision of a job so that all sums fit: float_bits and cut of picture and guide, the format
/// of coefficients, and what the sums fit. For windows of n <= 2^31 pixels, guides up to 2^g and pictures up
/// to 2^p:
///   n 2^(2 g) < 2^63 and n 2^(g + p) < 2^63    products;
///   n 2^(slope_range + slope_fraction) <= 2^62  slopes, each below 2^50;
///   n 2^(p + 15 + offset_fraction) <= 2^62      offsets, each below 2^51: |b| <= 2^p + 3 * 2^(p + 13).
/// Slopes are clamped to 2^(p - g + 13). With eps >= 1e-9 and white as the largest guide, no slope is steeper
/// than the deviation of p divided by 2 sqrt(eps). Throws Error(usage) if a bound cannot be met.
inline void choose_linear_bits(LocalLinearJob& job) {
  constexpr int most_guide_bits = 24;    // for floats
  constexpr int most_float_bits = 27;    // for a float picture with another guide
  constexpr int most_product_bits = 31;  // for 16-bit colours times alpha
  constexpr int steepest = 13;           // slopes reach 2^steepest times the ratio of picture and guide
  const auto cuts = [](const LinearRead& read) { return read.type == Type::u16 && read.weighted; };
  const auto bits_of_largest = [](const LinearRead& read) {
    return read.type == Type::f32 ? read.float_bits
                                  : static_cast<int>(std::bit_width(largest_linear_value(read)));
  };
  const auto limit_bits = [&](LinearRead& read, int bits) {
    if (read.type == Type::f32) read.float_bits = bits;
    if (cuts(read)) read.cut = 32 - bits;
  };
  const auto refuse = [](std::uint64_t pixels) {
    throw Error(ErrorKind::usage, "A window of " + std::to_string(pixels) +
                                      " pixels is too large for exact sums of products: reduce the radius.");
  };
  const std::uint64_t area = largest_window_of(job);
  const int area_bits = static_cast<int>(std::bit_width(area - 1));  // area <= 2^area_bits
  if (area_bits > 31) refuse(area);
  limit_bits(job.guide, cuts(job.guide) ? 16 : std::min(most_guide_bits, (62 - area_bits) / 2));
  const int guide = bits_of_largest(job.guide);
  if (job.layout.guides_itself) {
    job.picture.float_bits = job.guide.float_bits;
  } else {
    const int most = cuts(job.picture) ? most_product_bits : most_float_bits;
    limit_bits(job.picture, std::min({most, 47 - area_bits, 62 - area_bits - guide}));
  }
  const int picture = bits_of_largest(job.picture);

  const std::uint64_t values = std::max(largest_linear_value(job.guide), largest_linear_value(job.picture));
  const std::uint64_t product = values * largest_linear_value(job.guide);
  const std::uint64_t limit = (~std::uint64_t{0} >> 1) / area;
  const int offset_range = picture + steepest + 2;
  job.format.slope_range = picture - guide + steepest;
  job.format.slope_fraction = std::min(50, 62 - area_bits) - job.format.slope_range;
  job.format.offset_fraction = std::min(51, 62 - area_bits) - offset_range;
  if (product > limit || job.format.offset_fraction < 0) refuse(area);
  const bool integers = job.guide.type != Type::f32 && job.picture.type != Type::f32;
  job.sums_fit_32_bits = integers && product <= 0xFFFFFFFFU / area;
  job.numerators_fit_double = integers && product <= (std::uint64_t{1} << 53) / area / area;
}

}  // namespace satin
