#pragma once
// Prefix sums along a row, with a version for every SIMD target.

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace satin::cpu {

/// Inclusive prefix sums of interleaved channels: out[x] = values[0] + ... + values[x] of its channel, plus
/// above[x] unless `above` is null. Integers wrap; doubles must
/// be integers that it represents exactly, all sums too. `out` may be `values` or `above`. Value is Sum, or
/// u8 or u16 where Sum is u32 or u64.
template <class Value, class Sum>
void scan(const Value* values, std::size_t pixels, int channels, const std::type_identity_t<Sum>* above,
          Sum* out);

}  // namespace satin::cpu
