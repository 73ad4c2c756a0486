// Regions against a flood fill and brute-force statistics.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "masks/regions.h"
#include "pixels/pixels.h"
#include "satin/regions.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/oracle_regions.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Shape grey(std::int64_t width, std::int64_t height, Type type = Type::u8) {
  Shape shape;
  shape.width = width;
  shape.height = height;
  shape.type = type;
  return shape;
}

using Inside = std::function<bool(std::int64_t x, std::int64_t y)>;

Image mask_of(std::int64_t width, std::int64_t height, const Inside& inside) {
  Image mask(grey(width, height));
  const MutableImageView view = mask.view();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) view.value<std::uint8_t>(x, y) = inside(x, y) ? 255 : 0;
  return mask;
}

/// One pixel in 256 / `share` is inside; values of any size.
Image random_mask(std::int64_t width, std::int64_t height, std::uint64_t share, Random& random) {
  Image mask(grey(width, height));
  const MutableImageView view = mask.view();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      view.value<std::uint8_t>(x, y) =
          random.below(256) < share ? static_cast<std::uint8_t>(1 + random.below(255)) : 0;
  return mask;
}

/// A path of one pixel's width that winds inwards with one pixel between its turns.
Image spiral(std::int64_t width, std::int64_t height) {
  Image mask = mask_of(width, height, [](std::int64_t, std::int64_t) { return false; });
  const MutableImageView view = mask.view();
  std::int64_t left = 0, top = 0, right = width - 1, bottom = height - 1;
  const auto draw = [&](std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1) {
    for (std::int64_t y = std::min(y0, y1); y <= std::max(y0, y1); ++y)
      for (std::int64_t x = std::min(x0, x1); x <= std::max(x0, x1); ++x) view.value<std::uint8_t>(x, y) = 1;
  };
  std::int64_t from = 0;
  while (left <= right && top <= bottom) {
    draw(from, top, right, top);
    draw(right, top, right, bottom);
    draw(right, bottom, left, bottom);
    if (bottom - top < 2) break;
    draw(left, bottom, left, top + 2);
    from = left;
    left += 2;
    top += 2;
    right -= 2;
    bottom -= 2;
  }
  return mask;
}

RegionsOptions options_of(int connectivity, bool zeros, const ImageView& image = {}) {
  return {connectivity == 4 ? Connectivity::four : Connectivity::eight, zeros, image};
}

void expect_regions(const ImageView& mask, const ImageView& image, const std::string& name) {
  const Device& device = device_under_test();
  for (const int connectivity : {4, 8})
    for (const bool zeros : {false, true}) {
      const FloodedRegions expected = flood(mask, connectivity, zeros);
      const Regions found = find_regions(device, mask, options_of(connectivity, zeros, image));
      const std::string at =
          name + ", connectivity " + std::to_string(connectivity) + (zeros ? ", zeros" : "");
      ASSERT_EQ(found.largest, expected.count) << at;
      ASSERT_EQ(difference(found.labels, view_of(expected.labels.data(),
                                                 grey(mask.shape.width, mask.shape.height, Type::u32))),
                "")
          << at;
      ASSERT_EQ(wrong_statistics(found, expected, mask.shape, image), "") << at;
    }
}

TEST(Regions, RandomMasksHaveThoseOfAFloodFill) {
  constexpr std::uint64_t seed = 20260301;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const std::vector<std::pair<int, int>> sizes = {{1, 1},   {1, 97},   {131, 1},  {2, 2},     {31, 33},
                                                  {64, 64}, {65, 130}, {128, 65}, {257, 140}, {300, 391}};
  for (const auto& [width, height] : sizes)
    for (const std::uint64_t share : {13U, 77U, 105U, 128U, 152U, 200U, 250U})
      expect_regions(random_mask(width, height, share, random), {},
                     std::to_string(width) + " x " + std::to_string(height) + ", " + std::to_string(share));
}

TEST(Regions, PatternsHaveThoseOfAFloodFill) {
  for (const auto& sides : {std::pair{1, 1}, {1, 70}, {70, 1}, {37, 41}, {200, 150}, {259, 333}}) {
    const std::int64_t width = sides.first;
    const std::int64_t height = sides.second;
    const std::string size = std::to_string(width) + " x " + std::to_string(height);
    const auto check = [&](const char* name, const Inside& inside) {
      expect_regions(mask_of(width, height, inside), {}, std::string(name) + " " + size);
    };
    check("empty", [](std::int64_t, std::int64_t) { return false; });
    check("full", [](std::int64_t, std::int64_t) { return true; });
    check("checkerboard", [](std::int64_t x, std::int64_t y) { return (x + y) % 2 == 0; });
    check("dots", [](std::int64_t x, std::int64_t y) { return x % 2 == 0 && y % 2 == 0; });
    check("comb", [&](std::int64_t x, std::int64_t y) { return x % 2 == 0 || y == height - 1; });
    check("lying comb", [&](std::int64_t x, std::int64_t y) { return y % 2 == 0 || x == width - 1; });
    check("steps", [](std::int64_t x, std::int64_t y) { return (x / 3 + y / 2) % 4 < 2; });
    check("ladder", [](std::int64_t x, std::int64_t y) { return x % 2 == 0 || y % 2 == 0; });
    check("wide ladder", [](std::int64_t x, std::int64_t y) { return x % 2 == 0 || y % 4 < 2; });
    check("falling lines", [](std::int64_t x, std::int64_t y) { return (x - y + 4000) % 5 == 0; });
    check("rising lines", [](std::int64_t x, std::int64_t y) { return (x + y) % 5 == 0; });
    check("zigzag", [](std::int64_t x, std::int64_t y) { return std::abs(x % 16 - 8) == y % 10; });
    check("rings", [&](std::int64_t x, std::int64_t y) {
      return std::min({x, y, width - 1 - x, height - 1 - y}) % 2 == 0;
    });
    expect_regions(spiral(width, height), {}, "spiral " + size);
  }
}

TEST(Regions, ALargeRandomMaskHasThoseOfAFloodFill) {
  Random random(12);
  const std::int64_t side = slow_build() ? 900 : 2900;
  expect_regions(random_mask(side - 150, side, 128, random), {}, "one large mask");
}

TEST(Regions, SumTheValuesUnderThem) {
  Random random(77);
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4})
      for (const auto& [width, height] : {std::pair{1, 1}, {33, 17}, {150, 210}}) {
        Shape shape = grey(width, height, type);
        shape.channels = channels;
        const Image image = random_picture(shape, random.next());
        for (const std::uint64_t share : {100U, 220U})
          expect_regions(random_mask(width, height, share, random), image,
                         std::string(name_of(type)) + " x " + std::to_string(channels));
      }
}

TEST(Regions, KeepSmallFloatsBesideLargeOnes) {
  const Image mask = mask_of(4, 1, [](std::int64_t x, std::int64_t) { return x != 1; });
  Image image(grey(4, 1, Type::f32));
  const float values[] = {-1e30F, 0, 1e25F, 3e25F};
  std::memcpy(image.data(), values, sizeof values);
  const Regions found = find_regions(device_under_test(), mask, {.image = image});
  ASSERT_EQ(found.regions.size(), 2U);
  EXPECT_NEAR(found.regions[0].values[0].mean, static_cast<double>(-1e30F), 1e19);
  EXPECT_EQ(found.regions[0].values[0].deviation, 0);
  EXPECT_NEAR(found.regions[1].values[0].mean, 2e25, 1e19);
  EXPECT_NEAR(found.regions[1].values[0].deviation, 1e25, 1e19);
}

TEST(Regions, DoNotDependOnStrides) {
  Random random(5);
  const Image mask = random_mask(67, 90, 130, random);
  const Image image = random_picture({67, 90, 3, Type::u8}, 3);
  const Regions expected = find_regions(device_under_test(), mask, {.image = image});
  for (const Layout layout : every_layout) {
    const LooseImage loose_mask(mask, layout);
    const LooseImage loose_image(image, layout);
    const Regions found = find_regions(device_under_test(), loose_mask.view(), {.image = loose_image.view()});
    EXPECT_EQ(difference(found.labels, expected.labels), "") << name_of(layout);
    ASSERT_EQ(found.regions.size(), expected.regions.size());
    for (std::size_t i = 0; i < found.regions.size(); ++i)
      EXPECT_EQ(found.regions[i].values[2].mean, expected.regions[i].values[2].mean);
  }
}

TEST(Regions, StayOnTheDevice) {
  const Device& device = device_under_test();
  Random random(6);
  const Image mask = random_mask(120, 77, 128, random);
  const Regions expected = find_regions(device, mask);
  Regions found = find_regions(device, device.upload(mask));
  EXPECT_EQ(found.labels.memory(), device.is_cuda() ? Memory::device : Memory::host);
  EXPECT_EQ(difference(device.download(found.labels), expected.labels), "");
}

TEST(Regions, DoNotDependOnThreads) {
  Random random(8);
  const Image mask = random_mask(190, 700, 150, random);
  const Regions one = find_regions(Device::open("cpu", {.threads = 1}), mask);
  const Regions all = find_regions(device_under_test(), mask);
  EXPECT_EQ(difference(all.labels, one.labels), "");
  ASSERT_EQ(all.regions.size(), one.regions.size());
  for (std::size_t i = 0; i < all.regions.size(); ++i)
    EXPECT_EQ(all.regions[i].centroid_y, one.regions[i].centroid_y);
}

TEST(Regions, AreChosenSortedAndRenumbered) {
  const Device& device = device_under_test();
  Random random(9);
  const Image mask = random_mask(150, 160, 90, random);
  const Image image = random_picture({150, 160, 1, Type::u8}, 4);
  const Regions all = find_regions(device, mask, {.image = image});
  Regions chosen = find_regions(device, mask, {.image = image});
  const RegionFilter filter{
      .min_area = 3, .max_area = 60, .max_width = 9, .min_height = 2, .touches_border = false};
  std::erase_if(chosen.regions, [&](const Region& region) { return !passes(region, filter); });
  ASSERT_GT(chosen.regions.size(), 10U);
  ASSERT_LT(chosen.regions.size(), all.regions.size());
  sort_by(chosen.regions, RegionKey::area, true);
  std::vector<std::uint32_t> old;
  for (const Region& region : chosen.regions) old.push_back(region.label);
  renumber(device, chosen);

  EXPECT_EQ(chosen.largest, chosen.regions.size());
  std::vector<std::uint32_t> table(all.regions.size() + 1, 0);
  for (std::size_t i = 0; i < old.size(); ++i) {
    table[old[i]] = static_cast<std::uint32_t>(i + 1);
    EXPECT_EQ(chosen.regions[i].label, i + 1);
    EXPECT_GE(chosen.regions[i == 0 ? 0 : i - 1].area, chosen.regions[i].area);
    const Region& region = all.regions[old[i] - 1];
    EXPECT_TRUE(region.area >= 3 && region.area <= 60 && region.width <= 9 && region.height >= 2 &&
                !region.touches_border);
  }
  std::size_t kept = 0;
  for (const Region& region : all.regions)
    kept += region.area >= 3 && region.area <= 60 && region.width <= 9 && region.height >= 2 &&
            !region.touches_border;
  EXPECT_EQ(kept, old.size());
  for (std::int64_t y = 0; y < 160; ++y)
    for (std::int64_t x = 0; x < 150; ++x)
      ASSERT_EQ(chosen.labels.view().value<std::uint32_t>(x, y),
                table[all.labels.view().value<std::uint32_t>(x, y)]);
  renumber(device, chosen);
  EXPECT_EQ(chosen.largest, old.size());
}

TEST(Regions, SortByEveryKey) {
  const auto region = [](std::uint32_t label, std::int64_t size, double value) {
    Region result;
    result.label = label;
    result.area = result.x = result.y = result.width = result.height = size;
    result.values = {{}, {value, value, value, value}};
    return result;
  };
  for (const RegionKey key :
       {RegionKey::area, RegionKey::x, RegionKey::y, RegionKey::width, RegionKey::height, RegionKey::mean,
        RegionKey::minimum, RegionKey::maximum, RegionKey::deviation}) {
    std::vector<Region> regions = {region(1, 5, 0.5), region(2, 3, 0.25), region(3, 5, 0.5),
                                   region(4, 1, 0.1)};
    sort_by(regions, key, false, 1);
    EXPECT_EQ(regions[0].label, 4U);
    EXPECT_EQ(regions[2].label, 1U) << "stable";
    sort_by(regions, key, true, 1);
    EXPECT_EQ(regions[0].label, 1U) << "stable";
    EXPECT_EQ(regions[3].label, 4U);
    sort_by(regions, RegionKey::label);
    EXPECT_EQ(regions[1].label, 2U);
  }
}

TEST(Regions, RefuseWhatDoesNotFit) {
  const Device& device = device_under_test();
  const Image mask = mask_of(8, 5, [](std::int64_t, std::int64_t) { return true; });
  const auto refuses = [&](const std::string& piece, const ImageView& given, const ImageView& image) {
    expect_error(ErrorKind::usage, piece, [&] { return find_regions(device, given, {.image = image}); });
  };
  refuses("one channel of u8", Image(grey(8, 5, Type::u16)), {});
  refuses("one channel of u8", Image({8, 5, 3}), {});
  refuses("one size", mask, Image(grey(5, 8)));
  refuses("u8, u16 and f32", mask, Image(grey(8, 5, Type::u32)));

  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Image image(grey(8, 5, Type::f32));
    std::memset(image.data(), 0, byte_size(image.shape()));
    image.view().value<float>(7, 4) = bad;
    expect_error(ErrorKind::input, "NaN or infinite",
                 [&] { return find_regions(device, mask, {.image = image}); });
  }
  Regions twice = find_regions(device, mask_of(3, 1, [](auto x, auto) { return x != 1; }));
  twice.regions[1].label = 1;
  expect_error(ErrorKind::usage, "occurs twice", [&] {
    renumber(device, twice);
    return 0;
  });
  twice.regions[1].label = 3;
  expect_error(ErrorKind::usage, "Label 3", [&] {
    renumber(device, twice);
    return 0;
  });
  expect_error(ErrorKind::usage, "channel 0", [&] {
    sort_by(twice.regions, RegionKey::mean);
    return 0;
  });
}

TEST(Regions, HaveABoundOnTheirPixels) {
  constexpr std::int64_t limit = std::int64_t{1} << 32;
  EXPECT_NO_THROW(check_label_size(limit - 32, 1));
  EXPECT_NO_THROW(check_label_size(1, limit / 32 - 1));
  EXPECT_NO_THROW(check_label_size(33, limit / 64 - 1));
  for (const auto& sides : {std::pair<std::int64_t, std::int64_t>{limit - 31, 1},
                            {1, limit / 32},
                            {33, limit / 64},
                            {limit, limit},
                            {0, 1}})
    expect_error(ErrorKind::usage, "2^32", [&] {
      check_label_size(sides.first, sides.second);
      return 0;
    });
  // What RegionSums rests on: n largest values and squares fit, for the most pixels.
  constexpr std::uint64_t most = limit - 1;
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  EXPECT_LE(std::uint64_t{65535} * 65535, all / most);
  for (std::uint64_t pixels = 1; pixels <= most; pixels = 2 * pixels + 1)
    EXPECT_LE(std::uint64_t{1} << fixed_bits_for(pixels), all / 2 / pixels);
  EXPECT_LE(most, all / most) << "sums of coordinates";
}

}  // namespace
}  // namespace satin::test
