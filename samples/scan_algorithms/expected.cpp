#include "expected.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "inputs.h"
#include "satin/host/scan.h"
#include "satin/scan.h"

namespace study {

namespace {

const satin::Device& cpu() {
  static const satin::Device device = satin::Device::open("cpu");
  return device;
}

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
  satin::inclusive_scan(cpu(), values, result);
  return result;
}

std::vector<std::uint32_t> exclusive_sums(std::span<const std::uint32_t> values) {
  std::vector<std::uint32_t> result(values.size());
  satin::exclusive_scan(cpu(), values, result);
  return result;
}

std::vector<std::uint32_t> segmented_sums(std::span<const std::uint32_t> values,
                                          std::span<const std::uint8_t> heads) {
  std::vector<std::uint32_t> result(values.size());
  satin::segmented_inclusive_scan(cpu(), values, satin::Segments::by_flags(heads), result);
  return result;
}

std::vector<std::uint32_t> sorted_keys(std::span<const std::uint32_t> keys) {
  std::vector<std::uint32_t> result(keys.size());
  satin::radix_sort(cpu(), keys, result);
  return result;
}

BinnedValues binned_values(std::span<const float> values, Index bins) {
  BinnedValues result;
  result.values.resize(values.size());
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins));
  satin::extract_bins(cpu(), values, satin::Bins::even(0, 1, bins), result.values, counts);
  result.counts.assign(counts.begin(), counts.end());
  return result;
}

std::vector<float> moving_averages(std::span<const float> values) {
  struct Affine {  // y -> a y + b
    double a;
    double b;
  };
  const auto after = [](const Affine& first, const Affine& then) {
    return Affine{then.a * first.a, then.a * first.b + then.b};
  };
  const auto step = [](float x, Index) {
    return Affine{1 - Smoothing::alpha, Smoothing::alpha * static_cast<double>(x)};
  };
  std::vector<float> result(values.size());
  satin::host::inclusive_scan(cpu(), values.data(), result.data(), std::ssize(values), after, Affine{1, 0},
                              step, [](const Affine& from_zero) { return static_cast<float>(from_zero.b); });
  return result;
}

std::uint32_t nth_in_window(std::span<const std::uint32_t> pixels, Index width, const Window& window,
                            Index rank) {
  std::vector<std::uint32_t> values;
  for (Index row = window.rows.first; row < window.rows.end; ++row) {
    const auto first = pixels.begin() + row * width;
    values.insert(values.end(), first + window.columns.first, first + window.columns.end);
  }
  const auto place = values.begin() + (rank - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::vector<std::uint32_t> window_medians(std::span<const std::uint32_t> pixels, Index width) {
  const Index height = std::ssize(pixels) / width;
  std::vector<std::uint32_t> medians;
  for (Index i = 0; i < std::ssize(pixels); ++i) {
    const Window window = window_around(i, width, height, random_reach(i));
    medians.push_back(nth_in_window(pixels, width, window, median_rank(window.size())));
  }
  return medians;
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
