// Groups of sorted keys: a group with several keys is small, and there are never more groups than codes.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "order/cpu/rank_codes.h"
#include "tests/oracles/pictures.h"

namespace satin::cpu {
namespace {

/// A region of one row of these keys, in any order, grouped.
struct GroupedRow {
  explicit GroupedRow(const std::vector<std::uint32_t>& keys)
      : groups(keys.size(), static_cast<std::int64_t>(keys.size())) {
    region.width = static_cast<std::int64_t>(keys.size());
    region.height = 1;
    region.codes.resize(keys.size());
    Element* next = groups.end();
    for (std::size_t x = 0; x < keys.size(); ++x)
      *next++ = KeyGroups::element(keys[x], static_cast<std::uint32_t>(x), 0);
    groups.set_end(next);
    groups.build(region, 32);
  }
  CodedRegion region;
  KeyGroups groups;
};

void check(std::vector<std::uint32_t> keys) {
  const GroupedRow row(keys);
  const std::size_t share = (keys.size() + group_codes - 1) / group_codes;
  ASSERT_EQ(row.groups.elements(0, group_codes), keys.size());
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t x) { return keys[x]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint16_t code = row.region.codes[order[i]];
    ASSERT_LT(code, group_codes);
    ASSERT_EQ(row.groups.key(i), keys[order[i]]);
    const auto& group = row.groups.group(code);
    const std::size_t end = row.groups.group(code + 1).first;
    ASSERT_TRUE(group.first <= i && i < end);
    ASSERT_EQ(group.one_key, row.groups.key(group.first) == row.groups.key(end - 1));
    ASSERT_TRUE(group.one_key || end - group.first < 3 * share);
    if (i == 0) continue;
    const std::uint16_t before = row.region.codes[order[i - 1]];
    ASSERT_GE(code, before);
    ASSERT_TRUE(code == before || keys[order[i]] != keys[order[i - 1]]);
  }
}

/// Keys 0, 1, ... in runs whose lengths cycle through `lengths`, shuffled.
std::vector<std::uint32_t> runs_of(std::size_t count, const std::vector<std::size_t>& lengths) {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 0; keys.size() < count; ++key)
    keys.insert(keys.end(), std::min(lengths[key % lengths.size()], count - keys.size()), key);
  test::Random random(count);
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
  return keys;
}

TEST(KeyGroups, DistinctKeysFillAllCodes) {
  const GroupedRow row(runs_of(group_codes, {1}));
  EXPECT_EQ(row.groups.group(group_codes - 1).first, group_codes - 1U);
  EXPECT_EQ(*std::ranges::max_element(row.region.codes), group_codes - 1U);
}

TEST(KeyGroups, HoldRunsOfEveryLength) {
  for (const std::size_t count : {1U, 2U, 1023U, 1024U, 1025U, 2048U, 2049U, 4096U, 5000U, 20480U})
    for (const std::size_t length : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 10U, 19U, 20U, 21U, 40U, 20480U}) {
      check(runs_of(count, {length}));
      check(runs_of(count, {1, length}));  // a group of one before each of two shares
      check(runs_of(count, {length, 3, 1}));
      if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace satin::cpu
