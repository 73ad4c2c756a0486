// dof() against the behaviour of a lens: sharp pixels keep their bytes, light is neither lost nor leaked, and
// blurred points have the stated size. The partition of depth against an exhaustive search.

#include "satin/filters/dof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numbers>

#include "lens/maths/visible_samples.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

using At = std::function<double(double x, double y)>;

/// f32 picture with one function per channel.
Image picture_of(std::int64_t width, std::int64_t height, const std::vector<At>& channels) {
  Image picture({width, height, static_cast<int>(channels.size()), Type::f32});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::size_t c = 0; c < channels.size(); ++c)
        picture.view().value<float>(x, y, static_cast<int>(c)) =
            static_cast<float>(channels[c](static_cast<double>(x), static_cast<double>(y)));
  return picture;
}

Image plane_of(std::int64_t width, std::int64_t height, const At& value) {
  return picture_of(width, height, {value});
}

/// Radius = 16 (disparity - 0.5) pixels.
Dof lens_of(const Image& disparity) {
  Dof dof;
  dof.lens.strength = 16;
  dof.lens.focus = 0.5;
  dof.depth = disparity.view();
  return dof;
}

Image result_of(const Image& picture, const Dof& parameters) {
  const Device& device = device_under_test();
  Plan plan = satin::plan(device, picture.shape(), parameters);
  const ImageView inputs[] = {picture.view(), parameters.depth, parameters.mask};
  return run_plan(device, plan, inputs);
}

double sum_of(const Image& picture, int channel, const At& factor) {
  double sum = 0;
  for (std::int64_t y = 0; y < picture.shape().height; ++y)
    for (std::int64_t x = 0; x < picture.shape().width; ++x)
      sum += static_cast<double>(picture.view().value<float>(x, y, channel)) *
             factor(static_cast<double>(x), static_cast<double>(y));
  return sum;
}

constexpr std::array qualities = {LensQuality::fast, LensQuality::high};
constexpr std::array shapes_of_light = {Bokeh::disc, Bokeh::hexagon, Bokeh::square};

TEST(Dof, WhatIsSharpKeepsItsBytes) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const auto& [channels, alpha] : {std::pair{1, Alpha::none}, std::pair{2, Alpha::straight},
                                          std::pair{3, Alpha::none}, std::pair{4, Alpha::straight}})
      for (const Space space : {Space::linear, Space::encoded}) {
        const Image picture = random_picture({45, 37, channels, type, alpha}, 7);
        const Image disparity = plane_of(45, 37, [](auto, auto) { return 0.5; });
        Dof dof = lens_of(disparity);
        dof.space = space;
        EXPECT_EQ(difference(result_of(picture, dof).view(), picture.view()), "")
            << name_of(type) << " x " << channels;
      }
}

TEST(Dof, AConstantPictureStaysConstant) {
  for (const LensQuality quality : qualities)
    for (const Bokeh bokeh : shapes_of_light)
      for (const Type type : {Type::u8, Type::u16, Type::f32}) {
        const Image picture = constant_picture({83, 61, 3, type}, 0.37);
        const Image disparity = plane_of(83, 61, [](auto x, auto y) {
          return std::fmod(std::floor(x / 20) + std::floor(y / 15), 3) * 0.5;
        });
        Dof dof = lens_of(disparity);
        dof.style.quality = quality;
        dof.style.bokeh = bokeh;
        EXPECT_EQ(difference(result_of(picture, dof).view(), picture.view()), "") << name_of(type);
      }
}

TEST(Dof, AnImpulseKeepsItsSumItsCentreAndItsSupport) {
  for (const Bokeh bokeh : shapes_of_light)
    for (const double radius : {-12.0, -7.3, -2.0, 0.9, 3.6, 8.0, 15.5}) {
      const Image picture = plane_of(65, 65, [](auto x, auto y) { return x == 31 && y == 33 ? 1.0 : 0.0; });
      const Image disparity = plane_of(65, 65, [&](auto, auto) { return 0.5 + radius / 16; });
      Dof dof = lens_of(disparity);
      dof.style.bokeh = bokeh;
      const Image result = result_of(picture, dof);
      const double sum = sum_of(result, 0, [](auto, auto) { return 1.0; });
      EXPECT_NEAR(sum, 1, 1e-4) << radius;
      EXPECT_NEAR(sum_of(result, 0, [](auto x, auto) { return x; }) / sum, 31, 0.05);
      EXPECT_NEAR(sum_of(result, 0, [](auto, auto y) { return y; }) / sum, 33, 0.05);
      const double outside = sum_of(result, 0, [&](auto x, auto y) {
        return std::max(std::abs(x - 31.0), std::abs(y - 33.0)) > std::abs(radius) * 1.1 + 1.5 ? 1.0 : 0.0;
      });
      EXPECT_EQ(outside, 0) << radius;
    }
}

TEST(Dof, FloatsTakeTheLargestRadii) {
  const Image picture = plane_of(1301, 3, [](auto x, auto y) { return x == 650 && y == 1 ? 1000.0 : 0.0; });
  for (const double radius : {120.0, 500.0}) {
    const Image disparity = plane_of(1301, 3, [](auto, auto) { return 1.0; });
    Dof dof = lens_of(disparity);
    dof.lens.strength = 2 * radius;
    dof.lens.max_radius = 512;
    const Image result = result_of(picture, dof);
    const auto at = [&](std::int64_t x) { return static_cast<double>(result.view().value<float>(x, 1)); };
    // A disc of which three rows are in the picture, before a wall that goes on beyond its border.
    EXPECT_NEAR(at(650), 1000 / (std::numbers::pi * radius * radius), 0.15 * at(650)) << radius;
    EXPECT_GT(at(650 - static_cast<std::int64_t>(0.9 * radius)), 0) << radius;
    EXPECT_EQ(at(650 + static_cast<std::int64_t>(1.1 * radius) + 2), 0) << radius;
  }
}

/// Largest value in columns `first` to `last` - 1 and rows `top` to `bottom` - 1.
double largest_in(const Image& picture, std::int64_t first, std::int64_t last, std::int64_t top,
                  std::int64_t bottom) {
  double largest = 0;
  for (std::int64_t y = top; y < bottom; ++y)
    for (std::int64_t x = first; x < last; ++x)
      largest = std::max(largest, static_cast<double>(picture.view().value<float>(x, y)));
  return largest;
}

TEST(Dof, ASurfaceWhoseRadiusStepsHidesWhatIsBehindIt) {
  // A black thing with radii 1, 2.4, 3.8 ... before a white wall with radius 20.
  const auto inside = [](auto x) { return x >= 24 && x < 136; };
  const Image picture = plane_of(160, 120, [&](auto x, auto) { return inside(x) ? 0.0 : 1.0; });
  const Image disparity = plane_of(160, 120, [&](auto x, auto) {
    return 0.5 + (inside(x) ? 1 + 1.4 * std::floor((x - 24) / 16) : -20) / 16;
  });
  for (const LensQuality quality : qualities) {
    Dof dof = lens_of(disparity);
    dof.style.quality = quality;
    EXPECT_LE(largest_in(result_of(picture, dof), 30, 120, 40, 80), 0.002);
  }
}

/// Largest amplitude of a comb of period 2 in sRGB codes: along a row or a column, at least four second
/// differences of pixels in turns above and below their neighbours.
double comb_of(const Image& picture) {
  const auto code = [&](std::int64_t x, std::int64_t y) {
    const auto light = std::clamp(static_cast<double>(picture.view().value<float>(x, y)), 0.0, 1.0);
    return 255 * (light <= .0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - .055);
  };
  const auto comb_along = [](std::int64_t size, const auto& at) {
    double largest = 0;
    std::vector<double> alternating;
    for (std::int64_t i = 2; i + 2 < size; ++i)
      alternating.push_back((i % 2 == 0 ? 1 : -1) *
                            (6 * at(i) - 4 * (at(i - 1) + at(i + 1)) + at(i - 2) + at(i + 2)) / 16);
    for (auto four = alternating.begin(); four + 4 <= alternating.end(); ++four) {
      const auto [least, most] = std::minmax_element(four, four + 4);
      largest = std::max({largest, *least, -*most});
    }
    return largest;
  };
  const Shape& shape = picture.shape();
  double largest = 0;
  for (std::int64_t y = 0; y < shape.height; ++y)
    largest = std::max(largest, comb_along(shape.width, [&](std::int64_t x) { return code(x, y); }));
  for (std::int64_t x = 0; x < shape.width; ++x)
    largest = std::max(largest, comb_along(shape.height, [&](std::int64_t y) { return code(x, y); }));
  return largest;
}

TEST(Dof, ADarkNearThingHasNoCombAlongItsSilhouette) {
  const auto inside = [](auto x, auto y) { return (x - 64) * (x - 64) + (y - 48) * (y - 48) < 900; };
  const Image picture = plane_of(128, 96, [&](auto x, auto y) { return inside(x, y) ? 0.02 : 0.9; });
  struct Case {
    LensQuality quality;
    int near, far;  ///< radii
  };
  constexpr auto fast = LensQuality::fast;
  constexpr auto high = LensQuality::high;
  for (const Case& each : {Case{high, 4, 3}, {high, 6, 4}, {high, 8, 4}, {fast, 12, 8}, {fast, 16, 8}}) {
    const Image disparity = plane_of(
        128, 96, [&](auto x, auto y) { return 0.5 + (inside(x, y) ? each.near : -each.far) / 16.0; });
    Dof dof = lens_of(disparity);
    dof.style.quality = each.quality;
    EXPECT_LE(comb_of(result_of(picture, dof)), 1) << each.near << ", " << each.far;
  }
}

TEST(Dof, ANearThingIsOpaqueAtTheBorderOfThePicture) {
  // A black pole with radius 16, from the upper to the lower border, before a white wall in focus.
  const auto inside = [](auto x) { return x >= 40 && x < 104; };
  const Image picture = plane_of(144, 90, [&](auto x, auto) { return inside(x) ? 0.0 : 1.0; });
  const Image disparity = plane_of(144, 90, [&](auto x, auto) { return inside(x) ? 1.5 : 0.5; });
  for (const LensQuality quality : qualities) {
    Dof dof = lens_of(disparity);
    dof.style.quality = quality;
    EXPECT_LE(largest_in(result_of(picture, dof), 62, 82, 0, 90), 0.002);
  }
}

TEST(Dof, WhatLiesBeyondTheBorderIsGuessed) {
  // A wall whose squares of 4 x 4 pixels have random greys, as a whole and cut out of it, with radius 12
  constexpr std::int64_t beyond = 24;
  constexpr std::int64_t side = 120;
  Random random(5);
  constexpr std::size_t squares_across = 43;
  std::vector<double> greys(squares_across * squares_across);
  for (double& grey : greys) grey = random.between(10, 80) / 100.0;
  const auto grey_at = [&](auto x, auto y) {
    return greys[static_cast<std::size_t>(y / 4) * squares_across + static_cast<std::size_t>(x / 4)];
  };
  const Image wall = plane_of(side + 2 * beyond, side + 2 * beyond, grey_at);
  const Image cut = plane_of(side, side, [&](auto x, auto y) { return grey_at(x + beyond, y + beyond); });
  const auto blurred = [](const Image& picture) {
    const Image disparity =
        plane_of(picture.shape().width, picture.shape().height, [](auto, auto) { return 0.5 - 12.0 / 16; });
    return result_of(picture, lens_of(disparity));
  };
  const Image truth = blurred(wall);
  const Image found = blurred(cut);
  double squares = 0;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      const float error = found.view().value<float>(x, y) - truth.view().value<float>(x + beyond, y + beyond);
      squares += static_cast<double>(error * error);
      const bool is_inner = std::min({x, y, side - 1 - x, side - 1 - y}) > 13;
      EXPECT_TRUE(!is_inner || std::abs(error) < 1e-3F) << x << ", " << y;
    }
  EXPECT_LT(std::sqrt(squares / (side * side)), 0.0175) << "0.0184 if only the border pixels are repeated";
}

TEST(Dof, ABlackSubjectStaysBlackBeforeABlurredWall) {
  const auto inside = [](auto x, auto y) { return x >= 32 && x < 64 && y >= 30 && y < 70; };
  const Image picture = plane_of(96, 100, [&](auto x, auto y) { return inside(x, y) ? 0.0 : 1.0; });
  const Image disparity = plane_of(96, 100, [&](auto x, auto y) { return inside(x, y) ? 0.5 : 0.0; });
  for (const LensQuality quality : qualities) {
    Dof dof = lens_of(disparity);
    dof.style.quality = quality;
    const Image result = result_of(picture, dof);
    const double mean =
        sum_of(result, 0, [&](auto x, auto y) { return inside(x, y) ? 1.0 : 0.0; }) / (32 * 40);
    EXPECT_LE(mean, 0.002);
    EXPECT_GT(sum_of(result, 0, [](auto x, auto y) { return x == 20 && y == 50 ? 1.0 : 0.0; }), 0.99);
  }
}

// Red before green: each pixel is a mixture of the two.
TEST(Dof, ABlurredNearThingCoversWithASoftEdgeAndNoHalo) {
  const auto red = [](auto x, auto y) { return x >= 40 && x < 70 && y >= 35 && y < 75; };
  const Image picture = picture_of(112, 110,
                                   {[&](auto x, auto y) { return red(x, y) ? 0.8 : 0.0; },
                                    [&](auto x, auto y) { return red(x, y) ? 0.0 : 0.4; }});
  const Image disparity = plane_of(112, 110, [&](auto x, auto y) { return red(x, y) ? 1.0 : 0.5; });
  const Image result = result_of(picture, lens_of(disparity));
  double worst = 0;
  for (std::int64_t y = 0; y < 110; ++y)
    for (std::int64_t x = 0; x < 112; ++x) {
      const double r = static_cast<double>(result.view().value<float>(x, y, 0));
      const double g = static_cast<double>(result.view().value<float>(x, y, 1));
      worst = std::max(worst, std::abs(r / 0.8 + g / 0.4 - 1));
    }
  EXPECT_LT(worst, 0.02);  // unmixing is regularised: lambda of 0.05 against |F - B|^2 of 0.8
  const auto share = [&](std::int64_t x) {
    return static_cast<double>(result.view().value<float>(x, 55, 0)) / 0.8;
  };
  EXPECT_NEAR(share(55), 1, 1e-3);
  EXPECT_NEAR((share(39) + share(40)) / 2, 0.5, 0.04);  // half covered on the silhouette
  EXPECT_GT(share(36), 0.1);
  EXPECT_LT(share(36), 0.45);
  EXPECT_EQ(share(30), 0);  // beyond the radius of 8
}

TEST(Dof, ASlantedPlaneShowsNoStep) {
  const Image picture = plane_of(160, 40, [](auto x, auto) { return 0.2 + 0.6 * x / 160; });
  const Image disparity = plane_of(160, 40, [](auto x, auto) { return x / 160.0; });
  for (const LensQuality quality : qualities) {
    Dof dof = lens_of(disparity);
    dof.style.quality = quality;
    const Image result = result_of(picture, dof);
    for (std::int64_t x = 11; x < 150; ++x) {
      const double step = static_cast<double>(result.view().value<float>(x, 20)) -
                          static_cast<double>(result.view().value<float>(x - 1, 20));
      EXPECT_NEAR(step, 0.6 / 160, 1.0 / 255) << x;
    }
  }
}

TEST(Dof, AMaskOfOnesChangesNoByte) {
  for (const int channels : {1, 3})
    for (const auto& [width, height] : {std::pair{57, 41}, {2, 3}, {400, 90}}) {
      Random random(7);
      Image picture({width, height, channels, Type::u8});
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width * channels; ++x)
          picture.view().row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(random.below(256));
      const double middle = static_cast<double>(width) / 2;
      const Image disparity =
          plane_of(width, height, [&](double x, double y) { return x >= middle ? 0.9 : y / 250; });
      Dof dof = lens_of(disparity);
      const Image stored_at_once = result_of(picture, dof);
      Image mask({width, height, 1, Type::u8});
      std::fill_n(mask.data(), byte_size(mask.shape()), std::byte{255});
      dof.mask = mask.view();
      const Image stored_by_each = result_of(picture, dof);
      EXPECT_EQ(std::memcmp(stored_at_once.data(), stored_by_each.data(), byte_size(picture.shape())), 0)
          << channels << " channels, " << width << " x " << height;
    }
}

TEST(Dof, TheMaskIsABlendWeight) {
  const Image picture = random_picture({50, 40, 3, Type::u8}, 3);
  const Image disparity = plane_of(50, 40, [](auto, auto) { return 0.1; });
  Image mask({50, 40, 1, Type::u8});
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 50; ++x) mask.view().value<std::uint8_t>(x, y) = x < 25 ? 0 : 255;
  Dof dof = lens_of(disparity);
  const Image whole = result_of(picture, dof);
  dof.mask = mask.view();
  const Image part = result_of(picture, dof);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 50; ++x)
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(part.view().value<std::uint8_t>(x, y, c),
                  (x < 25 ? picture : whole).view().value<std::uint8_t>(x, y, c));
}

TEST(Dof, ClippedHighlightsThatAreOutOfFocusGrowBrighter) {
  Image picture = constant_picture({41, 41, 1, Type::u16}, 0);
  picture.view().value<std::uint16_t>(20, 20) = 65535;
  const auto brightness = [&](double disparity_value, double highlights) {
    const Image disparity = plane_of(41, 41, [&](auto, auto) { return disparity_value; });
    Dof dof = lens_of(disparity);
    dof.space = Space::encoded;
    dof.style.highlights = highlights;
    const Image result = result_of(picture, dof);
    double sum = 0;
    for (std::int64_t y = 0; y < 41; ++y)
      for (std::int64_t x = 0; x < 41; ++x) sum += result.view().value<std::uint16_t>(x, y);
    return sum;
  };
  EXPECT_EQ(brightness(0.5, 4), 65535);
  EXPECT_NEAR(brightness(0.75, 4) / brightness(0.75, 1), 1, 0.01) << "radius 4";
  EXPECT_NEAR(brightness(1, 4) / brightness(1, 1), 4, 0.01) << "radius 8";
}

// Debug pictures of a near square (radius 8) before a sharp surface (left half) and a far one (radius -4).
struct SeenScene {
  static bool near(double x, double y) { return x >= 20 && x < 44 && y >= 14 && y < 34; }
  static int side(double x, double y) { return near(x, y) ? 1 : x < 32 ? 0 : -1; }
  static bool is_outline(std::int64_t x, std::int64_t y) {
    const auto u = static_cast<double>(x), v = static_cast<double>(y);
    return (x + 1 < 64 && side(u, v) != side(u + 1, v)) || (y + 1 < 48 && side(u, v) != side(u, v + 1));
  }
  Image disparity = plane_of(64, 48, [](auto x, auto y) { return near(x, y) ? 1.0 : x < 32 ? 0.5 : 0.25; });

  [[nodiscard]] Image shown(const Image& picture, LensDebug debug) const {
    Dof dof = lens_of(disparity);
    dof.style.debug = debug;
    return result_of(picture, dof);
  }
};

TEST(Dof, ShowsRadii) {
  const SeenScene scene;
  const Image picture = random_picture({64, 48, 4, Type::f32, Alpha::straight}, 5);
  const Image shown = scene.shown(picture, LensDebug::coc);
  const Image grey = scene.shown(random_picture({64, 48, 1, Type::u16}, 6), LensDebug::coc);
  for (std::int64_t y = 0; y < 48; ++y)
    for (std::int64_t x = 0; x < 64; ++x) {
      if (x >= 30 && x < 34) continue;  // silhouettes where all three meet choose two
      const bool near = SeenScene::near(static_cast<double>(x), static_cast<double>(y));
      const double share = near ? 1 : x < 32 ? 0 : 0.5;  // share of the largest radius, which is 8
      const auto at = [&](int c) { return static_cast<double>(shown.view().value<float>(x, y, c)); };
      ASSERT_EQ(at(3), 1);
      if (SeenScene::is_outline(x, y)) {
        ASSERT_TRUE(at(0) == 0 && at(1) == 1 && at(2) == 0) << x << ", " << y;
        ASSERT_EQ(grey.view().value<std::uint16_t>(x, y), 65535);
        continue;
      }
      ASSERT_NEAR(at(0), near ? share : 0, 1e-6) << x << ", " << y;
      ASSERT_EQ(at(1), 0);
      ASSERT_NEAR(at(2), near ? 0 : share, 1e-6) << x << ", " << y;
      const double encoded = share <= 0.0031308 ? 12.92 * share : 1.055 * std::pow(share, 1 / 2.4) - 0.055;
      ASSERT_NEAR(grey.view().value<std::uint16_t>(x, y), 65535 * encoded, 1.01) << x << ", " << y;
    }
}

TEST(Dof, ShowsGroupsFromNearToFar) {
  const SeenScene scene;
  const Image shown = scene.shown(random_picture({64, 48, 3, Type::u8}, 5), LensDebug::groups);
  const auto pixel = [&](std::int64_t x, std::int64_t y) {
    return std::array{shown.view().value<std::uint8_t>(x, y, 0), shown.view().value<std::uint8_t>(x, y, 1),
                      shown.view().value<std::uint8_t>(x, y, 2)};
  };
  const std::array<std::uint8_t, 3> red{255, 63, 63};  // linear 1, 0.05, 0.05
  const std::array<std::uint8_t, 3> orange{255, 179, 0};
  for (std::int64_t y = 0; y < 48; ++y)
    for (std::int64_t x = 0; x < 64; ++x)
      if (SeenScene::near(static_cast<double>(x), static_cast<double>(y))) {
        ASSERT_EQ(pixel(x, y), red) << x << ", " << y;
      }
  EXPECT_EQ(pixel(5, 5), orange);
  EXPECT_NE(pixel(60, 5), red);
  const Image grey = scene.shown(random_picture({64, 48, 1, Type::f32}, 5), LensDebug::groups);
  EXPECT_EQ(grey.view().value<float>(30, 20), 1);
  EXPECT_NEAR(static_cast<double>(grey.view().value<float>(5, 5)), 0.8, 1e-6);
}

TEST(Dof, ShowsWhatLiesHidden) {
  const SeenScene scene;
  const Image picture = picture_of(
      64, 48,
      {[](auto x, auto y) { return SeenScene::near(x, y) ? 0.9 : 0.0; },
       [](auto x, auto y) { return SeenScene::near(x, y) ? 0.0 : 0.4; }, [](auto, auto) { return 0.2; }});
  const Image shown = scene.shown(picture, LensDebug::hidden);
  for (std::int64_t y = 0; y < 48; ++y)
    for (std::int64_t x = 0; x < 64; ++x) {
      const auto at = [&](int c) { return static_cast<double>(shown.view().value<float>(x, y, c)); };
      if (SeenScene::near(static_cast<double>(x), static_cast<double>(y))) {
        ASSERT_LT(at(0), 0.02) << x << ", " << y;
        ASSERT_NEAR(at(1), 0.4, 0.02);
        ASSERT_NEAR(at(2), 0.2, 0.02);
      } else if (x < 31) {  // the far surface is filled in behind the sharp one as well
        ASSERT_EQ(at(0), 0) << x << ", " << y;
      }
    }
}

TEST(Dof, TellsOnceHowMuchDepthWasUnknown) {
  Image disparity = plane_of(30, 20, [](auto x, auto) { return x / 30; });
  for (std::int64_t x = 3; x < 10; ++x) disparity.view().value<float>(x, 7) = std::nanf("");
  const Image picture = random_picture({30, 20, 3, Type::u8}, 2);
  Dof dof = lens_of(disparity);
  Plan plan = satin::plan(device_under_test(), picture.shape(), dof);
  const ImageView inputs[] = {picture.view(), disparity.view(), {}};
  Image result(picture.shape());
  plan.run(inputs, result.view());
  const std::vector<std::string> warnings = plan.check();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front().substr(0, 14), "7 depth values");
  EXPECT_TRUE(plan.check().empty());
}

TEST(Dof, ParametersOutOfRangeAreRefused) {
  const Image disparity = plane_of(8, 8, [](auto, auto) { return 0.5; });
  const Image picture = random_picture({8, 8, 3, Type::u8}, 1);
  Dof dof = lens_of(disparity);
  dof.style.highlights = 0.5;
  expect_error(ErrorKind::usage, "highlights", [&] { return result_of(picture, dof); });
}

/// Partitions a histogram whose bins are one pixel wide.
std::unique_ptr<GroupWork> partition(const std::array<std::uint32_t, depth_bins>& counts, int most) {
  auto work = std::make_unique<GroupWork>();
  work->negative_lowest = 0;
  work->highest = 256 * depth_bins - 1;
  std::copy(counts.begin(), counts.end(), std::begin(work->counts));
  const auto launch = [](int width, int height, const auto& step) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) step(x, y);
  };
  SumHistogram{work.get()}.run(launch);
  launch(depth_bins + 1, depth_bins, CostOfRanges{work.get()});
  FindBestPartition{work.get(), most}.run(launch);
  return work;
}

/// Sum of h (c - mean)^2 over bins [first, last), from the counts.
double direct_cost(const std::array<std::uint32_t, depth_bins>& counts, double total, int first, int last) {
  double mass = 0;
  double mean = 0;
  for (int i = first; i < last; ++i) mass += std::sqrt(counts[static_cast<std::size_t>(i)] / total);
  if (mass == 0) return 0;
  for (int i = first; i < last; ++i)
    mean += std::sqrt(counts[static_cast<std::size_t>(i)] / total) * (i + 0.5) / mass;
  double cost = 0;
  for (int i = first; i < last; ++i)
    cost += std::sqrt(counts[static_cast<std::size_t>(i)] / total) * (i + 0.5 - mean) * (i + 0.5 - mean);
  return cost;
}

TEST(DepthGroups, ThePartitionIsTheBestOfAll) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Random random(seed);
    std::array<std::uint32_t, depth_bins> counts{};
    for (int i = 0; i < 24; ++i)
      counts[random.below(depth_bins)] = static_cast<std::uint32_t>(1000 + random.below(9000));
    double total = 0;
    for (const std::uint32_t count : counts) total += count;
    double best = 1e300;
    for (int i = 0; i <= depth_bins; ++i)
      for (int j = i; j <= depth_bins; ++j)
        best = std::min(best, direct_cost(counts, total, 0, i) + direct_cost(counts, total, i, j) +
                                  direct_cost(counts, total, j, depth_bins));
    EXPECT_NEAR(partition(counts, 3)->cost[2][depth_bins], best, 1e-6 * best);
  }
}

TEST(DepthGroups, TwoClustersAreCutInTheMiddleOfTheirGap) {
  std::array<std::uint32_t, depth_bins> counts{};
  counts[10] = counts[11] = 500;
  counts[201] = 800;
  const auto work = partition(counts, 5);
  ASSERT_EQ(work->groups.count, 2);
  EXPECT_NEAR(work->groups.limits[0], 128 * (12 + 201), 256);
  EXPECT_EQ(work->groups.group_of(256 * 201), 0);
  EXPECT_EQ(work->groups.group_of(256 * 11), 1);
}

}  // namespace
}  // namespace satin::test
