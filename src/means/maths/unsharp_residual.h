#pragma once
// What a pixel differs by from the mean around it, times an amount: the same lines on host and device.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "means/maths/mean.h"
#include "pixels/maths/real_pixel.h"

namespace satin {

struct UnsharpResidualRule : StoreRule {
  double amount = 0;
  double threshold = 0;      ///< differences up to this stay as they are, in working values
  double mean_scale = 1;     ///< integers: what a mean, or its quotient by alpha, is multiplied with
  int fixed_bits = 0;        ///< of floats
  bool keeps_alpha = false;  ///< the last channel comes back as it was
};

/// v + amount (v - m) where |v - m| > threshold, otherwise v.
SATIN_HD double with_detail(double own, double mean, const UnsharpResidualRule& rule) {
  const double difference = own - mean;
  if (rule.amount == 0 || !(fabs(difference) > rule.threshold)) return own;
  return own + rule.amount * difference;
}

/// Stores one pixel. `means` are the working values that a box mean has written; where no alpha is around, a
/// pixel is its own mean.
template <int Channels, class T, class Working>
SATIN_HD void store_with_residual(const Working* means, const T* original, std::uint32_t mask,
                                  const UnsharpResidualRule& rule, FixedExponents exponents, T* out) {
  constexpr int last = Channels - 1;
  if (rule.mask_maximum != 0 && mask == 0) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    const auto fixed = [&](int c) { return static_cast<double>(static_cast<std::int64_t>(means[c])); };
    const double scale = power_of_two(rule.weighted ? exponents.alpha - exponents.colour : -exponents.colour);
    const auto colour = [&](int c) {
      const double own = finite_value(original[c]);
      if (rule.keeps_alpha && c == last) return own;
      if (!rule.weighted) return with_detail(own, fixed(c) * scale, rule);
      return fixed(last) > 0 ? with_detail(own, fixed(c) / fixed(last) * scale, rule) : own;
    };
    const double alpha = rule.weighted ? finite_value(original[last]) : 0.0;
    store_floats<Channels>(colour, alpha, original, mask, rule, out);
  } else {
    const std::uint32_t white = decode(static_cast<T>(~T{0}), rule.transfer);
    const auto colour = [&](int c) -> std::uint64_t {
      const std::uint32_t own = decode(original[c], rule.transfer);
      if (rule.keeps_alpha && c == last) return own;
      if (rule.weighted && means[last] == 0) return own;
      double mean = static_cast<double>(means[c]);
      if (rule.weighted) mean = mean / static_cast<double>(means[last]);
      return nearest_integer(with_detail(own, mean * rule.mean_scale, rule), white);
    };
    store_integers<Channels>(colour, original[last], original, mask, rule, out);
  }
}

}  // namespace satin
