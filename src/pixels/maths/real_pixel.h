#pragma once
// Stored pixels as real working values, and back: float for 8 bits, double otherwise, colours times alpha
// where alpha is straight. Also the difference of two neighbours in a guide.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/store.h"

namespace satin {

/// Type of the working value of a stored element. Products of integers are exact in it.
template <class Stored>
using RealOf = std::conditional_t<sizeof(Stored) == 1, float, double>;

SATIN_HD bool is_finite(float value) { return value - value == 0.0F; }

SATIN_HD double finite_value(float value) { return is_finite(value) ? static_cast<double>(value) : 0.0; }

template <class Stored>
SATIN_HD RealOf<Stored> read_real(const Stored* pixel, int c, int channels, bool weighted,
                                  const TransferView& transfer) {
  using Real = RealOf<Stored>;
  const bool multiplied = weighted && c != channels - 1;
  if constexpr (std::is_same_v<Stored, float>) {
    const double value = finite_value(pixel[c]);
    return multiplied ? value * finite_value(pixel[channels - 1]) : value;
  } else {
    if (weighted && !multiplied) return static_cast<Real>(pixel[c]);
    const auto value = static_cast<Real>(decode(pixel[c], transfer));
    return multiplied ? value * static_cast<Real>(pixel[channels - 1]) : value;
  }
}

/// Returns the integer from 0 to `largest` (below 2^24) nearest to the value, ties up.
template <class Real>
SATIN_HD std::uint32_t nearest_integer(Real value, std::uint32_t largest) {
  const Real above = value > 0 ? value : 0;
  const auto limit = static_cast<Real>(largest);
  const Real bounded = above < limit ? above : limit;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(bounded + static_cast<Real>(0.5)));
}

/// Stores the working values of one pixel (see store_integers(), store_floats()).
template <int Channels, class Real, class Stored>
SATIN_HD void store_real_pixel(const Real* values, const Stored* original, std::uint32_t mask,
                               const StoreRule& rule, Stored* out) {
  constexpr int alpha = Channels - 1;
  if (rule.mask_maximum != 0 && mask == 0) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  const auto colour = [&](int c) -> Real { return rule.weighted ? values[c] / values[alpha] : values[c]; };
  if constexpr (std::is_same_v<Stored, float>) {
    store_floats<Channels>(colour, rule.weighted ? values[alpha] : 0.0, original, mask, rule, out);
  } else {
    constexpr auto opaque = static_cast<Stored>(~Stored{0});
    const std::uint32_t white = decode(opaque, rule.transfer);
    const auto integer = [&](int c) -> std::uint64_t {
      if (rule.weighted && !(values[alpha] > 0)) return 0;
      return nearest_integer(colour(c), white);
    };
    const std::uint64_t alpha_value = rule.weighted ? nearest_integer(values[alpha], opaque) : 0;
    store_integers<Channels>(integer, alpha_value, original, mask, rule, out);
  }
}

/// Returns the sum over the channels of |p - q|; if weighted, of colours times alpha and of alpha times its
/// largest value. Exact for integers. For floats the order of the sum gives the same bits for RGB and BGR.
template <class Stored>
SATIN_HD double guide_difference(const Stored* p, const Stored* q, int channels, bool weighted) {
  constexpr double whole =
      std::is_same_v<Stored, float> ? 1.0 : static_cast<double>(static_cast<Stored>(~0U));
  const auto value = [&](const Stored* pixel, int c) {
    double result = 0;
    if constexpr (std::is_same_v<Stored, float>) {
      result = finite_value(pixel[c]);
    } else {
      result = static_cast<double>(pixel[c]);
    }
    if (!weighted) return result;
    if (c == channels - 1) return result * whole;
    if constexpr (std::is_same_v<Stored, float>) {
      return result * finite_value(pixel[channels - 1]);
    } else {
      return result * static_cast<double>(pixel[channels - 1]);
    }
  };
  const auto difference = [&](int c) { return fabs(value(p, c) - value(q, c)); };
  double sum = difference(0);
  if (channels > 2) sum = sum + difference(2);
  if (channels > 1) sum = sum + difference(1);
  if (channels > 3) sum = sum + difference(3);
  return sum;
}

}  // namespace satin
