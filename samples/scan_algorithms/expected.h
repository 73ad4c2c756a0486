#pragma once
// What the library says: the results that every algorithm is compared with.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine.h"

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

/// As a scan of maps y -> a y + b, another state than Smoothed.
std::vector<float> moving_averages(std::span<const float> values);

/// Empty if the results are the same; otherwise where they first differ.
std::string difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> expected);
std::string difference(std::span<const float> got, std::span<const float> expected, double tolerance);

}  // namespace study
