// Crops, and side inputs of steps after one that changes the size.

#include "satin/filters/crop.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "satin/filters.h"
#include "satin/pipeline.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// Copies the box pixel by pixel.
Image slice(const ImageView& picture, const PixelBox& box) {
  Shape shape = picture.shape;
  shape.width = box.width;
  shape.height = box.height;
  Image result(shape);
  const std::size_t size = size_of(shape.type);
  for (std::int64_t frame = 0; frame < shape.frames; ++frame)
    for (std::int64_t y = 0; y < box.height; ++y)
      for (std::int64_t x = 0; x < box.width; ++x)
        for (int c = 0; c < shape.channels; ++c)
          std::memcpy(result.view().frame(frame).at(x, y, c),
                      picture.frame(frame).at(box.x + x, box.y + y, c), size);
  return result;
}

Crop boxed(const PictureBox& box) { return {.box = box}; }

PictureBox pixels(const PixelBox& box) {
  return {static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
          static_cast<double>(box.height)};
}

TEST(CropTest, KeepsTheBytesOfEveryTypeOfPixels) {
  const PixelBox box{5, 3, 21, 17};
  for (const Type type : {Type::u8, Type::u16, Type::f32, Type::u32, Type::u64})
    for (const int channels : {1, 2, 3, 4})
      for (const int frames : {1, 3}) {
        Shape shape{40, 23, channels, type};
        shape.frames = frames;
        Image picture(shape);
        Random random(7);
        for (std::size_t i = 0; i < byte_size(shape); ++i)  // every byte, so floats are NaN and infinite, too
          picture.data()[i] = static_cast<std::byte>(random.next());
        const Image found = crop(device_under_test(), picture, boxed(pixels(box)));
        ASSERT_EQ(difference(found, slice(picture, box)), "") << describe(shape);
      }
}

TEST(CropTest, RoundsEdgesInPercent) {
  const auto percent = [](double x, double y, double width, double height) {
    return PictureBox{{x, true}, {y, true}, {width, true}, {height, true}};
  };
  EXPECT_EQ(cropped_box(200, 100, boxed(percent(10, 20, 30, 40))), (PixelBox{20, 20, 60, 40}));
  EXPECT_EQ(cropped_box(3, 5, boxed(percent(50, 50, 50, 50))), (PixelBox{2, 3, 1, 2}));  // ties up
  EXPECT_EQ(cropped_box(1000, 7, boxed(percent(33.3, 0, 66.7, 100))), (PixelBox{333, 0, 667, 7}));
  EXPECT_EQ(cropped_box(101, 50, boxed({10, {10, true}, {50, true}, 20})), (PixelBox{10, 5, 51, 20}));
  for (const std::int64_t size : {1, 2, 3, 7, 99, 4001})  // thirds meet
    for (const double cut : {12.5, 33.3, 50.0, 71.9}) {
      const Crop left = boxed(percent(0, 0, cut, 100)), right = boxed(percent(cut, 0, 100 - cut, 100));
      try {
        const PixelBox a = cropped_box(size, 4, left), b = cropped_box(size, 4, right);
        EXPECT_EQ(a.width, b.x) << size << " " << cut;
        EXPECT_EQ(b.x + b.width, size) << size << " " << cut;
      } catch (const SizeError&) {
        EXPECT_LT(size, 4) << cut;  // a part has no pixel
      }
    }
}

TEST(CropTest, FindsTheLargestBoxOfAnAspect) {
  const auto box = [](std::int64_t width, std::int64_t height, Ratio aspect, Point gravity) {
    return cropped_box(width, height, {.aspect = aspect, .gravity = gravity});
  };
  const Point centre = Crop().gravity;
  EXPECT_EQ(box(6000, 4000, {1, 1}, centre), (PixelBox{1000, 0, 4000, 4000}));
  EXPECT_EQ(box(4000, 6000, {3, 2}, centre), (PixelBox{0, 1667, 4000, 2667}));
  EXPECT_EQ(box(6000, 4000, {3, 2}, centre), (PixelBox{0, 0, 6000, 4000}));
  EXPECT_EQ(box(100, 80, {1, 1}, {{0, true}, {0, true}}), (PixelBox{0, 0, 80, 80}));
  EXPECT_EQ(box(100, 80, {1, 1}, {{100, true}, {0, true}}), (PixelBox{20, 0, 80, 80}));
  EXPECT_EQ(box(100, 80, {1, 1}, {{25, true}, {0, true}}), (PixelBox{5, 0, 80, 80}));
  EXPECT_EQ(box(100, 80, {1, 1}, {55, 40}), (PixelBox{15, 0, 80, 80}));
  EXPECT_EQ(box(100, 80, {1, 1}, {99, 40}), (PixelBox{20, 0, 80, 80}));
  EXPECT_EQ(box(1, 1000, {65536, 1}, centre), (PixelBox{0, 500, 1, 1}));
  EXPECT_EQ(Parameters(crop_record()).get("gravity"), "50%,50%");
  Parameters named(crop_record());
  named.set("gravity", "south-east");
  EXPECT_EQ(named.get("gravity"), "100%,100%");
}

TEST(CropTest, RefusesWhatIsNoBoxOfThePicture) {
  const Image picture = random_picture({60, 40, 3, Type::u8}, 1);
  const auto refused = [&](const Crop& parameters, const char* says) {
    expect_error(ErrorKind::usage, says, [&] { return crop(device_under_test(), picture, parameters); });
  };
  refused({}, "either a box");
  refused({.box = PictureBox{0, 0, 1, 1}, .aspect = Ratio{}}, "either a box");
  refused(boxed({50, 0, 11, 10}), "60 x 40");
  refused(boxed({0, 31, 10, 10}), "60 x 40");
  refused(boxed({-1, 0, 10, 10}), "60 x 40");
  refused(boxed({0, 0, {0.5, true}, 10}), "less than one pixel");
  refused({.aspect = Ratio{}, .gravity = {{101, true}, {0, true}}}, "0 to 100");
  refused({.box = PictureBox{0, 0, 1, 1}, .gravity = {{0, true}, {0, true}}}, "gravity");
}

/// Pictures that the filter cannot read in place are copied in chunks of rows under a limit.
TEST(CropTest, KeepsAMemoryLimit) {
  const Device device = Device::open(device_under_test().info().id);
  const Shape shape{300, 400, 3, Type::u8};
  const Image picture = random_picture(shape, 4);
  Image planar(shape);
  ImageView view = picture.view();
  MutableImageView target = planar.view();
  target.strides = planar_strides(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c)
        target.value<std::uint8_t>(x, y, c) = view.value<std::uint8_t>(x, y, c);
  view = target;
  const Crop parameters = boxed({10, 99, 250, 203});
  const Image expected = crop(device_under_test(), picture, parameters);
  limit_memory(device, byte_size(shape) / 3);
  Plan plan = satin::plan(device, shape, parameters);
  Image result = poisoned(expected.shape());
  plan.run(std::span(&view, 1), result.view());
  EXPECT_TRUE(plan.in_windows());
  EXPECT_LE(plan.workspace_bytes(), byte_size(shape) / 3);
  EXPECT_EQ(difference(result, expected), "");
}

class SideInputs : public testing::Test {
 protected:
  [[nodiscard]] Image run_steps(const char* text, const ImageView& side) const {
    const std::array<NamedView, 1> sides{{{"m", side}}};
    return run(device_, parse_pipeline(text), picture_, sides);
  }

  const Device& device_ = device_under_test();
  Image picture_ = random_picture({120, 90, 3, Type::u8}, 3);
  PixelBox box_{11, 7, 64, 48};
  Image part_ = slice(picture_, box_);
};

TEST_F(SideInputs, AreCutLikeThePicture) {
  const Image mask = random_map(120, 90, Type::u8, 4);
  const Image cut = slice(mask, box_);
  const Image expected = blur(device_, part_, {.radius = 3, .mask = cut});
  EXPECT_EQ(difference(run_steps("crop box=11,7,64,48 | blur radius=3 mask=m", mask), expected), "");
  EXPECT_EQ(difference(run_steps("crop box=11,7,64,48 | blur radius=3 mask=m", cut), expected), "")
      << "a mask of the size at its step";
  const Image before = slice(blur(device_, picture_, {.radius = 3, .mask = mask}), box_);
  EXPECT_EQ(difference(run_steps("blur radius=3 mask=m | crop box=11,7,64,48", mask), before), "");
}

TEST_F(SideInputs, AreAveragedByAreaWhereThePictureIsResized) {
  const Image mask = random_map(120, 90, Type::u16, 4);
  const Resize small{.size = TargetSize(32, 24), .fit = Fit::stretch};
  Resize area = small;
  area.kernel = ResizeKernel::area;
  area.space = Space::encoded;
  const Image reduced = resize(device_, slice(mask, box_), area);
  const Image expected = blur(device_, resize(device_, part_, small), {.radius = 3, .mask = reduced});
  EXPECT_EQ(
      difference(run_steps("crop box=11,7,64,48 | resize size=32 | blur radius=3 mask=m", mask), expected),
      "");
}

TEST_F(SideInputs, AreCutInTheirOwnScale) {
  const Image depth = random_map(40, 30, Type::u8, 4);  // a third of the picture
  Image depth_part = slice(depth, {4, 2, 21, 16});  // 11 / 3 = 3.7, 64 / 3 = 21.3; 7 / 3 = 2.3, 48 / 3 = 16
  Dof parameters;
  parameters.lens.focus = 0.5;
  parameters.depth = depth_part.view();
  const Image expected = dof(device_, part_, parameters);
  EXPECT_EQ(difference(run_steps("crop box=11,7,64,48 | dof focus=0.5 depth=m", depth), expected), "");
}

TEST_F(SideInputs, FollowToAFilterThatMakesJson) {
  const Image mask = random_map(120, 90, Type::u8, 4);
  const std::array<NamedView, 1> whole{{{"m", mask}}};
  const Image cut = slice(mask, box_);
  const std::array<NamedView, 1> parts{{{"m", cut}}};
  for (const FilterRecord& filter : filters()) {
    if (filter.output != OutputKind::json || filter.inputs.empty()) continue;
    const std::string step = filter.name + " " + filter.inputs.front().name + "=m";
    const Image& grey = mask;
    const Image grey_part = slice(grey, box_);
    EXPECT_EQ(run_to_json(device_, parse_pipeline("crop box=11,7,64,48 | " + step), grey, whole),
              run_to_json(device_, parse_pipeline(step), grey_part, parts))
        << step;
  }
}

TEST_F(SideInputs, OfNeitherSizeAreRefused) {
  const Image mask = random_map(64, 47, Type::u8, 4);
  expect_error(ErrorKind::usage, "64 x 47",
               [&] { return run_steps("crop box=11,7,64,48 | blur radius=3 mask=m", mask); });
}

TEST(LocalReachTest, RefusesToChangeTheSize) {
  const std::vector<Shape> shapes{{64, 64, 1}, {}};
  const auto refused = [&](const char* text, std::size_t count) {
    expect_error(ErrorKind::usage, "changes the size", [&] {
      return local_reach(device_under_test(), parse_pipeline(text), std::span(shapes).first(count));
    });
  };
  refused("crop box=0,0,900,900", 1);
  refused("unsharp | resize size=20", 2);
}

}  // namespace
}  // namespace satin::test
