#pragma once
// One stored pixel -> its working values (pixels/maths/pixel.h).

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin::kernels {

/// What is uniform over a picture when its pixels are read.
struct ReadRule {
  bool weighted = false;
  bool squared = false;
  const std::uint32_t* decode = nullptr;
  FixedExponents exponents;
};

__device__ inline FixedExponents exponents_of(const PixelRead& read, bool squared, const Measured* measured) {
  if (!read.fixed_point || measured == nullptr) return {};
  return squared ? squared_exponents(*measured, read.fixed_bits)
                 : fixed_exponents(*measured, read.fixed_bits);
}

__device__ inline double finite_or_zero(float value) {
  return fabsf(value) <= FLT_MAX ? static_cast<double>(value) : 0.0;
}

/// Types of 4 bytes and more other than float hold working values already.
template <int Channels, class T, class Sum>
__device__ void read_working(const T* stored, const ReadRule& rule, Sum* values) {
  constexpr int alpha = Channels - 1;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    if constexpr (std::is_same_v<T, float>) {
      double value = finite_or_zero(stored[c]);
      if (rule.weighted && c != alpha) value = value * finite_or_zero(stored[alpha]);
      if (rule.squared) value = value * value;
      const bool is_alpha = rule.weighted && c == alpha;
      values[c] = static_cast<Sum>(to_fixed(value, is_alpha ? rule.exponents.alpha : rule.exponents.colour));
    } else if constexpr (sizeof(T) >= 4) {
      values[c] = static_cast<Sum>(stored[c]);
    } else if (rule.weighted && c == alpha) {
      values[c] = stored[c];
    } else {
      values[c] = rule.decode == nullptr ? stored[c] : rule.decode[stored[c]];
      if (rule.weighted) values[c] *= stored[alpha];
    }
  }
  if constexpr (!std::is_same_v<T, float>) {
    if (!rule.squared) return;
#pragma unroll
    for (int c = 0; c < Channels; ++c) values[c] *= values[c];
  }
}

}  // namespace satin::kernels
