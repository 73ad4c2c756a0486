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

}  // namespace satin::cpu
