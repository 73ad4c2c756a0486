// Tilt-shift: radii of a plane against plain geometry, and the filter against dof() with the depth of a
// plane.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/backend.h"
#include "depth/circle_of_confusion.h"
#include "satin/filters/dof.h"
#include "satin/filters/tilt_shift.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

/// Signed radius in pixels from the distance of the pixel's centre to the line.
double radius_by_distance(const Shape& shape, const TiltShift& tilt, double x, double y) {
  const double longer = static_cast<double>(std::max(shape.width, shape.height));
  const double turn = tilt.angle * std::numbers::pi / 180;
  const double from_x = x - tilt.place.x.pixels(static_cast<double>(shape.width));
  const double from_y = y - tilt.place.y.pixels(static_cast<double>(shape.height));
  // Cross product with the direction of the line.
  const double distance = std::cos(turn) * from_y - std::sin(turn) * from_x;
  const double beyond = std::max(0.0, std::abs(distance) - tilt.band / 200 * longer);
  const double full = tilt.falloff / 100 * longer;
  const double share = full > 0 ? std::min(1.0, beyond / full) : beyond > 0 ? 1 : 0;
  return std::copysign(share * tilt.radius, distance);
}

/// dof() with the same radii, as a float depth image.
Image by_depth(const Image& picture, const TiltShift& tilt) {
  const Shape& shape = picture.shape();
  const Image depth = plane_of(shape.width, shape.height, Type::f32, [&](std::int64_t x, std::int64_t y) {
    const double radius =
        radius_by_distance(shape, tilt, static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
    return std::copysign(std::floor(std::abs(radius) * 256 + 0.5), radius) / 256;
  });
  Dof dof;
  dof.lens.focus = 0;
  dof.lens.strength = 1;
  dof.lens.max_radius = tilt.radius;
  dof.style = tilt.style;
  dof.space = tilt.space;
  dof.depth = depth.view();
  return satin::dof(device_under_test(), picture.view(), dof);
}

TEST(TiltShift, IsDepthOfFieldOfAPlane) {
  for (const double angle : {0.0, 20.0, 90.0, -135.0, 360.0})
    for (const Type type : {Type::u8, Type::u16, Type::f32}) {
      TiltShift tilt;
      tilt.angle = angle;
      tilt.place = {{40, true}, {30, false}};
      tilt.radius = 5.5;
      const Image picture = random_picture({90, 70, 3, type}, 3);
      const Image result = tilt_shift(device_under_test(), picture.view(), tilt);
      EXPECT_EQ(difference(result, by_depth(picture, tilt)), "") << angle;
      EXPECT_NE(difference(result, picture), "") << angle;
    }
}

TEST(TiltShift, TheMiddleOfTheBandKeepsItsBytes) {
  TiltShift tilt;
  tilt.band = 40;
  tilt.radius = 6;
  const Image picture = random_picture({100, 90, 3, Type::u8}, 5);
  const Image result = tilt_shift(device_under_test(), picture.view(), tilt);
  const auto row = [](const Image& image, std::int64_t y) {
    const auto* first = image.view().row<std::uint8_t>(y);
    return std::vector<std::uint8_t>(first, first + 300);
  };
  for (std::int64_t y = 33; y < 57; ++y) EXPECT_EQ(row(result, y), row(picture, y)) << y;
  EXPECT_NE(row(result, 2), row(picture, 2));
  EXPECT_NE(row(result, 88), row(picture, 88));
}

TEST(TiltShift, RadiusZeroIsTheIdentity) {
  TiltShift tilt;
  tilt.radius = 0;
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    const Image picture = random_picture({50, 40, 4, type, Alpha::straight}, 6);
    EXPECT_EQ(difference(tilt_shift(device_under_test(), picture.view(), tilt), picture), "");
  }
}

TEST(TiltShift, WithoutFalloffTheBlurIsFullBesideTheBand) {
  const Device& device = device_under_test();
  PlanarRadiiJob job{3, 40, {0, 1, 20, 4, 1e9, 2560}};
  const auto operation = device.backend().prepare(job);
  const Buffer there = device.backend().allocate(3 * 40 * 4);
  const Memory memory = device.backend().host_memory ? Memory::host : Memory::device;
  operation->run({{there.get(), {3, 40, 1, Type::i32}, {4, 12, 4, 0}, memory}}, {});
  std::vector<std::int32_t> radii(3 * 40);
  device.backend().download(radii.data(), there.get(), 3 * 40 * 4, {});
  for (std::size_t y = 0; y < 40; ++y) EXPECT_EQ(radii[3 * y + 1], y < 16 ? -2560 : y < 24 ? 0 : 2560) << y;
}

TEST(TiltShift, RefusesWhatIsOutOfRange) {
  const Image picture = random_picture({20, 20, 3, Type::u8}, 1);
  const auto with = [&](auto member, auto value) {
    return [&picture, member, value] {
      TiltShift tilt;
      tilt.*member = value;
      static_cast<void>(tilt_shift(device_under_test(), picture.view(), tilt));
    };
  };
  expect_error(ErrorKind::usage, "angle 361", with(&TiltShift::angle, 361.0));
  expect_error(ErrorKind::usage, "band -1", with(&TiltShift::band, -1.0));
  expect_error(ErrorKind::usage, "falloff nan", with(&TiltShift::falloff, std::nan("")));
  expect_error(ErrorKind::usage, "radius 513", with(&TiltShift::radius, 513.0));
  expect_error(ErrorKind::usage, "place", with(&TiltShift::place, Point{{1e9, false}, {0, false}}));
}

}  // namespace
}  // namespace satin::test
