#pragma once
// Rows of floats to fixed point: a version for every SIMD target.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// values[i] = to_fixed(source[i], exponent) as core/maths/fixed_point.h defines it, which is below 2^50 in
/// magnitude; 0 where the float is not finite.
void fix_floats(const float* source, std::size_t count, int exponent, std::uint64_t* values);

}  // namespace satin::cpu
