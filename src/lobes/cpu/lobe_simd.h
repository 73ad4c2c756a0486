#pragma once
// Loops over rows of lobes and cells that have a version for every SIMD target, all with the same results.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// add_weighted() (means/maths/mean.h) of ahead[i] - behind[i], signed, with the two parts of a sum apart.
void add_weighted_differences(const std::uint64_t* ahead, const std::uint64_t* behind, std::size_t count,
                              std::uint32_t weight, std::uint64_t* low, double* estimate);

/// whole[i] = whole_value() (lobes/maths/lobe_cells.h) of values[i], which fits; then values[i] becomes that
/// of the next row of pixels between the rows of cells `above` and `below`.
void round_and_step(const std::uint64_t* above, const std::uint64_t* below, std::size_t count, int cell_bits,
                    std::uint64_t* values, std::uint32_t* whole);

}  // namespace satin::cpu
