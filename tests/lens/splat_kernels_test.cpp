// Staircases of all radii against the circle of confusion: weight, centre, variance and extent.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "lens/lamps.h"
#include "lens/splat.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_lens.h"

namespace satin::test {
namespace {

struct KernelCase {
  Bokeh bokeh;
  LensQuality quality;
  bool block;
};

std::vector<KernelCase> every_kernel() {
  std::vector<KernelCase> cases;
  for (const Bokeh bokeh : {Bokeh::disc, Bokeh::hexagon, Bokeh::square})
    for (const LensQuality quality : {LensQuality::fast, LensQuality::high})
      for (const bool block : {false, true}) cases.push_back({bokeh, quality, block});
  return cases;
}

LensKernels kernels_for(const KernelCase& kernel, std::uint32_t largest, int colour_bits = 16) {
  SplatJob job;
  job.bokeh = kernel.bokeh;
  job.quality = kernel.quality;
  job.largest_radius = largest;
  job.colour_bits = colour_bits;
  return lens_kernels(job);
}

/// Moments of one kernel, pixel by pixel, in units of the full weight.
struct Moments {
  double sum = 0;
  double x = 0, y = 0;    ///< centroid, relative to the centre of the pixel or block
  double xx = 0, yy = 0;  ///< variances
  double extent = 0;      ///< distance of the farthest pixel's centre along an axis
};

Moments moments_of(const LensKernels& kernels, const KernelCase& kernel, std::uint32_t radius) {
  Moments m;
  const double centre = kernel.block ? .5 : 0;
  const std::uint32_t weight = (kernel.block ? 4 : 1) * lens_full_weight;
  for (std::int64_t dy = -kernels.reach; dy <= kernels.reach + 1; ++dy)
    for (std::int64_t dx = -kernels.reach; dx <= kernels.reach + 1; ++dx) {
      const auto w = static_cast<double>(weight_at(kernels, radius, kernel.block, weight, dx, dy));
      if (w == 0) continue;
      const double x = static_cast<double>(dx) - centre;
      const double y = static_cast<double>(dy) - centre;
      m.sum += w;
      m.x += w * x;
      m.y += w * y;
      m.xx += w * x * x;
      m.yy += w * y * y;
      m.extent = std::max({m.extent, std::abs(x), std::abs(y)});
    }
  m.x /= m.sum;
  m.y /= m.sum;
  m.xx /= m.sum;
  m.yy /= m.sum;
  m.sum = std::ldexp(m.sum, -kernels.weight_bits) / (kernel.block ? 4 : 1);
  return m;
}

TEST(LensKernels, KeepSumCentreSpreadAndSupport) {
  for (const KernelCase& kernel : every_kernel()) {
    const LensKernels kernels = kernels_for(kernel, 70 * 256);
    for (const double r :
         {.0, .59, .61, .8, 1., 1.5, 1.99, 2., 2.5, 3.3, 5.99, 6., 7.9, 8.1, 11.9, 12.1, 20., 33.3, 64.}) {
      const auto radius = static_cast<std::uint32_t>(r * 256);
      const Moments m = moments_of(kernels, kernel, radius);
      SCOPED_TRACE(testing::Message()
                   << "bokeh " << static_cast<int>(kernel.bokeh) << ", quality "
                   << static_cast<int>(kernel.quality) << ", block " << kernel.block << ", radius " << r);
      EXPECT_NEAR(m.sum, 1, 1e-4);
      EXPECT_NEAR(m.x, 0, 1e-9);
      EXPECT_NEAR(m.y, 0, 1e-9);
      EXPECT_LE(m.extent, 1.05 * r + 1.5) << "the corners of a hexagon reach farthest";
      const double block = kernel.block ? .25 : 0;
      const double variance = r < .6 ? block : std::max(block, r * r / 4 - block);
      const bool mixed = r <= (kernel.quality == LensQuality::high ? 12 : 8);
      EXPECT_NEAR((m.xx + m.yy) / 2, variance, mixed ? 1e-2 * variance + 1e-3 : .5 * r)
          << "not of this width";
      EXPECT_NEAR(m.xx, m.yy, r < 4 ? .3 * r : .25 * variance) << "wider than high";
    }
  }
}

TEST(LensKernels, SpreadGrowsWithTheRadius) {
  for (const KernelCase& kernel : every_kernel()) {
    const LensKernels kernels = kernels_for(kernel, 20 * 256);
    double before = 0;
    for (std::uint32_t radius = 0; radius <= 20 * 256; radius += 16) {
      const Moments m = moments_of(kernels, kernel, radius);
      EXPECT_GE(m.xx + m.yy, before * (radius <= 8 * 256 ? .9999 : .85)) << radius;
      before = m.xx + m.yy;
    }
  }
}

TEST(LensKernels, DiscsHaveTheirCorners) {
  const auto corners = [](const LensKernels& kernels, double r) {
    const auto view = kernels.view();
    const LensKernel& kernel = lens_kernel(view, static_cast<std::uint32_t>(r * 256), false);
    return 8 * kernels.staircases[kernel.staircase[0]].boxes - 4;
  };
  const LensKernels fast = kernels_for({Bokeh::disc, LensQuality::fast, false}, 64 * 256);
  const LensKernels high = kernels_for({Bokeh::disc, LensQuality::high, false}, 64 * 256);
  EXPECT_EQ(corners(fast, .3), 4);
  EXPECT_EQ(corners(fast, 1.9), 4);
  EXPECT_EQ(corners(fast, 5), 12);
  EXPECT_EQ(corners(fast, 40), 12);
  EXPECT_EQ(corners(high, 5), 12);
  EXPECT_EQ(corners(high, 31), 20);
  EXPECT_EQ(corners(high, 40), 28);
  EXPECT_EQ(corners(high, 60), 36);
  const LensKernel& large = lens_kernel(fast.view(), 40 * 256, false);
  EXPECT_EQ(large.weight[1], 0U) << "one staircase where none are mixed";
}

/// Share of a kernel's weight outside the disc of its radius.
double outside_disc(const LensKernels& kernels, double r) {
  constexpr int samples = 16;
  double outside = 0;
  const double whole = std::ldexp(1.0, kernels.weight_bits);
  for (std::int64_t dy = -kernels.reach; dy <= kernels.reach; ++dy)
    for (std::int64_t dx = -kernels.reach; dx <= kernels.reach; ++dx) {
      int inside = 0;
      for (int i = 0; i < samples * samples; ++i)
        inside += std::hypot(static_cast<double>(dx) + (i % samples + .5) / samples - .5,
                             static_cast<double>(dy) + (i / samples + .5) / samples - .5) <= r
                      ? 1
                      : 0;
      const double disc = inside / (samples * samples * 3.14159265 * r * r);
      const auto radius = static_cast<std::uint32_t>(r * 256);
      const auto found = static_cast<double>(weight_at(kernels, radius, false, lens_full_weight, dx, dy));
      outside += std::max(0.0, found / whole - disc);
    }
  return outside;
}

TEST(LensKernels, SmallDiscsOfHighQualityAreRound) {
  const LensKernels fast = kernels_for({Bokeh::disc, LensQuality::fast, false}, 8 * 256);
  const LensKernels high = kernels_for({Bokeh::disc, LensQuality::high, false}, 8 * 256);
  double by_fast = 0;
  double by_high = 0;
  for (double r = 1; r < 4; r += .25) {
    by_fast += outside_disc(fast, r) / 12;
    by_high += outside_disc(high, r) / 12;
    EXPECT_LE(outside_disc(high, r), .22) << r;
  }
  EXPECT_LT(by_high, .8 * by_fast);
}

LensKernels kernels_of_outline(LensQuality quality, int blades, double degrees, std::uint32_t largest) {
  LensStyle style;
  style.bokeh = Bokeh::polygon;
  style.blades = blades;
  style.blade_angle = degrees;
  const ApertureTable table = aperture_table(style);
  SplatJob job;
  job.quality = quality;
  job.largest_radius = largest;
  job.outline = outline_of(table);
  job.lamp_reach = table.reach;
  return lens_kernels(job);
}

/// Share of a kernel's weight in a polygon of the disc's variance that stands on a side, turned clockwise,
/// and the distance of the farthest weight beyond its sides.
std::pair<double, double> in_polygon(const LensKernels& kernels, double r, int blades, double degrees) {
  const double sector = 2 * std::numbers::pi / blades;
  const double side = r * std::sqrt(3 / (2 + std::cos(sector))) * std::cos(sector / 2);
  const double area = blades * side * side * std::tan(sector / 2);
  const auto beyond = [&](double x, double y) {
    double most = -side;
    for (int i = 0; i < blades; ++i) {
      const double normal = std::numbers::pi / 2 + degrees * std::numbers::pi / 180 + sector * i;
      most = std::max(most, x * std::cos(normal) + y * std::sin(normal) - side);
    }
    return most;
  };
  constexpr int samples = 8;
  double shared = 0;
  double farthest = 0;
  for (std::int64_t dy = -kernels.reach; dy <= kernels.reach; ++dy)
    for (std::int64_t dx = -kernels.reach; dx <= kernels.reach; ++dx) {
      const auto weight = static_cast<double>(
          weight_at(kernels, static_cast<std::uint32_t>(r * 256), false, lens_full_weight, dx, dy));
      if (weight == 0) continue;
      const auto x = static_cast<double>(dx);
      const auto y = static_cast<double>(dy);
      farthest = std::max(farthest, beyond(x, y));
      int inside = beyond(x, y) < -1 ? samples * samples : 0;
      for (int i = 0; i < samples * samples && beyond(x, y) >= -1; ++i)
        inside += beyond(x + (i % samples + .5) / samples - .5, y + (i / samples + .5) / samples - .5) <= 0;
      shared += std::min(std::ldexp(weight, -kernels.weight_bits), inside / (samples * samples * area));
    }
  return {shared, farthest};
}

TEST(LensKernels, HaveTheOutlineOfTheOpening) {
  for (int blades = 3; blades <= 9; ++blades)
    for (const double degrees : {0.0, 17.0, 90.0 / blades}) {
      if (blades == 4 && degrees == 0)
        continue;  // its width is odd: squares are centred boxes, which are mixed
      const LensKernels high = kernels_of_outline(LensQuality::high, blades, degrees, 65 * 256);
      const LensKernels fast = kernels_of_outline(LensQuality::fast, blades, degrees, 65 * 256);
      for (const double r : {8., 9.7, 12.1, 16., 31.9, 32., 48., 64.}) {
        SCOPED_TRACE(testing::Message() << blades << " blades, " << degrees << " degrees, radius " << r);
        const auto [shared, beyond] = in_polygon(high, r, blades, degrees);
        EXPECT_GE(shared, r < 12 ? .9 : r < 32 ? .92 : .96);
        EXPECT_LE(beyond, .1 * r + 1.5);
        EXPECT_GE(in_polygon(fast, r, blades, degrees).first, .85);
      }
    }
}

void expect_centred(const LensKernels& kernels, bool block, double r) {
  const Moments m =
      moments_of(kernels, {Bokeh::polygon, LensQuality::high, block}, static_cast<std::uint32_t>(r * 256));
  SCOPED_TRACE(testing::Message() << "radius " << r << ", block " << block);
  EXPECT_NEAR(m.sum, 1, 1e-4);
  EXPECT_NEAR(m.x, 0, .05);
  EXPECT_NEAR(m.y, 0, .05);
  EXPECT_NEAR((m.xx + m.yy) / 2, r * r / 4 - (block ? .25 : 0), .5 * r);
}

TEST(LensKernels, OfOutlinesKeepSumCentreAndSpread) {
  for (int blades = 3; blades <= 9; ++blades)
    for (const double degrees : {7.0, 33.0, 90.0 / blades})
      for (const LensQuality quality : {LensQuality::fast, LensQuality::high}) {
        SCOPED_TRACE(testing::Message() << blades << " blades, " << degrees << " degrees");
        const LensKernels kernels = kernels_of_outline(quality, blades, degrees, 33 * 256);
        for (const bool block : {false, true})
          for (const double r : {8., 9.2, 11.3, 16., 25., 32.}) expect_centred(kernels, block, r);
      }
  for (const int blades : {3, 5, 7})
    for (const double r : {50., 64., 160.})
      expect_centred(kernels_of_outline(LensQuality::high, blades, 17, static_cast<std::uint32_t>(r * 256)),
                     false, r);
}

constexpr std::uint32_t no_blocks = ~0U;

/// Largest weight that can meet in one pixel if each pixel has one sample of weight 1: for each offset, the
/// kernel that puts most there. Blocks of at least this radius reach one pixel farther at most.
double meeting_weights(const LensKernels& kernels, std::uint32_t least_of_blocks) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> most;
  const double whole = std::ldexp(1.0, kernels.weight_bits);
  for (const bool block : {false, true})
    for (std::uint32_t r = block ? least_of_blocks : 0; r <= kernels.largest; r += r < 8 * 256 ? 16 : 64)
      for (std::int64_t dy = 0; dy <= kernels.reach + 1; ++dy)
        for (std::int64_t dx = 0; dx <= kernels.reach + 1; ++dx) {
          const std::uint64_t w = weight_at(kernels, r, block, lens_full_weight, dx, dy);
          if (w == 0) break;
          double& largest = most[{dx, dy}];
          largest = std::max(largest, static_cast<double>(w) / whole);
        }
  double sum = 0;
  for (const auto& [at, weight] : most) sum += weight * (at.first == 0 ? 1 : 2) * (at.second == 0 ? 1 : 2);
  return sum;
}

TEST(LensKernels, NoMoreMeetsInAPixelThanTheBoundSays) {
  for (const Bokeh bokeh : {Bokeh::disc, Bokeh::hexagon, Bokeh::square})
    for (const std::uint32_t r : {0U, 1U, 2U, 5U, 16U, 30U}) {
      const LensKernels kernels = kernels_for({bokeh, LensQuality::high, false}, r * 256);
      EXPECT_LE(meeting_weights(kernels, no_blocks), static_cast<double>(pile_up(r * 256))) << r;
      EXPECT_LE(meeting_weights(kernels, 2 * 256), static_cast<double>(pile_up(r * 256))) << r << ", blocks";
      EXPECT_GE(2 * meeting_weights(kernels, no_blocks) + 4, static_cast<double>(pile_up(r * 256)))
          << "a bound that is far too large for radius " << r;
    }
}

TEST(LensKernels, NoMoreOfOutlinesMeetsInAPixelThanTheBoundSays) {
  for (const double degrees : {0.0, 17.0})
    for (const std::uint32_t r : {8U, 16U, 30U}) {
      const LensKernels kernels = kernels_of_outline(LensQuality::high, 3, degrees, r * 256);
      EXPECT_LE(meeting_weights(kernels, 2 * 256), static_cast<double>(pile_up(r * 256))) << r;
    }
}

TEST(SplatBits, FillTheSumsAndNoMore) {
  // 2 * pile_up(64) = 36: 6 bits. Colours of 32 bits leave 63 - 32 - 6 = 25.
  EXPECT_EQ(pile_up(64 * 256), 18U);
  EXPECT_EQ(splat_weight_bits(64 * 256, 32), 25);
  EXPECT_EQ(splat_weight_bits(64 * 256, 27), 30);
  EXPECT_EQ(splat_weight_bits(64 * 256, 28), 29);
  // 51 - 16 - 6 = 29, and 51 - 20 - 6 = 25, which are fewer than 26.
  EXPECT_EQ(splat_weight_bits(64 * 256, 16), 29);
  EXPECT_EQ(splat_weight_bits(64 * 256, 19), 26);
  EXPECT_EQ(splat_weight_bits(64 * 256, 20), 30);
  for (const int colour_bits : {1, 16, 24, 27, 28, 32})
    for (const std::uint32_t r : {0U, 1U, 2U, 63U, 64U, 80U}) {
      const int bits = splat_weight_bits(r * 256, colour_bits);
      const double most = std::ldexp(static_cast<double>(2 * pile_up(r * 256)), bits + colour_bits);
      EXPECT_LE(most, colour_bits < 20 ? 0x1p51 : 0x1p63) << colour_bits << " bits, radius " << r;
      if (bits < 30) {
        EXPECT_GT(2 * most, colour_bits < 20 ? 0x1p51 : 0x1p63);
      }
    }
}

TEST(SplatBits, PeaksOfLampsCountAsBitsOfColours) {
  SplatJob job;
  job.largest_radius = 64 * 256;
  for (const int peak_bits : {0, 1, 2, 5}) {
    job.colour_bits = 27;
    job.peak_bits = peak_bits;
    EXPECT_EQ(splat_weight_bits(job), 30 - peak_bits);
    EXPECT_EQ(lens_kernels(job).weight_bits, 30 - peak_bits);
  }
}

TEST(SplatBits, RefuseWeightsThatWouldBeTooSmall) {
  // The box around radius r has 4 (r + 2)^2 pixels of at least 1000 each: r + 2 <= 518 with 2^30.
  EXPECT_EQ(splat_weight_bits(512 * 256, 16), 30);
  EXPECT_EQ(splat_weight_bits(516 * 256 + 255, 16), 30);
  expect_error(ErrorKind::usage, "radius 517", [] { return splat_weight_bits(517 * 256, 16); });
  EXPECT_EQ(splat_weight_bits(89 * 256, 32), 25);
  expect_error(ErrorKind::usage, "32 bits", [] { return splat_weight_bits(90 * 256, 32); });
}

TEST(SplatBits, AsManyOfColoursAsTheLargestRadiusLeaves) {
  // 2 * pile_up(512) = 48: 6 bits. The box around 514 pixels wants weights of 30, and 63 - 6 - 30 = 27.
  EXPECT_EQ(splat_colour_bits(512 * 256), 27);
  for (std::uint32_t r = 1; r <= 512; ++r) {
    const int bits = splat_colour_bits(r * 256);
    EXPECT_NO_THROW((void)splat_weight_bits(r * 256, bits)) << r;
    expect_error(ErrorKind::usage, "bits", [&] { return splat_weight_bits(r * 256, bits + 1); });
  }
}

}  // namespace
}  // namespace satin::test
