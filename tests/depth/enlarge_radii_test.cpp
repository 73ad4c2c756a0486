// Depth images of another size than the picture.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "satin/error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr std::int64_t width = 240;
constexpr std::int64_t height = 160;

/// Returns the disc at a point, -1 for the slanted ground behind the discs.
int disc_at(double x, double y) {
  constexpr std::array<std::array<double, 3>, 4> discs = {
      {{60, 50, 32}, {150, 90, 45}, {215, 30, 18}, {20, 140, 25}}};
  for (std::size_t i = 0; i < discs.size(); ++i)
    if (std::hypot(x - discs[i][0], y - discs[i][1]) < discs[i][2]) return static_cast<int>(i);
  return -1;
}

/// Radius in pixels.
double radius_at(double x, double y) {
  const int disc = disc_at(x, y);
  return disc < 0 ? -8 + 0.02 * y + 0.005 * x : 6 + 3 * disc;
}

/// Each disc has a colour, the ground a texture, and everything noise.
Image picture_of_discs(Type type, int channels) {
  Random random(4);
  Image picture({width, height, channels, type});
  constexpr std::array<std::array<double, 3>, 4> colours = {
      {{0.8, 0.2, 0.1}, {0.1, 0.6, 0.9}, {0.9, 0.9, 0.2}, {0.5, 0.1, 0.6}}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const int disc = disc_at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
      for (int c = 0; c < channels; ++c) {
        const double ground = 0.35 + 0.1 * std::sin(0.7 * static_cast<double>(x + 2 * y + c));
        const double colour =
            disc < 0 ? ground : colours[static_cast<std::size_t>(disc)][static_cast<std::size_t>(c)];
        const double noise = 0.04 * (static_cast<double>(random.below(1000)) / 1000 - 0.5);
        set_fraction(picture.view(), x, y, c, colour + noise);
      }
    }
  return picture;
}

/// Depth at the centres of pixels, as a renderer writes it.
Image depth_of_size(std::int64_t w, std::int64_t h) {
  return plane_of(w, h, Type::f32, [&](std::int64_t x, std::int64_t y) {
    return radius_at((static_cast<double>(x) + 0.5) * static_cast<double>(width) / static_cast<double>(w),
                     (static_cast<double>(y) + 0.5) * static_cast<double>(height) / static_cast<double>(h));
  });
}

LensFocus radius_as_depth() {
  LensFocus focus;
  focus.focus = 0;
  focus.strength = 1;
  focus.max_radius = 512;
  return focus;
}

double plain_bilinear(const Image& depth, std::int64_t x, std::int64_t y) {
  const Shape& shape = depth.shape();
  const double u = (static_cast<double>(x) + 0.5) * static_cast<double>(shape.width) / width - 0.5;
  const double v = (static_cast<double>(y) + 0.5) * static_cast<double>(shape.height) / height - 0.5;
  const auto at = [&](double i, double j) {
    return static_cast<double>(depth.view().value<float>(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(i), 0, shape.width - 1),
        std::clamp<std::int64_t>(static_cast<std::int64_t>(j), 0, shape.height - 1)));
  };
  const double i = std::floor(u);
  const double j = std::floor(v);
  const double above = at(i, j) + (u - i) * (at(i + 1, j) - at(i, j));
  const double below = at(i, j + 1) + (u - i) * (at(i + 1, j + 1) - at(i, j + 1));
  return above + (v - j) * (below - above);
}

struct Errors {
  double guided = 0;  ///< mean of |radius - exact| in pixels
  double bilinear = 0;
  double wrong = 0;  ///< share of the pixels whose radius is wrong by more than half a pixel
  double mixed = 0;  ///< number of pixels whose radius is that of no surface
};

Errors errors_of(const Image& picture, std::int64_t factor) {
  const Image depth = depth_of_size(width / factor, height / factor);
  const RadiiResult result = radii_of(picture, depth, radius_as_depth());
  Errors errors;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double exact = radius_at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
      const double found = result.at(x, y) / 256.0;
      errors.guided += std::abs(found - exact);
      errors.bilinear += std::abs(plain_bilinear(depth, x, y) - exact);
      errors.wrong += std::abs(found - exact) > 0.5 ? 1 : 0;
      // The ground has radii from -8 to -3.6, the discs 6, 9, 12, 15
      const bool on_disc = std::abs(std::remainder(found, 3)) < 0.01 && found > 5;
      errors.mixed += on_disc || (found > -8.1 && found < -3.5) ? 0 : 1;
    }
  constexpr double pixels = width * height;
  return {errors.guided / pixels, errors.bilinear / pixels, errors.wrong / pixels, errors.mixed / pixels};
}

TEST(EnlargeRadii, FollowsTheEdgesOfThePicture) {
  for (const auto& [type, channels] : {std::pair{Type::u8, 3}, {Type::u16, 4}, {Type::f32, 3}}) {
    const Image picture = picture_of_discs(type, channels == 4 ? 3 : channels);
    for (const std::int64_t factor : {2, 4, 8}) {
      const Errors errors = errors_of(picture, factor);
      EXPECT_LT(errors.guided, errors.bilinear / 20) << factor;
      EXPECT_LT(errors.wrong, 0.002) << factor;
      EXPECT_EQ(errors.mixed, 0) << factor;
    }
  }
}

TEST(EnlargeRadii, InterpolatesSlopes) {
  const auto slope = [](double x, double y) { return 0.07 * x - 0.11 * y + 3; };
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{120, 80}, {75, 50}, {30, 20}}) {
    const Image depth = plane_of(w, h, Type::f32, [&, w = w, h = h](std::int64_t x, std::int64_t y) {
      return slope((static_cast<double>(x) + 0.5) * width / static_cast<double>(w),
                   (static_cast<double>(y) + 0.5) * height / static_cast<double>(h));
    });
    const RadiiResult result = radii_of(dark_picture(width, height), depth, radius_as_depth());
    const auto border_x = width / w;
    const auto border_y = height / h;
    for (std::int64_t y = border_y; y < height - border_y; ++y)
      for (std::int64_t x = border_x; x < width - border_x; ++x)
        ASSERT_NEAR(result.at(x, y) / 256.0,
                    slope(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5), 0.02)
            << w << ": " << x << ", " << y;
  }
}

TEST(EnlargeRadii, SamplesLargerDepthAtPixelCentres) {
  const Image depth = depth_of_size(width * 3, height * 3);
  const RadiiResult result = radii_of(picture_of_discs(Type::u8, 3), depth, radius_as_depth());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      ASSERT_NEAR(result.at(x, y) / 256.0,
                  radius_at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5), 0.01);
}

TEST(EnlargeRadii, AcceptsRoundedSizesOfTheSameAspectOnly) {
  const auto run = [](std::int64_t w, std::int64_t h, std::int64_t dw, std::int64_t dh) {
    const Image depth = plane_of(dw, dh, Type::f32, [](std::int64_t, std::int64_t) { return 2.5; });
    const RadiiResult result = radii_of(dark_picture(w, h), depth, radius_as_depth());
    for (std::int64_t y = 0; y < h; ++y)
      for (std::int64_t x = 0; x < w; ++x) ASSERT_EQ(result.at(x, y), 640);
  };
  run(101, 67, 50, 33);
  run(101, 67, 51, 34);
  run(7, 5, 1, 1);
  run(100, 1, 50, 1);
  run(1, 1, 3, 3);
  run(33, 70, 34, 70);
  run(33, 70, 66, 141);
  EXPECT_THROW(run(100, 100, 50, 48), Error);
  EXPECT_THROW(run(1920, 1080, 640, 480), Error);
}

TEST(EnlargeRadii, FocusesAtThePointInThePicture) {
  LensFocus focus = radius_as_depth();
  focus.focus.reset();
  focus.focus_at = Point{{150, false}, {90, false}};
  const RadiiResult result = radii_of(picture_of_discs(Type::u8, 3), depth_of_size(120, 80), focus);
  EXPECT_EQ(result.at(150, 90), 0);
  EXPECT_EQ(result.at(60, 50), 256 * (6 - 9));
}

}  // namespace
}  // namespace satin::test
