#pragma once
// Loops over one row that have a version for every SIMD target. Integers wrap, so that every order of adding
// and every target gives the same bytes.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// values[i] = source[i], of u8 or u16.
template <class Stored>
void widen(const Stored* source, std::size_t count, std::uint32_t* values);

/// narrow[i] = values[i], which fit u8 or u16.
template <class Stored>
void narrow(const std::uint32_t* values, std::size_t count, Stored* narrow);

/// sums[i] += values[i]; Value is Sum, or u8 or u16.
template <class Value, class Sum>
void add(const Value* values, std::size_t count, Sum* sums);

/// sums[i] += enters[i] - leaves[i]; Value as for add().
template <class Value, class Sum>
void exchange(const Value* enters, const Value* leaves, std::size_t count, Sum* sums);

/// means[i] = blend(own[i], means[i], weights[i], 255) of pixels/maths/pixel.h; weights up to 255, means up
/// to 65535.
void blend_by_bytes(const std::uint16_t* own, const std::uint16_t* weights, std::size_t count,
                    std::uint32_t* means);

}  // namespace satin::cpu
