// Radius maps of another size than the picture.

#include <gtest/gtest.h>

#include <cmath>

#include "satin/error.h"
#include "satin/filters/blur.h"
#include "satin/filters/median.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr std::int64_t width = 60;
constexpr std::int64_t height = 40;

/// Two surfaces, dark to the left of a slanted edge and bright to the right, with noise.
bool is_bright(std::int64_t x, std::int64_t y) { return 2 * x + y > 79; }

Image two_surfaces(Type type, int channels) {
  Random random(3);
  Image picture({width, height, channels, type});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        set_fraction(picture.view(), x, y, c,
                     (is_bright(x, y) ? 0.8 : 0.2) + 0.1 * static_cast<double>(random.below(1000)) / 1000);
  return picture;
}

/// 0 on the dark surface and white on the bright one, at the centres of pixels.
Image map_of_surfaces(std::int64_t w, std::int64_t h, Type type) {
  const double white = type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1;
  return plane_of(w, h, type, [&](std::int64_t x, std::int64_t y) {
    return is_bright((2 * x + 1) * width / (2 * w), (2 * y + 1) * height / (2 * h)) ? white : 0;
  });
}

template <class Filter>
Filter by_map(const Image& map, double low, double high) {
  Filter filter;
  filter.radius_map = map.view();
  filter.radius_min = low;
  filter.radius_max = high;
  return filter;
}

TEST(EnlargeMap, FollowsTheEdgesOfThePicture) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 3}) {
      const Image picture = two_surfaces(type, channels);
      for (const Type stored : {Type::u8, Type::u16, Type::f32})
        for (const double scale : {0.5, 2.0, 0.25}) {
          const Image whole = map_of_surfaces(width, height, stored);
          const Image other = map_of_surfaces(static_cast<std::int64_t>(width * scale),
                                              static_cast<std::int64_t>(height * scale), stored);
          for (const auto& [low, high] : {std::pair{1.0, 7.0}, std::pair{9.0, 2.5}}) {
            EXPECT_EQ(difference(blur(device_under_test(), picture, by_map<Blur>(other, low, high)),
                                 blur(device_under_test(), picture, by_map<Blur>(whole, low, high))),
                      "")
                << name_of(stored) << ' ' << scale << ' ' << low;
            EXPECT_EQ(difference(median(device_under_test(), picture, by_map<Median>(other, low, high)),
                                 median(device_under_test(), picture, by_map<Median>(whole, low, high))),
                      "")
                << name_of(stored) << ' ' << scale << ' ' << low;
          }
        }
    }
}

TEST(EnlargeMap, InterpolatesAlongASurface) {
  const Image picture = two_surfaces(Type::u8, 3);
  const auto ramp = [](std::int64_t w, std::int64_t h) {
    return plane_of(w, h, Type::f32, [&](std::int64_t x, std::int64_t) {
      return (static_cast<double>(x) + 0.5) / static_cast<double>(w);
    });
  };
  const Image whole = blur(device_under_test(), picture, by_map<Blur>(ramp(width, height), 0, 6));
  const Image half = blur(device_under_test(), picture, by_map<Blur>(ramp(width / 2, height / 2), 0, 6));
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 1; x < width - 1; ++x)
      ASSERT_NEAR(whole.view().value<std::uint8_t>(x, y), half.view().value<std::uint8_t>(x, y), 1) << x;
}

TEST(EnlargeMap, RefusesOtherAspectsAndValues) {
  const Image picture = two_surfaces(Type::u8, 3);
  const Image map = map_of_surfaces(width / 2, height / 4, Type::u8);
  expect_error(ErrorKind::usage, "same aspect",
               [&] { return blur(device_under_test(), picture, by_map<Blur>(map, 0, 6)); });
  for (const std::int64_t scale : {1, 4}) {
    Image bad = map_of_surfaces(width / 2 * scale, height / 2 * scale, Type::f32);
    bad.view().value<float>(bad.shape().width - 1, bad.shape().height - 1) = std::nanf("");
    expect_error(ErrorKind::input, "radius map",
                 [&] { return blur(device_under_test(), picture, by_map<Blur>(bad, 0, 6)); });
  }
}

TEST(EnlargeMap, CountsInTheWorkspace) {
  const Shape shape{width, height, 3, Type::u8};
  const auto bytes = [&](const Image& map) {
    return plan(device_under_test(), shape, by_map<Blur>(map, 0, 6)).workspace_bytes();
  };
  EXPECT_GE(bytes(map_of_surfaces(width / 2, height / 2, Type::u8)),
            bytes(map_of_surfaces(width, height, Type::u16)) + width * height * 6);
}

}  // namespace
}  // namespace satin::test
