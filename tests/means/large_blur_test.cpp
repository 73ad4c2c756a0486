// Box means of pictures that a GPU cuts into several tiles, at radii around those where it changes the
// kernel: the GPU must give the CPU's bytes. On the CPU a few of them are compared with brute force.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::array borders = {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap};
constexpr std::array<std::array<int, 2>, 5> sizes = {
    {{1031, 300}, {2049, 97}, {640, 480}, {333, 777}, {4101, 64}}};
constexpr std::array radii = {1.0,  15.0, 16.5, 31.0, 31.75, 32.0,  32.125, 33.0,  47.5,  64.0, 65.0,
                              90.0, 91.0, 96.5, 97.0, 127.0, 128.0, 129.25, 200.0, 300.5, 700.0};

const Device& cpu() {
  static const Device device = Device::open("cpu");
  return device;
}

Format random_format(Random& random) {
  const int channels = random.between(1, 4);
  return {random.one_in(3) ? Type::u16 : Type::u8, channels,
          channels % 2 == 0 && random.one_in(2) ? Alpha::straight : Alpha::none};
}

BlurCase random_case(Random& random) {
  const auto& size = random.pick(sizes);
  const Format format = random_format(random);
  BlurCase blur_case;
  blur_case.shape.width = size[0];
  blur_case.shape.height = size[1];
  blur_case.shape.type = format.type;
  blur_case.shape.channels = format.channels;
  blur_case.shape.alpha = format.alpha;
  blur_case.blur.border = random.pick(borders);
  blur_case.blur.space = random.one_in(2) ? Space::linear : Space::encoded;
  blur_case.seed = random.next();
  return blur_case;
}

/// Returns white, which has the largest sums, or noise.
Image picture_of(const BlurCase& blur_case) {
  return blur_case.seed % 5 == 0 ? constant_picture(blur_case.shape, 1)
                                 : random_picture(blur_case.shape, blur_case.seed);
}

void check_against_cpu(const BlurCase& blur_case, const Image& picture, const ImageView& map,
                       const ImageView& mask = {}) {
  Blur blur = blur_case.blur;
  blur.radius_map = map;
  blur.mask = mask;
  const std::vector<ImageView> inputs = {picture.view(), map, mask};
  Plan expected_plan = plan(cpu(), blur_case.shape, blur);
  Plan plan_under_test = plan(device_under_test(), blur_case.shape, blur);
  const Image expected = run_plan(cpu(), expected_plan, inputs);
  for (int turn = 0; turn < 3; ++turn)
    ASSERT_EQ(difference(run_plan(device_under_test(), plan_under_test, inputs), expected), "")
        << describe(blur_case) << ", turn " << turn;
}
void check_against_cpu(const BlurCase& blur_case, const ImageView& map, const ImageView& mask = {}) {
  check_against_cpu(blur_case, picture_of(blur_case), map, mask);
}

TEST(LargeBlur, OneRadius) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  Random random(0x1A46E);
  for (const double radius : radii)
    for (int turn = 0; turn < 4; ++turn) {
      BlurCase blur_case = random_case(random);
      const double other = random.one_in(3) ? random.pick(radii) : radius;
      blur_case.blur.radius = random.one_in(2) ? Radius(Length{radius, false}, Length{other, false})
                                               : Radius(Length{other, false}, Length{radius, false});
      check_against_cpu(blur_case, {});
      if (HasFatalFailure()) return;
    }
}

TEST(LargeBlur, OneRadiusOfAPhotograph) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  for (const double radius : {16.0, 16.5, 64.0, 1000.0})
    for (const Space space : {Space::encoded, Space::linear}) {
      BlurCase blur_case;
      blur_case.shape.width = 3840;
      blur_case.shape.height = 1080;
      blur_case.shape.channels = 3;
      blur_case.blur.radius = radius;
      blur_case.blur.space = space;
      check_against_cpu(blur_case, {});
      if (HasFatalFailure()) return;
    }
}

/// Formats whose window sums need 64 bits, in one box or in successive ones.
constexpr std::array wide_formats = {
    Format{Type::f32, 1, Alpha::none},          Format{Type::f32, 2, Alpha::none},
    Format{Type::f32, 3, Alpha::none},          Format{Type::f32, 4, Alpha::none},
    Format{Type::f32, 4, Alpha::premultiplied}, Format{Type::u16, 1, Alpha::none},
    Format{Type::u16, 2, Alpha::none},          Format{Type::u16, 3, Alpha::none},
    Format{Type::u16, 4, Alpha::none},          Format{Type::u8, 2, Alpha::straight},
    Format{Type::u8, 4, Alpha::straight},       Format{Type::u16, 2, Alpha::straight},
    Format{Type::u16, 4, Alpha::straight},      Format{Type::f32, 2, Alpha::straight},
    Format{Type::f32, 4, Alpha::straight}};

BlurCase wide_case(Random& random, const Format& format) {
  BlurCase blur_case = random_case(random);
  blur_case.shape.type = format.type;
  blur_case.shape.channels = format.channels;
  blur_case.shape.alpha = format.alpha;
  blur_case.blur.space = Space::linear;
  return blur_case;
}

TEST(LargeBlur, OneRadiusWithSixtyFourBitSums) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  Random random(0x1A473);
  for (const Format& format : wide_formats)
    for (const double radius : {1.0, 2.0, 3.0, 4.5, 16.0, 16.25, 31.0, 47.5, 64.0, 96.0, 96.5, 97.0}) {
      BlurCase blur_case = wide_case(random, format);
      const double other = random.pick(std::array{0.0, 0.5, 7.0, 33.125, 97.0});
      if (random.one_in(3)) {
        blur_case.blur.radius = random.one_in(2) ? Radius(Length{radius, false}, Length{other, false})
                                                 : Radius(Length{other, false}, Length{radius, false});
      } else {
        blur_case.blur.radius = radius;
      }
      check_against_cpu(blur_case, {});
      if (HasFatalFailure()) return;
    }
}

TEST(LargeBlur, SuccessiveBoxesWithSixtyFourBitSums) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  Random random(0x1A474);
  for (const Format& format : wide_formats)
    for (const double sigma : {0.7, 3.0, 8.0, 11.3, 25.0, 60.0}) {
      BlurCase blur_case = wide_case(random, format);
      blur_case.blur.sigma = sigma;
      if (random.one_in(4)) blur_case.blur.kernel = Kernel::tent;
      check_against_cpu(blur_case, {});
      if (HasFatalFailure()) return;
    }
}

// Rows of every length and alignment, and pictures of a few pixels.
TEST(LargeBlur, EveryAlignmentWithSixtyFourBitSums) {
  Random random(0x1A475);
  for (const Format& format : wide_formats)
    for (const int width : {1, 2, 5, 13, 40, 127, 130}) {
      BlurCase blur_case = wide_case(random, format);
      blur_case.shape.width = width;
      blur_case.shape.height = random.pick(std::array{1, 2, 19});
      blur_case.seed = random.next();
      if (random.one_in(2)) {
        blur_case.blur.sigma = random.pick(std::array{0.6, 1.5, 5.3});
      } else {
        blur_case.blur.radius = random.pick(std::array{0.75, 1.0, 2.0, 3.0, 4.0, 9.5});
      }
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

TEST(LargeBlur, RadiusMap) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  constexpr std::array<std::array<double, 2>, 20> ends = {
      {{0, 255},  {0, 16},    {16, 16},      {31, 32},   {32, 0},      {0, 31.75}, {0, 33},
       {12.5, 8}, {0, 127},   {34, 36},      {60, 63},   {64, 64},     {0, 510},   {100.5, 300},
       {0, 24},   {27, 26.5}, {26.5, 27.25}, {127, 129}, {254.5, 255}, {255, 256}}};
  Random random(0x1A46F);
  for (const auto& [low, high] : ends)
    for (int turn = 0; turn < 8; ++turn) {
      BlurCase blur_case = random_case(random);
      blur_case.blur.radius_min = low;
      blur_case.blur.radius_max = high;
      blur_case.map_type = std::array{Type::u8, Type::u16, Type::f32}[random.below(3)];
      if (turn < 4) blur_case.map_type = Type::u8;
      Image map =
          random_map(blur_case.shape.width, blur_case.shape.height, *blur_case.map_type, random.next());
      if (high == 255 && blur_case.map_type == Type::u8)  // all radii are whole
        for (std::size_t i = 0; i < byte_size(map.shape()); ++i)
          map.data()[i] = std::byte(static_cast<unsigned>(map.data()[i]) % 33);
      check_against_cpu(blur_case, map.view());
      if (HasFatalFailure()) return;
    }
}

/// Returns a picture with a white square on black in the first and third channel, and the inverse in the
/// others.
Image squares(const Shape& shape, std::int64_t left, std::int64_t top, std::int64_t side) {
  Image picture(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const bool inside = x >= left && x < left + side && y >= top && y < top + side;
      for (int c = 0; c < shape.channels; ++c)
        picture.view().value<std::uint8_t>(x, y, c) = inside == (c % 2 == 0) ? 255 : 0;
    }
  return picture;
}

// The GPU knows sums of light modulo 2^32 and completes those of large boxes from bits 28 to 35 of their
// corners.
TEST(LargeBlur, LargestBoxesOfAMapInLinearLight) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  for (const double radius : {127.5, 128.0, 200.0, 255.0, 299.996, 300.0})
    for (int channels = 1; channels <= 4; ++channels)
      for (const std::int64_t offset : {0, 1, 8, 15}) {
        BlurCase blur_case;
        blur_case.shape = {701, 643, channels, Type::u8};
        blur_case.blur.space = Space::linear;
        blur_case.blur.radius_max = radius;
        blur_case.map_type = Type::u8;
        const auto side = 2 * static_cast<std::int64_t>(radius) + 1;
        const Image map = constant_picture({701, 643, 1, Type::u8}, 1);
        check_against_cpu(blur_case, squares(blur_case.shape, 48 + offset, 64 + offset, side), map.view());
        if (HasFatalFailure()) return;
      }
}

// Masks of every weight, over pictures of any size, with one radius and with a map.
TEST(LargeBlur, UnderAMask) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  Random random(0x1A474);
  for (const double radius : {0.25, 1.0, 16.0, 16.5, 40.0, 97.0, 128.0, 250.5})
    for (const MaskMode mode : {MaskMode::blend, MaskMode::exclude})
      for (int turn = 0; turn < 6; ++turn) {
        BlurCase blur_case = random_case(random);
        const Shape& shape = blur_case.shape;
        blur_case.blur.mask_mode = mode;
        if (turn < 3) blur_case.blur.border = Border::shrink;
        blur_case.mask_type = random.one_in(2) ? Type::u8 : Type::u16;
        const Image mask =
            random_picture({shape.width, shape.height, 1, *blur_case.mask_type}, random.next());
        Image map;
        if (turn % 3 == 0) {
          map = random_map(shape.width, shape.height, Type::u8, random.next());
          blur_case.map_type = Type::u8;
          blur_case.blur.radius_max = radius;
        } else {
          blur_case.blur.radius = radius;
        }
        check_against_cpu(blur_case, map.view(), mask.view());
        if (HasFatalFailure()) return;
      }
}

/// Returns codes of a map that are equal in patches, change slightly from row to row, or are random.
Image whole_map(std::int64_t width, std::int64_t height, Random& random) {
  Image map({width, height, 1, Type::u8});
  const std::uint64_t kind = random.below(4);
  const std::uint64_t slope = random.below(3) + 1;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const auto patch = static_cast<std::uint64_t>(x / 16 + y / 9);
      const std::uint64_t code = kind == 0   ? 255
                                 : kind == 1 ? patch
                                 : kind == 2 ? static_cast<std::uint64_t>(y) * slope / 2
                                             : random.next();
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(code);
    }
  return map;
}

// Whole radii above those of the table in shared memory, sizes around blocks and warps, rows of any
// alignment.
TEST(LargeBlur, MapOfWholeRadii) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  constexpr std::array<std::array<double, 2>, 8> ends = {
      {{0, 255}, {255, 0}, {0, 510}, {510, 0}, {512, 512}, {513, 513}, {2, 257}, {100, 355}}};
  constexpr std::array<std::array<int, 2>, 9> whole_sizes = {
      {{1, 1}, {3, 5}, {31, 9}, {129, 130}, {640, 480}, {1031, 300}, {1100, 1040}, {1029, 1033}, {4101, 64}}};
  Random random(0x1A473);
  for (const auto& size : whole_sizes)
    for (const auto& [low, high] : ends)
      for (int turn = 0; turn < 2; ++turn) {
        BlurCase blur_case;
        blur_case.shape = {size[0], size[1], 3, Type::u8};
        blur_case.blur.space = Space::encoded;
        blur_case.blur.radius_min = low;
        blur_case.blur.radius_max = high;
        blur_case.map_type = Type::u8;
        blur_case.seed = random.next();
        check_against_cpu(blur_case, whole_map(size[0], size[1], random).view());
        if (HasFatalFailure()) return;
      }
}

// Windows that begin at any of 16 bytes, rows of whole words and of odd lengths.
TEST(LargeBlur, EveryAlignmentOfBytes) {
  Random random(0x1A471);
  for (const std::int64_t width : {40, 37, 296})
    for (int channels = 1; channels <= 4; ++channels)
      for (const double radius : {1.0, 2.0, 3.0, 4.0, 9.0}) {
        BlurCase blur_case;
        blur_case.shape.width = width;
        blur_case.shape.height = 19;
        blur_case.shape.channels = channels;
        blur_case.blur.radius = radius;
        blur_case.blur.border = random.pick(borders);
        blur_case.blur.space = Space::encoded;
        blur_case.seed = random.next();
        check_against_oracle(blur_case);
        if (HasFatalFailure()) return;
      }
}

/// Returns black and white fields as large as a window, whose window sums differ most between neighbours.
Image fields_of(const Shape& shape, int side) {
  Image picture = constant_picture(shape, 0);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c)
        if ((x / side + y / side + c) % 2 == 0) set_fraction(picture.view(), x, y, c, 1);
  return picture;
}

// WholeRadiusMeans completes sums above 32 bits from neighbouring pixels and rows, and AlphaMeans those above
// 64 bits: radii around their bounds.
TEST(LargeBlur, SumsCompletedFromNeighbours) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "compares a GPU with the CPU";
  const auto check = [](const Format& format, int radius, Border border, double radius_of_boxes = 0) {
    Shape shape{4 * radius + 330, 3 * radius + 40, format.channels, format.type};
    shape.alpha = format.alpha;
    const Image picture = fields_of(shape, 2 * radius + 1);
    Blur blur_of_fields{.radius = radius, .border = border};
    if (radius_of_boxes > 0) {
      blur_of_fields.radius = 3 * radius_of_boxes;
      blur_of_fields.kernel = Kernel::gaussian;
    }
    EXPECT_EQ(
        difference(blur(device_under_test(), picture, blur_of_fields), blur(cpu(), picture, blur_of_fields)),
        "")
        << radius << ", " << format.channels << " channels";
  };
  for (const int channels : {2, 4})
    for (const Border border : {Border::shrink, Border::wrap})
      for (const double radius : {7.0, 8.25, 15.0, 30.0 + 85.0 / 256, 31.0, 31.0 + 85.0 / 256})
        check({Type::u16, channels, Alpha::straight}, static_cast<int>(radius), border, radius);
  for (int channels = 1; channels <= 4; ++channels)
    for (const Border border : {Border::shrink, Border::wrap}) {
      for (const int radius : {7, 8, 15, 16, 22, 23, 24, 47, 48}) {
        check({Type::u16, channels, Alpha::none}, radius, border);
        if (channels % 2 == 0) check({Type::u8, channels, Alpha::straight}, radius, border);
      }
      for (const int radius : {127, 128, 200, 401}) check({Type::u8, channels, Alpha::none}, radius, border);
    }
}

// Radii around the largest 32-bit column sums of 24-bit values between boxes (columns of up to 193 rows),
// around those whose window sums are known by their low 32 bits (95 rows), around the largest fractional ones
// with exact sums in doubles, and around those of AlphaMeans (63 columns).
TEST(LargeBlur, WhiteStaysWhiteAtTheBoundsOfColumnSums) {
  for (const Format& format : wide_formats)
    for (const double radius :
         {3 * 96.0, 3 * 96.0 + 255.0 / 256, 3 * 97.0, 3 * 44.0 + 255.0 / 256, 3 * 45.0 + 255.0 / 256,
          3 * 47.0, 3 * 48.0, 3 * 30.0 + 255.0 / 256, 3 * 31.0, 3 * 31.0 + 255.0 / 256}) {
      if (slow_build() && radius != 3 * 96.0) continue;
      Shape shape{297, 301, format.channels, format.type};
      shape.alpha = format.alpha;
      const Image white = constant_picture(shape, 1);
      for (const Kernel kernel : {Kernel::box, Kernel::gaussian}) {
        Blur blur_of_both{.radius = kernel == Kernel::box ? radius / 3 : radius, .space = Space::linear};
        blur_of_both.kernel = kernel;
        EXPECT_EQ(difference(blur(device_under_test(), white, blur_of_both), white), "") << radius;
      }
    }
}

/// Returns a view of RGB in pixels of four values, without the first `skipped` values.
MutableImageView colours_in(const MutableImageView& four, std::int64_t skipped) {
  MutableImageView view = four;
  view.data += skipped * static_cast<std::int64_t>(size_of(four.shape.type));
  view.shape.width -= (skipped + 3) / 4;
  view.shape.channels = 3;
  return view;
}

// RGB in pixels with an unused value, from every alignment of 4 bytes and one between. The unused values of
// the result keep what they hold.
TEST(LargeBlur, PixelsWithAnUnusedValue) {
  const Device& device = device_under_test();
  Random random(0x1A476);
  for (const Type type : {Type::u8, Type::u16})
    for (const Radius& radius :
         {Radius(1), Radius(16), Radius(16.5), Radius(97), Radius(Length{200, false}, Length{20, false})})
      for (const std::int64_t skipped : {0, 4, 8, 12, 1}) {
        const Shape around{random.between(1, 900), random.between(1, 90), 4, type};
        if (around.width < 5) continue;
        const Image source = random_picture(around, random.next());
        const Image before = poisoned(around);
        Image on_device = device.upload(source);
        Image result_on_device = device.upload(before);
        Blur blur_of_both{.radius = radius, .border = random.pick(borders)};
        const MutableImageView colours = colours_in(on_device.view(), skipped);
        Plan of_colours = plan(device, colours.shape, blur_of_both);
        of_colours.run(std::array<ImageView, 1>{colours}, colours_in(result_on_device.view(), skipped));
        static_cast<void>(of_colours.check());
        Image result = device.download(result_on_device);

        Image host = copy_of(source);
        const Image expected = blur(cpu(), copy_of(colours_in(host.view(), skipped)), blur_of_both);
        const MutableImageView found = colours_in(result.view(), skipped);
        ASSERT_EQ(difference(found, expected), "") << describe(around) << ", radius " << radius.y.value;
        for (std::int64_t y = 0; y < found.shape.height; ++y)
          for (std::int64_t x = 0; x < found.shape.width; ++x)
            std::fill_n(found.at(x, y), 3 * size_of(type), std::byte{0xCD});
        ASSERT_EQ(difference(result, before), "") << "an unused value has changed";
      }
}

// Thin alpha and no alpha, at every pixel of a lane.
TEST(LargeBlur, ThinAlphaEqualsTheDefinition) {
  Random random(0x1A472);
  for (const double radius : {1.0, 2.0, 3.0, 4.0, 7.5, 16.0})
    for (const Border border : borders) {
      BlurCase blur_case;
      blur_case.shape = {random.between(300, 420), 41, 2 * random.between(1, 2), Type::u8};
      blur_case.shape.alpha = Alpha::straight;
      blur_case.blur.radius = radius;
      blur_case.blur.border = border;
      blur_case.blur.space = random.one_in(2) ? Space::linear : Space::encoded;
      blur_case.seed = random.next();
      if (slow_build() && !random.one_in(8)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

TEST(LargeBlur, EqualsTheDefinition) {
  Random random(0x1A470);
  for (const double radius : {16.0, 31.75, 33.0, 100.5})
    for (const Border border : borders) {
      BlurCase blur_case = random_case(random);
      blur_case.shape.width = 530;
      blur_case.shape.height = 37;
      blur_case.shape.channels = random.between(1, 3);
      if (blur_case.shape.channels != 2) blur_case.shape.alpha = Alpha::none;
      blur_case.blur.radius = radius;
      blur_case.blur.border = border;
      if (slow_build() && !random.one_in(8)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace satin::test
