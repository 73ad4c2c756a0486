// redact() against plain loops.

#include "satin/filters/redact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "satin/filters/blur.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_transfer.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Image redacted(const Image& picture, const Redact& parameters) {
  Plan prepared = plan(device_under_test(), picture.shape(), parameters);
  const std::array inputs = {picture.view(), parameters.mask};
  return run_plan(device_under_test(), prepared, inputs);
}

bool covers(const PixelBox& box, std::int64_t x, std::int64_t y) {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

bool covered(const Redact& parameters, std::int64_t x, std::int64_t y) {
  return std::any_of(parameters.boxes.begin(), parameters.boxes.end(),
                     [&](const PixelBox& box) { return covers(box, x, y); });
}

double value_of(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

template <class Each>
void for_each_value(const Shape& shape, const Each& each) {
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) each(x, y, c);
}

const std::vector<PixelBox> some_boxes = {{-3, 2, 9, 5}, {20, 10, 7, 400}, {22, 8, 1, 3}};

Shape shape_of(int channels, Type type, Alpha alpha, Order order = Order::rgb) {
  return {41, 29, channels, type, alpha, order};
}

/// #ff8000 as each format holds it; its luminance is (2126 * 255 + 7152 * 128) / 10000 = 145.76.
TEST(Redact, SolidIsTheColourAndNothingElse) {
  struct Case {
    Shape shape;
    std::array<double, 4> expected;
  };
  const double green = 14146.0 / 65535;  // for 128: ((128 / 255 + 0.055) / 1.055)^2.4 in 16 bits
  const double grey = 18837.0 / 65535;   // for 146
  const Case cases[] = {
      {shape_of(1, Type::u8, Alpha::none), {146}},
      {shape_of(2, Type::u8, Alpha::straight), {146, 255}},
      {shape_of(2, Type::u16, Alpha::none), {146 * 257, 65535}},
      {shape_of(3, Type::u8, Alpha::none), {255, 128, 0}},
      {shape_of(3, Type::u8, Alpha::none, Order::bgr), {0, 128, 255}},
      {shape_of(4, Type::u8, Alpha::straight), {255, 128, 0, 255}},
      {shape_of(4, Type::u16, Alpha::straight, Order::bgr), {0, 128 * 257, 65535, 65535}},
      {shape_of(3, Type::f32, Alpha::none), {1, green, 0}},
      {shape_of(4, Type::f32, Alpha::straight), {1, green, 0, 1}},
      {shape_of(4, Type::f32, Alpha::premultiplied), {1, green, 0, 1}},
      {shape_of(1, Type::f32, Alpha::none), {grey}},
  };
  for (const Case& test : cases)
    for (const Space space : {Space::linear, Space::encoded}) {
      SCOPED_TRACE(describe(test.shape));
      Redact parameters;
      parameters.boxes = some_boxes;
      parameters.colour = {0xFF, 0x80, 0};
      parameters.space = space;
      const Image picture = random_picture(test.shape, 3);
      const Image result = redacted(picture, parameters);
      for_each_value(test.shape, [&](std::int64_t x, std::int64_t y, int c) {
        const double expected = covered(parameters, x, y) ? test.expected[static_cast<std::size_t>(c)]
                                                          : value_of(picture.view(), x, y, c);
        const double tolerance = test.shape.type == Type::f32 && covered(parameters, x, y) ? 1e-4 : 0;
        ASSERT_NEAR(value_of(result.view(), x, y, c), expected, tolerance) << x << ", " << y << ", " << c;
      });
    }
}

TEST(Redact, SolidDependsOnNothingThatItCovers) {
  for (const double feather : {0.0, 5.0}) {
    Redact parameters;
    parameters.boxes = {{5, 6, 20, 11}};
    parameters.feather = feather;
    const Shape shape = shape_of(4, Type::u8, Alpha::straight);
    const Image one = random_picture(shape, 1);
    Image other = one.clone();
    const Image noise = random_picture(shape, 2);
    for_each_value(shape, [&](std::int64_t x, std::int64_t y, int c) {
      if (covered(parameters, x, y))
        other.view().value<std::uint8_t>(x, y, c) = noise.view().value<std::uint8_t>(x, y, c);
    });
    ASSERT_EQ(difference(redacted(other, parameters), redacted(one, parameters)), "") << feather;
  }
}

/// The means are compared in exact integers.
TEST(Redact, MosaicIsTheMeanOfEachCell) {
  for (const int cell : {1, 2, 7, 16, 100})
    for (const Type type : {Type::u8, Type::u16})
      for (const Space space : {Space::encoded, Space::linear}) {
        SCOPED_TRACE(std::to_string(cell) + (space == Space::linear ? " linear" : " encoded"));
        Redact parameters;
        parameters.method = Redaction::mosaic;
        parameters.boxes = some_boxes;
        parameters.cell = cell;
        parameters.space = space;
        const Shape shape = shape_of(3, type, Alpha::none);
        const Image picture = random_picture(shape, 11);
        const Image result = redacted(picture, parameters);
        const OracleTransfer& curve = oracle_srgb(type);
        for_each_value(shape, [&](std::int64_t x, std::int64_t y, int c) {
          const double found = value_of(result.view(), x, y, c);
          if (!covered(parameters, x, y)) {
            ASSERT_EQ(found, value_of(picture.view(), x, y, c));
            return;
          }
          std::int64_t sum = 0, count = 0;
          for (std::int64_t v = y / cell * cell; v < std::min(shape.height, y / cell * cell + cell); ++v)
            for (std::int64_t u = x / cell * cell; u < std::min(shape.width, x / cell * cell + cell); ++u) {
              const auto code = static_cast<std::int64_t>(value_of(picture.view(), u, v, c));
              sum += space == Space::linear ? curve.linear[static_cast<std::size_t>(code)] : code;
              ++count;
            }
          const std::int64_t mean = (2 * sum + count) / (2 * count);
          const std::int64_t expected = space == Space::linear ? curve.encode(mean) : mean;
          ASSERT_EQ(found, static_cast<double>(expected)) << x << ", " << y;
        });
      }
}

TEST(Redact, MosaicWeighsColoursByAlpha) {
  Image picture({2, 1, 2, Type::u8, Alpha::straight});
  const std::array<std::uint8_t, 4> pixels = {200, 255, 40, 0};  // the second pixel is transparent
  std::copy(pixels.begin(), pixels.end(), reinterpret_cast<std::uint8_t*>(picture.data()));
  Redact parameters;
  parameters.method = Redaction::mosaic;
  parameters.boxes = {{0, 0, 2, 1}};
  parameters.cell = 2;
  const Image result = redacted(picture, parameters);
  EXPECT_EQ(value_of(result.view(), 0, 0, 0), 200);
  EXPECT_EQ(value_of(result.view(), 0, 0, 1), 128);
  EXPECT_EQ(value_of(result.view(), 1, 0, 0), 200);
}

TEST(Redact, MosaicOfFloats) {
  Redact parameters;
  parameters.method = Redaction::mosaic;
  parameters.boxes = {{0, 0, 41, 29}};
  parameters.cell = 8;
  const Shape shape = shape_of(3, Type::f32, Alpha::none);
  const Image picture = random_picture(shape, 5);
  const Image result = redacted(picture, parameters);
  for_each_value(shape, [&](std::int64_t x, std::int64_t y, int c) {
    double sum = 0, count = 0;
    for (std::int64_t v = y / 8 * 8; v < std::min<std::int64_t>(29, y / 8 * 8 + 8); ++v)
      for (std::int64_t u = x / 8 * 8; u < std::min<std::int64_t>(41, x / 8 * 8 + 8); ++u, ++count)
        sum += value_of(picture.view(), u, v, c);
    ASSERT_NEAR(value_of(result.view(), x, y, c), sum / count, 1e-5) << x << ", " << y;
  });
}

TEST(Redact, BlurIsABlurUnderTheBoxes) {
  const Shape shape = shape_of(3, Type::u8, Alpha::none);
  const Image picture = random_picture(shape, 4);
  Redact parameters;
  parameters.method = Redaction::blur;
  parameters.boxes = some_boxes;
  parameters.radius = 6;
  Blur blurred;
  blurred.radius = 6;
  blurred.kernel = Kernel::gaussian;
  const Image expected = blur(device_under_test(), picture, blurred);
  const Image result = redacted(picture, parameters);
  for_each_value(shape, [&](std::int64_t x, std::int64_t y, int c) {
    ASSERT_EQ(value_of(result.view(), x, y, c),
              value_of((covered(parameters, x, y) ? expected : picture).view(), x, y, c));
  });
}

TEST(Redact, MaskCoversAllThatIsNotZero) {
  for (const Type type : {Type::u8, Type::u16}) {
    const Shape shape = shape_of(3, Type::u8, Alpha::none);
    const Image picture = random_picture(shape, 4);
    const Image mask = random_map(shape.width, shape.height, type, 9);
    Redact parameters;
    parameters.mask = mask.view();
    const Image result = redacted(picture, parameters);
    for_each_value(shape, [&](std::int64_t x, std::int64_t y, int c) {
      ASSERT_EQ(value_of(result.view(), x, y, c),
                value_of(mask.view(), x, y, 0) != 0 ? 0 : value_of(picture.view(), x, y, c));
    });
  }
}

/// White picture, black box over all rows: the weight falls by 1 / (2 half + 1) per pixel.
TEST(Redact, FeatherLiesAroundWhatIsCovered) {
  const Image picture = constant_picture({64, 40}, 1);
  for (const int feather : {1, 2, 7, 12}) {
    Redact parameters;
    parameters.boxes = {{24, 0, 10, 40}};
    parameters.feather = feather;
    parameters.space = Space::encoded;
    const Image result = redacted(picture, parameters);
    const std::int64_t steps = 2 * ((feather + 1) / 2) + 1;
    for (std::int64_t x = 0; x < 64; ++x) {
      const std::int64_t distance = x < 24 ? 24 - x : x >= 34 ? x - 33 : 0;
      const double light =
          255.0 * static_cast<double>(std::min(distance, steps)) / static_cast<double>(steps);
      ASSERT_NEAR(value_of(result.view(), x, 20, 0), light, distance == 0 || distance >= steps ? 0 : 0.51)
          << x << ", feather " << feather;
    }
  }
}

TEST(Redact, RefusesWhatItCannotCover) {
  const Image picture = random_picture(shape_of(3, Type::u8, Alpha::none), 1);
  const auto with = [&](auto change) {
    return [&picture, change] {
      Redact parameters;
      parameters.boxes = {{1, 1, 2, 2}};
      change(parameters);
      return redact(device_under_test(), picture, parameters);
    };
  };
  const Image mask = random_map(41, 29, Type::u8, 1);
  const Image small = random_map(5, 5, Type::u8, 1);
  expect_error(ErrorKind::usage, "nothing to cover", with([](Redact& r) { r.boxes.clear(); }));
  expect_error(ErrorKind::usage, "give one", with([&](Redact& r) { r.mask = mask.view(); }));
  expect_error(ErrorKind::usage, "5 x 5", with([&](Redact& r) {
                 r.boxes.clear();
                 r.mask = small.view();
               }));
  for (const PixelBox& box : {PixelBox{41, 0, 5, 5}, {0, 29, 5, 5}, {-5, 0, 5, 5}, {0, -9, 5, 5}})
    expect_error(ErrorKind::usage, "outside the picture of 41 x 29",
                 with([&](Redact& r) { r.boxes[0] = box; }));
  expect_error(ErrorKind::usage, "1 or more", with([](Redact& r) { r.boxes[0] = {1, 1, 0, 5}; }));
  expect_error(ErrorKind::usage, "outside", with([](Redact& r) {
                 r.boxes[0] = {INT64_MAX, 0, INT64_MAX, 1};
               }));
  expect_error(ErrorKind::usage, "cell", with([](Redact& r) { r.cell = 0; }));
  expect_error(ErrorKind::usage, "feather", with([](Redact& r) { r.feather = -1; }));
  expect_error(ErrorKind::usage, "feather", with([](Redact& r) { r.feather = NAN; }));
  Image floats = random_picture(shape_of(3, Type::f32, Alpha::none), 1);
  floats.view().value<float>(30, 20, 1) = NAN;
  for (const Redaction method : {Redaction::solid, Redaction::mosaic, Redaction::blur}) {
    Redact parameters;
    parameters.method = method;
    parameters.boxes = {{1, 1, 2, 2}};
    expect_error(ErrorKind::input, "NaN", [&] { return redact(device_under_test(), floats, parameters); });
  }
}

TEST(Redact, CoveringNothingIsAnErrorUnlessItIsAllowed) {
  const Image picture = random_picture(shape_of(3, Type::u8, Alpha::none), 1);
  for (const Type type : {Type::u8, Type::u16}) {
    Image mask = constant_picture({41, 29, 1, type}, 0);
    Redact parameters;
    parameters.mask = mask.view();
    expect_error(ErrorKind::usage, "allow-nothing", [&] { return redacted(picture, parameters); });
    std::memset(mask.view().at(40, 28), 1, 1);
    EXPECT_NO_THROW(static_cast<void>(redacted(picture, parameters)));
    std::memset(mask.view().at(40, 28), 0, 1);
    parameters.allow_nothing = true;
    EXPECT_EQ(difference(redacted(picture, parameters), picture), "");
  }
  Redact outside;
  outside.boxes = {{41, 0, 5, 5}, {1, 1, 2, 2}};
  expect_error(ErrorKind::usage, "41,0,5,5", [&] { return redacted(picture, outside); });
  outside.allow_nothing = true;
  Redact inside;
  inside.boxes = {{1, 1, 2, 2}};
  EXPECT_EQ(difference(redacted(picture, outside), redacted(picture, inside)), "");
}

// A plan that runs again and again checks every frame of its last run.
TEST(Redact, EveryFrameOfAMaskCovers) {
  Shape shape = shape_of(1, Type::u8, Alpha::none);
  shape.frames = 3;
  const Image picture = random_picture(shape, 1);
  Image mask = constant_picture(shape, 0);
  for (std::int64_t frame = 0; frame < 3; ++frame) std::memset(mask.view().frame(frame).at(20, 20), 1, 1);
  Redact parameters;
  parameters.mask = mask.view();
  Plan prepared = plan(device_under_test(), shape, parameters);
  const std::array inputs = {picture.view(), parameters.mask};
  const auto run = [&] { return run_plan(device_under_test(), prepared, inputs); };
  for (std::int64_t frame = 0; frame < 3; ++frame) {
    EXPECT_NO_THROW(static_cast<void>(run()));
    std::memset(mask.view().frame(frame).at(20, 20), 0, 1);
    expect_error(ErrorKind::usage, "0 everywhere", run);
    std::memset(mask.view().frame(frame).at(20, 20), 1, 1);
  }
}

TEST(Redact, BoxesAndColoursAsText) {
  EXPECT_EQ(parse_boxes("box", "1,2,3,4"), std::vector<PixelBox>({{1, 2, 3, 4}}));
  EXPECT_EQ(parse_boxes("box", "-1,0,3,4;5,6,7,8"), std::vector<PixelBox>({{-1, 0, 3, 4}, {5, 6, 7, 8}}));
  EXPECT_EQ(parse_colour("colour", "#Ff8001"), (Colour{255, 128, 1}));
  EXPECT_EQ(print_colour({255, 128, 1}), "#ff8001");
  for (const char* text : {"", "1", "1,2,3", "1,2,3,4,5", "1,2,3,4;", "1,2,3,x", "1,2,0,4", "1,2,3,-4",
                           "1.5,2,3,4", "1,2,3,4 ", "1,2,99999999999,4", "99999999999999999999,2,3,4"})
    expect_error(ErrorKind::usage, "box", [&] { return parse_boxes("box", text); });
  for (const char* text :
       {"", "#", "black", "ff8000", "#ff800", "#ff80000", "#gg0000", "#+f8000", "#-f8000", "0x112233"})
    expect_error(ErrorKind::usage, "colour", [&] { return parse_colour("colour", text); });
}

}  // namespace
}  // namespace satin::test
