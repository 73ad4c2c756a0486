// Plans keep no state between runs: no pictures, side inputs or measurements, no parameters from before
// vary(), and nothing of runs that were refused or cancelled. The device under test poisons its memory, so
// reads of uninitialized memory show too.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "core/watch.h"
#include "satin/error.h"
#include "satin/filters/dof.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/filter_case.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// A picture and its side inputs.
struct Scene {
  Image picture;
  std::vector<Image> sides;

  [[nodiscard]] std::vector<ImageView> views() const {
    std::vector<ImageView> list{picture.view()};
    for (const Image& side : sides) list.push_back(side.view());
    return list;
  }
};

/// Returns a picture and side inputs, whose types depend on the seed modulo 2 and 3.
constexpr std::uint64_t same_types = 6;

Scene scene_of(FilterCase filter_case, std::uint64_t turn) {
  filter_case.seed += same_types * turn;
  return {random_picture(filter_case.shape, filter_case.seed), filter_case.side_images()};
}

bool is_float(const Image& image) { return !image.empty() && image.shape().type == Type::f32; }

void multiply_floats(Image& image, float factor) {
  auto* values = reinterpret_cast<float*>(image.data());
  for (std::size_t i = 0; i < byte_size(image.shape()) / sizeof(float); ++i) values[i] *= factor;
}

/// Returns another picture and other side inputs. Floats without alpha also have another scale.
Scene other_scene(const FilterCase& filter_case) {
  Scene scene = scene_of(filter_case, 1);
  if (is_float(scene.picture) && filter_case.shape.alpha == Alpha::none) multiply_floats(scene.picture, 3000);
  return scene;
}

/// All results of a run.
struct Outcome {
  Image image;
  std::vector<std::string> warnings;
  std::vector<FoundValue> found;
};

/// Runs the plan. The error of a refused run is stored as its warning.
Outcome run(Plan& plan, const Scene& scene) {
  Outcome outcome{poisoned(plan.output_shape()), {}, {}};
  try {
    plan.run(scene.views(), outcome.image.view());
    outcome.warnings = plan.check();
    outcome.found = plan.found();
  } catch (const Error& error) {
    outcome.image = Image();
    outcome.warnings = {error.what()};
  }
  return outcome;
}

void expect_same(const Outcome& outcome, const Outcome& expected) {
  ASSERT_EQ(outcome.warnings, expected.warnings);
  ASSERT_EQ(outcome.image.empty(), expected.image.empty());
  if (!expected.image.empty()) {
    ASSERT_EQ(difference(outcome.image, expected.image), "");
  }
  ASSERT_EQ(outcome.found.size(), expected.found.size());
  for (std::size_t i = 0; i < expected.found.size(); ++i)
    ASSERT_EQ(outcome.found[i].value, expected.found[i].value) << expected.found[i].parameter;
}

Plan plan_of(const FilterCase& filter_case) {
  return filter_case.plan(device_under_test(), filter_case.shape);
}

Outcome fresh(const FilterCase& filter_case, const Scene& scene) {
  Plan plan = plan_of(filter_case);
  return run(plan, scene);
}

class PlanState : public testing::TestWithParam<const FilterRecord*> {
 protected:
  static const FilterRecord& filter() { return *GetParam(); }
};

std::vector<const FilterRecord*> filters_with_plans() {
  std::vector<const FilterRecord*> records;
  for (const FilterRecord& filter : filters())
    if (filter.output != OutputKind::json) records.push_back(&filter);
  return records;
}

INSTANTIATE_TEST_SUITE_P(Registry, PlanState, testing::ValuesIn(filters_with_plans()), [](const auto& of) {
  std::string name = of.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(PlanState, OtherPicturesLeaveNoState) {
  const auto check = [](const FilterCase& filter_case) {
    const Scene first = scene_of(filter_case, 0);
    const Scene second = other_scene(filter_case);
    const Outcome expected = fresh(filter_case, first);
    Plan plan = plan_of(filter_case);
    ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, first), expected)) << "first run";
    ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, second), fresh(filter_case, second))) << "another scene";
    ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, first), expected)) << "the first scene again";
    if (expected.image.empty()) return;  // refused, as by `redact` where nothing is covered
    ASSERT_EQ(difference(run_plan(device_under_test(), plan, first.views()), expected.image), "");
  };
  for_each_filter_case(filter(), check, slow_build() ? 24 : 3);
}

/// Returns the scene with NaN as the last value of the picture (`input` 0) or of a side input.
Scene damaged(Scene scene, std::size_t input) {
  Image& image = input == 0 ? scene.picture : scene.sides[input - 1];
  auto* values = reinterpret_cast<float*>(image.data());
  values[byte_size(image.shape()) / sizeof(float) - 1] = std::numeric_limits<float>::quiet_NaN();
  return scene;
}

/// Cancels a run at its check for cancellation number `times` + 1, which on the CPU may be in any loop.
/// Returns the number of checks.
int run_until(Plan& plan, const Scene& scene, int times) {
  int asked = 0;
  plan.watch([&](double) { return asked++ < times; });
  Watch::told_every = std::chrono::milliseconds(0);
  static_cast<void>(run(plan, scene));
  Watch::told_every = std::chrono::milliseconds(100);
  plan.watch({});
  return asked;
}

TEST_P(PlanState, RefusedOrCancelledRunsLeaveNoState) {
  const auto check = [](const FilterCase& filter_case) {
    const Scene first = scene_of(filter_case, 0);
    const Outcome expected = fresh(filter_case, first);
    Plan plan = plan_of(filter_case);
    for (std::size_t input = 0; input <= first.sides.size(); ++input) {
      if (!is_float(input == 0 ? first.picture : first.sides[input - 1])) continue;
      static_cast<void>(run(plan, damaged(scene_of(filter_case, 2), input)));
      ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, first), expected)) << "NaN in input " << input;
    }
    const Scene other = other_scene(filter_case);
    const int all = run_until(plan, other, std::numeric_limits<int>::max());
    for (int times = 0; times < all; times += 1 + all / 8) {
      static_cast<void>(run_until(plan, other, times));
      ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, first), expected)) << "cancelled after " << times;
    }
  };
  for_each_filter_case(filter(), check, slow_build() ? 48 : 16);
}

/// Returns the case with another value of a parameter.
FilterCase with(FilterCase filter_case, const std::string& name, const std::string& value) {
  auto& settings = filter_case.settings;
  settings.erase(
      std::remove_if(settings.begin(), settings.end(), [&](const auto& s) { return s.first == name; }),
      settings.end());
  settings.emplace_back(name, value);
  return filter_case;
}

/// Runs X, Y and X on one plan, with one scene or with another one for Y.
void expect_varies(const FilterCase& x, const FilterCase& y, bool same_sides) {
  const Scene scene = scene_of(x, 0);
  Scene other = other_scene(x);
  if (same_sides) other.sides = x.side_images();
  Plan plan = plan_of(x);
  const Parameters of_x = x.parameters();
  const Parameters of_y = y.parameters();
  static_cast<void>(run(plan, scene));
  ASSERT_TRUE(plan.vary(of_y.data(), same_sides));
  ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, other), fresh(y, other)));
  ASSERT_TRUE(plan.vary(of_x.data(), same_sides));
  ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, scene), fresh(x, scene)));
  ASSERT_TRUE(plan.vary(of_y.data(), false));  // the second of two calls before a run counts
  ASSERT_TRUE(plan.vary(of_x.data(), same_sides));
  ASSERT_NO_FATAL_FAILURE(expect_same(run(plan, scene), fresh(x, scene)));
}

TEST_P(PlanState, ParametersBeforeVaryLeaveNoState) {
  std::size_t varied = 0;
  std::size_t turn = 0;
  const auto check = [&](const FilterCase& filter_case) {
    if (filter_case.shape.width * filter_case.shape.height > 2000) return;
    for (const ParameterRecord& parameter : filter().parameters) {
      if (!parameter.varies || filter().frame) continue;  // plans keep the size of their result
      for (const std::string& value : values_of(parameter)) {
        const FilterCase other = with(filter_case, parameter.name, value);
        if (turn++ % 3 != 0 || !accepted(other)) continue;  // every pair of values is tested in some case
        SCOPED_TRACE("then " + parameter.name + "=" + value);
        const bool same_sides = turn % 2 == 0;
        ASSERT_NO_FATAL_FAILURE(expect_varies(filter_case, other, same_sides)) << same_sides;
        ++varied;
      }
    }
  };
  const auto& parameters = filter().parameters;
  if (filter().frame ||
      std::none_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.varies; })) {
    Plan plan = plan_of(default_case(filter(), {31, 33}));
    EXPECT_FALSE(plan.vary(Parameters(filter()).data(), true));
    return;
  }
  for_each_filter_case(filter(), check, slow_build() ? 96 : 24);
  EXPECT_GT(varied, 50U);
}

}  // namespace
}  // namespace satin::test
