// The opening of an aperture's picture is the shape of samples that are no lamps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lens/splat.h"
#include "tests/lens/lamp_case.h"
#include "tests/lens/splat_case.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr int side = aperture_picture_side;

/// A picture whose pixels are the cells of an opening.
struct Shown {
  std::string name;
  Opening opening{};

  [[nodiscard]] bool is_open(int x, int y) const {
    return x >= 0 && y >= 0 && x < side && y < side && (opening[static_cast<std::size_t>(y)] >> x & 1) != 0;
  }
  [[nodiscard]] Image picture() const {
    return plane_of(side, side, Type::u8, [&](auto x, auto y) {
      return is_open(static_cast<int>(x), static_cast<int>(y)) ? 255.0 : 0.0;
    });
  }
};

/// `opens` has coordinates from -1 to 1.
template <class Opens>
Shown shown(const std::string& name, const Opens& opens) {
  Shown result{name, {}};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      if (opens((x + .5) / 32 - 1, (y + .5) / 32 - 1))
        result.opening[static_cast<std::size_t>(y)] |= std::uint64_t{1} << x;
  return result;
}

Shown triangle() {
  return shown("triangle", [](double x, double y) { return std::abs(x) < (y + 1) / 2; });
}
Shown corner() {
  return shown("corner", [](double x, double y) { return x > .2 && y < -.1 && x + y < .75; });
}
Shown ring() {
  return shown("ring", [](double x, double y) { return std::abs(std::hypot(x, y) - .8) < .2; });
}
Shown two_discs() {
  return shown("two discs", [](double x, double y) {
    return std::hypot(x + .5, y + .5) < .45 || std::hypot(x - .7, y - .7) < .25;
  });
}
/// Boxes of neighbouring bands touch at their corners.
Shown chess() {
  return shown("chess",
               [](double x, double y) { return std::fmod(std::floor(2 * x) + std::floor(2 * y), 2) == 0; });
}
/// This opening has as little light as possible, as far from the centroid as possible.
Shown farthest() {
  return shown("farthest", [](double x, double y) { return (x < -.45 && y < -.62) || (x > .93 && y > .93); });
}
std::vector<Shown> openings() { return {triangle(), corner(), ring(), two_discs(), chess(), farthest()}; }

SplatJob job_with(SplatJob job, const Shown& own) {
  job.opening = own.opening;
  job.lamp_reach = aperture_picture_reach;
  job.peak_bits = 5;
  return job;
}

LensKernels kernels_of(const Shown& own, LensQuality quality, double radius) {
  SplatJob job = job_of(10, 10, 1, 1, radius);
  job.quality = quality;
  return lens_kernels(job_with(job, own));
}

/// Share of the opening in a pixel at some distance from the centroid of its cells.
class Coverage {
 public:
  Coverage(const Shown& own, double radius) : own_(own), radius_(radius) {
    double cells = 0;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        if (own.is_open(x, y)) {
          cells += 1;
          x_ += x + .5;
          y_ += y + .5;
        }
    x_ /= cells;
    y_ /= cells;
    area_ = cells / (32 * 32) * radius * radius;
  }

  [[nodiscard]] double share(double dx, double dy) const {
    constexpr int places = 8;
    int open = 0;
    for (int j = 0; j < places; ++j)
      for (int i = 0; i < places; ++i)
        open += is_open(dx + (i + .5) / places - .5, dy + (j + .5) / places - .5);
    return open / (places * places * area_);
  }

 private:
  [[nodiscard]] bool is_open(double dx, double dy) const {
    return own_.is_open(static_cast<int>(std::floor(x_ + dx / radius_ * 32)),
                        static_cast<int>(std::floor(y_ + dy / radius_ * 32)));
  }

  const Shown& own_;
  double radius_;
  double x_ = 0, y_ = 0;
  double area_;
};

/// Sums of weights at distances from a sample.
struct Found {
  double sum = 0, x = 0, y = 0;
  double shared = 0;  ///< with the opening

  void add(double weight, double dx, double dy, const Coverage& coverage) {
    sum += weight;
    x += weight * dx;
    y += weight * dy;
    if (weight > 0) shared += std::min(weight, coverage.share(dx, dy));
  }
};

TEST(Opening, IsTheShapeOfKernels) {
  for (const Shown& own : {triangle(), corner(), ring(), two_discs()})
    for (const LensQuality quality : {LensQuality::fast, LensQuality::high}) {
      const LensKernels kernels = kernels_of(own, quality, 65);
      for (const bool block : {false, true})
        for (const double r : {8., 11.3, 20., 31.9, 32., 48., 64.}) {
          SCOPED_TRACE(testing::Message() << own.name << ", quality " << static_cast<int>(quality)
                                          << ", block " << block << ", radius " << r);
          const Coverage coverage(own, r);
          const double centre = block ? .5 : 0;
          Found found;
          for (std::int64_t dy = -kernels.reach; dy <= kernels.reach + 1; ++dy)
            for (std::int64_t dx = -kernels.reach; dx <= kernels.reach + 1; ++dx)
              found.add(std::ldexp(static_cast<double>(weight_at(kernels, static_cast<std::uint32_t>(r * 256),
                                                                 block, lens_full_weight, dx, dy)),
                                   -kernels.weight_bits),
                        static_cast<double>(dx) - centre, static_cast<double>(dy) - centre, coverage);
          EXPECT_NEAR(found.sum, 1, 1e-4);
          EXPECT_NEAR(found.x, 0, r < 20 ? .2 : .11);
          EXPECT_NEAR(found.y, 0, r < 20 ? .2 : .11);
          EXPECT_GE(found.shared, r < 20 ? .7 : quality == LensQuality::fast ? .8 : r < 32 ? .83 : .88);
        }
    }
}

TEST(Opening, BoxesDoNotOverlap) {
  for (const Shown& own : openings()) {
    const LensKernels kernels = kernels_of(own, LensQuality::high, 40);
    for (const Staircase& stairs : kernels.staircases)
      for (std::uint32_t i = 0; i < stairs.outline.count; ++i)
        for (std::uint32_t j = 0; j < i; ++j) {
          const KernelBox& a = kernels.outlines[stairs.outline.first + i];
          const KernelBox& b = kernels.outlines[stairs.outline.first + j];
          ASSERT_TRUE(a.left >= b.right || b.left >= a.right || a.top >= b.bottom || b.top >= a.bottom)
              << own.name;
        }
  }
}

TEST(Opening, ReachesAsFarAsLampsAtMost) {
  for (const Shown& own : openings())
    for (const double radius : {8., 9., 40., 100.})
      EXPECT_LE(kernels_of(own, LensQuality::high, radius).reach, 2 * radius + 1) << own.name;
}

TEST(Opening, NoMoreMeetsInAPixelThanTheBoundSays) {
  for (const Shown& own : openings())
    for (const std::uint32_t largest : {8U, 16U, 30U}) {
      const LensKernels kernels = kernels_of(own, LensQuality::high, largest);
      const double whole = std::ldexp(1.0, kernels.weight_bits);
      std::map<std::pair<std::int64_t, std::int64_t>, double> most;
      for (std::uint32_t r = 0; r <= largest * 256; r += 64)
        for (const bool block : {false, true}) {
          if (block && r < 2 * 256) continue;
          for (std::int64_t dy = -kernels.reach; dy <= kernels.reach + 1; ++dy)
            for (std::int64_t dx = -kernels.reach; dx <= kernels.reach + 1; ++dx) {
              double& at = most[{dx, dy}];
              at = std::max(at, static_cast<double>(weight_at(kernels, r, block, lens_full_weight, dx, dy)));
            }
        }
      double sum = 0;
      for (const auto& [at, weight] : most) sum += weight / whole;
      EXPECT_LE(sum, static_cast<double>(pile_up(largest * 256) << 5)) << own.name << ", radius " << largest;
    }
}

TEST(Opening, OfLessThanASixteenthOfADiscLeavesDiscs) {
  const auto disc_of = [](double area) {
    return shown("disc", [&](double x, double y) { return std::hypot(x, y) < std::sqrt(area); });
  };
  const auto has_outline = [&](double area) {
    const LensKernels kernels = kernels_of(disc_of(area), LensQuality::high, 40);
    return !kernels.outlines.empty();
  };
  EXPECT_TRUE(has_outline(1.05 / 16));
  EXPECT_FALSE(has_outline(.95 / 16));
  EXPECT_FALSE(has_outline(0));
}

void expect_near(const LensScene& scene) {
  const std::vector<std::uint32_t> found = run_scene(scene);
  const std::vector<long double> expected = expected_composite(scene);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_LE(std::abs(static_cast<long double>(found[i]) - expected[i]), .75L) << i;
}

TEST(Opening, SpreadsSamplesOverItsBoxes) {
  std::uint64_t seed = 500;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 70}, {70, 1}, {41, 33}, {80, 30}})
    for (const double radius : {9.5, 20., 34.})
      for (const Shown& own : openings()) {
        SplatJob job = job_with(job_of(width, height, 1 + static_cast<int>(seed % 4), 2, radius), own);
        job.quality = seed % 3 == 0 ? LensQuality::fast : LensQuality::high;
        SCOPED_TRACE(testing::Message()
                     << own.name << ", " << width << " x " << height << ", radius " << radius);
        expect_near(random_scene(job, static_cast<std::size_t>(width * height / 8), seed++));
      }
}

TEST(Opening, GivesTheBytesOfTheCpu) {
  std::uint64_t seed = 600;
  for (const Shown& own : openings())
    for (const double radius : {31., 47., 64., 90.})
      for (const int channels : {1, 3, 4}) {
        const LensScene scene =
            random_scene(job_with(job_of(257, 160, channels, 4, radius), own), 300, seed++);
        EXPECT_TRUE(run_scene(scene) == run_scene(scene, Device::open("cpu", {.threads = 3})))
            << own.name << ", radius " << radius;
      }
}

TEST(Opening, IsTheShapeOfABrightPointThatIsNoLamp) {
  constexpr double dim = .75;  // lamps begin at 0.8
  for (const Shown& own : {triangle(), corner(), ring()})
    for (const double radius : {20., 60.})
      for (const LensQuality quality : {LensQuality::fast, LensQuality::high}) {
        SCOPED_TRACE(testing::Message()
                     << own.name << ", radius " << radius << ", quality " << static_cast<int>(quality));
        const auto size = static_cast<std::int64_t>(8 * radius) + 21;
        Image picture = constant_picture({size, size, 1, Type::f32}, 0);
        set_fraction(picture.view(), size / 2, size / 2, 0, dim);
        LensStyle style;
        style.quality = quality;
        const Image result = out_of_focus(picture, radius, style, own.picture());
        const Coverage coverage(own, radius);
        Found found;
        for (std::int64_t y = 0; y < size; ++y)
          for (std::int64_t x = 0; x < size; ++x)
            found.add(static_cast<double>(result.view().value<float>(x, y)) / dim,
                      static_cast<double>(x - size / 2), static_cast<double>(y - size / 2), coverage);
        EXPECT_NEAR(found.sum, 1, 1e-3);
        EXPECT_NEAR(found.x, 0, .05);
        EXPECT_NEAR(found.y, 0, .05);
        EXPECT_GE(found.shared, radius < 32 || quality == LensQuality::fast ? .83 : .9);
        EXPECT_EQ(result.view().value<float>(size / 2, size / 2) == 0, own.name == "ring");
      }
}

TEST(Opening, MayChangeBetweenRunsOfAPlan) {
  const Image picture = random_picture({90, 70, 3, Type::u8}, 3);
  const Image depth = random_map(90, 70, Type::u8, 5);
  Dof dof;
  dof.depth = depth.view();
  dof.lens.focus = .5;
  dof.lens.strength = 40;
  const auto run = [&](Plan& plan, const Image& aperture) {
    const ImageView inputs[] = {picture.view(), depth.view(), {}, aperture.view()};
    return run_plan(device_under_test(), plan, inputs);
  };
  const Image first = triangle().picture();
  dof.aperture = first.view();
  Plan plan = satin::plan(device_under_test(), picture.shape(), dof);
  for (const Shown& own : {triangle(), ring(), ring(), Shown{"black", {}}, triangle()}) {
    Plan fresh = satin::plan(device_under_test(), picture.shape(), dof);
    const Image result = run(plan, own.picture());
    EXPECT_EQ(difference(result, run(fresh, own.picture())), "") << own.name;
  }
}

}  // namespace
}  // namespace satin::test
