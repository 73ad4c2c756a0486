#pragma once
// Rows with what they differ by from their means, times an amount: a version for every SIMD target.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// The rule of a row without alpha and mask; see means/maths/unsharp_residual.h.
struct UnsharpResidualLine {
  double amount = 0;
  double threshold = 0;
  double mean_scale = 1;
  double white = 0;     ///< largest result
  bool narrow = false;  ///< what exact_in_float() says
};

/// Whether single precision makes every step for bytes with means of 8 more bits exactly. Differences are
/// k / 2^8 with |k| <= 65280; with an amount of a / 2^s results are multiples of 1 / 2^(8 + s) of at most
/// 65280 (2^s + a) parts: fewer than 2^24 while 2^s + a <= 256. Thresholds are compared alike where they are
/// floats.
[[nodiscard]] bool exact_in_float(const UnsharpResidualLine& line);

/// out[i] = nearest_integer(with_detail(own[i], means[i] * line.mean_scale), line.white). Means are below
/// 2^31. Instances: bytes with means of 16 bits, 16 bits with means of 32.
template <class Own, class Mean>
void add_residual(const Own* own, const Mean* means, std::size_t count, const UnsharpResidualLine& line,
                  Own* out);

}  // namespace satin::cpu
