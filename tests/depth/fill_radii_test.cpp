// Unknown depth is filled from the farther side of a hole, and counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

LensFocus focus_at_nothing(double strength = 1) {
  LensFocus focus;
  focus.focus = 0;
  focus.strength = strength;
  focus.max_radius = 512;
  return focus;
}

RadiiResult fill(const Image& depth, const LensFocus& focus) {
  return radii_of(dark_picture(depth.shape().width, depth.shape().height), depth, focus);
}

/// A near square before a far surface, with a hole `hole` pixels wide along its left side.
double occluded(std::int64_t x, std::int64_t y, std::int64_t hole) {
  if (x >= 40 && x < 80 && y >= 20 && y < 60) return 30;
  if (x >= 40 - hole && x < 40 && y >= 20 && y < 60) return unknown;
  return 2;
}

TEST(FillRadii, AHoleNextToANearThingBelongsToTheSurfaceBehind) {
  for (const std::int64_t hole : {1, 2, 3, 7, 16, 25, 33}) {
    const Image depth =
        plane_of(120, 80, Type::f32, [&](std::int64_t x, std::int64_t y) { return occluded(x, y, hole); });
    const RadiiResult result = fill(depth, focus_at_nothing());
    for (std::int64_t y = 0; y < 80; ++y)
      for (std::int64_t x = 0; x < 120; ++x) {
        const double value = occluded(x, y, hole);
        // Windows above and below a wide hole hold a little of the near square
        ASSERT_NEAR(result.at(x, y), 256 * (std::isnan(value) ? 2 : value), std::isnan(value) ? 64 : 0)
            << hole << ": " << x << ", " << y;
      }
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_EQ(result.warnings[0].substr(0, result.warnings[0].find(' ')), std::to_string(40 * hole));
  }
}

TEST(FillRadii, AHoleInsideAThingBelongsToIt) {
  const auto value = [](std::int64_t x, std::int64_t y) {
    return std::hypot(x - 60, y - 40) < 5 ? unknown : std::hypot(x - 60, y - 40) < 30 ? 20 : 1;
  };
  const RadiiResult result = fill(plane_of(120, 80, Type::f32, value), focus_at_nothing());
  for (std::int64_t y = 34; y <= 46; ++y)
    for (std::int64_t x = 54; x <= 66; ++x) ASSERT_EQ(result.at(x, y), 20 * 256) << x << ", " << y;
}

// Measured depth lacks single pixels on the rims of things.
TEST(FillRadii, APixelBetweenThreeSidesOfAThingBelongsToIt) {
  const auto value = [](std::int64_t x, std::int64_t y) {
    if (y < 20) return 1.0;
    return y == 20 && x % 4 == 0 ? unknown : 20.0;
  };
  const RadiiResult result = fill(plane_of(60, 40, Type::f32, value), focus_at_nothing());
  for (std::int64_t x = 4; x < 56; x += 4) ASSERT_EQ(result.at(x, 20), 20 * 256) << x;
}

TEST(FillRadii, ASlopeContinuesThroughHoles) {
  Random random(8);
  const auto slope = [](std::int64_t x, std::int64_t y) {
    return 0.05 * static_cast<double>(x) + 0.02 * static_cast<double>(y) - 3;
  };
  const Image depth = plane_of(150, 90, Type::f32, [&](std::int64_t x, std::int64_t y) {
    const bool hole = std::hypot(x % 30 - 15, y % 30 - 15) < 5 || random.one_in(20);
    return hole ? unknown : slope(x, y);
  });
  const RadiiResult result = fill(depth, focus_at_nothing());
  for (std::int64_t y = 0; y < 90; ++y)
    for (std::int64_t x = 0; x < 150; ++x)
      ASSERT_NEAR(result.at(x, y), 256 * slope(x, y), 128) << x << ", " << y;
}

/// The rule of depth/fill_radii.h, summed pixel by pixel.
class Oracle {
 public:
  Oracle(std::int64_t width, std::int64_t height, std::vector<std::int64_t> radii)
      : width_(width), height_(height), radii_(std::move(radii)) {}

  [[nodiscard]] std::int64_t at(std::int64_t x, std::int64_t y) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // mean, reach
    for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}})
      for (std::int64_t reach = 1;; reach *= 2) {
        const Sum sum = sum_of(x, y, dx, dy, reach);
        const bool whole = reach >= 2 * std::max(width_, height_);
        if (sum.known > 0 && (whole || 8 * sum.known >= sum.pixels)) {
          found.emplace_back(round_ratio(sum.total, sum.known), reach);
          break;
        }
        if (whole || sum.pixels == 0) break;
      }
    std::sort(found.begin(), found.end());
    const bool surrounded =
        found.size() == 4 && found[1].first - found[0].first >= 256 &&
        std::all_of(found.begin() + 1, found.end(), [](const auto& side) { return side.second <= 2; });
    if (surrounded) found.erase(found.begin());
    const std::int64_t farthest = found.front().first;
    double total = 0;
    double weights = 0;
    for (const auto& [mean, reach] : found) {
      if (mean - farthest >= 256) continue;
      total += static_cast<double>(mean - farthest) / static_cast<double>(reach * reach);
      weights += 1 / static_cast<double>(reach * reach);
    }
    return farthest + static_cast<std::int64_t>(std::floor(total / weights + 0.5));
  }

 private:
  struct Sum {
    std::int64_t pixels = 0;
    std::int64_t known = 0;
    std::int64_t total = 0;
  };

  static std::int64_t round_ratio(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b) + 0.5));
  }

  [[nodiscard]] Sum sum_of(std::int64_t x, std::int64_t y, int dx, int dy, std::int64_t reach) const {
    Sum sum;
    for (std::int64_t far = 1; far <= reach; ++far)
      for (std::int64_t beside = -(reach / 4); beside <= reach / 4; ++beside) {
        const std::int64_t u = x + (dx != 0 ? dx * far : beside);
        const std::int64_t v = y + (dy != 0 ? dy * far : beside);
        if (u < 0 || v < 0 || u >= width_ || v >= height_) continue;
        ++sum.pixels;
        const std::int64_t radius = radii_[static_cast<std::size_t>(v * width_ + u)];
        if (radius == INT64_MIN) continue;
        ++sum.known;
        sum.total += radius;
      }
    return sum;
  }

  std::int64_t width_;
  std::int64_t height_;
  std::vector<std::int64_t> radii_;
};

TEST(FillRadii, EqualsSumsPixelByPixel) {
  for (const auto& [width, height] : {std::pair{1, 2}, {9, 1}, {1, 30}, {13, 11}, {31, 17}, {24, 24}})
    for (const std::uint64_t known_in : {2U, 5U, 40U}) {
      Random random(static_cast<std::uint64_t>(width * 100 + height) + known_in);
      std::vector<std::int64_t> radii;
      const Image depth =
          plane_of(width, height, Type::f32, [&, width = width](std::int64_t x, std::int64_t y) {
            const bool known = random.one_in(known_in) || (x == 0 && y == 0);
            const std::int64_t radius = random.between(-200, 200) * 16 + (x > width / 2 ? 3000 : 0);
            radii.push_back(known ? radius : INT64_MIN);
            return known ? static_cast<double>(radius) / 256 : unknown;
          });
      const RadiiResult result = fill(depth, focus_at_nothing());
      const Oracle oracle(width, height, radii);
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
          const std::int64_t own = radii[static_cast<std::size_t>(y * width + x)];
          ASSERT_EQ(result.at(x, y), own == INT64_MIN ? oracle.at(x, y) : own)
              << width << " x " << height << ": " << x << ", " << y;
        }
    }
}

void expect_zeros_unknown(Type type, const LensFocus& focus, bool are_unknown) {
  const Image depth = plane_of(40, 20, type, [&](std::int64_t x, std::int64_t y) {
    return x > 10 && x < 15 && y > 4 && y < 9 ? 0.0 : type == Type::f32 ? 1.0 : 100.0;
  });
  const RadiiResult result = fill(depth, focus);
  EXPECT_EQ(result.warnings.size(), are_unknown ? 1U : 0U);
  if (are_unknown) {
    EXPECT_EQ(result.warnings.at(0).substr(0, 3), "16 ");
    EXPECT_EQ(result.at(12, 6), result.at(0, 0));
  } else {
    EXPECT_NE(result.at(12, 6), result.at(0, 0));
  }
}

TEST(FillRadii, ZeroIsUnknownIfToldOrADistance) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    LensFocus focus;
    focus.focus = 0.001;
    focus.strength = 20;
    expect_zeros_unknown(type, focus, false);
    focus.unknown = 0;
    expect_zeros_unknown(type, focus, true);
    focus.unknown.reset();
    focus.depth_kind = DepthKind::depth;
    focus.strength = 0.05;
    expect_zeros_unknown(type, focus, true);
  }
}

TEST(FillRadii, InfinityIsUnknown) {
  for (const double value : {unknown, HUGE_VAL, -HUGE_VAL}) {
    const Image depth = plane_of(
        9, 9, Type::f32, [&](std::int64_t x, std::int64_t y) { return x == 4 && y == 4 ? value : 0.5; });
    const RadiiResult result = fill(depth, focus_at_nothing());
    EXPECT_EQ(result.at(4, 4), 128);
    EXPECT_EQ(result.warnings.size(), 1U);
  }
}

TEST(FillRadii, RefusesDepthWithoutKnownValues) {
  const auto run = [](const Image& depth, const LensFocus& focus) {
    return [&] { static_cast<void>(fill(depth, focus)); };
  };
  const Image nothing = plane_of(9, 5, Type::f32, [](std::int64_t, std::int64_t) { return unknown; });
  expect_error(ErrorKind::input, "no known value", run(nothing, focus_at_nothing()));
  LensFocus zero = focus_at_nothing(100);
  zero.unknown = 0;
  const Image black = plane_of(9, 5, Type::u8, [](std::int64_t, std::int64_t) { return 0.0; });
  expect_error(ErrorKind::input, "no known value", run(black, zero));
  zero.focus.reset();  // in the middle, which is unknown too: the message is about the whole image
  expect_error(ErrorKind::input, "no known value", run(black, zero));
}

}  // namespace
}  // namespace satin::test
