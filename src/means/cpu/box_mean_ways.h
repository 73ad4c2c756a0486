#pragma once
// What ways to a box mean have in common.

#include <memory>

#include "core/cpu/backend.h"
#include "means/box_mean.h"

namespace satin::cpu {

/// Bound on weighted sums, (largest mean * divisor), under which Divide() of means/cpu/divide-inl.h is exact.
inline constexpr std::uint64_t divide_limit = std::uint64_t{1} << 50;
/// Bound on weighted sums where Divisors say long_sums: differences are then below 2^47, weights up to 2^24,
/// means below 2^28 and divisors below 2^52.
inline constexpr std::uint64_t long_divide_limit = std::uint64_t{1} << 62;
/// Bound on weighted sums plus half a divisor, for integers of 32 bits.
inline constexpr std::uint64_t word_divide_limit = std::uint64_t{1} << 31;

/// Pixels of a box whose means of 8 bits may be divided in single precision: DivideInSingles() of
/// means/cpu/divide-inl.h.
inline constexpr std::uint64_t largest_single_box = 4000;

/// Null if the job is not for it.
std::unique_ptr<BoxMeanOperation> prepare_box_mean_ring(CpuBackend& backend, const BoxMeanJob& job);

/// Whether sums over whole boxes fit the signed words that SIMD converts and divides.
[[nodiscard]] bool narrow_sums(const BoxMeanJob& job);

}  // namespace satin::cpu
