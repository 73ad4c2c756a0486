// A series of pictures from one plan: focus and strength vary, the depth is analysed once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "satin/filters/dof.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

Image codes_of(std::int64_t width, std::int64_t height, bool mirrored) {
  return plane_of(width, height, Type::u8, [&](auto x, auto y) {
    const auto column = mirrored ? width - 1 - x : x;
    return 20.0 + 200.0 * static_cast<double>(column) / static_cast<double>(width) +
           static_cast<double>(y % 3);
  });
}

Dof dof_of(const Image& depth, int despeckle, double focus, const Length& strength) {
  Dof dof;
  dof.depth = depth.view();
  dof.lens.depth_despeckle = despeckle;
  dof.lens.focus = focus;
  dof.lens.strength = strength;
  return dof;
}

std::vector<Dof> series_of(const Image& depth, int despeckle) {
  return {dof_of(depth, despeckle, 0.3, 0.4), dof_of(depth, despeckle, 0.5, 14.0),
          dof_of(depth, despeckle, 0.7, Length{20, true}), dof_of(depth, despeckle, 0.3, 0.4),
          dof_of(depth, despeckle, 0.4, 9.0)};
}

Image run(Plan& plan, const Image& picture, const Image& depth) {
  const ImageView inputs[] = {picture.view(), depth.view(), {}};
  return run_plan(device_under_test(), plan, inputs);
}

TEST(DofSeries, APlanThatVariesMakesWhatNewPlansMake) {
  const Image picture = random_picture({64, 40, 3, Type::u8}, 3);
  for (const bool same_size : {true, false})
    for (const int despeckle : {0, 1}) {
      const Image depth = codes_of(same_size ? 64 : 32, same_size ? 40 : 20, false);
      const std::vector<Dof> series = series_of(depth, despeckle);
      Plan plan = satin::plan(device_under_test(), picture.shape(), series.front());
      for (std::size_t i = 0; i < series.size(); ++i) {
        ASSERT_TRUE(i == 0 || plan.vary(&series[i], true));
        Plan fresh = satin::plan(device_under_test(), picture.shape(), series[i]);
        EXPECT_EQ(difference(run(plan, picture, depth), run(fresh, picture, depth)), "") << i;
      }
    }
}

TEST(DofSeries, AnotherLargestRadiusNeedsANewPlan) {
  const Image picture = random_picture({64, 40, 3, Type::u8}, 3);
  const Image depth = codes_of(64, 40, false);
  Plan plan = satin::plan(device_under_test(), picture.shape(), dof_of(depth, 0, 0.3, Length{20, true}));
  const Dof wide = dof_of(depth, 0, 0.3, Length{200, true});
  EXPECT_FALSE(plan.vary(&wide, true));
  const Dof narrow = dof_of(depth, 0, 0.3, Length{90, true});
  EXPECT_TRUE(plan.vary(&narrow, true));
}

TEST(DofSeries, TheDepthOfTheLastRunIsUsedAgainOrNot) {
  const Image picture = random_picture({64, 40, 3, Type::u8}, 4);
  const Image depth = codes_of(64, 40, false);
  const Image other = codes_of(64, 40, true);
  const std::vector<Dof> series = series_of(depth, 1);
  for (const bool same : {true, false}) {
    Plan plan = satin::plan(device_under_test(), picture.shape(), series[1]);
    static_cast<void>(run(plan, picture, depth));
    ASSERT_TRUE(plan.vary(&series[4], same));
    Plan fresh = satin::plan(device_under_test(), picture.shape(), series[4]);
    EXPECT_EQ(difference(run(plan, picture, other), run(fresh, picture, same ? depth : other)), "");
  }
}

/// Depth with ramps of 8 columns between near and far: soft as long as its radii are large enough.
Image soft_codes() {
  return plane_of(128, 40, Type::u8, [](auto x, auto) {
    const auto place = static_cast<double>(x % 64);
    return 25 + 200 * std::clamp(std::abs(place - 32) / 8 - 1.5, 0.0, 1.0);
  });
}

double softness_of(const Plan& plan) {
  for (const FoundValue& found : plan.found())
    if (found.parameter == "soft") return found.value;
  return -1;
}

TEST(DofSeries, EveryPictureTellsForItselfIfItsDepthIsSoft) {
  const Image picture = random_picture({128, 40, 3, Type::u8}, 5);
  const Image depth = soft_codes();
  const std::vector<Dof> series = {dof_of(depth, 0, 0.5, 20.0), dof_of(depth, 0, 0.5, 0.5),
                                   dof_of(depth, 0, 0.5, 20.0)};
  Plan plan = satin::plan(device_under_test(), picture.shape(), series.front());
  for (std::size_t i = 0; i < series.size(); ++i) {
    ASSERT_TRUE(i == 0 || plan.vary(&series[i], true));
    Plan fresh = satin::plan(device_under_test(), picture.shape(), series[i]);
    EXPECT_EQ(difference(run(plan, picture, depth), run(fresh, picture, depth)), "") << i;
    EXPECT_EQ(softness_of(plan), softness_of(fresh)) << i;
    EXPECT_EQ(softness_of(fresh), i == 1 ? 0 : 1) << i;
  }
}

TEST(DofSeries, DepthInAlphaIsThatOfEachPicture) {
  Dof dof;
  dof.lens.depth_from = DepthSource::alpha;
  dof.lens.depth_despeckle = 1;
  dof.lens.focus = 0.5;
  dof.lens.strength = 9.0;
  const Shape shape{64, 40, 4, Type::u8, Alpha::straight};
  Plan plan = satin::plan(device_under_test(), shape, dof);
  for (const std::uint64_t seed : {6U, 7U}) {
    const Image picture = random_picture(shape, seed);
    Plan fresh = satin::plan(device_under_test(), shape, dof);
    EXPECT_EQ(difference(run(plan, picture, {}), run(fresh, picture, {})), "") << seed;
    ASSERT_TRUE(plan.vary(&dof, true));  // no side inputs
  }
}

}  // namespace
}  // namespace satin::test
