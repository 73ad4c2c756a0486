// integral() against direct summation, and its choice of the type of sums.

#include "satin/filters/integral.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_sums.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Type table_type(Type type, std::int64_t pixels, bool squared) {
  if (type == Type::f32) return Type::f64;
  const Wide largest = type == Type::u8 ? 255 : 65535;
  return pixels * (squared ? largest * largest : largest) < (Wide{1} << 32) ? Type::u32 : Type::u64;
}

double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c, std::int64_t frame) {
  switch (view.shape.type) {
    case Type::u8:
      return view.value<std::uint8_t>(x, y, c, frame);
    case Type::u16:
      return view.value<std::uint16_t>(x, y, c, frame);
    default:
      return static_cast<double>(view.value<float>(x, y, c, frame));
  }
}

/// Returns the exponent that brings the largest value (squared) of a frame to 40 bits.
int exponent_of(const ImageView& picture, std::int64_t frame, bool squared) {
  double largest = 0;
  for (std::int64_t y = 0; y < picture.shape.height; ++y)
    for (std::int64_t x = 0; x < picture.shape.width; ++x)
      for (int c = 0; c < picture.shape.channels; ++c)
        largest = std::max(largest, std::fabs(stored(picture, x, y, c, frame)));
  if (largest == 0) return 0;
  int exponent = 0;
  static_cast<void>(std::frexp(squared ? largest * largest : largest, &exponent));
  return 40 - exponent;
}

/// Returns the sum over all pixels from (0, 0) to (x, y). It adds every pixel, so as not to use prefix sums
/// itself.
Wide direct_sum(const Working<Wide>& working, int x, int y, int c) {
  Wide sum = 0;
  for (int j = 0; j <= y; ++j)
    for (int i = 0; i <= x; ++i) sum += working.at(i, j, c);
  return sum;
}

Image oracle_integral(const ImageView& picture, bool squared) {
  Shape shape = picture.shape;
  shape.alpha = Alpha::none;
  shape.type = table_type(shape.type, shape.width * shape.height, squared);
  Image table(shape);
  for (std::int64_t frame = 0; frame < shape.frames; ++frame) {
    const int exponent = shape.type == Type::f64 ? exponent_of(picture, frame, squared) : 0;
    Working<Wide> working{
        static_cast<int>(shape.width), static_cast<int>(shape.height), shape.channels, {}, {}};
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x)
        for (int c = 0; c < shape.channels; ++c) {
          const double value = stored(picture, x, y, c, frame);
          working.values.push_back(
              static_cast<Wide>(std::floor(std::ldexp(squared ? value * value : value, exponent) + 0.5)));
        }
    const MutableImageView out = table.view();
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x)
        for (int c = 0; c < shape.channels; ++c) {
          const Wide sum = direct_sum(working, x, y, c);
          if (shape.type == Type::u32)
            out.value<std::uint32_t>(x, y, c, frame) = static_cast<std::uint32_t>(sum);
          if (shape.type == Type::u64)
            out.value<std::uint64_t>(x, y, c, frame) = static_cast<std::uint64_t>(sum);
          if (shape.type == Type::f64)
            out.value<double>(x, y, c, frame) = std::ldexp(static_cast<double>(sum), -exponent);
        }
  }
  return table;
}

TEST(Integral, IsTheDirectSumForEveryTypeAndSize) {
  const Device& device = device_under_test();
  std::uint64_t seed = 500;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (int channels = 1; channels <= 4; ++channels)
      for (const bool squared : {false, true})
        for (const auto& [width, height] :
             {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 2}, {31, 33}, {33, 32}, {5, 300}, {515, 3}}) {
          Shape shape{width, height, channels, type};
          if (channels % 2 == 0 && seed % 2 == 0) shape.alpha = Alpha::straight;
          if (width == 31) shape.frames = 3;
          if (slow_build() && width * height > 100 && channels != 3) continue;
          const Image picture = random_picture(shape, ++seed);
          SCOPED_TRACE(describe(shape) + (squared ? ", squared" : ""));
          Plan prepared = plan(device, shape, Integral{squared});
          const ImageView view = picture.view();
          const Image result = run_plan(device, prepared, std::span(&view, 1));
          ASSERT_EQ(difference(result, oracle_integral(picture, squared)), "");
        }
}

Type planned_type(const Shape& shape, bool squared = false) {
  return plan(device_under_test(), shape, Integral{squared}).output_shape().type;
}

TEST(Integral, TypeSwitchesExactlyOnTheBound) {
  // 65537 * 257 * 255 = 2^32 - 1
  EXPECT_EQ(planned_type({65537, 257, 1, Type::u8}), Type::u32);
  EXPECT_EQ(planned_type({1684301, 10, 1, Type::u8}), Type::u64);  // one pixel more
  EXPECT_EQ(planned_type({65537, 1, 4, Type::u16}), Type::u32);    // * 65535 = 2^32 - 1
  EXPECT_EQ(planned_type({32769, 2, 1, Type::u16}), Type::u64);
  EXPECT_EQ(planned_type({66051, 1, 1, Type::u8}, true), Type::u32);  // * 65025 <= 2^32 - 1
  EXPECT_EQ(planned_type({66052, 1, 1, Type::u8}, true), Type::u64);
  EXPECT_EQ(planned_type({1, 1, 1, Type::u16}, true), Type::u32);
  EXPECT_EQ(planned_type({2, 1, 1, Type::u16}, true), Type::u64);
  EXPECT_EQ(planned_type({3, 3, 2, Type::f32, Alpha::straight}), Type::f64);
}

TEST(Integral, Modulo32IsTheLowHalfOfTheExactTable) {
  const Device& device = device_under_test();
  std::uint64_t seed = 900;
  for (const Type type : {Type::u8, Type::u16})
    for (const bool squared : {false, true})
      for (const int channels : {1, 3}) {
        // Except for bytes, every entry after the first rows exceeds 2^32 before the reduction.
        const Shape shape{517, 391, channels, type};
        SCOPED_TRACE(describe(shape) + (squared ? ", squared" : ""));
        const Image picture = random_picture(shape, ++seed);
        const Image exact = integral(device, picture, Integral{squared});
        const Image wrapped = integral(device, picture, Integral{squared, Modulo::two_to_32});
        ASSERT_EQ(wrapped.shape().type, Type::u32);
        for (int y = 0; y < 391; ++y)
          for (int x = 0; x < 517; ++x)
            for (int c = 0; c < channels; ++c) {
              const std::uint64_t sum = exact.shape().type == Type::u32
                                            ? exact.view().value<std::uint32_t>(x, y, c)
                                            : exact.view().value<std::uint64_t>(x, y, c);
              ASSERT_EQ(wrapped.view().value<std::uint32_t>(x, y, c), static_cast<std::uint32_t>(sum));
            }
      }
  expect_error(ErrorKind::usage, "leave modulo out", [&] {
    return plan(device, {3, 3, 1, Type::f32}, Integral{false, Modulo::two_to_32});
  });
}

TEST(Integral, IsExactForWhitePicturesOnBothSidesOfTheBound) {
  if (slow_build()) GTEST_SKIP() << "100 MB pictures";
  const Device& device = device_under_test();
  const Image below = integral(device, constant_picture({65537, 257, 1, Type::u8}, 1));
  EXPECT_EQ(below.view().value<std::uint32_t>(65536, 256), 0xFFFFFFFFU);
  EXPECT_EQ(below.view().value<std::uint32_t>(0, 256), 257U * 255U);
  EXPECT_EQ(below.view().value<std::uint32_t>(40000, 100), 40001U * 101U * 255U);
  const Image above = integral(device, constant_picture({4112, 4097, 1, Type::u8}, 1));
  EXPECT_EQ(above.view().value<std::uint64_t>(4111, 4096), std::uint64_t{4112} * 4097 * 255);
  EXPECT_EQ(above.view().value<std::uint64_t>(4000, 4000), std::uint64_t{4001} * 4001 * 255);
}

}  // namespace
}  // namespace satin::test
