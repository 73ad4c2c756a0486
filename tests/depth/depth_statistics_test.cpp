// The range of a depth image, which scales a strength in percent and bounds the focus.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

/// Returns the strength at which the percentiles of the disparities differ by this many pixels of radius.
double strength_of(std::vector<double> disparities, double pixels) {
  std::sort(disparities.begin(), disparities.end());
  const std::size_t outside = (disparities.size() - 1) / 200;
  const double range = disparities[disparities.size() - 1 - outside] - disparities[outside];
  return range > 0 ? pixels / range : 0;
}

struct Unit {
  double scale = 1;
  double offset = 0;
};

/// Noise in this unit. Every seventh float is unknown.
Image noise_in(const Unit& unit, Type type, std::int64_t width, std::int64_t height) {
  Random random(static_cast<std::uint64_t>(width));
  return plane_of(width, height, type, [&](std::int64_t, std::int64_t) {
    const double value = unit.offset + unit.scale * static_cast<double>(random.below(1000)) / 1000;
    return type == Type::f32 && random.one_in(7) ? std::nan("") : value;
  });
}

std::vector<double> known_values(const Image& depth, double scale) {
  std::vector<double> values;
  for (std::int64_t y = 0; y < depth.shape().height; ++y)
    for (std::int64_t x = 0; x < depth.shape().width; ++x) {
      const ImageView view = depth.view();
      const double stored = depth.shape().type == Type::u8    ? view.value<std::uint8_t>(x, y)
                            : depth.shape().type == Type::u16 ? view.value<std::uint16_t>(x, y)
                                                              : static_cast<double>(view.value<float>(x, y));
      if (!std::isnan(stored)) values.push_back(scale * stored);
    }
  return values;
}

LensFocus in_percent(double percent) {
  LensFocus focus;
  focus.strength = Length(percent, true);
  focus.sharp_range = 1e30;
  focus.max_radius = 512;
  focus.depth_scale = 1;
  return focus;
}

TEST(DepthStatistics, StrengthInPercentSpansThePercentiles) {
  const std::pair<Type, Unit> cases[] = {
      {Type::u8, {200, 30}},      {Type::u8, {3, 7}},       {Type::u16, {65000, 200}},
      {Type::u16, {40, 260}},     {Type::f32, {1, 0}},      {Type::f32, {1e-6, 1}},
      {Type::f32, {1e20, -3e19}}, {Type::f32, {-1e-30, 0}}, {Type::f32, {2, -1}}};
  for (const auto& [type, unit] : cases)
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {21, 20}, {150, 131}}) {
      const Image depth = noise_in(unit, type, width, height);
      std::vector<double> values = known_values(depth, 1);
      if (values.empty()) continue;
      const RadiiResult result = radii_of(dark_picture(width, height), depth, in_percent(5));
      EXPECT_EQ(result.strength, strength_of(values, 0.05 * width * 256) / 256) << width << " x " << height;
    }
}

TEST(DepthStatistics, PercentilesOfDistancesAreThoseOfTheirInverse) {
  const Image depth = noise_in({5000, 40}, Type::u16, 150, 131);
  std::vector<double> disparities = known_values(depth, 1);
  for (double& value : disparities) value = 1 / value;
  LensFocus focus = in_percent(5);
  focus.depth_kind = DepthKind::depth;
  EXPECT_EQ(radii_of(dark_picture(150, 131), depth, focus).strength,
            strength_of(disparities, 7.5 * 256) / 256);
}

TEST(DepthStatistics, ResultDoesNotDependOnTheUnit) {
  LensFocus focus;  // all defaults: 1 % of 300 pixels for the range of the depth
  focus.focus_at = Point{{0, false}, {0, false}};
  for (const double unit : {1.0, 0.001, 640.0}) {
    const Image depth = plane_of(300, 8, Type::f32, [&](std::int64_t x, std::int64_t) {
      return unit * (7 + static_cast<double>(x < 100 ? 0 : x < 200 ? 1 : 4));
    });
    const RadiiResult result = radii_of(dark_picture(300, 8), depth, focus);
    for (std::int64_t x = 0; x < 300; ++x) {
      const double share = x < 100 ? 0 : x < 200 ? 0.25 : 1;
      ASSERT_NEAR(result.at(x, 3), 3 * 256 * share, 1) << unit << ": " << x;
    }
  }
}

TEST(DepthStatistics, DepthOfOneValueIsSharp) {
  for (const Type type : {Type::u8, Type::f32}) {
    const Image depth = plane_of(40, 20, type, [](std::int64_t, std::int64_t) { return 1; });
    const RadiiResult result = radii_of(dark_picture(40, 20), depth, {});
    EXPECT_EQ(result.strength, 0);
    EXPECT_EQ(result.at(11, 7), 0);
    EXPECT_TRUE(result.warnings.empty());
  }
}

/// Returns the value that a fiftieth of the known values, rounded down, are nearer or farther than.
double end_of(std::vector<double> values, DepthEnd end, bool distances) {
  const auto nearer = [&](double a, double b) { return distances ? a < b : a > b; };
  std::sort(values.begin(), values.end(), nearer);
  const std::size_t outside = (values.size() - 1) / 50;
  return values[end == DepthEnd::nearest ? outside : values.size() - 1 - outside];
}

TEST(DepthStatistics, EndsOfDepthAreTheFocus) {
  const std::pair<Type, Unit> cases[] = {{Type::u8, {200, 30}},  {Type::u16, {65000, 200}},
                                         {Type::u16, {40, 260}}, {Type::f32, {1, 0.5}},
                                         {Type::f32, {1e-6, 1}}, {Type::f32, {2, -1}}};
  for (const auto& [type, unit] : cases)
    for (const auto& [width, height] : {std::pair{1, 1}, {10, 5}, {17, 3}, {150, 131}})
      for (const DepthKind kind : {DepthKind::disparity, DepthKind::depth})
        for (const DepthEnd end : {DepthEnd::nearest, DepthEnd::farthest}) {
          const Image depth = noise_in(unit, type, width, height);
          const bool distances = kind == DepthKind::depth;
          std::vector<double> values = known_values(depth, 1);
          if (distances) std::erase_if(values, [](double value) { return value <= 0; });
          if (values.empty()) continue;
          LensFocus focus = in_percent(5);
          focus.depth_kind = kind;
          focus.focus = end;
          const RadiiResult result = radii_of(dark_picture(width, height), depth, focus);
          EXPECT_EQ(result.focus, end_of(values, end, distances))
              << width << " x " << height << ", " << distances;
          EXPECT_EQ(result.refused, "");
        }
}

TEST(DepthStatistics, EndsOfInvertedDepthAndOfRangesAreThoseOfTheirValues) {
  const Image codes = noise_in({200, 30}, Type::u8, 60, 40);
  const std::vector<double> stored = known_values(codes, 1);
  const auto focus_of = [&](const auto& change) {
    LensFocus focus;
    focus.focus = DepthEnd::nearest;
    change(focus);
    return radii_of(dark_picture(60, 40), codes, focus).focus;
  };
  const double lowest = end_of(stored, DepthEnd::farthest, false),
               highest = end_of(stored, DepthEnd::nearest, false);
  EXPECT_NEAR(focus_of([](LensFocus&) {}), highest / 255, 1e-12);
  EXPECT_NEAR(focus_of([](LensFocus& focus) { focus.invert_depth = true; }), lowest / 255, 1e-12)
      << "as stored";
  EXPECT_NEAR(focus_of([](LensFocus& focus) {
                focus.depth_kind = DepthKind::depth;
                focus.depth_range = ValueRange{1, 11};
              }),
              1 + 10 * lowest / 255, 1e-9);
  EXPECT_NEAR(focus_of([](LensFocus& focus) {
                focus.depth_kind = DepthKind::depth;
                focus.depth_range = ValueRange{1, 11};
                focus.invert_depth = true;
              }),
              11 - 10 * highest / 255, 1e-9);
}

TEST(DepthStatistics, AFiftiethOfTheValuesIsNoEnd) {
  for (const auto& [wrong, expected] : {std::pair{20, 200.0}, {21, 255.0}}) {
    const Image depth = plane_of(1001, 1, Type::u8, [wrong = wrong](std::int64_t x, std::int64_t) {
      return x < wrong ? 255 : x < 500 ? 200 : 50;
    });
    LensFocus focus;
    focus.depth_scale = 1;
    focus.focus = DepthEnd::nearest;
    EXPECT_EQ(radii_of(dark_picture(1001, 1), depth, focus).focus, expected);
  }
}

TEST(DepthStatistics, UnknownDepthIsNoEnd) {
  const Image depth = plane_of(100, 10, Type::u16, [](std::int64_t x, std::int64_t) {
    return x < 30 ? 65535 : x < 60 ? 4000 : 900;
  });
  LensFocus focus;
  focus.depth_scale = 1;
  focus.unknown = 65535;
  focus.focus = DepthEnd::nearest;
  EXPECT_EQ(radii_of(dark_picture(100, 10), depth, focus).focus, 4000);
  const Image nothing = plane_of(20, 10, Type::f32, [](std::int64_t, std::int64_t) { return -1; });
  focus.depth_kind = DepthKind::depth;
  expect_error(ErrorKind::input, "no known value",
               [&] { static_cast<void>(radii_of(dark_picture(20, 10), nothing, focus)); });
}

TEST(DepthStatistics, RefusesAFocusOutsideTheDepth) {
  const Image codes = plane_of(60, 20, Type::u8,
                               [](std::int64_t x, std::int64_t) { return 51 + static_cast<double>(x % 50); });
  const auto refused = [](const Image& depth, double value, const auto& change) {
    LensFocus focus;
    focus.focus = value;
    change(focus);
    return radii_of(dark_picture(60, 20), depth, focus).refused;
  };
  const auto as_it_is = [](LensFocus&) {};
  EXPECT_NE(refused(codes, 200, as_it_is).find("from 0.2 to 0.3922"), std::string::npos);
  EXPECT_NE(refused(codes, 64, as_it_is).find("64 is 0.251"), std::string::npos);
  EXPECT_NE(refused(codes, 0.19, as_it_is), "");
  EXPECT_NE(refused(codes, 0.4, as_it_is), "");
  EXPECT_EQ(refused(codes, 0.3, as_it_is), "");
  EXPECT_EQ(refused(codes, 0.396, as_it_is), "") << "one code outside the range";
  EXPECT_EQ(refused(codes, 0.5, [](LensFocus& focus) { focus.sharp_range = 0.11; }), "");
  EXPECT_EQ(refused(codes, 0.3, [](LensFocus& focus) { focus.invert_depth = true; }), "");
  EXPECT_NE(refused(codes, 0.7, [](LensFocus& focus) { focus.invert_depth = true; }).find("0.2 to 0.3922"),
            std::string::npos);
  const Image flat = plane_of(60, 20, Type::f32, [](std::int64_t, std::int64_t) { return 0.1; });
  EXPECT_EQ(refused(flat, 0.1, as_it_is), "") << "float rounding";
  EXPECT_EQ(refused(flat, 0.3, as_it_is), "") << "depth of one value has no range";
  EXPECT_NE(refused(flat, 200, [](LensFocus& focus) { focus.strength = 16; }), "") << "all at the limit";
  EXPECT_EQ(refused(flat, 0.1, [](LensFocus& focus) { focus.depth_kind = DepthKind::depth; }), "");
}

TEST(DepthStatistics, WarnsOfAStrengthThatClampsMostRadiiAndNamesOneThatFits) {
  const Image depth =
      plane_of(100, 20, Type::f32, [](std::int64_t x, std::int64_t) { return 3.0 * static_cast<double>(x); });
  LensFocus focus;
  focus.focus_at = Point{{0, false}, {10, false}};
  focus.strength = 1;
  focus.max_radius = 64;
  const auto warnings = [&] { return radii_of(dark_picture(100, 20), depth, focus).warnings; };
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(
      warnings()[0].find(
          "--max-radius 64: the depth has values from 0 to 297. --strength 0.218 fits, or --max-radius 294."),
      std::string::npos)
      << warnings()[0];
  focus.strength = 0.218;
  EXPECT_TRUE(warnings().empty());
  focus.strength = Length(300, true);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("--strength 64.7% fits"), std::string::npos) << warnings()[0];
  focus.strength = 3;
  EXPECT_NE(warnings()[0].find("--strength 0.218 fits."), std::string::npos) << "beyond the largest maximum";
  focus.strength = 0.42;  // clamps a little less than half
  EXPECT_TRUE(warnings().empty());
}

TEST(DepthStatistics, TheLargestRadiusFollowsAStrengthInPercent) {
  const Shape picture{100, 20, 3, Type::u8};
  const Image depth =
      plane_of(100, 20, Type::u8, [](std::int64_t x, std::int64_t) { return static_cast<double>(2 * x); });
  LensFocus focus;
  focus.focus_at = Point{{0, false}, {10, false}};
  focus.strength = Length(300, true);
  const RadiiResult result = radii_of(dark_picture(100, 20), depth, focus);
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_NEAR(result.at(99, 5), 300 * 256 * 98.0 / 99, 1) << "the focus is the median of columns 0 to 2";
  EXPECT_EQ(max_radius_of(focus, picture), 300);
  focus.strength = Length(900, true);
  EXPECT_EQ(max_radius_of(focus, picture), 512) << "the largest maximum";
  focus.max_radius = 8;
  EXPECT_EQ(max_radius_of(focus, picture), 8);
  focus.max_radius.reset();
  for (const Length strength : {Length(1, true), Length(300, false)}) {
    focus.strength = strength;
    EXPECT_EQ(max_radius_of(focus, picture), 64);
  }
  focus.strength.reset();
  focus.f_number = 1.4;
  EXPECT_EQ(max_radius_of(focus, {9000, 20, 3, Type::u8}), 64);
}

}  // namespace
}  // namespace satin::test
