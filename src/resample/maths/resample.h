#pragma once
// How resampling reads a pixel and stores a result. Host and device.

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/real_pixel.h"

namespace satin {

/// How working values are made and stored. A colour without alpha counts as one with the alpha `unit`, so
/// that opaque pictures have the colours of those without alpha.
struct ResampleRule {
  bool weighted = false;  ///< the last channel is alpha; working colours are colour * alpha
  std::uint64_t unit = 1;
  std::uint64_t total = 1;  ///< sum of the weights of a result
  TransferView transfer;
};

/// Returns the working value of channel c.
template <class Sum, class T>
SATIN_HD Sum resample_value(const T* pixel, int c, int channels, const ResampleRule& rule) {
  const bool colour = c != channels - 1 || !rule.weighted;
  if constexpr (std::is_same_v<T, float>) {
    const double value = finite_value(pixel[c]);
    return rule.weighted && colour ? value * finite_value(pixel[channels - 1]) : value;
  } else {
    if (!colour) return static_cast<Sum>(pixel[c]);
    const auto value = static_cast<Sum>(decode(pixel[c], rule.transfer));
    return value * static_cast<Sum>(rule.weighted ? pixel[channels - 1] : rule.unit);
  }
}

/// Returns the quotient to nearest, ties up, from 0 to `largest`. Exact where twice the sum and the divisor
/// are exact in double and the quotient is below 2^24: it differs from the next integer by 2^-53 of the sum's
/// bound or more, and the division rounds by less.
SATIN_HD std::uint32_t resample_quotient(double sum, double divisor, std::uint32_t largest) {
  const double quotient = (sum + sum + divisor) / (divisor + divisor);
  const double above = quotient > 0 ? quotient : 0;
  const auto limit = static_cast<double>(largest);
  return static_cast<std::uint32_t>(above < limit ? above : limit);
}

SATIN_HD std::uint32_t resample_quotient(std::uint64_t sum, std::uint64_t divisor,
                                         std::uint32_t /*largest*/) {
  const std::uint64_t quotient = sum / divisor;
  const std::uint64_t rest = sum - quotient * divisor;
  return static_cast<std::uint32_t>(rest >= divisor - rest ? quotient + 1 : quotient);
}

SATIN_HD float finite_float(double value) {
  constexpr double limit = FLT_MAX;
  return static_cast<float>(value > limit ? limit : value < -limit ? -limit : value);
}

template <class T>
SATIN_HD void copy_colours(const T* from, int colours, T* to) {
  for (int c = 0; c < colours; ++c) to[c] = from[c];
}

/// Stores the sums of one pixel. A result without alpha has the colours of the pixel original().
template <int Channels, class Sum, class T, class Original>
SATIN_HD void store_resampled(const Sum* sums, const Original& original, const ResampleRule& rule, T* out) {
  constexpr int alpha = Channels - 1;
  const int colours = rule.weighted ? alpha : Channels;
  const Sum total = static_cast<Sum>(rule.total);
  const Sum divisor = rule.weighted ? sums[alpha] : total * static_cast<Sum>(rule.unit);
  if constexpr (std::is_same_v<T, float>) {
    if (rule.weighted) {
      out[alpha] = divisor > 0 ? finite_float(divisor / total) : 0.0F;
      if (!(divisor > 0)) return copy_colours(original(), colours, out);
    }
    for (int c = 0; c < colours; ++c) out[c] = finite_float(sums[c] / divisor);
  } else {
    constexpr auto opaque = static_cast<T>(~T{0});
    if (rule.weighted) {
      out[alpha] = static_cast<T>(resample_quotient(sums[alpha], total, opaque));
      if (out[alpha] == 0) return copy_colours(original(), colours, out);
    }
    const std::uint32_t white = decode(opaque, rule.transfer);
    for (int c = 0; c < colours; ++c)
      out[c] = encode(resample_quotient(sums[c], divisor, white), rule.transfer, T{});
  }
}

/// The pixels under the centres of results, along one axis.
struct NearestAxis {
  std::int64_t pixels = 1;
  std::int64_t results = 1;
  std::int64_t first = 0;  ///< position in the result that index 0 is
  std::int64_t begin = 0;  ///< index of the first pixel

  [[nodiscard]] SATIN_HD std::int64_t pixel(std::int64_t index) const {
    const std::int64_t at = index + first;
    return begin + (pixels == results ? at : (2 * at + 1) * pixels / (2 * results));
  }
};

/// The bytes of a pixel, to copy it.
template <class T, int Channels>
struct PixelOf {
  T channels[static_cast<std::size_t>(Channels)];
};

}  // namespace satin
