// mask() against definitions that look at every pixel.

#include "satin/filters/mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_mask.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::pair<int, int> sizes[] = {{1, 1}, {1, 40}, {40, 1}, {2, 3}, {33, 31}, {64, 40}, {83, 41}};
constexpr FeatherSide feather_sides[] = {FeatherSide::inward, FeatherSide::outward, FeatherSide::centred};

std::string describe(const PixelSet& region, const Mask& mask) {
  std::string text = std::to_string(region.width) + " x " + std::to_string(region.height);
  const auto add = [&](const char* name, double value) {
    if (value != 0) text += ", " + std::string(name) + " " + std::to_string(value);
  };
  add("holes", mask.fill_all_holes ? -1 : mask.fill_holes);
  add("min-area", mask.min_area);
  add("open", mask.open);
  add("close", mask.close);
  add("grow", mask.grow);
  add("shrink", mask.shrink);
  add("feather", mask.feather);
  add("side", static_cast<double>(mask.feather_side));
  add("box", static_cast<double>(mask.shape));
  add("connectivity", static_cast<double>(mask.connectivity));
  return text + (mask.invert ? ", inverted" : "");
}

Image run_mask(const ImageView& picture, const Mask& parameters) {
  const Device& device = device_under_test();
  Plan plan = satin::plan(device, picture.shape, parameters);
  return run_plan(device, plan, std::span(&picture, 1));
}

PixelSet run_region(const PixelSet& region, const Mask& parameters) {
  return region_of(run_mask(picture_of(region), parameters));
}

PixelSet inverse(PixelSet region) {
  for (char& value : region.inside) value = static_cast<char>(value == 0);
  return region;
}

/// Black and white results: no feather.
void check_region(const PixelSet& region, const Mask& parameters) {
  SCOPED_TRACE(describe(region, parameters));
  PixelSet expected = worked(region, parameters);
  if (parameters.invert) expected = inverse(expected);
  ASSERT_EQ(difference(run_mask(picture_of(region), parameters), picture_of(expected)), "");
}

/// Calls check(region) for every kind and size.
void for_each_region(std::uint64_t seed, const std::function<void(const PixelSet&)>& check) {
  for (const auto& [width, height] : sizes)
    for (const std::string& kind : region_kinds) {
      ++seed;
      if (slow_build() && seed % 6 != 0) continue;
      SCOPED_TRACE(kind + ", seed " + std::to_string(seed));
      check(region_of_kind(kind, width, height, seed));
      if (testing::Test::HasFatalFailure()) return;
    }
}

double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

bool above(const ImageView& picture, std::int64_t x, std::int64_t y, double level) {
  const Type type = picture.shape.type;
  const double white = type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1;
  double value = stored(picture, x, y, 0);
  if (picture.shape.channels >= 3) {
    const long double weighted = 0.2126L * stored(picture, x, y, 0) + 0.7152L * stored(picture, x, y, 1) +
                                 0.0722L * stored(picture, x, y, 2);
    value = type == Type::f32 ? static_cast<double>(static_cast<float>(weighted))
                              : static_cast<double>(std::floor(weighted + 0.5L));
  }
  return value > level * white;
}

TEST(Mask, IsWhiteAboveTheLevel) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4})
      for (const double level : {0.5, 0.0, 0.25, 0.999, 1.0, -0.1})
        for (const bool invert : {false, true}) {
          const Shape shape{37, 23, channels, type, channels % 2 == 0 ? Alpha::straight : Alpha::none};
          const Image picture = random_picture(shape, ++seed);
          const Image found = run_mask(picture, {.level = level, .invert = invert});
          ASSERT_EQ(found.shape(), (Shape{37, 23, 1, Type::u8}));
          for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x)
              ASSERT_EQ(found.view().value<std::uint8_t>(x, y),
                        above(picture, x, y, level) != invert ? 255 : 0)
                  << satin::describe(shape) << ", level " << level << ", x " << x << ", y " << y;
        }
}

TEST(Mask, BytesFromHalfOfWhiteOnAreInside) {
  Image picture({256, 1, 1, Type::u8});
  for (int x = 0; x < 256; ++x) picture.view().value<std::uint8_t>(x, 0) = static_cast<std::uint8_t>(x);
  const Image found = run_mask(picture, {});
  for (int x = 0; x < 256; ++x) EXPECT_EQ(found.view().value<std::uint8_t>(x, 0), x >= 128 ? 255 : 0) << x;
}

TEST(Mask, GrowsAndShrinksByDiscsOfAnyRadius) {
  for (const double radius : {0.5, 1.0, 1.4, 1.5, 2.0, 2.5, 3.7, 10.0, 25.25, 300.0})
    for_each_region(static_cast<std::uint64_t>(radius * 100), [&](const PixelSet& region) {
      check_region(region, {.grow = radius});
      check_region(region, {.shrink = radius, .invert = true});
    });
}

TEST(Mask, GrowsAndShrinksByBoxes) {
  for (const double radius : {1.0, 2.0, 5.0, 100.0})
    for_each_region(static_cast<std::uint64_t>(radius * 100), [&](const PixelSet& region) {
      check_region(region, {.grow = radius, .invert = true, .shape = MaskShape::box});
      check_region(region, {.shrink = radius, .shape = MaskShape::box});
    });
}

/// The square of 1.41421356... is below or above 2 depending on its last bit.
TEST(Mask, ComparesRadiiExactly) {
  PixelSet point{5, 5, std::vector<char>(25)};
  point.inside[12] = 1;
  const auto size = [&](double radius) {
    const PixelSet grown = run_region(point, {.grow = radius});
    return std::count(grown.inside.begin(), grown.inside.end(), 1);
  };
  const double root = std::sqrt(2.0);  // rounded up
  EXPECT_EQ(size(1), 5);
  EXPECT_EQ(size(root), 9);
  EXPECT_EQ(size(std::nextafter(root, 0)), 5);
  EXPECT_EQ(size(std::nextafter(2, 0)), 9);
  EXPECT_EQ(size(2), 13);
  EXPECT_EQ(size(std::nextafter(1, 0)), 1);
}

/// The largest radii fill or clear every mask that holds a pixel of the other side.
TEST(Mask, TakesRadiiUpToTheLargest) {
  for (const double radius : {4096.0, 16384.0})
    for_each_region(77, [&](const PixelSet& region) {
      check_region(region, {.grow = radius});
      check_region(region, {.shrink = radius});
    });
}

TEST(Mask, OpensAndCloses) {
  for (const MaskShape shape : {MaskShape::disc, MaskShape::box})
    for (const double radius : {1.0, 2.0, 4.0})
      for_each_region(static_cast<std::uint64_t>(radius), [&](const PixelSet& region) {
        check_region(region, {.open = radius, .shape = shape});
        check_region(region, {.close = radius, .shape = shape});
      });
}

TEST(Mask, OpeningNeverAddsClosingNeverRemovesAndNeitherDoesAnythingTwice) {
  for (const MaskShape shape : {MaskShape::disc, MaskShape::box})
    for (const double radius : {1.0, 3.0, 6.0, 40.0})
      for_each_region(static_cast<std::uint64_t>(radius) + 50, [&](const PixelSet& region) {
        const Mask opening{.open = radius, .shape = shape};
        const Mask closing{.close = radius, .shape = shape};
        SCOPED_TRACE(describe(region, opening));
        const PixelSet opened = run_region(region, opening);
        const PixelSet closed = run_region(region, closing);
        for (std::size_t i = 0; i < region.inside.size(); ++i) {
          ASSERT_LE(opened.inside[i], region.inside[i]) << i;
          ASSERT_GE(closed.inside[i], region.inside[i]) << i;
        }
        ASSERT_EQ(run_region(opened, opening).inside, opened.inside);
        ASSERT_EQ(run_region(closed, closing).inside, closed.inside);
        // Each is the other one of the inverse.
        ASSERT_EQ(inverse(run_region(inverse(region), closing)).inside, opened.inside);
      });
}

void check_feather(const PixelSet& region, const std::vector<std::int64_t>& squared, const Mask& parameters) {
  SCOPED_TRACE(describe(region, parameters));
  const Image found = run_mask(picture_of(region), parameters);
  const long double width = std::floor(parameters.feather * 256 + 0.5) / 256;
  for (std::size_t i = 0; i < squared.size(); ++i) {
    const bool inside = region.inside[i] != 0;
    const long double exact = feathered(inside, squared[i], width, parameters.feather_side);
    const long double error = static_cast<int>(found.data()[i]) - exact;
    ASSERT_LE(std::fabs(error), 0.5L + 1e-12L) << "pixel " << i << ", squared " << squared[i];
    if (std::fabs(std::fabs(error) - 0.5L) < 1e-12L) {
      const auto root = std::sqrt(static_cast<long double>(squared[i]));
      ASSERT_EQ(root, std::floor(root)) << "ties are exact";
      ASSERT_EQ(error > 0, inside) << "pixel " << i << ": ties go to the pixel's own side";
    }
  }
}

TEST(Mask, FeathersByTheFormula) {
  for_each_region(700, [&](const PixelSet& region) {
    const std::vector<std::int64_t> squared = squared_distances(region);
    for (const FeatherSide side : feather_sides)
      for (const double width : {1.0, 1.5, 2.0, 3.0, 5.1, 10.0, 17.0, 34.0, 510.0, 16384.0, 0.01})
        check_feather(region, squared, {.feather = width, .feather_side = side});
  });
}

/// A straight edge: the distances to it are 1/2, 3/2, ...
TEST(Mask, FeatherHasItsWidth) {
  PixelSet half{40, 3, std::vector<char>(120)};
  for (std::size_t i = 0; i < 120; ++i) half.inside[i] = static_cast<char>(i % 40 >= 20);
  const auto row = [&](FeatherSide side) {
    const Image found = run_mask(picture_of(half), {.feather = 4, .feather_side = side});
    std::vector<int> values;
    for (int x = 14; x < 26; ++x) values.push_back(found.view().value<std::uint8_t>(x, 1));
    return values;
  };
  EXPECT_EQ(row(FeatherSide::inward), (std::vector<int>{0, 0, 0, 0, 0, 0, 32, 96, 159, 223, 255, 255}));
  EXPECT_EQ(row(FeatherSide::outward),
            (std::vector<int>{0, 0, 32, 96, 159, 223, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(row(FeatherSide::centred), (std::vector<int>{0, 0, 0, 0, 32, 96, 159, 223, 255, 255, 255, 255}));
}

TEST(Mask, FeatherOfTheInverseIsTheInverseOfTheFeather) {
  const auto mirrored = [](FeatherSide side) {
    return side == FeatherSide::inward    ? FeatherSide::outward
           : side == FeatherSide::outward ? FeatherSide::inward
                                          : FeatherSide::centred;
  };
  for (const FeatherSide side : feather_sides)
    for (const double width : {1.0, 2.0, 4.0, 6.375, 30.0})
      for_each_region(static_cast<std::uint64_t>(width * 10), [&](const PixelSet& region) {
        const Image one =
            run_mask(picture_of(region), {.feather = width, .feather_side = side, .invert = true});
        const Image other =
            run_mask(picture_of(inverse(region)), {.feather = width, .feather_side = mirrored(side)});
        ASSERT_EQ(difference(one, other), "") << describe(region, {.feather = width, .feather_side = side});
      });
}

TEST(Mask, FillsHoles) {
  for (const Connectivity connectivity : {Connectivity::four, Connectivity::eight})
    for (const int area : {0, 1, 2, 7, 60, 2147483647})
      for_each_region(static_cast<std::uint64_t>(area), [&](const PixelSet& region) {
        check_region(region, {.fill_holes = area, .connectivity = connectivity});
        check_region(inverse(region), {.fill_holes = area, .invert = true, .connectivity = connectivity});
        if (area == 2) check_region(region, {.fill_all_holes = true, .connectivity = connectivity});
      });
}

TEST(Mask, RemovesSpecks) {
  for (const Connectivity connectivity : {Connectivity::four, Connectivity::eight})
    for (const int area : {0, 1, 2, 3, 8, 61, 2147483647})
      for_each_region(static_cast<std::uint64_t>(area), [&](const PixelSet& region) {
        check_region(region, {.min_area = area, .connectivity = connectivity});
        check_region(inverse(region), {.min_area = area, .invert = true, .connectivity = connectivity});
      });
}

TEST(Mask, KeepsItsOrder) {
  Random random(31);
  for_each_region(500, [&](const PixelSet& region) {
    for (int i = 0; i < 4; ++i) {
      Mask all{.fill_holes = random.between(0, 5),
               .fill_all_holes = random.one_in(5),
               .min_area = random.between(0, 5),
               .invert = random.one_in(2)};
      for (double* radius : {&all.open, &all.close, &all.grow, &all.shrink}) *radius = random.between(0, 3);
      all.shape = random.one_in(2) ? MaskShape::box : MaskShape::disc;
      all.connectivity = random.one_in(2) ? Connectivity::four : Connectivity::eight;
      check_region(region, all);
      all.invert = false;
      const PixelSet before = worked(region, all);
      all.feather = 6;
      all.invert = true;
      ASSERT_EQ(difference(run_mask(picture_of(region), all),
                           run_mask(picture_of(before), {.feather = 6, .invert = true})),
                "");
    }
  });
}

TEST(Mask, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const auto with = [&](const Mask& parameters) {
    return [=, &device] { return plan(device, {8, 8, 1, Type::u8}, parameters); };
  };
  expect_error(ErrorKind::usage, "grow -1", with({.grow = -1}));
  expect_error(ErrorKind::usage, "grow nan", with({.grow = std::nan("")}));
  expect_error(ErrorKind::usage, "16384", with({.shrink = 16384.5}));
  expect_error(ErrorKind::usage, "open 2.5", with({.open = 2.5, .shape = MaskShape::box}));
  expect_error(ErrorKind::usage, "whole", with({.close = 2.5, .shape = MaskShape::box}));
  expect_error(ErrorKind::usage, "feather inf", with({.feather = INFINITY}));
  expect_error(ErrorKind::usage, "level", with({.level = std::nan("")}));
  expect_error(ErrorKind::usage, "fill-holes -3", with({.fill_holes = -3}));
  expect_error(ErrorKind::usage, "min-area -1", with({.min_area = -1}));
  expect_error(ErrorKind::usage, "u32", [&] { return plan(device, {8, 8, 1, Type::u32}, Mask{}); });
  Image bad({3, 3, 1, Type::f32});
  for (int i = 0; i < 9; ++i) bad.view().value<float>(i % 3, i / 3) = i == 4 ? NAN : 1.0F;
  expect_error(ErrorKind::input, "NaN", [&] { return mask(device, bad); });
  expect_error(ErrorKind::input, "NaN", [&] { return mask(device, bad, {.feather = 2}); });
}

}  // namespace
}  // namespace satin::test
