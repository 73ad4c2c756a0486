// resize() against exact fractions (area), sums in two dimensions (lanczos) and its definitions.

#include "satin/filters/resize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/backend.h"
#include "core/geometry.h"
#include "satin/filter.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_resize.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Image resized(const ImageView& picture, const Resize& parameters) {
  return resize(device_under_test(), picture, parameters);
}

ResizedBox box_of(const ImageView& picture, const Resize& parameters) {
  return resized_box(picture.shape.width, picture.shape.height, parameters);
}

/// Sizes of a picture and of its result: down, up, both, by divisors and by primes, and beyond one block
/// of a GPU.
struct Sizes {
  Size from;
  TargetSize to;
  Fit fit = Fit::stretch;
};
const std::vector<Sizes> every_size = {{{36, 24}, {12, 8}},  {{31, 29}, {13, 11}},
                                       {{7, 5}, {23, 19}},   {{40, 9}, {11, 30}},
                                       {{64, 3}, {1, 1}},    {{1, 1}, {5, 3}},
                                       {{50, 40}, {49, 41}}, {{30, 20}, {8, 8}, Fit::cover},
                                       {{3, 61}, {64, 2}},   {{37, 23}, {20, 3}, Fit::cover},
                                       {{541, 7}, {270, 3}}, {{600, 53}, {2, 3}},
                                       {{6, 4}, {251, 9}}};

/// Calls body(picture, parameters) for every format, size and space.
template <class Body>
void for_each_resize(ResizeKernel kernel, const Body& body) {
  std::uint64_t seed = 1;
  for (const Format& format : every_format())
    for (const Sizes& sizes : every_size)
      for (const Space space : {Space::linear, Space::encoded}) {
        if (space == Space::linear && !has_linear_light(format)) continue;
        const Shape shape{sizes.from[0], sizes.from[1], format.channels, format.type, format.alpha};
        const Image picture = random_picture(shape, ++seed);
        const Resize parameters{
            .size = sizes.to, .fit = sizes.fit, .enlarge = true, .kernel = kernel, .space = space};
        SCOPED_TRACE(describe(shape) + " to " + print_size(sizes.to));
        body(picture, parameters);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(Resize, AreaIsTheExactMean) {
  for_each_resize(ResizeKernel::area, [](const Image& picture, const Resize& parameters) {
    if (picture.shape().type == Type::f32) return;
    ASSERT_EQ(difference(resized(picture, parameters),
                         oracle_area(picture, box_of(picture, parameters), parameters.space)),
              "");
  });
}

TEST(Resize, AreaOfManyPixelsUsesIntegers) {
  // 16-bit alpha in linear light has 40 bits, and these sides have no common divisor.
  const Image picture = random_picture({4001, 7, 4, Type::u16, Alpha::straight}, 5);
  const Resize parameters{.size = {13, 5}, .fit = Fit::stretch, .kernel = ResizeKernel::area};
  EXPECT_EQ(difference(resized(picture, parameters),
                       oracle_area(picture, box_of(picture, parameters), Space::linear)),
            "");
}

TEST(Resize, LanczosIsItsDefinitionForEveryFormat) {
  for_each_resize(ResizeKernel::lanczos, [](const Image& picture, const Resize& parameters) {
    expect_lanczos(resized(picture, parameters), picture, box_of(picture, parameters), parameters.space);
  });
}

TEST(Resize, NearestCopiesThePixelUnderTheCentre) {
  for (const Format& format : every_format()) {
    const Shape shape{37, 22, format.channels, format.type, format.alpha};
    const Image picture = random_picture(shape, 3);
    const Resize parameters{.size = {80, 9}, .fit = Fit::stretch, .kernel = ResizeKernel::nearest};
    const Image result = resized(picture, parameters);
    const std::size_t bytes = size_of(shape.type) * static_cast<std::size_t>(shape.channels);
    for (std::int64_t y = 0; y < 9; ++y)
      for (std::int64_t x = 0; x < 80; ++x)
        ASSERT_EQ(std::memcmp(result.view().at(x, y),
                              picture.view().at((2 * x + 1) * 37 / 160, (2 * y + 1) * 22 / 18), bytes),
                  0);
  }
}

TEST(Resize, ACheckerboardBecomesTheGreyThatACameraSees) {
  Image board({64, 64, 1, Type::u8});
  for (std::int64_t y = 0; y < 64; ++y)
    for (std::int64_t x = 0; x < 64; ++x) board.view().value<std::uint8_t>(x, y) = (x + y) % 2 == 0 ? 255 : 0;
  EXPECT_EQ(difference(resized(board, {.size = 32, .kernel = ResizeKernel::area}),
                       constant_picture({32, 32}, 188.0 / 255)),
            "");
  const Image sharp = resized(board, {.size = 32});
  for (std::int64_t y = 4; y < 28; ++y)
    for (std::int64_t x = 4; x < 28; ++x) ASSERT_EQ(sharp.view().value<std::uint8_t>(x, y), 188);
}

TEST(Resize, AnOpaquePictureHasTheColoursOfOneWithoutAlpha) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const ResizeKernel kernel : {ResizeKernel::lanczos, ResizeKernel::area})
      for (const TargetSize size : {TargetSize(20, 31), TargetSize(90, 50)}) {
        const Image plain = random_picture({57, 43, 3, type}, 8);
        Image opaque = constant_picture({57, 43, 4, type, Alpha::straight}, 1);
        const auto colours = [type](const ImageView& from, const MutableImageView& to) {
          for (std::int64_t y = 0; y < from.shape.height; ++y)
            for (std::int64_t x = 0; x < from.shape.width; ++x)
              std::memcpy(to.at(x, y), from.at(x, y), 3 * size_of(type));
        };
        colours(plain, opaque.view());
        const Resize parameters{.size = size, .fit = Fit::stretch, .kernel = kernel};
        const Image expected = resized(plain, parameters);
        const Image result = resized(opaque, parameters);
        Image joined = constant_picture(result.shape(), 1);
        colours(expected, joined.view());
        ASSERT_EQ(difference(result, joined), "");
      }
}

TEST(Resize, ConstantPicturesAndPicturesOfTheSizeKeepTheirValues) {
  for (const Format& format : every_format()) {
    const Space space = has_linear_light(format) ? Space::linear : Space::encoded;
    const Shape shape{61, 47, format.channels, format.type, format.alpha};
    const Image picture = random_picture(shape, 2);
    EXPECT_EQ(
        difference(resized(picture, {.size = 61, .kernel = ResizeKernel::lanczos, .space = space}), picture),
        "");
    EXPECT_EQ(difference(resized(picture, {.size = 300, .space = space}), picture), "");
    for (const ResizeKernel kernel : {ResizeKernel::lanczos, ResizeKernel::area})
      for (const TargetSize size : {TargetSize(19, 100), TargetSize(60, 1), TargetSize(300, 46)})
        for (int step = 0; step <= 10; ++step) {
          const Resize parameters{.size = size, .fit = Fit::stretch, .kernel = kernel, .space = space};
          Shape small = shape;
          small.width = size.width;
          small.height = size.height;
          ASSERT_EQ(difference(resized(constant_picture(shape, step * 0.1), parameters),
                               constant_picture(small, step * 0.1)),
                    "");
        }
  }
}

TEST(Resize, RowsInChunksAreThoseOfTheWhole) {
  const Device& device = device_under_test();
  for (const ResizeKernel kernel : {ResizeKernel::lanczos, ResizeKernel::area, ResizeKernel::nearest})
    for (const TargetSize size : {TargetSize(30, 41), TargetSize(90, 200), TargetSize(20, 20)}) {
      const Shape shape{70, 90, 4, Type::u8, Alpha::straight};
      const Image picture = random_picture(shape, 4);
      const Resize parameters{
          .size = size, .fit = size.width == 20 ? Fit::cover : Fit::stretch, .kernel = kernel};
      const Image expected = resized(picture, parameters);
      const auto described = Resize::record().describe(device, {&shape, 1}, &parameters);
      const auto prepared = described->prepare(shape.width, shape.height);
      auto& filter = dynamic_cast<ReshapingFilter&>(*prepared);
      const Image on_device = device.upload(picture);
      Image result = device.allocate(expected.shape());
      const std::int64_t height = expected.shape().height;
      for (std::int64_t first = 0, rows = 1; first < height; first += rows, rows = rows % 7 + 1) {
        const std::int64_t last = std::min(first + rows, height);
        const Stretch read = described->geometry->rows_read({first, last});
        ASSERT_GE(read.first, 0);
        ASSERT_LE(read.last, shape.height);
        filter.run_rows(part_of(on_device.view(), {{0, shape.width}, read}), read.first,
                        part_of(result.view(), {{0, expected.shape().width}, {first, last}}), first, nullptr,
                        {});
      }
      ASSERT_EQ(difference(device.download(result), expected), "");
    }
}

TEST(ResizedBox, FollowsFitAspectAndEnlarge) {
  const auto box = [](std::int64_t width, std::int64_t height, const Resize& parameters) {
    const ResizedBox found = resized_box(width, height, parameters);
    return print_boxes(std::span(&found.box, 1)) + " " + std::to_string(found.width) + "x" +
           std::to_string(found.height);
  };
  EXPECT_EQ(box(4000, 3000, {.size = 1600}), "0,0,4000,3000 1600x1200");
  EXPECT_EQ(box(3000, 4000, {.size = 1600}), "0,0,3000,4000 1200x1600");
  EXPECT_EQ(box(4001, 3000, {.size = 1600}), "0,0,4001,3000 1600x1200");
  EXPECT_EQ(box(100, 80, {.size = 1600}), "0,0,100,80 100x80");
  EXPECT_EQ(box(100, 80, {.size = 1600, .enlarge = true}), "0,0,100,80 1600x1280");
  EXPECT_EQ(box(101, 3, {.size = Length(50, true)}), "0,0,101,3 51x2");
  EXPECT_EQ(box(400, 300, {.size = {200, 200}}), "0,0,400,300 200x150");
  EXPECT_EQ(box(400, 300, {.size = {0, 60}}), "0,0,400,300 80x60");
  EXPECT_EQ(box(400, 300, {.size = {60, 0}}), "0,0,400,300 60x45");
  EXPECT_EQ(box(1000, 2, {.size = 10}), "0,0,1000,2 10x1");
  EXPECT_EQ(box(400, 300, {.size = {200, 300}, .fit = Fit::stretch}), "0,0,400,300 200x300");
  EXPECT_EQ(box(4000, 3000, {.size = {1200, 630}, .fit = Fit::cover}), "0,450,4000,2100 1200x630");
  EXPECT_EQ(box(4000, 3000, {.size = {1200, 630}, .fit = Fit::cover, .gravity = {{50, true}, {30, true}}}),
            "0,270,4000,2100 1200x630");
  EXPECT_EQ(box(4000, 3000, {.size = {100, 200}, .fit = Fit::cover, .gravity = {3900, 0}}),
            "2500,0,1500,3000 100x200");
  EXPECT_EQ(box(100, 80, {.size = {200, 200}, .fit = Fit::cover}), "10,0,80,80 80x80");
  EXPECT_EQ(box(100, 80, {.size = {200, 200}, .fit = Fit::cover, .enlarge = true}), "10,0,80,80 200x200");
}

TEST(ResizedBox, RefusesWhatHasNoMeaning) {
  const auto refused = [](const std::string& says, std::int64_t side, const Resize& parameters) {
    expect_error(ErrorKind::usage, says, [&] { return resized_box(side, side, parameters); });
  };
  refused("There is no size", 10, {});
  refused("both sides", 10, {.size = 5, .fit = Fit::cover});
  refused("both sides", 10, {.size = {5, 0}, .fit = Fit::stretch});
  refused("add --enlarge", 10, {.size = Length(101, true)});
  refused("1/4096", 4097, {.size = 1});
  refused("64 times", 10, {.size = 641, .enlarge = true});
  refused("whole pixels", 10, {.size = 2.5});
  refused("whole pixels", 10, {.size = {-2, 4}});
  EXPECT_EQ(resized_box(4096, 4096, {.size = 1}).width, 1);
  EXPECT_EQ(resized_box(10, 10, {.size = 640, .enlarge = true}).width, 640);
}

TEST(Resize, RefusesFloatsThatAreNotFinite) {
  Image picture = constant_picture({9, 9, 1, Type::f32}, 0.5);
  picture.view().value<float>(3, 3) = std::nanf("");
  expect_error(ErrorKind::input, "NaN", [&] { return resized(picture, {.size = 4}); });
}

TEST(ParseSize, ReadsAndPrintsSizes) {
  for (const char* text : {"1600", "50%", "12.5%", "1200x630", "1200x", "x630"})
    EXPECT_EQ(print_size(parse_size("size", text)), text);
  EXPECT_EQ(parse_size("size", "1200x630"), TargetSize(1200, 630));
  EXPECT_EQ(parse_size("size", "1600"), TargetSize(1600));
  for (const char* text :
       {"", "x", "0", "-3", "2.5", "0%", "1x2x3", "3x0", "12px", "6401%", "nan%", "1073741825"})
    expect_error(ErrorKind::usage, "size", [&] { return parse_size("size", text); });
}

}  // namespace
}  // namespace satin::test
