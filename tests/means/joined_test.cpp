// Steps of a pipeline that are one plan: unsharp and a fixed threshold behind it. Each by itself is compared
// with its definition in unsharp_test.cpp and threshold_test.cpp; here both in one with the one after the
// other.

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "satin/filters/threshold.h"
#include "satin/filters/unsharp.h"
#include "satin/pipeline.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

Parameters parameters_of(const std::string& filter, const Settings& settings) {
  Parameters parameters(find_filter(filter));
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return parameters;
}

std::optional<Plan> joined(const Shape& shape, const Settings& unsharp, const Settings& threshold,
                           const Shape& mask = {}) {
  const std::array shapes = {shape, mask};
  return plan_with_next(device_under_test(), parameters_of("unsharp", unsharp),
                        parameters_of("threshold", threshold), shapes);
}

/// One after the other.
Image separately(const ImageView& picture, const Settings& unsharp, const Settings& threshold) {
  const auto run_one = [](const std::string& filter, const Settings& settings, const ImageView& source) {
    const std::array shapes = {source.shape};
    Plan one = plan(device_under_test(), parameters_of(filter, settings), shapes);
    const std::array inputs = {source};
    return run_plan(device_under_test(), one, inputs);
  };
  return run_one("threshold", threshold, run_one("unsharp", unsharp, picture));
}

const std::vector<Settings> sharpenings = {{{"amount", "1.5"}, {"radius", "3"}},
                                           {{"amount", "4"}, {"sigma", "2.5"}, {"space", "linear"}},
                                           {{"amount", "0.7"}, {"radius", "2.25"}, {"kernel", "box"}}};
const std::vector<std::string> levels = {"-0.1", "0", "0.21", "0.5", "0.9999", "1", "2"};

TEST(Joined, UnsharpAndAFixedThresholdAreOneAfterTheOther) {
  std::uint64_t seed = 900;
  for (const Type type : {Type::u8, Type::u16})
    for (const int channels : {1, 3})
      for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {130, 33}, {257, 40}, {1025, 3}})
        for (const Settings& unsharp : sharpenings) {
          if (type == Type::u16 && unsharp.back().second == "linear") continue;
          const Image picture = random_picture({width, height, channels, type}, ++seed);
          const Settings threshold = {{"method", "fixed"},
                                      {"level", levels[seed % levels.size()]},
                                      {"invert", seed % 2 == 0 ? "true" : "false"}};
          std::optional<Plan> both = joined(picture.shape(), unsharp, threshold);
          ASSERT_TRUE(both.has_value()) << describe(picture.shape());
          const std::array inputs = {picture.view(), ImageView{}};
          EXPECT_EQ(difference(run_plan(device_under_test(), *both, inputs),
                               separately(picture, unsharp, threshold)),
                    "")
              << describe(picture.shape()) << ", level " << threshold[1].second;
        }
}

TEST(Joined, AnyStridesAndOrderOfColours) {
  for (const Layout layout : every_layout)
    for (const Order order : {Order::rgb, Order::bgr}) {
      Shape shape{67, 19, 3, Type::u8};
      shape.order = order;
      const Image picture = random_picture(shape, 7);
      const Settings threshold = {{"method", "fixed"}, {"level", "0.4"}};
      std::optional<Plan> both = joined(shape, sharpenings[0], threshold);
      ASSERT_TRUE(both.has_value());
      LooseImage result(poisoned(both->output_shape()), layout);
      const LooseImage source(picture, layout);
      const std::array inputs = {source.view(), ImageView{}};
      both->run(inputs, result.mutable_view());
      EXPECT_EQ(difference(copy_of(result.view()), separately(picture, sharpenings[0], threshold)), "")
          << name_of(layout);
      EXPECT_TRUE(result.surroundings_untouched()) << name_of(layout);
    }
}

TEST(Joined, OnlyWhatGoesPixelByPixelWithoutAlphaAndMask) {
  const Shape grey{40, 30, 1, Type::u8};
  const Settings fixed = {{"method", "fixed"}};
  EXPECT_TRUE(joined(grey, {}, fixed).has_value());
  EXPECT_FALSE(joined(grey, {}, {{"method", "otsu"}}).has_value());
  EXPECT_FALSE(joined(grey, {}, fixed, grey).has_value());
  EXPECT_FALSE(joined({40, 30, 3, Type::f32}, {}, fixed).has_value());
  EXPECT_FALSE(joined({40, 30, 4, Type::u8, Alpha::straight}, {}, fixed).has_value());
  const std::array shapes = {grey, Shape{}};
  EXPECT_FALSE(plan_with_next(device_under_test(), parameters_of("blur", {}),
                              parameters_of("threshold", fixed), shapes)
                   .has_value());
  EXPECT_FALSE(
      plan_with_next(device_under_test(), parameters_of("unsharp", {}), parameters_of("dilate", {}), shapes)
          .has_value());
}

TEST(Joined, PipelinesAreTheirStepsOneAfterAnother) {
  const std::string text = "blur radius=2 | unsharp amount=3 radius=4 | threshold method=fixed level=0.45";
  const auto apply = [](const std::string& step, const ImageView& picture) {
    return run(device_under_test(), parse_pipeline(step), picture);
  };
  for (const Shape& shape : {Shape{90, 41, 3, Type::u8}, Shape{33, 20, 4, Type::u16, Alpha::straight},
                             Shape{21, 9, 1, Type::f32}}) {
    const Image picture = random_picture(shape, 31);
    const Image blurred = apply("blur radius=2", picture);
    const Image sharp = apply("unsharp amount=3 radius=4", blurred);
    EXPECT_EQ(difference(apply(text, picture), apply("threshold method=fixed level=0.45", sharp)), "")
        << describe(shape);
    EXPECT_EQ(difference(apply(text + " | dilate radius=1", picture),
                         apply("dilate radius=1", apply("threshold method=fixed level=0.45", sharp))),
              "")
        << describe(shape);
  }
}

}  // namespace
}  // namespace satin::test
