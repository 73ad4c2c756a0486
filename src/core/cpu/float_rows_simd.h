#pragma once
// Rows of floats to fixed point, and means of their sums back to floats: a version for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "core/cpu/divide_simd.h"

namespace satin::cpu {

/// values[i] = to_fixed(source[i], exponent) as core/maths/fixed_point.h defines it, which is below 2^50 in
/// magnitude; 0 where the float is not finite.
void fix_floats(const float* source, std::size_t count, int exponent, std::uint64_t* values);

/// means[i] = (sum of weight * (ahead[i] - behind[i])) / divisor * scale, the differences signed and the
/// boxes added in their order, each step rounded as IEEE doubles are, the last one to float.
void float_means(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
                 std::size_t count, float* means);

}  // namespace satin::cpu
