#pragma once
// What the library says, and std::nth_element of medians: the results that every algorithm is compared with.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine.h"
#include "wavelet_matrix.h"

namespace study {

std::vector<std::uint32_t> inclusive_sums(std::span<const std::uint32_t> values);
std::vector<std::uint32_t> exclusive_sums(std::span<const std::uint32_t> values);
std::vector<std::uint32_t> segmented_sums(std::span<const std::uint32_t> values,
                                          std::span<const std::uint8_t> heads);
std::vector<std::uint32_t> sorted_keys(std::span<const std::uint32_t> keys);

struct BinnedValues {
  std::vector<float> values;
  std::vector<Index> counts;
};
BinnedValues binned_values(std::span<const float> values, Index bins);

/// The averages as a scan of maps y -> a y + b, another state than Smoothed.
std::vector<float> moving_averages(std::span<const float> values);

/// The value of a rank, counted from 1, as std::nth_element finds it.
std::uint32_t nth_in_window(std::span<const std::uint32_t> pixels, Index width, const Window& window,
                            Index rank);

/// The medians of the windows around all pixels, of random_reach().
std::vector<std::uint32_t> window_medians(std::span<const std::uint32_t> pixels, Index width);

/// Empty if the results are the same; otherwise where they first differ.
std::string difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> expected);
std::string difference(std::span<const float> got, std::span<const float> expected, double tolerance);

}  // namespace study
