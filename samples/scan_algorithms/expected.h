#pragma once
// Expected results: those of the library, and std::nth_element for medians.

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

/// Returns the averages by a scan of maps y -> a y + b, a state other than Smoothed.
std::vector<float> moving_averages(std::span<const float> values);

/// Returns the value of a rank, counted from 1, by std::nth_element.
std::uint32_t nth_in_window(std::span<const std::uint32_t> pixels, Index width, const Window& window,
                            Index rank);

/// Returns the medians of the windows of random_reach() around all pixels.
std::vector<std::uint32_t> window_medians(std::span<const std::uint32_t> pixels, Index width);

/// Returns the first difference of two results; empty if they are equal.
std::string difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> expected);
std::string difference(std::span<const float> got, std::span<const float> expected, double tolerance);

}  // namespace study
