// Signed radii of depth images against formulas of optics in double precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "satin/filters/median.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr double rounding = 0.5 + 1e-6;  ///< error of a rounded radius, in 1/256 pixel

/// Depth whose 8-bit codes differ by more than one, so that its steps are not smoothed.
Image spread_depth(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed) {
  Random random(seed);
  return plane_of(width, height, type, [&](std::int64_t, std::int64_t) {
    const double code = 5 + 7 * static_cast<double>(random.below(35));
    return type == Type::u8 ? code : type == Type::u16 ? code * 257 + 3 : code / 255;
  });
}

double stored(const Image& depth, std::int64_t x, std::int64_t y) {
  const ImageView view = depth.view();
  if (depth.shape().type == Type::u8) return view.value<std::uint8_t>(x, y);
  if (depth.shape().type == Type::u16) return view.value<std::uint16_t>(x, y);
  return static_cast<double>(view.value<float>(x, y));
}

double white(Type type) { return type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1; }

template <class Radius>
void expect_radii(const Image& depth, const LensFocus& focus, const Radius& radius) {
  const Shape& shape = depth.shape();
  const Image picture = dark_picture(shape.width, shape.height);
  const RadiiResult result = radii_of(picture, depth, focus);
  const double largest = max_radius_of(focus, picture.shape());
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double clamped = std::clamp(radius(stored(depth, x, y)), -largest, largest);
      ASSERT_NEAR(result.at(x, y), clamped * 256, rounding) << x << ", " << y;
    }
}

TEST(CircleOfConfusion, FollowsDisparity) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const double strength : {0.0, 3.0, 25.5, 300.0}) {
      LensFocus focus;
      focus.focus = 0.37;
      focus.strength = strength;
      const Image depth = spread_depth(37, 19, type, 5);
      expect_radii(depth, focus, [&](double v) { return strength * (v / white(type) - 0.37); });
      focus.depth_scale = 0.02;
      expect_radii(depth, focus, [&](double v) { return strength * (v * 0.02 - 0.37); });
    }
}

TEST(CircleOfConfusion, FollowsDistance) {
  for (const Type type : {Type::u16, Type::f32}) {
    LensFocus focus;
    focus.depth_kind = DepthKind::depth;
    focus.focus = 0.6;
    focus.strength = 4;
    expect_radii(spread_depth(37, 19, type, 6), focus,
                 [&](double v) { return 4 / (v / white(type)) - 4 / 0.6; });
  }
}

TEST(CircleOfConfusion, CanBeInverted) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    LensFocus focus;
    focus.invert_depth = true;
    focus.focus = 0.25;  // as stored: 0.75 of disparity
    focus.strength = 20;
    expect_radii(spread_depth(29, 17, type, 7), focus,
                 [&](double v) { return 20 * ((1 - v / white(type)) - 0.75); });
  }
}

/// The thin lens equation: an aperture of diameter f / N, a point at z, and a sensor in focus at z_focus.
double thin_lens_radius(double z, double z_focus, double f, double n, double sensor, double pixels) {
  const double sharp_image = f * z_focus / (z_focus - f);
  const double image = f * z / (z - f);
  const double diameter = f / n * (image - sharp_image) / image;
  return diameter / 2 / sensor * pixels;
}

TEST(CircleOfConfusion, EqualsThatOfAThinLens) {
  LensFocus focus;
  focus.depth_kind = DepthKind::depth;
  focus.depth_scale = 1;
  focus.focus = 2.5;
  focus.f_number = 1.8;
  focus.focal_length = 85;
  focus.sensor_width = 23.5;
  focus.max_radius = 512;
  const Image depth = plane_of(400, 9, Type::f32, [](std::int64_t x, std::int64_t y) {
    return 0.4 + 0.05 * static_cast<double>(x) + 0.007 * static_cast<double>(y);
  });
  expect_radii(depth, focus, [](double z) { return thin_lens_radius(z, 2.5, 0.085, 1.8, 0.0235, 400); });
  // Millimetres, with the focus found in the image
  focus.depth_scale = 1000;
  focus.depth_unit = 1;
  focus.focus.reset();
  focus.focus_at = Point{{42, false}, {4, false}};
  const double z_focus = stored(depth, 42, 4);
  expect_radii(depth, focus, [&](double z) { return thin_lens_radius(z, z_focus, 0.085, 1.8, 0.0235, 400); });
  // Disparity is the inverse of the distance
  focus.depth_kind = DepthKind::disparity;
  focus.depth_scale.reset();
  focus.depth_unit = 1000;
  const Image inverse = plane_of(400, 9, Type::f32, [&](std::int64_t x, std::int64_t y) {
    return 1 / (0.4 + 0.05 * static_cast<double>(x) + 0.007 * static_cast<double>(y));
  });
  expect_radii(inverse, focus, [&](double d) {
    return thin_lens_radius(1 / d, 1 / stored(inverse, 42, 4), 0.085, 1.8, 0.0235, 400);
  });
}

TEST(CircleOfConfusion, GrowsFromTheSharpRangeOn) {
  LensFocus focus;
  focus.focus = 0.5;
  focus.sharp_range = 0.1;
  focus.strength = 40;
  const Image ramp = plane_of(1001, 2, Type::f32,
                              [](std::int64_t x, std::int64_t) { return static_cast<double>(x) / 1000; });
  expect_radii(ramp, focus, [](double d) { return d > 0.6 ? 40 * (d - 0.6) : d < 0.4 ? 40 * (d - 0.4) : 0; });
  focus.depth_kind = DepthKind::depth;
  focus.strength = 3;
  expect_radii(plane_of(900, 2, Type::f32,
                        [](std::int64_t x, std::int64_t) { return 0.1 + static_cast<double>(x) / 1000; }),
               focus, [](double z) { return z < 0.4   ? 3 / z - 3 / 0.4
                                            : z > 0.6 ? 3 / z - 3 / 0.6
                                                      : 0; });
  focus.sharp_range = 0.5;  // down to the lens
  expect_radii(plane_of(300, 2, Type::f32,
                        [](std::int64_t x, std::int64_t) { return 0.1 + static_cast<double>(x) / 1000; }),
               focus, [](double) { return 0.0; });
}

TEST(CircleOfConfusion, FocusesOnTheMedianAroundAPlace) {
  Random random(3);
  const Image depth = plane_of(40, 30, Type::f32, [&](std::int64_t, std::int64_t) {
    return random.one_in(3) ? std::numeric_limits<double>::quiet_NaN()
                            : static_cast<double>(random.below(1000)) / 1000;
  });
  for (const auto& [x, y] : {std::pair{20, 15}, {0, 0}, {39, 29}, {1, 28}}) {
    std::vector<double> around;
    for (std::int64_t v = std::max(0, y - 2); v <= std::min(29, y + 2); ++v)
      for (std::int64_t u = std::max(0, x - 2); u <= std::min(39, x + 2); ++u)
        if (!std::isnan(stored(depth, u, v))) around.push_back(stored(depth, u, v));
    std::sort(around.begin(), around.end());
    const double median = around[(around.size() - 1) / 2];
    LensFocus focus;
    focus.focus_at = Point{{static_cast<double>(x), false}, {static_cast<double>(y), false}};
    focus.strength = 60;
    const RadiiResult result = radii_of(dark_picture(40, 30), depth, focus);
    for (std::int64_t v = 0; v < 30; ++v)
      for (std::int64_t u = 0; u < 40; ++u)
        if (!std::isnan(stored(depth, u, v))) {
          ASSERT_NEAR(result.at(u, v), 60 * 256 * (stored(depth, u, v) - median), rounding);
        }
  }
}

TEST(CircleOfConfusion, FocusesAtPercentagesAndInTheMiddleByDefault) {
  const Image depth = plane_of(101, 51, Type::u16,
                               [](std::int64_t x, std::int64_t) { return 300.0 * static_cast<double>(x); });
  LensFocus focus;
  focus.strength = 100;
  const auto sharp_at = [&](std::int64_t x) {
    EXPECT_EQ(radii_of(dark_picture(101, 51), depth, focus).at(x, 3), 0) << x;
  };
  sharp_at(50);
  focus.focus_at = Point{{25, true}, {100, true}};
  sharp_at(25);
  focus.focus_at = Point{{97, false}, {10, true}};
  sharp_at(97);
}

TEST(CircleOfConfusion, ReadsDepthFromAlphaAndFromAChannel) {
  Image picture = random_picture({23, 11, 4, Type::u8, Alpha::straight}, 4);
  const Image depth = spread_depth(23, 11, Type::u8, 9);
  for (std::int64_t y = 0; y < 11; ++y)
    for (std::int64_t x = 0; x < 23; ++x)
      picture.view().value<std::uint8_t>(x, y, 3) = depth.view().value<std::uint8_t>(x, y);
  LensFocus focus;
  focus.focus = 0.4;
  const RadiiResult expected = radii_of(dark_picture(23, 11), depth, focus);
  LensFocus by_channel = focus;
  by_channel.depth_channel = 3;
  focus.depth_from = DepthSource::alpha;
  const RadiiResult by_alpha = radii_of(picture, Image(), focus);
  const RadiiResult selected = radii_of(dark_picture(23, 11), picture, by_channel);
  for (std::int64_t y = 0; y < 11; ++y)
    for (std::int64_t x = 0; x < 23; ++x) {
      ASSERT_EQ(by_alpha.at(x, y), expected.at(x, y));
      ASSERT_EQ(selected.at(x, y), expected.at(x, y));
    }
}

TEST(CircleOfConfusion, DespeckledDepthIsTheMedianOfDepth) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    const Image depth = spread_depth(31, 19, type, 6);
    LensFocus focus;
    const RadiiResult expected =
        radii_of(dark_picture(31, 19), median(device_under_test(), depth, {.radius = 2}), focus);
    const RadiiResult plain = radii_of(dark_picture(31, 19), depth, focus);
    focus.depth_despeckle = 2;
    const RadiiResult result = radii_of(dark_picture(31, 19), depth, focus);
    EXPECT_EQ(difference(result.radii, expected.radii), "");
    EXPECT_NE(difference(result.radii, plain.radii), "");
  }
}

void expect_refused(const char* message, const LensFocus& focus, const Image& depth, int channels = 3) {
  Image picture({20, 10, channels, Type::u8});
  expect_error(focus.focus_at && !focus.focus ? ErrorKind::input : ErrorKind::usage, message,
               [&] { static_cast<void>(radii_of(picture, depth, focus)); });
}

TEST(CircleOfConfusion, RefusesInvalidParametersAndShapes) {
  const auto with = [](auto member, auto value) {
    LensFocus focus;
    focus.*member = value;
    return focus;
  };
  const Image depth = spread_depth(20, 10, Type::u8, 1);
  expect_refused("f-number 0", with(&LensFocus::f_number, 0.0), depth);
  expect_refused("strength -2", with(&LensFocus::strength, -2.0), depth);
  expect_refused("max-radius 513", with(&LensFocus::max_radius, 513.0), depth);
  expect_refused("sharp-range -1", with(&LensFocus::sharp_range, -1.0), depth);
  expect_refused("depth-scale 0", with(&LensFocus::depth_scale, 0.0), depth);
  expect_refused("focus nan", with(&LensFocus::focus, std::nan("")), depth);
  expect_refused("outside the picture of 20 x 10", with(&LensFocus::focus_at, Point{{20, false}, {0, false}}),
                 depth);
  expect_refused("outside", with(&LensFocus::focus_at, Point{{5, false}, {-1, false}}), depth);
  expect_refused("depth-despeckle 513", with(&LensFocus::depth_despeckle, 513), depth);
  expect_refused("no alpha", with(&LensFocus::depth_from, DepthSource::alpha), Image());
  expect_refused("as well", with(&LensFocus::depth_from, DepthSource::alpha), depth, 4);
  expect_refused("--depth FILE", {}, Image());
  expect_refused("channels 0 to 0", with(&LensFocus::depth_channel, DepthChannel(1)), depth);
  expect_refused("depth.V", with(&LensFocus::depth_channel, DepthChannel("depth.V")), dark_picture(20, 10));
  expect_refused("--depth-channel", {}, dark_picture(20, 10));
  expect_refused("20 x 12, but the picture is 20 x 10: they must have the same aspect", {},
                 spread_depth(20, 12, Type::u8, 1));
  LensFocus twice;
  twice.focus = 0.5;
  twice.focus_at = Point{};
  expect_refused("--focus V or --focus-at", twice, depth);
  LensFocus strong;
  strong.strength = 3;
  strong.focal_length = 35;
  expect_refused("--strength K, or --f-number", strong, depth);
  LensFocus near;
  near.depth_kind = DepthKind::depth;
  near.focus = 0.04;
  near.focal_length = 50;
  expect_refused("nearer than the focal length", near, depth);
  near.focus = -1;
  expect_refused("above 0", near, depth);
}

TEST(CircleOfConfusion, RefusesAFocusOnUnknownDepthOrNearerThanTheFocalLength) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Image hole =
      plane_of(20, 10, Type::f32, [&](std::int64_t x, std::int64_t) { return x < 12 ? nan : 2; });
  LensFocus focus;
  focus.focus_at = Point{{5, false}, {5, false}};
  const auto run = [&](const Image& depth) {
    return [&] { static_cast<void>(radii_of(dark_picture(20, 10), depth, focus)); };
  };
  expect_error(ErrorKind::input, "--focus-at", run(hole));
  focus.focus_at = Point{{15, false}, {5, false}};
  focus.focal_length = 600;  // 1 / 2 m
  expect_error(ErrorKind::input, "focal length", run(hole));
}

}  // namespace
}  // namespace satin::test
