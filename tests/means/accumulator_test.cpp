// The checked choices of widths: of accumulators, of the fixed point of floats, and of the divisors of alpha.

#include <gtest/gtest.h>

#include "means/box_mean.h"
#include "pixels/pixels.h"
#include "statistics/box_stats.h"
#include "statistics/maths/local_statistics.h"
#include "tests/oracles/expect_error.h"

namespace satin::test {
namespace {

PixelRead read_of(Type type, int channels = 1, Transfer transfer = Transfer::identity,
                  Alpha alpha = Alpha::none) {
  return read_pixels({8, 8, channels, type, alpha}, transfer, 64);
}

/// Expects u32 for the largest area whose sum fits 32 bits, and u64 for one pixel more.
void expect_narrow_up_to(std::uint64_t area, const PixelRead& read) {
  EXPECT_EQ(choose_accumulator(read, area, read.maximum), Accumulator::u32) << area;
  EXPECT_EQ(choose_accumulator(read, area + 1, read.maximum), Accumulator::u64) << area + 1;
}

TEST(Accumulator, LargestWorkingValues) {
  EXPECT_EQ(read_of(Type::u8).maximum, 255U);
  EXPECT_EQ(read_of(Type::u16).maximum, 65535U);
  EXPECT_EQ(read_of(Type::u8, 3, Transfer::srgb).maximum, 65535U);
  EXPECT_EQ(read_of(Type::u16, 3, Transfer::srgb).maximum, 16777215U);
  EXPECT_EQ(read_of(Type::u8, 4, Transfer::identity, Alpha::straight).maximum, 255U * 255U);
  EXPECT_EQ(read_of(Type::u8, 4, Transfer::srgb, Alpha::straight).maximum, 65535U * 255U);
  EXPECT_EQ(read_of(Type::u16, 2, Transfer::srgb, Alpha::straight).maximum, std::uint64_t{16777215} * 65535U);
  EXPECT_EQ(read_of(Type::u8, 4, Transfer::identity, Alpha::premultiplied).maximum, 255U);
  EXPECT_EQ(read_of(Type::f32).maximum, std::uint64_t{1} << 40);
  EXPECT_EQ(working_pixels(read_of(Type::u8)).maximum, 255U * 256U);
  EXPECT_EQ(working_pixels(read_of(Type::u8)).type, Type::u16);
  EXPECT_EQ(working_pixels(read_of(Type::u8, 3, Transfer::srgb)).maximum, 65535U);
  EXPECT_EQ(working_pixels(read_of(Type::u8, 3, Transfer::srgb)).type, Type::u16);
  EXPECT_EQ(fine_working_pixels(read_of(Type::u8)).type, Type::u16);
  EXPECT_EQ(fine_working_pixels(read_of(Type::u8, 3, Transfer::srgb)).maximum, 65535U * 256U);
  EXPECT_EQ(fine_working_pixels(read_of(Type::u8, 3, Transfer::srgb)).type, Type::u32);
  EXPECT_EQ(working_pixels(read_of(Type::u8, 4, Transfer::srgb, Alpha::straight)).type, Type::u32);
  EXPECT_EQ(working_pixels(read_of(Type::u16, 3, Transfer::srgb)).type, Type::u32);
  EXPECT_EQ(working_pixels(read_of(Type::u16, 4, Transfer::identity, Alpha::straight)).type, Type::u64);
  EXPECT_EQ(working_pixels(read_of(Type::f32)).type, Type::u64);
}

TEST(Accumulator, SwitchesToSixtyFourBitsOnTheBound) {
  expect_narrow_up_to(16843009, read_of(Type::u8));  // * 255 = 2^32 - 1
  expect_narrow_up_to(65537, read_of(Type::u16));    // * 65535 = 2^32 - 1
  expect_narrow_up_to(65537, read_of(Type::u8, 3, Transfer::srgb));
  expect_narrow_up_to(256, read_of(Type::u16, 3, Transfer::srgb));
  expect_narrow_up_to(66051, read_of(Type::u8, 4, Transfer::identity, Alpha::straight));
  expect_narrow_up_to(257, read_of(Type::u8, 4, Transfer::srgb, Alpha::straight));
}

TEST(Accumulator, RefusesWhatSixtyFourBitsDoNotHold) {
  const PixelRead read = read_of(Type::u16, 4, Transfer::srgb, Alpha::straight);
  const std::uint64_t area = ~std::uint64_t{0} / read.maximum;
  EXPECT_EQ(choose_accumulator(read, area, read.maximum), Accumulator::u64);
  expect_error(ErrorKind::usage, "does not fit 64 bits",
               [&] { return choose_accumulator(read, area + 1, read.maximum); });
}

TEST(Accumulator, FloatsAreSigned) {
  const PixelRead read = read_of(Type::f32);
  EXPECT_EQ(choose_accumulator(read, 1, read.maximum), Accumulator::u64);
  EXPECT_EQ(choose_accumulator(read, (1U << 23) - 1, read.maximum), Accumulator::u64);
  expect_error(ErrorKind::usage, "does not fit 63 bits",
               [&] { return choose_accumulator(read, 1U << 23, read.maximum); });
}

TEST(Accumulator, BitsOfFloatsNeverOverflow) {
  EXPECT_EQ(fixed_bits_for(1), 40);
  EXPECT_EQ(fixed_bits_for((1U << 23) - 1), 40);
  EXPECT_EQ(fixed_bits_for(1U << 23), 39);
  for (int shift = 1; shift < 40; ++shift)
    for (const std::uint64_t area : {(std::uint64_t{1} << shift) - 1, std::uint64_t{1} << shift}) {
      const int bits = fixed_bits_for(area);
      EXPECT_LE(area, ((std::uint64_t{1} << 63) - 1) >> bits) << area;
      if (bits < 40) {
        EXPECT_GT(area, ((std::uint64_t{1} << 63) - 1) >> (bits + 2)) << area << ": needlessly few bits";
      }
    }
}

TEST(Accumulator, AlphaDivisorStaysBelowItsLimit) {
  const PixelRead sixteen = read_of(Type::u16, 4, Transfer::srgb, Alpha::straight);
  const std::uint64_t largest = ((std::uint64_t{1} << 45) - 1) / 65535;  // * 65535 * 65536 parts < 2^61
  EXPECT_NO_THROW(check_alpha_divisor(sixteen, largest));
  expect_error(ErrorKind::usage, "too large for 16-bit alpha", [&] {
    check_alpha_divisor(sixteen, largest + 1);
    return 0;
  });
  EXPECT_NO_THROW(check_alpha_divisor(read_of(Type::u16), std::uint64_t{1} << 60));
  const std::uint64_t largest_window = std::uint64_t{16385} * 16385;  // window of the first of two boxes
  EXPECT_NO_THROW(check_alpha_divisor(working_pixels(read_of(Type::u8, 4, Transfer::srgb, Alpha::straight)),
                                      largest_window));
}

TEST(Accumulator, SquaresFitTheirSums) {
  EXPECT_TRUE(squares_fit_32_bits(66051));  // 66051 * 255^2 = 2^32 - 1021
  EXPECT_FALSE(squares_fit_32_bits(66052));
  EXPECT_TRUE(quick_suffices((1U << 24) - 1, 0xFF));  // (n * 255)^2 < 2^64
  EXPECT_FALSE(quick_suffices(1U << 24, 0xFF));
  EXPECT_TRUE(quick_suffices(0xFFFF, 0xFFFF));
  EXPECT_FALSE(quick_suffices(0x10000, 0xFFFF));
  for (int shift = 0; shift < 46; ++shift)
    for (const std::uint64_t area : {std::uint64_t{1} << shift, (std::uint64_t{1} << shift) + 1}) {
      const int bits = float_bits_for_squares(Type::f32, area);  // squares of values up to 2^(bits + 1)
      EXPECT_LE(area, ~std::uint64_t{0} >> (2 * bits + 2)) << area;
      EXPECT_GE(bits, 8);
    }
  EXPECT_NO_THROW(static_cast<void>(float_bits_for_squares(Type::u16, std::uint64_t{1} << 32)));
  expect_error(ErrorKind::usage, "too large for exact sums of squares",
               [] { return float_bits_for_squares(Type::u16, (std::uint64_t{1} << 32) + 1); });
}

TEST(Accumulator, LargestBoxOfAJob) {
  RadiusField field;
  field.x = 257;
  field.y = 512;
  EXPECT_EQ(largest_box(100, 100, field, Border::shrink), 25U);
  EXPECT_EQ(largest_box(3, 100, field, Border::shrink), 15U);
  EXPECT_EQ(largest_box(3, 3, field, Border::wrap), 25U);
  field.x = field.y = 0;
  EXPECT_EQ(largest_box(100, 100, field, Border::clamp), 1U);
  field.from_map = true;
  field.low = 300;
  field.high = 10;
  EXPECT_EQ(largest_box(100, 100, field, Border::clamp), 25U);
}

}  // namespace
}  // namespace satin::test
