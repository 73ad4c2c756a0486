// Histogram and bins against the definition of a bin's index.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

const Device& device() { return device_under_test(); }
const double infinity = std::numeric_limits<double>::infinity();

/// Returns the index by the definition.
std::size_t index_of(double value, const Bins& bins) {
  const auto last = static_cast<std::size_t>(bins.count() - 1);
  if (std::isnan(value)) return last;
  if (!bins.edges().empty())
    return static_cast<std::size_t>(std::count_if(bins.edges().begin() + 1, bins.edges().end() - 1,
                                                  [=](double edge) { return edge <= value; }));
  if (value < bins.lower()) return 0;
  if (value >= bins.upper()) return last;
  const double position = std::floor((value - bins.lower()) *
                                     (static_cast<double>(bins.count()) / (bins.upper() - bins.lower())));
  return std::min(static_cast<std::size_t>(position), last);
}

template <class T>
void check(const std::vector<T>& values, const Bins& bins, const std::string& where) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::vector<std::uint32_t>> members(static_cast<std::size_t>(bins.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    members[index_of(static_cast<double>(values[i]), bins)].push_back(static_cast<std::uint32_t>(i));
  std::vector<std::uint32_t> counts;
  std::vector<std::uint32_t> indices;
  std::vector<T> ordered;
  for (const auto& bin : members) {
    counts.push_back(static_cast<std::uint32_t>(bin.size()));
    indices.insert(indices.end(), bin.begin(), bin.end());
    for (const std::uint32_t i : bin) ordered.push_back(values[i]);
  }
  const std::vector<std::uint64_t> wide_counts(counts.begin(), counts.end());
  const std::vector<std::uint64_t> wide_indices(indices.begin(), indices.end());
  in_every_place([&](Place& place) {
    const ArrayView from = place.copy(values);
    const MutableArrayView narrow = place.result<std::uint32_t>(bins.count());
    histogram(device(), from, bins, narrow);
    ASSERT_EQ(first_difference(place.read<std::uint32_t>(narrow), counts), "") << where;
    const MutableArrayView wide = place.result<std::uint64_t>(bins.count());
    histogram(device(), from, bins, wide);
    ASSERT_EQ(first_difference(place.read<std::uint64_t>(wide), wide_counts), "") << where;

    const MutableArrayView to = place.result<T>(n);
    const MutableArrayView number = place.result<std::uint32_t>(bins.count());
    const MutableArrayView index = place.result<std::uint32_t>(n);
    extract_bins(device(), from, bins, to, number, index);
    ASSERT_EQ(first_difference(place.read<T>(to), ordered), "") << where;
    ASSERT_EQ(first_difference(place.read<std::uint32_t>(number), counts), "") << where;
    ASSERT_EQ(first_difference(place.read<std::uint32_t>(index), indices), "") << where;
    const MutableArrayView wide_index = place.result<std::uint64_t>(n);
    const MutableArrayView again = place.result<T>(n);
    extract_bins(device(), from, bins, again, wide, wide_index);
    ASSERT_EQ(first_difference(place.read<std::uint64_t>(wide_index), wide_indices), "") << where;
    extract_bins(device(), from, bins, again, wide);
    ASSERT_EQ(first_difference(place.read<T>(again), ordered), "") << where;

    const std::int64_t some = bins.count() / 2;
    const auto& bin = members[static_cast<std::size_t>(some)];
    ASSERT_EQ(extract_bin(device(), from, bins, some, to), static_cast<std::int64_t>(bin.size())) << where;
    const std::vector<T> extracted = place.read<T>(to);
    for (std::size_t i = 0; i < bin.size(); ++i)
      ASSERT_EQ(first_difference(std::vector<T>{extracted[i]}, {values[bin[i]]}), "") << where;
  });
}

std::vector<Bins> various_bins(double lower, double upper) {
  std::vector<double> edges = {lower};
  for (int i = 1; i < 20; ++i) edges.push_back(lower + (upper - lower) * i * i / 400);
  return {Bins::even(lower, upper, 1),
          Bins::even(lower, upper, 7),
          Bins::even(lower, upper, 256),
          Bins::even(lower, upper, 65536),
          Bins::between(edges),
          Bins::between(std::vector<double>{lower, upper}),
          Bins::even(lower / 3, upper / 3, 100)};
}

TEST(Bins, FollowTheDefinitionForEveryTypeAndKind) {
  for_every_type([]<class T>() {
    const std::vector<T> values = random_values<T>(slow_build() ? 3001 : 70001, 1);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    for (const Bins& bins : various_bins(static_cast<double>(*low), static_cast<double>(*high) + 0.5))
      check(values, bins,
            std::string(name_of(type_of<T>())) + ", " + std::to_string(bins.count()) + " bins" +
                (bins.edges().empty() ? "" : " between edges"));
  });
}

TEST(Bins, FollowTheDefinitionForEverySize) {
  for (const std::int64_t n : sizes()) {
    check(random_values<std::uint8_t>(n, 2), Bins::even(0, 256, 16), std::to_string(n) + " bytes");
    Random random(3);
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values) value = static_cast<float>(random.below(1 << 24)) / (1 << 24);
    check(values, Bins::even(0, 1, 10), std::to_string(n) + " floats");
  }
}

TEST(Bins, FollowTheDefinitionOnAndBesideEdges) {
  std::vector<double> values = {0.0, -0.0, infinity, -infinity, std::nan(""), 1e300, -1e300, 5e-324};
  for (int i = -2; i <= 12; ++i) {
    const double edge = i / 10.0;
    values.insert(values.end(), {edge, std::nextafter(edge, infinity), std::nextafter(edge, -infinity)});
  }
  std::vector<double> edges;
  for (int i = 0; i <= 10; ++i) edges.push_back(i / 10.0);
  check(values, Bins::even(0, 1, 10), "even");
  check(values, Bins::between(edges), "between edges");
  check(values, Bins::even(-1e300, 1e300, 3), "very wide");
  const std::vector<float> narrow(values.begin(), values.end());
  check(narrow, Bins::between(edges), "floats between edges");
}

TEST(Bins, HoldAllValuesInOneBin) {
  const std::vector<std::uint32_t> same(70001, 5);
  check(same, Bins::even(0, 8, 8), "all equal");
  const std::vector<float> nothing(70001, std::nanf(""));
  check(nothing, Bins::even(0, 8, 8), "all NaN");
}

TEST(Bins, LargeIntegersAreRoundedToDouble) {
  const std::vector<std::uint64_t> values = {0, UINT64_MAX, (std::uint64_t{1} << 63) - 1,
                                             std::uint64_t{1} << 63, (std::uint64_t{1} << 53) + 1};
  check(values, Bins::even(0, std::ldexp(1, 64), 2), "u64");
}

}  // namespace
}  // namespace satin::test
