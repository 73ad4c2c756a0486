// A mask of the subject that corrects depth near its edge.

#include <gtest/gtest.h>

#include <cmath>

#include "satin/error.h"
#include "satin/filters/dof.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr std::int64_t width = 120;
constexpr std::int64_t height = 90;

bool is_subject(double x, double y) { return std::hypot(x - 58, y - 44) < 27; }

/// A subject before a background, with a near thing in a corner that touches neither.
Image depth_of(Type type, double shift, double grow) {
  const double white = type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1;
  return plane_of(width, height, type, [&](auto x, auto y) {
    if (x > 108 && y > 70) return white;
    const auto u = (static_cast<double>(x) - 58) / grow + 58 - shift,
               v = (static_cast<double>(y) - 44) / grow + 44;
    return (is_subject(u, v) ? 0.6 : 0.2) * white;
  });
}

Image mask_of(Type type) {
  return plane_of(width, height, type, [&](auto x, auto y) {
    return is_subject(static_cast<double>(x), static_cast<double>(y)) ? (type == Type::u8 ? 255 : 65535) : 0;
  });
}

Dof dof_of(const Image& depth, double focus) {
  Dof dof;
  dof.depth = depth.view();
  dof.lens.focus = focus;
  dof.lens.strength = 16.0;
  dof.lens.sharp_range = 0.01;
  return dof;
}

TEST(FollowSubject, DepthThatMissesTheMaskActsLikeDepthThatFollowsIt) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    const Image picture = random_picture({width, height, 3, type}, 8);
    const Image mask = mask_of(type == Type::u16 ? Type::u16 : Type::u8);
    const Image right = depth_of(type, 0, 1);
    for (const double focus : {0.6, 0.2})
      for (const auto& [shift, grow] : {std::pair{2.5, 1.0}, std::pair{0.0, 0.9}, std::pair{0.0, 1.1}}) {
        const Image expected = dof(device_under_test(), picture, dof_of(right, focus));
        const Image wrong = depth_of(type, shift, grow);
        Dof lens = dof_of(wrong, focus);
        EXPECT_NE(difference(dof(device_under_test(), picture, lens), expected), "");
        lens.subject = mask.view();
        EXPECT_EQ(difference(dof(device_under_test(), picture, lens), expected), "") << shift << ' ' << grow;
      }
  }
}

TEST(FollowSubject, MasksWithoutAnEdgeAndRightDepthChangeNothing) {
  const Image picture = random_picture({width, height, 3, Type::u8}, 9);
  const Image depth = depth_of(Type::u8, 0, 1);
  const Image expected = dof(device_under_test(), picture, dof_of(depth, 0.2));
  const Image shapes[] = {mask_of(Type::u8), constant_picture({width, height, 1, Type::u8}, 0),
                          constant_picture({width, height, 1, Type::u8}, 1)};
  for (const Image& mask : shapes) {
    Dof lens = dof_of(depth, 0.2);
    lens.subject = mask.view();
    EXPECT_EQ(difference(dof(device_under_test(), picture, lens), expected), "");
  }
}

TEST(FollowSubject, RefusesOtherSizesAndTypes) {
  const Image picture = random_picture({width, height, 3, Type::u8}, 9);
  const Image depth = depth_of(Type::u8, 0, 1);
  Dof lens = dof_of(depth, 0.2);
  const Image small = constant_picture({width / 2, height / 2, 1, Type::u8}, 1);
  const Image real = constant_picture({width, height, 1, Type::f32}, 1);
  lens.subject = small.view();
  expect_error(ErrorKind::usage, "The subject is 60 x 45",
               [&] { return dof(device_under_test(), picture, lens); });
  lens.subject = real.view();
  expect_error(ErrorKind::usage, "The subject is of type f32",
               [&] { return dof(device_under_test(), picture, lens); });
}

}  // namespace
}  // namespace satin::test
