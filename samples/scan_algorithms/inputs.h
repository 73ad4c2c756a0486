#pragma once
// Inputs of the algorithms: numbers that depend on the seed and the index alone.

#include <cstdint>
#include <vector>

#include "machine.h"

namespace study {

/// Returns a well-mixed word for every index.
constexpr std::uint32_t random_word(Index i, std::uint32_t seed) {
  std::uint32_t h = static_cast<std::uint32_t>(i) * 0x9E3779B9U + seed * 0x85EBCA6BU;
  h = (h ^ (h >> 16)) * 0x7FEB352DU;
  h = (h ^ (h >> 15)) * 0x846CA68BU;
  return h ^ (h >> 16);
}

inline std::vector<std::uint32_t> random_words(Index n, std::uint32_t seed) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) words[static_cast<std::size_t>(i)] = random_word(i, seed);
  return words;
}

/// Returns words of that many bits.
inline std::vector<std::uint32_t> random_values(Index n, int bits, std::uint32_t seed) {
  std::vector<std::uint32_t> values = random_words(n, seed);
  for (std::uint32_t& value : values) value &= (1U << bits) - 1;
  return values;
}

/// Returns the reach of a window, 0 to 24, which differs from index to index.
constexpr Index random_reach(Index i) { return random_word(i, 7) % 25; }

/// Pictures of about n pixels are about square: as many columns as there are in the largest square that has
/// no more pixels, and the fewest rows that hold n.
constexpr Index picture_width(Index n) {
  Index width = 1;
  while ((width + 1) * (width + 1) <= n) ++width;
  return width;
}
constexpr Index picture_height(Index n) { return (n + picture_width(n) - 1) / picture_width(n); }

/// Returns flags of segments: about every 20th value begins one.
inline std::vector<std::uint8_t> random_heads(Index n, std::uint32_t seed) {
  std::vector<std::uint8_t> heads(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    heads[static_cast<std::size_t>(i)] =
        random_word(i, seed + 1) % 20 == 0 ? std::uint8_t{1} : std::uint8_t{0};
  return heads;
}

/// Returns values from -0.125 to 1.125, with exactly 0 and exactly 1 among them.
inline std::vector<float> random_floats(Index n, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] =
        static_cast<float>(static_cast<int>(random_word(i, seed) % 1281) - 128) / 1024.0F;
  return values;
}

/// 128 elements x_i = (i mod 80) / 100: 8 bins over [0, 1) get 26 24 26 22 13 12 5 0.
inline std::vector<float> bin_puzzle() {
  std::vector<float> values(128);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 80) / 100.0F;
  return values;
}

}  // namespace study
