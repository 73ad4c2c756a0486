#pragma once
// Loops over one row that have a version for every SIMD target.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// values[i] = source[i]
void widen(const std::uint8_t* source, std::size_t count, std::uint32_t* values);
void widen(const std::uint16_t* source, std::size_t count, std::uint32_t* values);

/// sums[i] += values[i], sums[i] -= values[i], modulo the width
void add(const std::uint32_t* values, std::size_t count, std::uint32_t* sums);
void add(const std::uint64_t* values, std::size_t count, std::uint64_t* sums);
void subtract(const std::uint32_t* values, std::size_t count, std::uint32_t* sums);
void subtract(const std::uint64_t* values, std::size_t count, std::uint64_t* sums);

/// means[i] = round((ahead[i] - behind[i]) / area), ties up, exactly. The differences plus area / 2 are below 2^31 and
/// the means fit the output.
void divide_differences(const std::uint32_t* ahead, const std::uint32_t* behind, std::size_t count, std::uint32_t area,
                        std::uint8_t* means);
void divide_differences(const std::uint32_t* ahead, const std::uint32_t* behind, std::size_t count, std::uint32_t area,
                        std::uint16_t* means);

}  // namespace satin::cpu
