#pragma once
// The two row loops of a box whose edge pixels count by their covered part, with a version for every SIMD
// target: down the columns, then along the row. Doubles hold integers that they represent exactly.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// One step down: sums[i] += enters[i] - above[i], the sum over the whole rows of the window, and
/// weighted[i] = 256 sums[i] + outer (above[i] + below[i]), with the rows that it covers partly. `above` left
/// the window in this step. Value is u8, u16 or u32. Sums and, where Sum is u32, weighted sums are below
/// 2^31.
template <class Value, class Sum>
void slide(const Value* enters, const Value* above, const Value* below, std::uint32_t outer,
           std::size_t count, std::uint32_t* sums, Sum* weighted);

/// One row of means. With the sums a and b over [i - reach - step, i + reach] and the window one pixel wider
/// on either side, taken from prefix sums as differences, mean = round((whole a + outer (b - a)) / divisor),
/// ties up.
template <class Sum>
struct CoveredRow {
  const Sum* prefix = nullptr;  ///< of the first pixel
  std::size_t reach = 0;        ///< of the whole pixels, in entries
  std::size_t step = 1;         ///< entries of a pixel
  double whole = 1;             ///< a power of two
  double outer = 0;
  double divisor = 1;
  const double* size_x = nullptr;  ///< not null: divisor * size_x[i] instead
};

/// means[i] of `count` entries. Exact where weighted sums s are below 2^50 and means below 2^31: (s + 1/4) /
/// divisor lies at least 1 / (4 divisor) from the middle between two integers, on the side of s / divisor and
/// above it in ties, and a product with the rounded reciprocal errs by less. Where Sum is u32, a is below
/// 2^32 and b - a below 2^31.
template <class Sum, class Mean>
void divide_covered(const CoveredRow<Sum>& row, std::size_t count, Mean* means);

}  // namespace satin::cpu
