#include "expected.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bins.h"

namespace study {

namespace {

template <class T, class Same>
std::string first_difference(std::span<const T> got, std::span<const T> expected, Same same) {
  if (got.size() != expected.size())
    return std::to_string(got.size()) + " results instead of " + std::to_string(expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!same(got[i], expected[i]))
      return "result " + std::to_string(i) + " is " + text_of(got[i]) + " instead of " + text_of(expected[i]);
  return {};
}

}  // namespace

std::vector<std::uint32_t> inclusive_sums(std::span<const std::uint32_t> values) {
  std::vector<std::uint32_t> result(values.size());
  std::inclusive_scan(values.begin(), values.end(), result.begin());
  return result;
}

std::vector<std::uint32_t> exclusive_sums(std::span<const std::uint32_t> values) {
  std::vector<std::uint32_t> result(values.size());
  std::exclusive_scan(values.begin(), values.end(), result.begin(), 0U);
  return result;
}

std::vector<std::uint32_t> segmented_sums(std::span<const std::uint32_t> values,
                                          std::span<const std::uint8_t> heads) {
  std::vector<std::uint32_t> result(values.size());
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    result[i] = sum = heads[i] != 0 ? values[i] : sum + values[i];
  return result;
}

std::vector<std::uint32_t> sorted_keys(std::span<const std::uint32_t> keys) {
  std::vector<std::uint32_t> result(keys.begin(), keys.end());
  std::sort(result.begin(), result.end());
  return result;
}

BinnedValues binned_values(std::span<const float> values, Index bins) {
  BinnedValues result{{values.begin(), values.end()}, std::vector<Index>(static_cast<std::size_t>(bins))};
  std::stable_sort(result.values.begin(), result.values.end(),
                   [bins](float a, float b) { return bin_of(a, bins) < bin_of(b, bins); });
  for (const float value : values) ++result.counts[static_cast<std::size_t>(bin_of(value, bins))];
  return result;
}

std::vector<float> moving_averages(std::span<const float> values) {
  std::vector<float> result;
  double average = 0;
  for (const float x : values) {
    average = Smoothing::alpha * static_cast<double>(x) + (1 - Smoothing::alpha) * average;
    result.push_back(static_cast<float>(average));
  }
  return result;
}

std::string difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> expected) {
  return first_difference(got, expected, std::equal_to<>{});
}

std::string difference(std::span<const float> got, std::span<const float> expected, double tolerance) {
  return first_difference(got, expected, [tolerance](float a, float b) {
    return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance;
  });
}

}  // namespace study
