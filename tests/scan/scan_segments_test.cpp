// Segmented scan and reduce against loops over the runs.

#include <gtest/gtest.h>

#include <string>

#include "tests/oracles/expect_error.h"
#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

using Groups = std::vector<std::uint32_t>;
using Heads = std::vector<std::uint8_t>;

const Device& device() { return device_under_test(); }

/// Returns ascending group indices with about one head in `length` values, and with gaps between indices if
/// `gaps`.
Groups cut(std::int64_t n, std::uint64_t length, std::uint32_t gaps, std::uint64_t seed) {
  Random random(seed);
  Groups groups(static_cast<std::size_t>(n));
  std::uint32_t group = gaps;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i > 0 && random.one_in(length)) group += 1 + static_cast<std::uint32_t>(random.below(gaps + 1));
    groups[i] = group;
  }
  return groups;
}

/// Returns the flags of the same segments, without the first one, which does not matter. Any byte but 0 is a
/// flag.
Heads heads_of(const Groups& groups) {
  Heads heads(groups.size(), 0);
  for (std::size_t i = 1; i < groups.size(); ++i)
    if (groups[i] != groups[i - 1]) heads[i] = static_cast<std::uint8_t>(1 + i % 255);
  return heads;
}

struct Structure {
  std::string name;
  Groups groups;
};

std::vector<Structure> structures(std::int64_t n) {
  return {{"every value its own", cut(n, 1, 0, 1)},
          {"short", cut(n, 3, 0, 2)},
          {"short, with groups missing", cut(n, 3, 5, 3)},
          {"as long as a vector or two", cut(n, 32, 1, 4)},
          {"long", cut(n, 20011, 0, 5)},
          {"one for all", Groups(static_cast<std::size_t>(n), 2)}};
}

template <class In, class Out>
struct Expected {
  std::vector<Out> inclusive;
  std::vector<Out> exclusive;
  std::vector<Out> by_flag;   ///< one for each segment
  std::vector<Out> by_group;  ///< one for each group index, and two more

  Expected(const std::vector<In>& values, const Groups& groups, Operator op) {
    by_group.assign(groups.empty() ? 2 : groups.back() + 3, identity_of<Out>(op));
    Out running = identity_of<Out>(op);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == 0 || groups[i] != groups[i - 1]) {
        running = identity_of<Out>(op);
        by_flag.push_back(running);
      }
      exclusive.push_back(running);
      running = combined(op, running, static_cast<Out>(values[i]));
      inclusive.push_back(running);
      by_flag.back() = running;
      by_group[groups[i]] = running;
    }
  }
};

template <class In, class Out>
void check(Operator op, const Structure& structure) {
  const auto n = static_cast<std::int64_t>(structure.groups.size());
  std::vector<In> values = random_values<In>(n, 9);
  if constexpr (std::floating_point<In>)
    for (In& value : values)
      if (op == Operator::product) value = value < 0 ? In{-1} : In{1};
  const Expected<In, Out> expected(values, structure.groups, op);
  in_every_place([&](Place& place) {
    const ArrayView from = place.copy(values);
    const Segments flags = Segments::by_flags(place.copy(heads_of(structure.groups)));
    const Segments groups = Segments::by_group(place.copy(structure.groups));
    const std::string where = std::string(name_of(type_of<In>())) + " to " + name_of(type_of<Out>()) +
                              ", operator " + std::to_string(static_cast<int>(op)) + ", " +
                              std::to_string(n) + " values, segments " + structure.name + ", " + place.name();
    for (const Segments& segments : {flags, groups}) {
      const MutableArrayView scan = place.result<Out>(n);
      segmented_inclusive_scan(device(), from, segments, scan, op);
      ASSERT_EQ(first_difference(place.read<Out>(scan), expected.inclusive), "") << where;
      segmented_exclusive_scan(device(), from, segments, scan, op);
      ASSERT_EQ(first_difference(place.read<Out>(scan), expected.exclusive), "") << where;
    }
    const MutableArrayView by_flag = place.result<Out>(n);
    ASSERT_EQ(segmented_reduce(device(), from, flags, by_flag, op),
              static_cast<std::int64_t>(expected.by_flag.size()))
        << where;
    std::vector<Out> reduced = place.read<Out>(by_flag);
    reduced.resize(expected.by_flag.size());
    ASSERT_EQ(first_difference(reduced, expected.by_flag), "") << where;
    const auto results = static_cast<std::int64_t>(expected.by_group.size());
    const MutableArrayView by_group = place.result<Out>(results);
    ASSERT_EQ(segmented_reduce(device(), from, groups, by_group, op), results) << where;
    ASSERT_EQ(first_difference(place.read<Out>(by_group), expected.by_group), "") << where;
  });
}

TEST(Segments, EveryTypeAndOperator) {
  for_every_sum([]<class In, class Out>(Operator op) {
    for (const Structure& structure : structures(slow_build() ? 20021 : 70001)) check<In, Out>(op, structure);
  });
}

TEST(Segments, EverySizeAndStructure) {
  for (const std::int64_t n : sizes())
    for (const Structure& structure : structures(n)) {
      check<std::uint8_t, std::uint32_t>(Operator::sum, structure);
      check<float, float>(Operator::max, structure);
    }
}

TEST(Segments, InPlace) {
  const Groups groups = cut(70001, 9, 0, 6);
  const auto values = random_values<std::uint32_t>(70001, 7);
  const Expected<std::uint32_t, std::uint32_t> expected(values, groups, Operator::sum);
  in_every_place([&](Place& place) {
    const Segments segments = Segments::by_group(place.copy(groups));
    MutableArrayView both = place.copy(values);
    segmented_inclusive_scan(device(), both, segments, both);
    EXPECT_EQ(first_difference(place.read<std::uint32_t>(both), expected.inclusive), "");
    both = place.copy(values);
    segmented_exclusive_scan(device(), both, segments, both);
    EXPECT_EQ(first_difference(place.read<std::uint32_t>(both), expected.exclusive), "");
  });
}

TEST(Segments, OneHeadAnywhere) {
  const std::int64_t n = 70001;
  const std::vector<std::uint32_t> ones(static_cast<std::size_t>(n), 1);
  for (const std::int64_t head : {std::int64_t{1}, std::int64_t{31}, std::int64_t{16383}, std::int64_t{16384},
                                  std::int64_t{32768}, n - 1}) {
    Heads heads(static_cast<std::size_t>(n), 0);
    heads[static_cast<std::size_t>(head)] = 1;
    in_every_place([&](Place& place) {
      const MutableArrayView sums = place.result<std::uint32_t>(n);
      ASSERT_EQ(segmented_reduce(device(), place.copy(ones), Segments::by_flags(place.copy(heads)), sums), 2);
      const std::vector<std::uint32_t> found = place.read<std::uint32_t>(sums);
      EXPECT_EQ(found[0], head);
      EXPECT_EQ(found[1], n - head);
    });
  }
}

TEST(Segments, GroupIndicesOutOfOrderOrRangeAreRefused) {
  const std::int64_t n = 70001;
  const auto values = random_values<std::uint32_t>(n, 8);
  for (const std::size_t at : {std::size_t{1}, std::size_t{40000}, static_cast<std::size_t>(n - 1)}) {
    Groups decreasing(static_cast<std::size_t>(n), 4);
    decreasing[at] = 3;
    Groups large(static_cast<std::size_t>(n), 4);
    std::fill(large.begin() + static_cast<std::ptrdiff_t>(at), large.end(), 9U);
    for (const Groups& groups : {decreasing, large})
      in_every_place([&](Place& place) {
        const MutableArrayView sums = place.result<std::uint32_t>(9);
        expect_error(ErrorKind::input, "must not decrease", [&] {
          return segmented_reduce(device(), place.copy(values), Segments::by_group(place.copy(groups)), sums);
        });
        static_cast<void>(place.read<std::uint32_t>(sums));  // and nothing is written around it
      });
  }
  const MutableArrayView none(static_cast<std::uint32_t*>(nullptr), 0);
  expect_error(ErrorKind::input, "the number of results, 0", [&] {
    const Groups groups(static_cast<std::size_t>(n), 0);
    return segmented_reduce(device(), values, Segments::by_group(groups), none);
  });
}

}  // namespace
}  // namespace satin::test
