// guided() against its equations, evaluated pixel by pixel over every window, and at the bounds of its exact
// sums.

#include "satin/filters/guided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "guided/local_linear.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_guided.h"
#include "tests/oracles/oracle_line.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

using Real = long double;

double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

double white_of(Type type) { return type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1; }

Real largest_of(const ImageView& view) {
  Real largest = 0;
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x)
      for (int c = 0; c < view.shape.channels; ++c)
        largest = std::max(largest, std::fabs(counted_value(view, x, y, c)));
  return largest;
}

Image result_on(const Device& device, const Image& picture, const Image& guide, const Guided& parameters) {
  Guided with_guide = parameters;
  with_guide.guide = guide.empty() ? ImageView{} : guide.view();
  Plan plan = satin::plan(device, picture.shape(), with_guide);
  const ImageView inputs[] = {picture.view(), with_guide.guide, with_guide.mask};
  return run_plan(device, plan, inputs);
}

Image result_of(const Image& picture, const Image& guide, const Guided& parameters) {
  return result_on(device_under_test(), picture, guide, parameters);
}

/// Returns how far rounding may change a result. Integers are summed exactly, so errors come from the fixed
/// point of slopes and offsets and from the solution in double. Floats are rounded to at least 24 bits in
/// these windows, and rounding the guide also changes the slopes.
Real tolerance_of(const ImageView& picture, const ImageView& guide, Real steepest) {
  const bool floats = picture.shape.type == Type::f32 || guide.shape.type == Type::f32;
  const bool products = picture.shape.alpha == Alpha::straight || guide.shape.alpha == Alpha::straight;
  const bool cut = floats || (products && (picture.shape.type == Type::u16 || guide.shape.type == Type::u16));
  return (largest_of(picture) + steepest * largest_of(guide)) * (cut ? 0x1p-15L : 0x1p-28L);
}

/// Compares one channel of one pixel. `alpha` is the alpha by the equations, or 1 without straight alpha.
void check_value(Real found, Real value, Real alpha, Real white, Real tolerance, const std::string& where) {
  Real expected = value / alpha;
  Real allowed = tolerance * (1 + std::fabs(expected)) / alpha;
  if (white != 0) {
    expected = std::clamp(expected, Real{0}, white);
    allowed += 0.5L;
  } else {
    allowed += std::fabs(expected) * 0x1p-24L;
  }
  ASSERT_LE(std::fabs(found - expected), allowed)
      << where << ": " << static_cast<double>(found) << ", by definition " << static_cast<double>(expected);
}

void check(const Shape& shape, const Shape& guide_shape, const Guided& parameters, std::uint64_t seed) {
  SCOPED_TRACE(describe(shape) + " guided by " + (guide_shape.width == 0 ? "itself" : describe(guide_shape)) +
               ", radius " + print_radius(parameters.radius) + ", eps " + print_real(parameters.eps) +
               ", border " + std::to_string(static_cast<int>(parameters.border)) + ", seed " +
               std::to_string(seed));
  const Image picture = random_picture(shape, seed);
  const Image guide = guide_shape.width == 0 ? Image() : random_picture(guide_shape, seed + 1);
  const ImageView guide_view = guide.empty() ? picture.view() : guide.view();
  const Image found = result_of(picture, guide, parameters);
  const std::vector<GuidedValue> expected = guided_by_definition(
      picture.view(), guide_view,
      {static_cast<std::int64_t>(parameters.radius.x.value),
       static_cast<std::int64_t>(parameters.radius.y.value), parameters.eps, parameters.border});
  const bool straight = shape.alpha == Alpha::straight;
  const Real white = shape.type == Type::f32 ? 0 : static_cast<Real>(white_of(shape.type));
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::size_t pixel = static_cast<std::size_t>((y * shape.width + x) * shape.channels);
      const GuidedValue* values = expected.data() + pixel;
      const std::string where = std::to_string(x) + ", " + std::to_string(y);
      for (int c = 0; c < shape.channels; ++c) {
        const bool colour = straight && c != shape.channels - 1;
        const Real alpha = colour ? values[shape.channels - 1].value : 1;
        const Real tolerance = tolerance_of(picture.view(), guide_view, values[c].steepest);
        if (colour && white != 0 && stored(found.view(), x, y, shape.channels - 1) == 0) {
          ASSERT_EQ(stored(found.view(), x, y, c), stored(picture.view(), x, y, c)) << where;
        } else if (colour && alpha < (white != 0 ? 0.25L : 0.05L)) {
          continue;  // alpha is close to 0, so the colour is not accurate
        } else {
          const bool faint = straight && !colour && white == 0 && values[c].value < 0.05L;
          if (!faint)
            check_value(stored(found.view(), x, y, c), values[c].value, alpha, white, tolerance,
                        where + " channel " + std::to_string(c));
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
}

Alpha alpha_of(int channels) { return channels % 2 == 0 ? Alpha::straight : Alpha::none; }

TEST(Guided, IsTheEquationsForPicturesThatGuideThemselves) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4})
      for (const Alpha alpha : {Alpha::none, Alpha::straight}) {
        if (alpha == Alpha::straight && channels % 2 == 1) continue;
        check({23, 17, channels, type, alpha}, {}, {.radius = 3}, ++seed);
      }
}

TEST(Guided, IsTheEquationsForGuidesOfAnyTypeAndNumberOfChannels) {
  std::uint64_t seed = 100;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Type guide_type : {Type::u8, Type::u16, Type::f32})
      for (const int channels : {1, 2, 3, 4})
        for (const int guide_channels : {1, 2, 3, 4}) {
          if (slow_build() && channels != guide_channels) continue;
          check({13, 11, channels, type, alpha_of(channels)},
                {13, 11, guide_channels, guide_type, alpha_of(guide_channels)}, {.radius = 2, .eps = 0.003},
                ++seed);
        }
}

TEST(Guided, IsTheEquationsForEveryBorderAndRadius) {
  std::uint64_t seed = 300;
  for (const Border border : {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap})
    for (const Radius radius : {Radius(0), Radius(1), Radius({4, false}, {2, false}), Radius(7), Radius(30)})
      for (const int channels : {1, 3})
        check({13, 9, channels, Type::u8}, {}, {.radius = radius, .border = border}, ++seed);
}

TEST(Guided, IsTheEquationsForOddShapes) {
  std::uint64_t seed = 400;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 40}, {40, 1}, {2, 3}, {150, 3}, {3, 150}})
    for (const int channels : {1, 3})
      check({width, height, channels, Type::u16}, {width, height, 3, Type::u8}, {.radius = 4}, ++seed);
}

/// On a GPU windows slide down tiles up to a reach of 96 along a row and without alpha; beyond, tables are
/// used.
TEST(Guided, IsTheEquationsAcrossTilesAndForTheirWidestWindows) {
  std::uint64_t seed = 450;
  for (const Border border : {Border::shrink, Border::clamp, Border::mirror, Border::wrap}) {
    check({460, 4, 3, Type::u8}, {}, {.radius = Radius({20, false}, {0, false}), .border = border}, ++seed);
    check({515, 5, 2, Type::u8}, {515, 5, 3, Type::u8},
          {.radius = Radius({3, false}, {1, false}), .border = border}, ++seed);
    if (slow_build()) continue;
    for (const double reach : {96, 97})
      check({450, 1, 1, Type::u8}, {450, 1, 1, Type::u8},
            {.radius = Radius({reach, false}, {0, false}), .border = border}, ++seed);
  }
}

TEST(Guided, IsTheEquationsForEveryEps) {
  std::uint64_t seed = 500;
  for (const double eps : {1e-9, 1e-6, 1e-4, 1.0, 1e6}) {
    check({19, 21, 1, Type::u8}, {}, {.radius = 3, .eps = eps}, ++seed);
    check({19, 21, 3, Type::u16}, {}, {.radius = 3, .eps = eps}, ++seed);
    check({19, 21, 2, Type::u8}, {19, 21, 3, Type::u16}, {.radius = 3, .eps = eps}, ++seed);
  }
}

/// Products of sums of 16-bit values need 128 bits.
TEST(Guided, IsTheEquationsForWindowsOfManyPixels) {
  check({31, 29, 1, Type::u16}, {}, {.radius = 28, .eps = 1e-4}, 601);
  check({31, 29, 3, Type::u16}, {31, 29, 3, Type::u16}, {.radius = 30, .eps = 1e-4}, 602);
  check({31, 29, 1, Type::f32}, {31, 29, 1, Type::u8}, {.radius = 28, .eps = 1e-4}, 603);
}

/// A deviation of 1 at values of 65,534 would become noise by cancellation.
TEST(Guided, KeepsSmallVariancesOnBrightPictures) {
  const Shape shape{60, 50, 1, Type::u16};
  Image picture(shape);
  Random random(7);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      picture.view().value<std::uint16_t>(x, y) = static_cast<std::uint16_t>(65000 + 200 * random.below(3));
  const Guided parameters{.radius = 20, .eps = 1e-6};
  const Image found = result_of(picture, {}, parameters);
  const auto expected = guided_by_definition(picture.view(), picture.view(), {20, 20, 1e-6, Border::shrink});
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(reinterpret_cast<const std::uint16_t*>(found.data())[i],
                static_cast<double>(expected[i].value), 0.5001)
        << i;
}

TEST(Guided, KeepsConstantPicturesWithWindowsOfAnySize) {
  const Image guide = random_picture({301, 203, 3, Type::f32}, 5);
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Alpha alpha : {Alpha::none, Alpha::straight})
      for (const double value : {0.1, 0.7371, 1.0}) {
        if (slow_build() && value != 0.7371) continue;
        const Image picture = constant_picture({301, 203, 4, type, alpha}, value);
        ASSERT_EQ(difference(result_of(picture, guide, {.radius = 150, .eps = 1e-6}), picture), "") << value;
        ASSERT_EQ(difference(result_of(picture, {}, {.radius = 299, .eps = 1e-9}), picture), "") << value;
      }
}

/// Rows of this picture are so long that the CPU computes their coefficients twice. The left end equals
/// that of a narrow picture.
TEST(Guided, IsTheSameInWidePictures) {
  constexpr std::int64_t height = 16;
  const Image wide = random_picture({60000, height, 3, Type::u8}, 61);
  Image narrow({100, height, 3, Type::u8});
  for (std::int64_t y = 0; y < height; ++y)
    std::copy_n(wide.view().row<std::uint8_t>(y), 300, narrow.view().row<std::uint8_t>(y));
  for (const Border border : {Border::shrink, Border::reflect}) {
    const Image found = result_of(wide, {}, {.radius = 5, .border = border});
    const Image expected = result_of(narrow, {}, {.radius = 5, .border = border});
    for (std::int64_t y = 0; y < height; ++y)
      ASSERT_TRUE(std::equal(expected.view().row<std::uint8_t>(y),
                             expected.view().row<std::uint8_t>(y) + 3 * 90,
                             found.view().row<std::uint8_t>(y)))
          << "row " << y;
  }
}

/// 66,051 is the largest number of white pixels whose squares sum to less than 2^32.
TEST(Guided, SumsOnTheBoundOfThirtyTwoBits) {
  for (const std::int64_t width : {66051, 66052}) {
    Image picture = constant_picture({width, 1, 1, Type::u8}, 1.0);
    ASSERT_EQ(difference(result_of(picture, {}, {.radius = 16384}), picture), "") << width;
    LocalLinearJob job;
    job.width = width;
    job.height = 1;
    job.reach_x = job.reach_y = width;
    choose_linear_bits(job);
    EXPECT_EQ(job.sums_fit_32_bits, width == 66051);
  }
}

/// 1,448 is the largest number of white pixels of 16 bits for which n times the sum of squares is at most
/// 2^53.
TEST(Guided, NumeratorsOnTheBoundOfDoubles) {
  for (const std::int64_t height : {1448, 1449}) {
    const Guided parameters{.radius = Radius({0, false}, {724, false}), .eps = 1e-9};
    const Image picture = constant_picture({5, height, 1, Type::u16}, 1.0);
    ASSERT_EQ(difference(result_of(picture, {}, parameters), picture), "") << height;
    check({5, height, 1, Type::u16}, {}, parameters, 71);
    LocalLinearJob job;
    job.width = 5;
    job.height = height;
    job.picture.type = job.guide.type = Type::u16;
    job.reach_y = 724;
    choose_linear_bits(job);
    EXPECT_EQ(job.numerators_fit_double, height == 1448);
  }
}

/// With a window of one pixel the slope is 0 and the offset is the pixel.
TEST(Guided, WithRadiusZeroIsTheIdentity) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4}) {
      const Image picture = random_picture({23, 19, channels, type, alpha_of(channels)}, 51);
      ASSERT_EQ(difference(result_of(picture, {}, {.radius = 0}), picture), "") << name_of(type) << channels;
    }
}

/// Returns the mean over windows that shrink at the border.
std::vector<double> box_mean(const std::vector<double>& values, int width, int height, int reach) {
  std::vector<double> result;
  const ExtendedLine columns(width, reach, Border::shrink);
  const ExtendedLine rows(height, reach, Border::shrink);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      double count = 0;
      for (const auto& row : whole_window(rows, y, reach).terms)
        for (const auto& column : whole_window(columns, x, reach).terms) {
          sum += values[static_cast<std::size_t>(row.index * width + column.index)];
          ++count;
        }
      result.push_back(sum / count);
    }
  return result;
}

TEST(Guided, WithALargeEpsIsTheBoxMeanOfTheBoxMean) {
  const Image picture = random_picture({37, 29, 1, Type::u16}, 9);
  std::vector<double> values;
  for (int i = 0; i < 37 * 29; ++i) values.push_back(stored(picture.view(), i % 37, i / 37, 0));
  const std::vector<double> expected = box_mean(box_mean(values, 37, 29, 5), 37, 29, 5);
  const Image found = result_of(picture, {}, {.radius = 5, .eps = 1e6});
  for (int i = 0; i < 37 * 29; ++i)
    ASSERT_NEAR(stored(found.view(), i % 37, i / 37, 0), expected[static_cast<std::size_t>(i)], 0.55) << i;
}

/// In a step of 120 with noise of +-4 the noise disappears and the step stays, which a box mean would blur.
TEST(Guided, KeepsEdgesAndSmoothsFlatAreas) {
  const Shape shape{64, 48, 1, Type::u8};
  Image picture(shape);
  Random random(3);
  const auto clean = [](std::int64_t x) { return x < 32 ? 60 : 180; };
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      picture.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(clean(x) + random.between(-4, 4));
  const Image found = result_of(picture, {}, {.radius = 6, .eps = 0.002});
  double left = 0;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double off = stored(found.view(), x, y, 0) - clean(x);
      EXPECT_LE(std::fabs(off), 7) << x << ", " << y;
      if (x < 16 || x >= 48) left = std::max(left, std::fabs(off));
    }
  EXPECT_LE(left, 2);
}

/// With R = G = B = I the slopes of a colour guide sum to 3 cov / (3 var + eps), that of a grey guide with
/// eps / 3. Slopes are equal to 2^-30 in these windows and floats are rounded to 24 bits, so results differ
/// by at most 2^-20 of the largest value.
TEST(Guided, ByEqualColoursIsGuidedByGrey) {
  const Image picture = random_picture({33, 27, 2, Type::f32}, 21);
  const Image grey = random_picture({33, 27, 1, Type::u8}, 22);
  Image colours({33, 27, 3, Type::u8});
  for (std::int64_t y = 0; y < 27; ++y)
    for (std::int64_t x = 0; x < 33; ++x)
      for (int c = 0; c < 3; ++c)
        colours.view().value<std::uint8_t>(x, y, c) = grey.view().value<std::uint8_t>(x, y);
  const Image by_grey = result_of(picture, grey, {.radius = 4, .eps = 0.001});
  const Image by_colours = result_of(picture, colours, {.radius = 4, .eps = 0.003});
  for (std::int64_t y = 0; y < 27; ++y)
    for (std::int64_t x = 0; x < 33; ++x)
      for (int c = 0; c < 2; ++c)
        ASSERT_NEAR(stored(by_grey.view(), x, y, c), stored(by_colours.view(), x, y, c), 16 * 0x1p-20)
            << x << ", " << y;
}

TEST(Guided, ByItselfIsGuidedByACopy) {
  for (const Type type : {Type::u8, Type::u16})
    for (const int channels : {1, 2, 3, 4}) {
      const Image picture = random_picture({41, 23, channels, type, alpha_of(channels)}, 31);
      ASSERT_EQ(difference(result_of(picture, picture, {.radius = 3}), result_of(picture, {}, {.radius = 3})),
                "");
    }
}

TEST(Guided, TakesTheOrderOfTheGuidesColoursAsATag) {
  const Image picture = random_picture({29, 31, 1, Type::u16}, 41);
  const Image guide = random_picture({29, 31, 3, Type::u8}, 42);
  Shape shape = guide.shape();
  shape.order = Order::bgr;
  Image swapped(shape);
  for (std::int64_t y = 0; y < 31; ++y)
    for (std::int64_t x = 0; x < 29; ++x)
      for (int c = 0; c < 3; ++c)
        swapped.view().value<std::uint8_t>(x, y, c) = guide.view().value<std::uint8_t>(x, y, 2 - c);
  ASSERT_EQ(difference(result_of(picture, swapped, {}), result_of(picture, guide, {})), "");
}

// The tolerance of the equations would hide steps of another rounding.
TEST(Guided, HasTheBytesOfTheCpu) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  const Device cpu = Device::open("cpu");
  std::uint64_t seed = 700;
  for (const Type type : {Type::u8, Type::u16})
    for (const int channels : {1, 2, 3, 4})
      for (const int guide_channels : {0, 1, 2, 3, 4})
        for (const Border border : {Border::shrink, Border::clamp, Border::mirror}) {
          ++seed;
          Shape shape{530, 47, channels, type, alpha_of(channels)};
          if (channels >= 3 && seed % 2 == 0) shape.order = Order::bgr;
          const Shape guide_shape{530, 47, guide_channels, type, alpha_of(guide_channels)};
          const Image picture =
              seed % 4 < 2 ? random_picture(shape, seed) : sparse_picture(shape, 0.5, 40, seed);
          const Image guide = guide_channels == 0 ? Image() : random_picture(guide_shape, seed + 1000);
          const Image mask = seed % 3 == 0 ? random_map(530, 47, Type::u8, seed) : Image();
          Guided parameters{.radius = Radius({static_cast<double>(seed % 10), false}, {2, false}),
                            .eps = seed % 5 == 0 ? 1e-9 : 1e-3,
                            .border = border};
          parameters.mask = mask.view();
          ASSERT_EQ(
              difference(result_of(picture, guide, parameters), result_on(cpu, picture, guide, parameters)),
              "")
              << name_of(type) << channels << " by " << guide_channels << ", seed " << seed;
        }
}

TEST(Guided, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const Shape shape{8, 8, 1, Type::u8};
  const auto with = [&](const Guided& parameters) {
    return [=, &device] { return plan(device, shape, parameters); };
  };
  expect_error(ErrorKind::usage, "eps 0", with({.eps = 0}));
  expect_error(ErrorKind::usage, "eps", with({.eps = std::nan("")}));
  expect_error(ErrorKind::usage, "eps", with({.eps = 1e7}));
  expect_error(ErrorKind::usage, "whole pixels", with({.radius = 2.5}));
  expect_error(ErrorKind::usage, "radius -1", with({.radius = -1}));
  expect_error(ErrorKind::usage, "radius 16385", with({.radius = 16385}));
  expect_error(ErrorKind::usage, "constant", with({.border = Border::constant}));
  expect_error(ErrorKind::usage, "u32", [&] { return plan(device, {8, 8, 1, Type::u32}, Guided{}); });
  const Image wrong_type({8, 8, 1, Type::u32});
  expect_error(ErrorKind::usage, "The guide is of type u32", with({.guide = wrong_type.view()}));
  const Image wrong_size({8, 9, 3, Type::u8});
  expect_error(ErrorKind::usage, "guide is 8 x 9", with({.guide = wrong_size.view()}));
  Image bad({8, 8, 1, Type::f32});
  for (int i = 0; i < 64; ++i) bad.view().value<float>(i % 8, i / 8) = i == 40 ? NAN : 1.0F;
  const Image good = constant_picture(shape, 0.5);
  expect_error(ErrorKind::input, "picture holds NaN", [&] { return guided(device, bad); });
  expect_error(ErrorKind::input, "picture holds NaN",
               [&] { return guided(device, bad, {.guide = good.view()}); });
  expect_error(ErrorKind::input, "guide holds NaN",
               [&] { return guided(device, good, {.guide = bad.view()}); });
}

}  // namespace
}  // namespace satin::test
