#pragma once
// Means of rows of fixed-point sums as floats: a version for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "means/cpu/divide_simd.h"

namespace satin::cpu {

/// means[i] = (sum of weight * (ahead[i] - behind[i])) / divisor * scale, the differences signed and the
/// boxes added in their order, each step rounded as IEEE doubles are, the last one to float.
void float_means(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
                 std::size_t count, float* means);

}  // namespace satin::cpu
