// Properties of every filter of the registry, with any parameters and pictures. There is a test for each
// filter:
// --gtest_filter=*edge_smooth* runs those of edge-smooth.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "satin/error.h"
#include "satin/pipeline.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/filter_case.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/poisoned_memory.h"

namespace satin::test {
namespace {

std::vector<ImageView> views_of(const ImageView& picture, const std::vector<Image>& side_images) {
  std::vector<ImageView> views = {picture};
  for (const Image& image : side_images) views.push_back(image.view());
  return views;
}

Image fresh_result(const FilterCase& filter_case, const Image& picture,
                   const Device& device = device_under_test()) {
  const std::vector<Image> side_images = filter_case.side_images();
  Plan plan = filter_case.plan(device, picture.shape());
  return run_plan(device, plan, views_of(picture.view(), side_images));
}

Image picture_of(const FilterCase& filter_case) {
  return random_picture(filter_case.shape, filter_case.seed);
}

class EveryFilter : public testing::TestWithParam<const FilterRecord*> {
 protected:
  static const FilterRecord& filter() { return *GetParam(); }
};

/// Returns the filters that make JSON, or those that make pictures and tables.
std::vector<const FilterRecord*> filters_of_json(bool json) {
  std::vector<const FilterRecord*> records;
  for (const FilterRecord& filter : filters())
    if ((filter.output == OutputKind::json) == json) records.push_back(&filter);
  return records;
}

std::string test_name(const testing::TestParamInfo<const FilterRecord*>& info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFilter, testing::ValuesIn(filters_of_json(false)), test_name);

TEST_P(EveryFilter, IsNotDisturbedByPlansMadeLater) {
  struct Earlier {
    Image picture;
    std::vector<Image> side_images;
    Plan plan;
    Image expected;
  };
  std::optional<Earlier> earlier;
  const Device& device = device_under_test();
  const auto follow = [&](const FilterCase& filter_case) {
    if (filter_case.shape.width * filter_case.shape.height < 1000) return;
    Earlier now{picture_of(filter_case), filter_case.side_images(),
                filter_case.plan(device, filter_case.shape), Image()};
    if (earlier) {
      const Image again =
          run_plan(device, earlier->plan, views_of(earlier->picture.view(), earlier->side_images));
      ASSERT_EQ(difference(again, earlier->expected), "");
    }
    now.expected = run_plan(device, now.plan, views_of(now.picture.view(), now.side_images));
    earlier.emplace(std::move(now));
  };
  const FilterRecord& before =
      *(&filter() == &filters().front() ? filters_of_json(false).back() : &filter() - 1);
  follow(default_case(before, {64, 32}));
  for_each_filter_case(filter(), follow);
}

TEST_P(EveryFilter, GivesTheSameBytesForAnyNumberOfThreads) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "threads are the CPU's";
  const Device one = cpu_of_threads(1);
  const Device two = cpu_of_threads(2);
  const Device seven = cpu_of_threads(7);
  for_each_filter_case(filter(), [&](const FilterCase& filter_case) {
    if (filter_case.shape.height < 33) return;
    const Image picture = picture_of(filter_case);
    const Image expected = fresh_result(filter_case, picture, one);
    ASSERT_EQ(difference(fresh_result(filter_case, picture, two), expected), "");
    ASSERT_EQ(difference(fresh_result(filter_case, picture, seven), expected), "");
  });
}

TEST_P(EveryFilter, TakesAnyStridesAndWritesNothingElse) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    const Image picture = picture_of(filter_case);
    const std::vector<Image> side_images = filter_case.side_images();
    const Image expected = fresh_result(filter_case, picture);
    Plan plan = filter_case.plan(device_under_test(), filter_case.shape);
    // A third of the pairs for each case; every pair is tested with every filter many times.
    std::uint64_t turn = filter_case.seed;
    for (const Layout in : every_layout)
      for (const Layout out : every_layout) {
        if (turn++ % 3 != 0) continue;
        const LooseImage input(picture, in);
        LooseImage output(poisoned(plan.output_shape()), out);
        std::vector<LooseImage> loose_sides;
        std::vector<ImageView> views = {input.view()};
        for (const Image& image : side_images)
          views.push_back(image.empty() ? ImageView{} : loose_sides.emplace_back(image, in).view());
        plan.run(views, output.mutable_view());
        ASSERT_EQ(difference(output.view(), expected), "") << name_of(in) << " to " << name_of(out);
        ASSERT_TRUE(output.surroundings_untouched()) << name_of(in) << " to " << name_of(out);
        ASSERT_EQ(difference(input.view(), picture), "") << "the input was changed";
      }
  });
}

TEST_P(EveryFilter, WorksInPlace) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    Image picture = picture_of(filter_case);
    const std::vector<Image> side_images = filter_case.side_images();
    Plan plan = filter_case.plan(device_under_test(), filter_case.shape);
    if (plan.output_shape() != filter_case.shape) return;
    const Image expected = fresh_result(filter_case, picture);
    LooseImage loose(picture, Layout::loose_rows);
    plan.run(views_of(loose.view(), side_images), loose.mutable_view());
    ASSERT_EQ(difference(loose.view(), expected), "") << "loose rows";
    ASSERT_TRUE(loose.surroundings_untouched());
    plan.run(views_of(picture.view(), side_images), picture.view());
    ASSERT_EQ(difference(picture, expected), "");
  });
}

TEST_P(EveryFilter, TreatsTheOrderOfColoursAsATag) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    if (filter_case.shape.channels < 3) return;
    const Image picture = picture_of(filter_case);
    const auto swapped = [](const Image& image) {
      if (image.shape().channels < 3) return image.clone();
      Shape shape = image.shape();
      shape.order = shape.order == Order::rgb ? Order::bgr : Order::rgb;
      Image result(shape);
      const std::size_t size = size_of(shape.type);
      for (std::int64_t y = 0; y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.width; ++x)
          for (int c = 0; c < shape.channels; ++c)
            std::memcpy(result.view().at(x, y, c), std::as_const(image).view().at(x, y, c < 3 ? 2 - c : c),
                        size);
      return result;
    };
    ASSERT_EQ(
        difference(swapped(fresh_result(filter_case, swapped(picture))), fresh_result(filter_case, picture)),
        "");
  });
}

TEST_P(EveryFilter, FiltersTheFramesOfABatchOneByOne) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    if (filter_case.shape.width > 100) return;
    Shape shape = filter_case.shape;
    shape.frames = 3;
    const Image batch = random_picture(shape, filter_case.seed);
    const Image result = fresh_result(filter_case, batch);
    for (std::int64_t frame = 0; frame < shape.frames; ++frame)
      ASSERT_EQ(difference(result.view().frame(frame),
                           fresh_result(filter_case, copy_of(batch.view().frame(frame)))),
                "")
          << "frame " << frame;
  });
}

/// Whether traits do not apply: with a constant border, which adds a value, or with a choice, off by default,
/// that shows something other than the result.
bool invents_something(const FilterCase& filter_case) {
  return std::any_of(filter_case.settings.begin(), filter_case.settings.end(), [&](const auto& setting) {
    const auto& [name, value] = setting;
    const std::string& usual = filter_case.filter->find_parameter(name)->default_text;
    return value == "constant" || (usual == "off" && value != usual);
  });
}

TEST_P(EveryFilter, KeepsConstantPicturesIfItSaysSo) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    if (!filter_case.filter->traits.keeps_constant || invents_something(filter_case)) return;
    for (const double value : {0.0, 0.3, 0.7371, 1.0}) {
      const Image picture = constant_picture(filter_case.shape, value);
      const Image result = fresh_result(filter_case, picture);
      ASSERT_EQ(difference(result, constant_picture(result.shape(), value)), "") << value;
    }
  });
}

template <class T>
void expect_range_kept(const ImageView& picture, const ImageView& result) {
  for (int c = 0; c < picture.shape.channels; ++c) {
    T low = picture.value<T>(0, 0, c);
    T high = low;
    const auto each = [&](const ImageView& view, const auto& body) {
      for (std::int64_t y = 0; y < view.shape.height; ++y)
        for (std::int64_t x = 0; x < view.shape.width; ++x) body(view.value<T>(x, y, c));
    };
    each(picture, [&](T value) {
      low = std::min(low, value);
      high = std::max(high, value);
    });
    each(result, [&](T value) {
      ASSERT_GE(value, low);
      ASSERT_LE(value, high);
    });
  }
}

/// Returns colours from 0.3 to 0.6, with alpha of every kind.
Image picture_of_narrow_range(const FilterCase& filter_case) {
  const Image noise = random_picture(filter_case.shape, filter_case.seed);
  Image picture = noise.clone();
  const Shape& shape = filter_case.shape;
  Random random(filter_case.seed);
  const int colours = shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < colours; ++c)
        set_fraction(picture.view(), x, y, c, 0.3 + 0.1 * static_cast<double>(random.below(4)));
  return picture;
}

TEST_P(EveryFilter, KeepsTheRangeIfItSaysSo) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    if (!filter_case.filter->traits.keeps_range || invents_something(filter_case)) return;
    const Image picture = picture_of_narrow_range(filter_case);
    const Image result = fresh_result(filter_case, picture);
    switch (filter_case.shape.type) {
      case Type::u8:
        return expect_range_kept<std::uint8_t>(picture, result);
      case Type::u16:
        return expect_range_kept<std::uint16_t>(picture, result);
      default:
        return expect_range_kept<float>(picture, result);
    }
  });
}

/// Whether zeros in a radius map mean radius 0. A number with a default that is set to another value than 0
/// could be their radius.
bool zeros_mean_radius_0(const FilterCase& filter_case) {
  return std::none_of(filter_case.settings.begin(), filter_case.settings.end(), [&](const auto& setting) {
    const ParameterRecord& parameter = *filter_case.filter->find_parameter(setting.first);
    return parameter.kind == ParameterKind::real && !parameter.default_text.empty() && setting.second != "0";
  });
}

/// A mask of zeros, or a radius map of radius 0, keeps every byte.
TEST_P(EveryFilter, LeavesPicturesAloneWhereToldTo) {
  for_each_filter_case(filter(), [](const FilterCase& filter_case) {
    if (filter_case.filter->output != OutputKind::image || filter_case.side_inputs == 0) return;
    const Image picture = picture_of(filter_case);
    std::vector<Image> side_images = filter_case.side_images();
    bool identity = false;
    for (std::size_t i = 0; i < side_images.size(); ++i) {
      const Role role = filter_case.filter->inputs[i].role;
      if (side_images[i].empty() || (role != Role::mask && role != Role::radius_map)) continue;
      side_images[i] = constant_picture(side_images[i].shape(), 0);
      identity = identity || role == Role::mask || zeros_mean_radius_0(filter_case);
    }
    if (!identity) return;
    Plan plan = filter_case.plan(device_under_test(), filter_case.shape);
    const Image result = run_plan(device_under_test(), plan, views_of(picture.view(), side_images));
    ASSERT_EQ(difference(result, picture), "");
  });
}

/// The device under test, opened again, with a memory limit that tests set.
const Device& limited_device(std::size_t limit) {
  static const std::string& id = device_under_test().info().id;
  static const Device device = Device::open(id, {.allocator = poisoned_memory(id)});
  limit_memory(device, limit);
  return device;
}

/// Returns the result under this limit, or nothing if the filter is refused because of it.
Image limited_result(const FilterCase& filter_case, const std::vector<ImageView>& views, std::size_t limit) {
  try {
    const Device& device = limited_device(limit);
    Plan plan = filter_case.plan(device, filter_case.shape);
    EXPECT_LE(plan.workspace_bytes(), limit);
    Image result = poisoned(plan.output_shape());
    plan.run(views, result.view());
    EXPECT_LE(plan.workspace_bytes(), limit);
    return result;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment) << error.what();
    EXPECT_NE(std::string(error.what()).find("memory limit"), std::string::npos) << error.what();
    return {};
  }
}

TEST_P(EveryFilter, GivesTheSameBytesUnderAMemoryLimit) {
  for_each_filter_case(filter(), [&](FilterCase filter_case) {
    if (filter_case.shape.width != 33 || filter_case.shape.height != 31) return;
    filter_case.shape.width = 171;
    filter_case.shape.height = 147;
    if (!accepted(filter_case)) return;
    const Image picture = picture_of(filter_case);
    const std::vector<Image> sides = filter_case.side_images();
    const std::vector<ImageView> views = views_of(picture.view(), sides);
    Plan whole = filter_case.plan(device_under_test(), filter_case.shape);
    Image expected = poisoned(whole.output_shape());
    whole.run(views, expected.view());
    for (const std::size_t part : {2U, 6U}) {
      const std::size_t limit = whole.workspace_bytes() / part;
      const Image result = limit == 0 ? Image() : limited_result(filter_case, views, limit);
      if (result.empty()) continue;
      ASSERT_EQ(difference(result, expected), "") << describe(filter_case) << ", 1/" << part;
    }
  });
}

/// The workspace of each of many threads counts towards the limit.
TEST_P(EveryFilter, KeepsAMemoryLimitWithManyThreads) {
  const Device device = cpu_of_threads(16);
  for_each_filter_case(
      filter(),
      [&](FilterCase filter_case) {
        filter_case.shape.width = 171;
        filter_case.shape.height = 147;
        if (!accepted(filter_case)) return;
        limit_memory(device, 0);
        const std::size_t limit = filter_case.plan(device, filter_case.shape).workspace_bytes() / 2;
        if (limit == 0) return;
        limit_memory(device, limit);
        try {
          EXPECT_LE(filter_case.plan(device, filter_case.shape).workspace_bytes(), limit)
              << describe(filter_case);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::environment) << error.what();
        }
      },
      16);
}

TEST_P(EveryFilter, PlansOrRefusesEveryCase) {
  if (!slow_build()) GTEST_SKIP() << "the other tests do";
  for_each_filter_case(
      filter(), [](const FilterCase&) {}, 3);
}

TEST_P(EveryFilter, OutlinesItsPlans) {
  for_each_filter_case(
      filter(),
      [](const FilterCase& filter_case) {
        std::vector<Shape> shapes = {filter_case.shape};
        for (const Image& side : filter_case.side_images()) shapes.push_back(side.shape());
        const PlanOutline outline = satin::outline(device_under_test(), filter_case.parameters(), shapes);
        ASSERT_EQ(outline.output, filter_case.plan(device_under_test(), filter_case.shape).output_shape());
        Shape grey = filter_case.shape;
        grey.channels = 1;
        grey.type = Type::u8;
        grey.alpha = Alpha::none;
        if (filter().shape == OutputShape::other) return;
        ASSERT_EQ(outline.output, filter().shape == OutputShape::grey ? grey : filter_case.shape);
      },
      40);
}

/// A slider's range lies inside the hard range and holds the default.
void expect_usual_range(const ParameterRecord& parameter) {
  EXPECT_GE(parameter.usual_minimum, parameter.minimum);
  EXPECT_LE(parameter.usual_maximum, parameter.maximum);
  EXPECT_LT(parameter.usual_minimum, parameter.usual_maximum);
  if (parameter.may_be_unset()) {
    EXPECT_LT(parameter.unset_number(), parameter.usual_minimum);
    return;
  }
  const double usual = std::stod(parameter.default_text);
  EXPECT_GE(usual, parameter.usual_minimum);
  EXPECT_LE(usual, parameter.usual_maximum);
}

/// Parameters that exclude each other are refused together, whichever comes first, unless one is unset again.
void expect_exclusion(const FilterRecord& filter, const ParameterRecord& parameter) {
  const std::string other = parameter.instead_of;
  ASSERT_NE(filter.find_parameter(other), nullptr) << parameter.name;
  const std::string value = values_of(parameter).back();
  const std::string other_value = values_of(*filter.find_parameter(other)).back();
  const auto expect_refusal = [&](const auto& first, const auto& second) {
    Parameters parameters(filter);
    parameters.set(first.first, first.second);
    try {
      parameters.set(second.first, second.second);
      ADD_FAILURE() << parameter.name << " and " << other;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(parameter.name), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(other), std::string::npos) << error.what();
    }
    parameters.set(first.first, "");
    parameters.set(second.first, second.second);
    EXPECT_EQ(parameters.get(second.first), second.second);
  };
  expect_refusal(std::pair(parameter.name, value), std::pair(other, other_value));
  expect_refusal(std::pair(other, other_value), std::pair(parameter.name, value));
}

void expect_described(const FilterRecord& filter) {
  EXPECT_FALSE(filter.name.empty());
  EXPECT_FALSE(filter.category.empty());
  EXPECT_FALSE(filter.help.empty());
  EXPECT_EQ(filter.help.find('\n'), std::string::npos);
  EXPECT_EQ(&find_filter(filter.name), &filter);
  for (const ParameterRecord& parameter : filter.parameters) {
    Parameters parameters(filter);
    EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    EXPECT_EQ(parameters.get(parameter.name), parameter.default_text) << parameter.name;
    for (const std::string& value : values_of(parameter)) {
      parameters.set(parameter.name, value);
      EXPECT_EQ(parameters.get(parameter.name), value) << parameter.name;
    }
    parameters.set(parameter.name, "");
    EXPECT_EQ(parameters.get(parameter.name), parameter.default_text) << parameter.name;
    SCOPED_TRACE(parameter.name);
    if (parameter.is_number()) expect_usual_range(parameter);
    if (!parameter.instead_of.empty()) expect_exclusion(filter, parameter);
  }
}

/// A filter that makes JSON and has no plan.
class EveryAnalysis : public EveryFilter {
 protected:
  /// Calls `check` for every value of every parameter, with and without a side input.
  static void for_each_step(const std::function<void(const Pipeline&, std::span<const NamedView>)>& check) {
    const Image side = random_picture({31, 20, 1}, 3);
    const NamedView named{"side", side};
    std::vector<PipelineStep> steps{{Parameters(filter()), {}}};
    for (const ParameterRecord& parameter : filter().parameters)
      for (const std::string& value : values_of(parameter)) {
        steps.push_back(steps.front());
        steps.back().parameters.set(parameter.name, value);
      }
    for (PipelineStep& step : steps) {
      SCOPED_TRACE(print_pipeline({step}));
      if (accepted(step, {})) check({step}, {});
      if (filter().inputs.empty()) continue;
      step.side_inputs = {{filter().inputs.front().name, named.name}};
      if (accepted(step, {&named, 1})) check({step}, {&named, 1});
    }
  }

  static std::string text(const Pipeline& pipeline, const ImageView& picture,
                          std::span<const NamedView> sides, const Device& device = device_under_test()) {
    return run_to_json(device, pipeline, picture, sides);
  }

 private:
  static bool accepted(const PipelineStep& step, std::span<const NamedView> sides) {
    try {
      return !text({step}, random_picture({31, 20, 3}, 1), sides).empty();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      return false;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Registry, EveryAnalysis, testing::ValuesIn(filters_of_json(true)), test_name);

TEST_P(EveryAnalysis, GivesTheSameForAnyStridesAndNumberOfThreads) {
  const Device seven = cpu_of_threads(7);
  for_each_step([&](const Pipeline& pipeline, std::span<const NamedView> sides) {
    const Image picture = random_picture({31, 20, 3}, 1);
    const std::string expected = text(pipeline, picture, sides);
    EXPECT_TRUE(expected.starts_with("{\"") && expected.ends_with("}")) << expected;
    EXPECT_EQ(text(pipeline, picture, sides), expected);
    EXPECT_EQ(text(pipeline, picture, sides, seven), expected);
    for (const Layout layout : every_layout)
      EXPECT_EQ(text(pipeline, LooseImage(picture, layout).view(), sides), expected) << name_of(layout);
  });
}

TEST_P(EveryAnalysis, EndsAPipeline) {
  const Image picture = random_picture({31, 20, 3}, 1);
  const Image blurred = run(device_under_test(), parse_pipeline("blur radius=2"), picture);
  const Pipeline alone = parse_pipeline(filter().name);
  const Pipeline both = parse_pipeline("blur radius=2 | " + filter().name);
  EXPECT_EQ(text(both, picture, {}), text(alone, blurred, {}));
  EXPECT_THROW(static_cast<void>(run(device_under_test(), both, picture)), Error);
  EXPECT_THROW(static_cast<void>(parse_pipeline(filter().name + " | blur")), Error);
  EXPECT_THROW(static_cast<void>(plan(device_under_test(), Parameters(filter()), {{picture.shape()}})),
               Error);
}

TEST_P(EveryAnalysis, DescribesItself) { expect_described(filter()); }
TEST_P(EveryFilter, DescribesItself) { expect_described(filter()); }

}  // namespace
}  // namespace satin::test
