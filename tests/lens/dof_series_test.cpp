// A series of pictures from one plan: focus and strength vary, the depth is analysed once.

#include <gtest/gtest.h>

#include <vector>

#include "satin/filters/blur.h"
#include "satin/filters/dof.h"
#include "tests/lens/lens_radii_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

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

TEST(DofSeries, OtherFiltersDoNotVary) {
  const Blur blur;
  Plan plan = satin::plan(device_under_test(), Shape{20, 20, 3, Type::u8}, blur);
  EXPECT_FALSE(plan.vary(&blur, true));
}

}  // namespace
}  // namespace satin::test
