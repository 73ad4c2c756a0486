#pragma once
// Means of a row from its prefix sums, with a version for every SIMD target. Doubles hold integers that they
// represent exactly, so that every target gives the same bytes.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// Weighted differences of prefixes: the sums over the whole boxes of one window.
template <class Sum>
struct BoxDifferences {
  int boxes = 1;  ///< 1 or 4
  const Sum* ahead[4] = {};
  const Sum* behind[4] = {};
  double weight[4] = {};
};

/// Divisors of one row: one for all entries, or size_x[i] * size_y for each.
struct Divisors {
  double divisor = 1;
  double half_up = 0;     ///< floor(divisor / 2) + 1/2
  double reciprocal = 0;  ///< 1 / divisor, correctly rounded
  const double* size_x = nullptr;
  double size_y = 0;
  bool words = false;  ///< (largest mean + 1/2) * divisor is below word_divide_limit; one whole box, whose
                       ///< weight is a power of two
  bool long_sums = false;  ///< it is not below divide_limit, but below long_divide_limit; sums of 64 bits
};

/// Bound on (largest mean * divisor) under which divide() is exact.
inline constexpr std::uint64_t divide_limit = std::uint64_t{1} << 50;
/// The same bound where Divisors say long_sums: differences are then below 2^47, weights up to 2^24, means
/// below 2^28 and divisors below 2^52.
inline constexpr std::uint64_t long_divide_limit = std::uint64_t{1} << 62;
/// The same bound, of sums with half a divisor, for integers of 32 bits.
inline constexpr std::uint64_t word_divide_limit = std::uint64_t{1} << 31;

/// means[i] = round(sum of weight * (ahead[i] - behind[i]) / divisor), ties up, exactly: the sum s is an
/// integer below 2^50, (s + 1/4) / divisor lies at least 1 / (4 divisor) from the middle between two
/// integers, on the side of s / divisor or above it in ties, and the product with the rounded reciprocal errs
/// by less than that. Words are multiplied by an integer reciprocal instead. Long sums are held in two
/// doubles, so that the remainder of an estimate is exact and tells which integer is nearest. Differences of
/// 32-bit sums are below 2^31, means below 2^31. Means of 64 bits are signed, like the sums then: the bounds
/// are those of the magnitudes.
template <class Sum, class Mean>
void divide(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t count, Mean* means);

/// The same for pixels of 2 or 4 channels whose colours were summed times alpha: the last mean is that of
/// alpha, the others are round(colour sum / alpha sum), ties up, at most `white` (0 where no alpha was
/// summed). Weighted sums are below 2^50, so that the correctly rounded quotient of (s + 1/2) lies on the
/// right side of every integer; or long, and those of alpha below 2^52.
template <class Sum>
void divide_by_alpha(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t pixels,
                     int channels, std::uint32_t white, std::uint32_t* means);

}  // namespace satin::cpu
