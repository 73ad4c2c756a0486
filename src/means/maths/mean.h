#pragma once
// The arithmetic of a mean, shared by host and device: the sum over a box with fractional radii, from a
// summed-area table, and the pixel that is stored for a sum.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "pixels/maths/divide.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/store.h"
#include "tables/maths/gather.h"

namespace satin {

/// Whether outputs of this type can hold working values.
template <class T>
inline constexpr bool may_be_working = sizeof(T) >= 2 && !std::is_same_v<T, float>;

/// The part of a box mean that is the same for every pixel.
struct MeanRule : StoreRule {
  bool fixed_point = false;            ///< whether the picture holds floats, whose sums are signed
  int read_fraction = 0;               ///< fraction bits of the values that were summed
  bool working = false;                ///< whether the output holds working values
  int write_shift = 0;                 ///< fraction bits of a working output minus those of the input
  std::uint64_t border_value[4] = {};  ///< working values outside the picture, for Border::constant
};

/// Returns the working value of channel c outside the picture, for floats.
SATIN_HD std::uint64_t fixed_border_value(double value, int c, int channels, bool weighted, int fraction,
                                          FixedExponents exponents) {
  if (!weighted) return static_cast<std::uint64_t>(to_fixed(value, exponents.colour)) << fraction;
  if (c == channels - 1) return static_cast<std::uint64_t>(to_fixed(value, exponents.alpha)) << fraction;
  return static_cast<std::uint64_t>(to_fixed(value * value, exponents.colour)) << fraction;
}

/// Computes the weighted sums over the covered area of a box with fractional radii, from up to four whole
/// boxes. Returns its weighted number of pixels.
template <int Channels, class Sum>
SATIN_HD std::uint64_t covered_box_sums(const TableView<Sum>& table, std::int64_t x, std::int64_t y,
                                        Radius256 radius_x, Radius256 radius_y, Border border,
                                        const MeanRule& rule, WideSum* totals) {
  const AxisBox along_x = axis_box(x, table.width, radius_x, border);
  const AxisBox along_y = axis_box(y, table.height, radius_y, border);
  for (int c = 0; c < Channels; ++c) totals[c] = {};
  for (int outer_y = 0; outer_y < 2; ++outer_y) {
    const std::uint32_t weight_y = outer_y == 0 ? along_y.inner : along_y.outer;
    if (weight_y == 0) continue;
    for (int outer_x = 0; outer_x < 2; ++outer_x) {
      const std::uint32_t weight_x = outer_x == 0 ? along_x.inner : along_x.outer;
      if (weight_x == 0) continue;
      Sum sums[4];
      whole_box_sums<Channels>(table, window_around(x, along_x.reach + outer_x),
                               window_around(y, along_y.reach + outer_y), border, sums);
      const std::uint64_t weight = static_cast<std::uint64_t>(weight_x) * weight_y;
      for (int c = 0; c < Channels; ++c) add_weighted(totals[c], weight, sums[c], rule.fixed_point);
    }
  }
  const std::uint64_t count = along_x.size * along_y.size;
  if (border == Border::constant) {
    const std::uint64_t outside = count - along_x.existing * along_y.existing;
    for (int c = 0; c < Channels; ++c)
      add_weighted(totals[c], outside, rule.border_value[c], rule.fixed_point);
  }
  return count;
}

/// Returns the weighted number of pixels of the covered area that count, from the table of the validity mask.
/// Pixels of a constant border count.
SATIN_HD std::uint64_t covered_count(const TableView<std::uint32_t>& counts, std::int64_t x, std::int64_t y,
                                     Radius256 radius_x, Radius256 radius_y, Border border) {
  MeanRule rule;
  rule.border_value[0] = 1;
  WideSum count;
  covered_box_sums<1>(counts, x, y, radius_x, radius_y, border, rule, &count);
  return count.low;
}

/// Stores the mean of integer pixels. `count` is the weighted number of pixels; see store_integers() for the
/// rest.
template <int Channels, class T>
SATIN_HD void store_integer_mean(const WideSum* sums, std::uint64_t count, const T* original,
                                 std::uint32_t mask, const MeanRule& rule, T* out) {
  constexpr int alpha = Channels - 1;
  const std::uint64_t divisor = count << rule.read_fraction;
  const auto colour = [&](int c) -> std::uint64_t {
    if (!rule.weighted) return static_cast<std::uint64_t>(divide_round(sums[c], divisor));
    return sums[alpha].low == 0 ? 0 : static_cast<std::uint64_t>(divide_round(sums[c], sums[alpha].low));
  };
  const auto mean_alpha =
      rule.weighted ? static_cast<std::uint64_t>(divide_round(sums[alpha], divisor)) : std::uint64_t{0};
  store_integers<Channels>(colour, mean_alpha, original, mask, rule, out);
}

/// Stores the mean of float pixels.
template <int Channels>
SATIN_HD void store_float_mean(const WideSum* sums, std::uint64_t count, const float* original,
                               std::uint32_t mask, const MeanRule& rule, FixedExponents exponents,
                               float* out) {
  constexpr int alpha = Channels - 1;
  const double divisor = static_cast<double>(count << rule.read_fraction);
  const double scale = power_of_two(rule.weighted ? exponents.alpha - exponents.colour : -exponents.colour);
  const auto colour = [&](int c) {
    return sums[c].estimate / (rule.weighted ? sums[alpha].estimate : divisor) * scale;
  };
  const double mean_alpha =
      rule.weighted ? sums[alpha].estimate / divisor * power_of_two(-exponents.alpha) : 0.0;
  store_floats<Channels>(colour, mean_alpha, original, mask, rule, out);
}

/// Stores means as working values of the next pass, with rule.write_shift more fraction bits.
template <int Channels, class Working>
SATIN_HD void store_working_mean(const WideSum* sums, std::uint64_t count, const MeanRule& rule,
                                 Working* out) {
  for (int c = 0; c < Channels; ++c) {
    const WideSum shifted{sums[c].low << rule.write_shift,
                          sums[c].estimate * static_cast<double>(std::uint64_t{1} << rule.write_shift)};
    out[c] = static_cast<Working>(divide_round(shifted, count));
  }
}

}  // namespace satin
