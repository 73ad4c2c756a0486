// Masked filters against brute force: plans filter only chunks around the active tiles of a mask.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "core/window_cover.h"
#include "satin/error.h"
#include "satin/filters.h"
#include "satin/pipeline.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/oracle_rank.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::int64_t width = 267;  // five by four tiles, some cut
constexpr std::int64_t height = 199;
/// Opens the device under test again, so configured that small chunks pay.
const Device& device_with_windows() {
  static const Device device = [] {
    Device opened = Device::open(device_under_test().info().id);
    Backend& backend = opened.backend();
    for (WindowCosts* costs :
         {&backend.mean_windows, &backend.box_windows, &backend.alpha_box_windows, &backend.sliding_windows})
      *costs = WindowCosts{};
    return opened;
  }();
  return device;
}

struct Mask {
  const char* name;
  std::function<int(std::int64_t x, std::int64_t y)> value;  ///< 0 to 255
};

const std::vector<Mask>& every_mask() {
  static const std::vector<Mask> masks = {
      {"empty", [](auto, auto) { return 0; }},
      {"full", [](auto, auto) { return 255; }},
      {"one pixel", [](auto x, auto y) { return x == 200 && y == 141 ? 90 : 0; }},
      {"the first pixel", [](auto x, auto y) { return x == 0 && y == 0 ? 255 : 0; }},
      {"the last pixel", [](auto x, auto y) { return x == width - 1 && y == height - 1 ? 1 : 0; }},
      {"dots on both sides of borders of tiles",
       [](auto x, auto y) { return (x + 1) % 64 < 2 && (y + 1) % 128 < 2 ? 255 : 0; }},
      {"a diagonal", [](auto x, auto y) { return x == y ? 128 : 0; }},
      {"a row", [](auto, auto y) { return y == 64 ? 255 : 0; }},
      {"the last column", [](auto x, auto) { return x == width - 1 ? 255 : 0; }},
      {"the right half", [](auto x, auto) { return x > 140 ? 255 : 0; }},
      {"all but a corner", [](auto x, auto y) { return x < 100 && y < 100 ? 0 : 255; }},
      {"soft blobs",
       [](auto x, auto y) {
         constexpr std::array<std::array<std::int64_t, 2>, 3> centres = {{{40, 30}, {250, 60}, {130, 180}}};
         int value = 0;
         for (const auto& [cx, cy] : centres)
           value = std::max(value,
                            static_cast<int>(300 - ((x - cx) * (x - cx) + (y - cy) * (y - cy))) * 255 / 300);
         return value;
       }},
  };
  return masks;
}

Image picture_of(const Mask& mask, Type type) {
  Image image(Shape{width, height, 1, type});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      if (type == Type::u8) {
        image.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(mask.value(x, y));
      } else {
        image.view().value<std::uint16_t>(x, y) = static_cast<std::uint16_t>(mask.value(x, y) * 257);
      }
  return image;
}

Format random_format(Random& random) {
  static const std::vector<Format> formats = every_format();
  return random.pick(formats);
}

/// Returns a case of this format with everything chosen except the radius.
BlurCase case_of(const Format& format, Border border, const Image& mask, Random& random) {
  BlurCase blur_case{{width, height, format.channels, format.type, format.alpha}, {.border = border}};
  blur_case.blur.border_value = 0.5;
  blur_case.blur.space = has_linear_light(format) && random.one_in(2) ? Space::linear : Space::encoded;
  blur_case.mask = mask.view();
  blur_case.seed = random.next();
  return blur_case;
}

class MaskedBlur : public testing::TestWithParam<Border> {};

TEST_P(MaskedBlur, EqualsBruteForce) {
  Random random(0x3A + static_cast<std::uint64_t>(GetParam()));
  for (const Mask& mask : every_mask()) {
    if (random.one_in(2)) continue;
    const Image weights = picture_of(mask, random.one_in(2) ? Type::u8 : Type::u16);
    BlurCase blur_case = case_of(random_format(random), GetParam(), weights, random);
    SCOPED_TRACE(mask.name);
    switch (random.below(4)) {
      case 0:
        blur_case.blur.radius = Radius(Length{6.5, false}, Length{13, false});
        break;
      case 1:
        blur_case.blur.radius = Radius(Length{3, true}, Length{0, false});
        break;
      case 2:
        blur_case.blur.sigma = 3.3;
        break;
      default:
        blur_case.blur.radius = 17;
        blur_case.blur.kernel = Kernel::tent;
    }
    if (slow_build() && !random.one_in(4)) continue;
    check_against_oracle(blur_case, device_with_windows());
    if (HasFatalFailure()) return;
  }
}

TEST_P(MaskedBlur, EqualsBruteForceByMap) {
  Random random(0x3B + static_cast<std::uint64_t>(GetParam()));
  for (const Mask& mask : every_mask()) {
    if (!random.one_in(3)) continue;
    const Image weights = picture_of(mask, Type::u8);
    BlurCase blur_case = case_of(random_format(random), GetParam(), weights, random);
    SCOPED_TRACE(mask.name);
    blur_case.blur.radius_min = 4.75;
    blur_case.blur.radius_max = 0.5;
    blur_case.map_type = random.one_in(2) ? Type::u8 : Type::f32;
    if (random.one_in(2)) blur_case.blur.mask_mode = MaskMode::exclude;
    if (slow_build() && !random.one_in(8)) continue;
    check_against_oracle(blur_case, device_with_windows());
    if (HasFatalFailure()) return;
  }
}

TEST_P(MaskedBlur, EqualsBruteForceWithExclusion) {
  Random random(0x3C + static_cast<std::uint64_t>(GetParam()));
  for (const Mask& mask : every_mask()) {
    if (random.one_in(2)) continue;
    const Image weights = picture_of(mask, random.one_in(2) ? Type::u8 : Type::u16);
    BlurCase blur_case = case_of(random_format(random), GetParam(), weights, random);
    SCOPED_TRACE(mask.name);
    blur_case.blur.radius = random.one_in(2) ? Radius(11) : Radius(Length{2.25, false}, Length{20.5, false});
    blur_case.blur.mask_mode = MaskMode::exclude;
    if (slow_build() && !random.one_in(4)) continue;
    check_against_oracle(blur_case, device_with_windows());
    if (HasFatalFailure()) return;
  }
}

TEST_P(MaskedBlur, ErodeAndDilateEqualBruteForce) {
  Random random(0x3D + static_cast<std::uint64_t>(GetParam()));
  for (const Mask& mask : every_mask()) {
    if (random.one_in(2)) continue;
    const Format format = random_format(random);
    const Shape shape{width, height, format.channels, format.type, format.alpha};
    const std::uint64_t seed = random.next();
    SCOPED_TRACE(std::string(mask.name) + ", " + describe(shape) + ", seed " + std::to_string(seed));
    const Image picture = random_picture(shape, seed);
    const Image weights = picture_of(mask, random.one_in(2) ? Type::u8 : Type::u16);
    const Radius radius(Length{4, false}, Length{9, false});
    const bool largest = random.one_in(2);
    if (slow_build() && !random.one_in(4)) continue;
    const std::array inputs = {picture.view(), weights.view()};
    Plan plan =
        largest ? satin::plan(
                      device_with_windows(), shape,
                      Dilate{.radius = radius, .border = GetParam(), .border_value = 0.5, .mask = weights})
                : satin::plan(
                      device_with_windows(), shape,
                      Erode{.radius = radius, .border = GetParam(), .border_value = 0.5, .mask = weights});
    const Image result = run_plan(device_with_windows(), plan, inputs);
    const OracleRank oracle{picture, weights, largest ? 100.0 : 0.0, 4, 9, GetParam(), 0.5};
    ASSERT_EQ(difference(result, oracle_rank(oracle)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Borders, MaskedBlur, testing::ValuesIn(every_border));

/// Opens the device under test again, configured never to look for active tiles.
const Device& device_without_windows() {
  static const Device device = [] {
    Device opened = Device::open(device_under_test().info().id);
    opened.backend().mean_windows.least_pixels = std::numeric_limits<std::int64_t>::max();
    return opened;
  }();
  return device;
}

// Plans skip inactive tiles for every filter of finite reach that takes a mask.
TEST(Masked, OtherFiltersEqualTheWholePicture) {
  const char* const pipelines[] = {"unsharp radius=5 mask=m",
                                   "unsharp sigma=2 kernel=gaussian threshold=0.05 border=wrap mask=m",
                                   "guided radius=4 mask=m",
                                   "guided radius=3 border=mirror guide=g mask=m",
                                   "local-mean window=9 border=reflect mask=m",
                                   "local-deviation window=9 mask=m",
                                   "normalize window=21 border=clamp mask=m"};
  Random random(0x3E);
  for (const char* const text : pipelines)
    for (const Mask& mask : every_mask()) {
      const Format format = random_format(random);
      const Shape shape{width, height, format.channels, format.type, format.alpha};
      const std::uint64_t seed = random.next();
      if (slow_build() && !random.one_in(8)) continue;
      SCOPED_TRACE(std::string(text) + ", " + mask.name + ", " + describe(shape) + ", seed " +
                   std::to_string(seed));
      const Image picture = random_picture(shape, seed);
      const Image guide = random_picture({width, height, 3, random.one_in(2) ? Type::u8 : Type::f32}, seed);
      const Image weights = picture_of(mask, random.one_in(2) ? Type::u8 : Type::u16);
      std::vector<NamedView> sides = {{"m", weights}};
      if (std::string(text).find("guide=") != std::string::npos) sides.push_back({"g", guide});
      const Pipeline pipeline = parse_pipeline(text);
      const Image whole = satin::run(device_without_windows(), pipeline, picture, sides);
      ASSERT_EQ(difference(satin::run(device_with_windows(), pipeline, picture, sides), whole), "");
    }
}

// Guards the tests above: the plan does filter these masks by chunks.
TEST(Masked, PlansFilterTheseMasksByChunks) {
  const WindowCosts& costs = device_with_windows().backend().mean_windows;
  WindowCover cover({width, height}, {13, 13}, costs);
  ASSERT_EQ(cover.tile(), 64);
  int by_windows = 0;
  for (const Mask& mask : every_mask()) {
    std::vector<std::uint8_t> active(static_cast<std::size_t>(cover.columns() * cover.rows()), 0);
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        if (mask.value(x, y) > 0) active[static_cast<std::size_t>(y / 64 * cover.columns() + x / 64)] = 1;
    const auto runs = cover.of(active);
    by_windows += !runs.empty() && !cover.is_whole(runs.front()) ? 1 : 0;
  }
  EXPECT_GE(by_windows, 6);
}

TEST(Masked, FindsTheActiveTilesOfAnyMask) {
  Backend& backend = device_under_test().backend();
  Random random(11);
  for (int turn = 0; turn < 80; ++turn) {
    const Type type = random.one_in(2) ? Type::u8 : Type::u16;
    const Shape shape{random.between(1, 300), random.between(1, 300), 1, type};
    const std::int64_t tile = random.one_in(2) ? 64 : 128;
    Image mask = constant_picture(shape, 0);
    const std::int64_t columns = (shape.width + tile - 1) / tile;
    const std::int64_t rows = (shape.height + tile - 1) / tile;
    std::vector<std::uint8_t> expected(static_cast<std::size_t>(columns * rows), 0);
    for (std::uint64_t dots = random.below(4); dots > 0; --dots) {
      const std::int64_t x =
          random.one_in(3) ? shape.width - 1 : random.between(0, static_cast<int>(shape.width) - 1);
      const std::int64_t y =
          random.one_in(3) ? shape.height - 1 : random.between(0, static_cast<int>(shape.height) - 1);
      std::memset(mask.view().at(x, y) + (type == Type::u16 && random.one_in(2) ? 1 : 0), 1, 1);
      expected[static_cast<std::size_t>(y / tile * columns + x / tile)] = 1;
    }
    const auto tiles = backend.prepare(ActiveTilesJob{shape.width, shape.height, type, tile});
    std::vector<std::uint8_t> active(expected.size(), 0xCD);
    if (device_under_test().is_cuda()) {
      const Image on_device = device_under_test().upload(mask);
      tiles->run(on_device.view(), active.data(), {});
    } else {
      const LooseImage loose(mask, Layout::loose_rows);
      tiles->run(loose.view(), active.data(), {});
    }
    ASSERT_EQ(active, expected) << describe(shape) << ", tile " << tile << ", turn " << turn;
  }
}

// The scale of floats is that of the whole picture: a huge value far from all active tiles rounds small
// values to 0.
TEST(Masked, TheScaleOfFloatsIsThatOfTheWholePicture) {
  const Shape shape{width, height, 1, Type::f32};
  Image picture = constant_picture(shape, 1e-9);
  picture.view().value<float>(width - 1, height - 1) = 1e20F;
  const Image mask = picture_of({"", [](auto x, auto y) { return x == 20 && y == 20 ? 255 : 0; }}, Type::u8);
  const std::array inputs = {std::as_const(picture).view(), ImageView{}, mask.view()};
  Plan plan = satin::plan(device_with_windows(), shape, Blur{.radius = 3, .mask = mask});
  const Image result = run_plan(device_with_windows(), plan, inputs);
  EXPECT_EQ(result.view().value<float>(20, 20), 0.0F);
  EXPECT_EQ(result.view().value<float>(21, 20), 1e-9F);
  plan.run(inputs, Image(shape).view());
  EXPECT_EQ(plan.check().size(), 1U) << "a warning";
}

TEST(Masked, RefusesNonFiniteValuesUnlessTheyAreExcluded) {
  const Shape shape{width, height, 3, Type::f32};
  Image picture = random_picture(shape, 5);
  picture.view().value<float>(250, 180, 1) = std::numeric_limits<float>::quiet_NaN();
  const Image mask = picture_of({"", [](auto x, auto) { return x < 60 ? 255 : 0; }}, Type::u8);
  const Device& device = device_with_windows();
  EXPECT_THROW(static_cast<void>(blur(device, picture, {.radius = 3, .mask = mask})), Error);
  EXPECT_THROW(static_cast<void>(dilate(device, picture, {.radius = 3, .mask = mask})), Error);
  const Image result = blur(device, picture, {.radius = 3, .mask = mask, .mask_mode = MaskMode::exclude});
  EXPECT_TRUE(std::isnan(result.view().value<float>(250, 180, 1)));
  picture.view().value<float>(59, 180, 1) = std::numeric_limits<float>::infinity();
  EXPECT_THROW(
      static_cast<void>(blur(device, picture, {.radius = 3, .mask = mask, .mask_mode = MaskMode::exclude})),
      Error);
}

TEST(Masked, ExclusionNeedsAMaskAndOneBox) {
  const Device& device = device_under_test();
  const Shape shape{20, 10, 3, Type::u8};
  const auto refused = [&](Blur blur) {
    blur.mask_mode = MaskMode::exclude;
    EXPECT_THROW(static_cast<void>(plan(device, shape, blur)), Error);
  };
  const Image mask = constant_picture({20, 10, 1, Type::u8}, 1);
  refused({.radius = 3});
  refused({.sigma = 3.0, .mask = mask});
  refused({.radius = 3, .kernel = Kernel::tent, .mask = mask});
  EXPECT_NO_THROW(static_cast<void>(
      plan(device, shape,
           Blur{.sigma = 3.0, .kernel = Kernel::box, .mask = mask, .mask_mode = MaskMode::exclude})));
}

// Values computed by hand for the row 0 10 20 30 40, of which the second pixel does not count.
TEST(Masked, ExclusionMatchesValuesComputedByHand) {
  const Device& device = device_under_test();
  Image line(Shape{5, 1, 1, Type::u8});
  Image mask = constant_picture({5, 1, 1, Type::u8}, 1);
  for (int x = 0; x < 5; ++x) line.view().value<std::uint8_t>(x, 0) = static_cast<std::uint8_t>(10 * x);
  mask.view().value<std::uint8_t>(1, 0) = 0;
  const auto blurred = [&](Border border, double radius) {
    const Image result = blur(device, line,
                              {.radius = Radius(Length{radius, false}, Length{0, false}),
                               .border = border,
                               .border_value = 1,
                               .space = Space::encoded,
                               .mask = mask,
                               .mask_mode = MaskMode::exclude});
    std::vector<int> values;
    for (int x = 0; x < 5; ++x) values.push_back(result.view().value<std::uint8_t>(x, 0));
    return values;
  };
  EXPECT_EQ(blurred(Border::shrink, 1), (std::vector{0, 10, 25, 30, 35}));
  EXPECT_EQ(blurred(Border::shrink, 1.5), (std::vector{7, 10, 23, 30, 32}));  // 10 / 1.5; 70 / 3; 80 / 2.5
  EXPECT_EQ(blurred(Border::clamp, 1), (std::vector{0, 10, 25, 30, 37}));     // 110 / 3
  EXPECT_EQ(blurred(Border::mirror, 1), (std::vector{0, 10, 25, 30, 33}));    // 100 / 3
  EXPECT_EQ(blurred(Border::wrap, 1), (std::vector{20, 10, 25, 30, 23}));     // 40 + 0; 70 / 3
  EXPECT_EQ(blurred(Border::constant, 1), (std::vector{128, 10, 25, 30, 108}));
}

}  // namespace
}  // namespace satin::test
