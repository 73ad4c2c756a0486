// Pipelines on pictures in memory: order of steps, and side inputs by name.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "satin/filters.h"
#include "satin/pipeline.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

const Shape shape{61, 43, 3, Type::u8};

class PipelineInMemory : public testing::Test {
 protected:
  const Device& device_ = device_under_test();
  Image picture_ = random_picture(shape, 3);
  Image mask_ = random_map(shape.width, shape.height, Type::u8, 4);
};

std::vector<Shape> shapes_of(const std::vector<ImageView>& inputs) {
  std::vector<Shape> shapes;
  for (const ImageView& input : inputs) shapes.push_back(input.empty() ? Shape{0, 0} : input.shape);
  return shapes;
}

TEST_F(PipelineInMemory, StepsFollowOneAnother) {
  const Image soft = blur(device_, picture_, {.radius = 2.5, .mask = mask_});
  const Image expected = threshold(device_, dilate(device_, soft, {.radius = 1}), {.window = 9});

  const Pipeline pipeline =
      parse_pipeline("blur radius=2.5 mask=soft | dilate radius=1 | threshold window=9");
  const std::array<NamedView, 1> sides{{{"soft", mask_}}};
  EXPECT_EQ(difference(run(device_, pipeline, picture_, sides), expected), "");
}

TEST_F(PipelineInMemory, OnePlanTakesManyPictures) {
  const Pipeline pipeline = parse_pipeline("blur radius=2 | blur radius=1 mask=m");
  std::vector<ImageView> inputs = inputs_of(pipeline, picture_, std::array<NamedView, 1>{{{"m", mask_}}});
  PipelinePlan steps = plan(device_, pipeline, shapes_of(inputs));
  EXPECT_EQ(steps.output_shape(), shape);
  EXPECT_GE(steps.workspace_bytes(), byte_size(shape));
  for (const std::uint64_t seed : {7U, 8U}) {
    const Image other = random_picture(shape, seed);
    const Image expected = blur(device_, blur(device_, other, {.radius = 2}), {.radius = 1, .mask = mask_});
    inputs.front() = other;
    Image result = poisoned(shape);
    steps.run(inputs, result.view());
    EXPECT_EQ(difference(result, expected), "");
  }
}

TEST_F(PipelineInMemory, MayEndInATableAndWriteOverItsInput) {
  const Image table = run(device_, parse_pipeline("dilate radius=2 | integral"), picture_);
  EXPECT_EQ(table.shape().type, Type::u32);
  EXPECT_EQ(difference(table, integral(device_, dilate(device_, picture_, {.radius = 2}))), "");

  const Pipeline pipeline = parse_pipeline("erode radius=1 | blur radius=3");
  const Image expected = blur(device_, erode(device_, picture_, {.radius = 1}), {.radius = 3});
  plan(device_, pipeline, shapes_of(inputs_of(pipeline, picture_))).run(picture_, picture_.view());
  EXPECT_EQ(difference(picture_, expected), "");
}

TEST_F(PipelineInMemory, ReportsProgressOfTheWholePipeline) {
  const Pipeline pipeline =
      parse_pipeline("blur radius=2 | dilate radius=1 | erode radius=1 | blur radius=1");
  PipelinePlan steps = plan(device_, pipeline, shapes_of(inputs_of(pipeline, picture_)));
  std::vector<double> told;
  steps.watch([&](double done) {
    told.push_back(done);
    return true;
  });
  Image result(shape);
  steps.run(picture_, result.view());
  EXPECT_EQ(told, (std::vector<double>{0.25, 0.5, 0.75, 1}));

  steps.watch([](double done) { return done < 0.5; });
  expect_error(ErrorKind::cancelled, "cancelled", [&] {
    steps.run(picture_, result.view());
    return 0;
  });
}

TEST_F(PipelineInMemory, RefusesInputsThatDoNotFit) {
  const auto refused = [&](const std::string& piece, const char* text, std::span<const NamedView> sides) {
    expect_error(ErrorKind::usage, piece,
                 [&] { return run(device_, parse_pipeline(text), picture_, sides); });
  };
  const std::array<NamedView, 1> soft{{{"soft", mask_}}};
  refused("Did you mean 'soft'?", "blur mask=sofd", soft);
  refused("There is no view 'soft'", "blur mask=soft", {});
  refused("No setting of the pipeline names the view 'soft'", "blur", soft);
  refused("two settings mask", "blur mask=soft mask=soft", soft);
  refused("There is no depth", "dof", {});
  const Image small = random_map(5, 5, Type::u8, 1);
  refused("one size", "blur mask=soft", std::array<NamedView, 1>{{{"soft", small}}});
  expect_error(ErrorKind::usage, "empty", [&] { return run(device_, {}, picture_); });
  expect_error(ErrorKind::usage, "needs 3 inputs",
               [&] { return plan(device_, parse_pipeline("blur"), std::array{shape}).output_shape(); });
}

}  // namespace
}  // namespace satin::test
