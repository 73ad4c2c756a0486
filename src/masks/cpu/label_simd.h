#pragma once
// Loops over masks and labels that have a version for every SIMD target.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

inline constexpr std::size_t bits_of_word = 64;
/// What fill_runs() may write behind the last pixel.
inline constexpr std::size_t fill_margin = 64;

[[nodiscard]] constexpr std::size_t words_for(std::size_t pixels) {
  return (pixels + bits_of_word - 1) / bits_of_word;
}

/// words[i / 64] bit i % 64 = 1 where mask[i] is not 0 (where it is, if `zeros`); bits behind the last pixel
/// are 0.
void find_bits(const std::uint8_t* mask, std::size_t pixels, bool zeros, std::uint64_t* words);

/// labels[r] for the pixels from edges[2 r] to edges[2 r + 1] - 1, 0 for the others. Runs ascend; `out` has
/// room for `pixels` + fill_margin.
void fill_runs(const std::uint32_t* edges, const std::uint32_t* labels, std::size_t runs, std::size_t pixels,
               std::uint32_t* out);

/// Copies past the caches, which the target does not fit.
void copy_streaming(const std::uint32_t* from, std::size_t count, std::uint32_t* to);

}  // namespace satin::cpu
