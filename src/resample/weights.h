#pragma once
// Weights of the pixels of an axis for each position of the result.

#include <cstdint>
#include <vector>

#include "core/windows.h"

namespace satin {

enum class ResampleKernel : std::uint8_t { lanczos, area, nearest };

/// The weights of an axis. Position i of the result reads the pixels first[i] to first[i] + count[i] - 1.
struct AxisWeights {
  std::size_t most = 0;  ///< largest count
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> count;
  std::vector<std::int32_t> row;  ///< row of `weights` with those of position i; positions share rows
  std::vector<double> weights;    ///< rows of `most` weights
  double total = 1;               ///< sum of the weights of each position

  [[nodiscard]] std::size_t results() const noexcept { return first.size(); }
  [[nodiscard]] const double* of(std::size_t i) const noexcept {
    return weights.data() + static_cast<std::size_t>(row[i]) * most;
  }
};

/// Weights of lanczos are multiples of 2^-lanczos_bits with the sum 1.
inline constexpr int lanczos_bits = 27;

/// Returns the weights that turn `pixels` into `results` positions, both from 1 to 2^30.
///
/// Weights of area are the integers of pixels covered, in units of 1 / results, divided by their greatest
/// common divisor. The magnitudes of the weights of lanczos add up to less than 2, so that sums of values
/// below 2^24 are exact in double: 24 + 27 + 1 bits.
[[nodiscard]] AxisWeights axis_weights(ResampleKernel kernel, std::int64_t pixels, std::int64_t results);

/// Returns the pixels that these positions read.
[[nodiscard]] Stretch pixels_read(ResampleKernel kernel, std::int64_t pixels, std::int64_t results,
                                  const Stretch& positions);

/// Returns the sine of pi * steps / half_turn, from the same operations on every machine, with an error below
/// 2^-50. Multiples of pi give 0. half_turn is even.
[[nodiscard]] double sine_of_steps(std::int64_t steps, std::int64_t half_turn);

}  // namespace satin
