// Masks of 10^8 pixels whose regions are known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "satin/regions.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/oracle_regions.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::int64_t width = 12500;
constexpr std::int64_t height = slow_build() ? 80 : 8000;

template <class Inside>
Image large_mask(const Inside& inside) {
  Shape shape;
  shape.width = width;
  shape.height = height;
  Image mask(shape);
  auto* pixel = reinterpret_cast<std::uint8_t*>(mask.data());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) *pixel++ = inside(x, y) ? 1 : 0;
  return mask;
}

/// Returns "", or the first pixel with another label than expected.
template <class Label>
std::string wrong_label(const Image& labels, const Label& label) {
  const auto* found = reinterpret_cast<const std::uint32_t*>(labels.data());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x, ++found)
      if (*found != label(x, y))
        return std::to_string(x) + ", " + std::to_string(y) + ": " + std::to_string(*found);
  return "";
}

TEST(LargeRegions, ACombIsOne) {
  const auto inside = [](std::int64_t x, std::int64_t y) { return x % 2 == 0 || y == height - 1; };
  const Regions found = find_regions(device_under_test(), large_mask(inside), {Connectivity::four});
  ASSERT_EQ(found.regions.size(), 1U);
  const Region& comb = found.regions[0];
  constexpr std::int64_t teeth = width / 2;
  EXPECT_EQ(comb.area, teeth * height + teeth);
  EXPECT_EQ(comb.width, width);
  EXPECT_EQ(comb.height, height);
  constexpr std::int64_t even = teeth * (teeth - 1);        // the sum of 0, 2 ... width - 2
  constexpr std::int64_t odd = teeth * teeth;               // the sum of 1, 3 ... width - 1
  constexpr std::int64_t rows = height * (height - 1) / 2;  // the sum of all rows
  EXPECT_EQ(comb.centroid_x, static_cast<double>(even * height + odd) / static_cast<double>(comb.area));
  EXPECT_EQ(comb.centroid_y,
            static_cast<double>(teeth * rows + teeth * (height - 1)) / static_cast<double>(comb.area));
  EXPECT_EQ(wrong_label(found.labels, [&](auto x, auto y) { return inside(x, y) ? 1U : 0U; }), "");
}

TEST(LargeRegions, AGridHasOnePerSquare) {
  constexpr std::int64_t pitch = 5;
  constexpr std::int64_t columns = width / pitch;
  const auto inside = [](std::int64_t x, std::int64_t y) { return x % pitch < 3 && y % pitch < 4; };
  const Image mask = large_mask(inside);
  const Regions found = find_regions(device_under_test(), mask, {.image = mask});
  ASSERT_EQ(found.regions.size(), static_cast<std::size_t>(columns * height / pitch));
  for (const Region& region : found.regions) {
    const std::int64_t index = region.label - std::int64_t{1};
    ASSERT_EQ(region.area, 12);
    ASSERT_EQ(region.x, index % columns * pitch);
    ASSERT_EQ(region.y, index / columns * pitch);
    ASSERT_EQ(region.width, 3);
    ASSERT_EQ(region.height, 4);
    ASSERT_EQ(region.centroid_y, static_cast<double>(region.y) + 1.5);
    ASSERT_EQ(region.values[0].mean, 1);
    ASSERT_EQ(region.values[0].deviation, 0);
  }
  EXPECT_EQ(wrong_label(found.labels,
                        [&](auto x, auto y) {
                          return inside(x, y)
                                     ? static_cast<std::uint32_t>(y / pitch * columns + x / pitch + 1)
                                     : 0U;
                        }),
            "");
}

// Every second square ring, open below its left upper corner, from where it goes on to the next one.
TEST(LargeRegions, ASpiralIsOne) {
  const auto inside = [](std::int64_t x, std::int64_t y) {
    const std::int64_t ring = std::min({x, y, width - 1 - x, height - 1 - y});
    return ring % 2 == 0 ? x != ring || y != ring + 1 : x == ring && y == ring + 1;
  };
  const Image mask = large_mask(inside);
  const auto area = std::count(mask.data(), mask.data() + width * height, std::byte{1});
  for (const Connectivity connectivity : {Connectivity::four, Connectivity::eight}) {
    const Regions found = find_regions(device_under_test(), mask, {connectivity});
    ASSERT_EQ(found.regions.size(), 1U);
    EXPECT_EQ(found.regions[0].area, area);
    EXPECT_EQ(wrong_label(found.labels, [&](auto x, auto y) { return inside(x, y) ? 1U : 0U; }), "");
  }
}

TEST(LargeRegions, NoiseHasThoseOfAFloodFill) {
  Random random(0x4E01);
  const Image mask = large_mask([&](auto, auto) { return random.next() % 32 < 19; });  // near percolation
  const FloodedRegions expected = flood(mask, 4, false);
  const Regions found = find_regions(device_under_test(), mask, {Connectivity::four});
  ASSERT_EQ(found.regions.size(), expected.count);
  EXPECT_EQ(std::memcmp(found.labels.data(), expected.labels.data(), expected.labels.size() * 4), 0);
}

}  // namespace
}  // namespace satin::test
