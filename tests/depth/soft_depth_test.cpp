// Soft depth is recognised by its ramps and snapped to the picture; other depth is not changed.

#include "depth/soft_depth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend.h"
#include "satin/device.h"
#include "satin/filters/median.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr int width = 120;
constexpr int height = 80;
constexpr int edge = 60;  ///< end of the nearer thing in the picture

/// A picture that is white to the left of the edge and black to the right.
Image two_halves() {
  Image picture = dark_picture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < edge; ++x)
      for (int c = 0; c < 3; ++c) picture.view().row<std::uint8_t>(y)[3 * x + c] = 250;
  return picture;
}

/// Depth that falls from 0.9 to 0.1 in a ramp `wide` pixels wide around column `middle`.
double ramp(double x, double middle, double wide) {
  const double share = std::clamp((middle - x) / wide + 0.5, 0.0, 1.0);
  return 0.1 + 0.8 * share;
}

LensFocus focus_at(double value) {
  LensFocus focus;
  focus.focus = value;
  focus.strength = Length{20, false};
  return focus;
}

Image depth_of(double middle, double wide) {
  return plane_of(width, height, Type::f32,
                  [&](auto x, auto) { return ramp(static_cast<double>(x) + 0.5, middle, wide); });
}

TEST(SoftDepth, SilhouettesMoveToTheEdgesOfThePicture) {
  for (const double middle : {edge - 2.0, edge + 0.0, edge + 2.0}) {
    LensFocus focus = focus_at(0.1);
    focus.sharp_range = 0;
    const RadiiResult found = radii_of(two_halves(), depth_of(middle, 8), focus);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        EXPECT_NEAR(found.at(x, y) / 256.0, x < edge ? 16 : 0, 2) << middle << ": " << x << ", " << y;
  }
}

TEST(SoftDepth, AThingInFocusIsSharpUpToItsEdge) {
  // A slightly blurred rim would show the surface behind as a second outline
  const Image depth = depth_of(edge, 5);
  const RadiiResult found = radii_of(two_halves(), depth, focus_at(0.9));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < edge; ++x) EXPECT_NEAR(found.at(x, y) / 256.0, 0, 0.75) << x << ", " << y;
}

TEST(SoftDepth, DepthOfAnotherSizeIsSnapped) {
  LensFocus focus = focus_at(0.1);
  focus.sharp_range = 0;
  const Image depth = plane_of(width / 2, height / 2, Type::f32, [](auto x, auto) {
    return ramp(2 * static_cast<double>(x) + 1, edge + 2, 12);
  });
  const RadiiResult found = radii_of(two_halves(), depth, focus);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      EXPECT_NEAR(found.at(x, y) / 256.0, x < edge ? 16 : 0, 3) << x << ", " << y;
}

/// Expects the radii that follow from the depth alone.
void expect_untouched(const RadiiResult& found, const Image& depth, double focus, double strength) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double value = static_cast<double>(depth.view().value<float>(x, y));
      ASSERT_NEAR(found.at(x, y), 256 * strength * (value - focus), 1) << x << ", " << y;
    }
}

constexpr int wide = 1920;  ///< rims are up to eight pixels wide there
constexpr int low = 48;
constexpr int outline = 900;  ///< end of the nearer thing in the depth image

/// A dark near thing before a grey wall, with a bright rim `rim` pixels wide beyond its outline in the depth.
Image with_rim(int rim) {
  Image picture({wide, low, 3, Type::u8});
  for (int y = 0; y < low; ++y)
    for (int x = 0; x < wide; ++x)
      for (int c = 0; c < 3; ++c)
        picture.view().value<std::uint8_t>(x, y, c) = x < outline         ? 20
                                                      : x < outline + rim ? std::uint8_t(c == 0 ? 90 : 240)
                                                                          : 140;
  return picture;
}

/// Radii of soft depth whose ramp ends at the outline: 16 pixels to the left and 0 to the right.
RadiiResult radii_beside_outline(const Image& picture) {
  LensFocus focus = focus_at(0.1);
  focus.sharp_range = 0;
  return radii_of(picture,
                  plane_of(wide, low, Type::f32,
                           [](auto x, auto) { return ramp(static_cast<double>(x) + 0.5, outline - 3, 6); }),
                  focus);
}

TEST(SoftDepth, RimsGetTheRadiusOfTheNearerThing) {
  for (const int rim : {2, 4, 6}) {
    const RadiiResult found = radii_beside_outline(with_rim(rim));
    for (int y = 4; y < low - 4; ++y)  // borders have fewer samples
      for (int x = outline - 20; x < outline + 40; ++x)
        EXPECT_NEAR(found.at(x, y) / 256.0, x < outline + rim ? 16 : 0, 4.5) << rim << ": " << x << ", " << y;
  }
}

TEST(SoftDepth, TexturedBackgroundsAreNoRims) {
  // Single bright pixels, stripes, and a wall that is bright throughout
  Image picture = with_rim(0);
  for (int y = 0; y < low; ++y)
    for (int x = outline; x < wide; ++x)
      for (int c = 0; c < 3; ++c) {
        std::uint8_t& value = picture.view().value<std::uint8_t>(x, y, c);
        if (y < 16) value = x % 7 == 1 && y % 5 == 2 ? 255 : value;
        if (y >= 16 && y < 32) value = (x + y) / 4 % 2 == 0 ? 30 : 220;
        if (y >= 32) value = 250;
      }
  const RadiiResult found = radii_beside_outline(picture);
  for (int y = 0; y < low; ++y)
    for (int x = outline + 1; x < outline + 40; ++x)
      EXPECT_NEAR(found.at(x, y) / 256.0, 0, 1) << x << ", " << y;
}

/// Counts the pixels in columns `left` to `right` - 1 that are on the other side of radius 8 than at least
/// `least` of the eight pixels around them.
int specks_of(const RadiiResult& found, int left, int right, int rows, int least) {
  const auto is_near = [&](int x, int y) { return found.at(x, y) > 8 * 256; };
  int specks = 0;
  for (int y = 1; y < rows - 1; ++y)
    for (int x = left; x < right; ++x) {
      int unlike = 0;
      for (int v = y - 1; v <= y + 1; ++v)
        for (int u = x - 1; u <= x + 1; ++u) unlike += is_near(u, v) != is_near(x, y) ? 1 : 0;
      specks += unlike >= least ? 1 : 0;
    }
  return specks;
}

TEST(SoftDepth, TexturesOnBothSidesLeaveFewSpecks) {
  // Snow before twigs and lamps: many pixels of the background look like nothing around them
  Random random(7);
  Image picture = with_rim(0);
  for (int y = 0; y < low; ++y)
    for (int x = 0; x < wide; ++x) {
      const bool near = x < outline;
      const bool lamp = !near && random.one_in(5);
      for (int c = 0; c < 3; ++c)
        picture.view().value<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>((near   ? 190
                                                                                 : lamp ? 250 - 80 * c
                                                                                        : 40) +
                                                                                random.between(-40, 5));
    }
  const RadiiResult found = radii_beside_outline(picture);
  EXPECT_LT(specks_of(found, outline - 20, outline + 20, low, 7), 4) << "7 where each pixel decides alone";
}

TEST(SoftDepth, ColoursOfTheOtherSideLeaveNoSpecks) {
  // White wool before orange lamps, with dark pixels on both sides
  constexpr int across = 64;
  constexpr int down = 600;
  constexpr int middle = across / 2;
  Random random(5);
  Image picture({across, down, 3, Type::u8});
  constexpr int wool[] = {190, 200, 210};
  constexpr int lamps[] = {220, 150, 70};
  for (int y = 0; y < down; ++y)
    for (int x = 0; x < across; ++x) {
      const bool dark = random.between(0, 9) < (x < middle ? 1 : 9);
      for (int c = 0; c < 3; ++c)
        picture.view().value<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>((dark         ? 40
                                                                                 : x < middle ? wool[c]
                                                                                              : lamps[c]) +
                                                                                random.between(-20, 20));
    }
  LensFocus focus = focus_at(0.1);
  focus.sharp_range = 0;
  const RadiiResult found =
      radii_of(picture,
               plane_of(across, down, Type::f32,
                        [](auto x, auto) { return ramp(static_cast<double>(x) + 0.5, middle - 3, 6); }),
               focus);
  EXPECT_LT(specks_of(found, 1, across - 1, down, 8), 4) << "29 where specks keep their side";
}

TEST(SoftDepth, SurfacesHoldStillUnderNoise) {
  // Noise of 1 % of the range, uniform with a variance of (0.8 * 0.01)^2, beside a silhouette
  Random random(11);
  const Image clean = depth_of(edge, 8);
  LensFocus focus = focus_at(0.5);
  focus.sharp_range = 0;
  focus.soft = SoftDepth::on;
  std::vector<double> sums(width * height);
  std::vector<double> squares(sums.size());
  constexpr int frames = 24;
  for (int frame = 0; frame < frames; ++frame) {
    const Image noisy = plane_of(width, height, Type::f32, [&](auto x, auto y) {
      return static_cast<double>(clean.view().value<float>(x, y)) + 0.008 * random.between(-173, 173) / 100;
    });
    const RadiiResult found = radii_of(two_halves(), noisy, focus);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const auto at = static_cast<std::size_t>(y * width + x);
        sums[at] += found.at(x, y) / 256.0;
        squares[at] += found.at(x, y) / 256.0 * (found.at(x, y) / 256.0);
      }
  }
  double variance = 0;
  int count = 0;
  for (int y = 1; y + 1 < height; ++y)
    for (int x = 1; x + 1 < width; ++x, ++count) {
      const auto at = static_cast<std::size_t>(y * width + x);
      variance += squares[at] / frames - sums[at] / frames * (sums[at] / frames);
    }
  EXPECT_LT(std::sqrt(variance / count), 0.4 * 20 * 0.008) << "of the noise of the radii";
}

TEST(SoftDepth, DepthThatIsNotSoftKeepsItsRadii) {
  // Bars of five pixels and wires of one, with and without a half covered pixel beside them; a steep surface
  const auto bars = plane_of(width, height, Type::f32, [](auto x, auto) {
    return x % 20 < 5 ? 0.8 : x % 20 == 11 ? 0.6 : x % 20 == 5 ? 0.5 : 0.2;
  });
  const auto surface = plane_of(width, height, Type::f32, [](auto x, auto y) {
    return (static_cast<double>(x) + static_cast<double>(y)) / 200;
  });
  for (const Image* depth : {&bars, &surface}) {
    LensFocus focus = focus_at(0.3);
    focus.strength = Length{60, false};
    focus.max_radius = 500;
    expect_untouched(radii_of(two_halves(), *depth, focus), *depth, 0.3, 60);
  }
}

/// A near disc with a hard outline, moved by (right, down) with linear interpolation.
double moved_disc(int x, int y, double right, double down) {
  const auto inside = [](double u, double v) {
    return (u - 60) * (u - 60) + (v - 40) * (v - 40) < 900 ? 0.8 : 0.0;
  };
  const double left = std::floor(x + right);
  const double top = std::floor(y + down);
  const double across = x + right - left;
  const double along = y + down - top;
  return 0.1 + (1 - along) * ((1 - across) * inside(left, top) + across * inside(left + 1, top)) +
         along * ((1 - across) * inside(left, top + 1) + across * inside(left + 1, top + 1));
}

TEST(SoftDepth, IsRecognisedInEveryFrameOrInNone) {
  // Frames that are moved by up to 0.3 pixels, with noise whose deviation is 1 % of the range. Of the disc's
  // silhouettes 0.36 to 0.65 have a pixel between both sides.
  Random random(3);
  LensFocus focus = focus_at(0.1);
  focus.sharp_range = 0;
  for (const double strength : {20.0, 60.0}) {
    focus.strength = Length{strength, false};
    focus.max_radius = 500;
    for (int frame = 0; frame < 24; ++frame) {
      const auto moved = [&] { return random.between(-30, 30) / 100.0; };
      const auto noise = [&] { return 0.008 * random.between(-173, 173) / 100; };
      const double right = moved();
      const double down = moved();
      const Image hard = plane_of(width, height, Type::f32, [&](auto x, auto y) {
        return moved_disc(static_cast<int>(x), static_cast<int>(y), right, down) + noise();
      });
      expect_untouched(radii_of(two_halves(), hard, focus), hard, 0.1, strength);
      const Image soft = plane_of(width, height, Type::f32, [&](auto x, auto) {
        return ramp(static_cast<double>(x) + 0.5 + right, edge - 2, 8) + noise();
      });
      const RadiiResult found = radii_of(two_halves(), soft, focus);
      int far = 0;
      for (int y = 0; y < height; ++y) far += found.at(edge - 1, y) < strength * 256 * 0.6 ? 1 : 0;
      ASSERT_LT(far, height / 10) << "frame " << frame << ": 0.3 of " << strength << " without";
    }
  }
}

/// A lens that gives a strength of about 30 pixels.
LensFocus lens_focus_at(double value) {
  LensFocus focus;
  focus.focus = value;
  focus.f_number = 1;
  focus.focal_length = 120;
  focus.max_radius = 500;
  return focus;
}

TEST(SoftDepth, IsTheSameByALensAndByItsStrength) {
  const Image depth = depth_of(edge - 2, 8);
  const RadiiResult by_lens = radii_of(two_halves(), depth, lens_focus_at(0.5));
  ASSERT_GT(by_lens.strength, 20);
  LensFocus focus = focus_at(0.5);
  focus.strength = Length{by_lens.strength, false};
  focus.max_radius = 500;
  const RadiiResult by_strength = radii_of(two_halves(), depth, focus);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) ASSERT_EQ(by_lens.at(x, y), by_strength.at(x, y)) << x << ", " << y;
  EXPECT_GT(by_lens.at(edge - 1, 9), by_lens.strength * 256 * 0.3);
  EXPECT_LT(by_lens.at(edge, 9), -by_lens.strength * 256 * 0.3);
}

TEST(SoftDepth, StaysIfItIsDeclaredNotToBe) {
  const Image depth = depth_of(edge, 8);
  LensFocus focus = focus_at(0.5);
  focus.soft = SoftDepth::off;
  expect_untouched(radii_of(two_halves(), depth, focus), depth, 0.5, 20);
  focus = lens_focus_at(0.5);
  focus.soft = SoftDepth::off;
  const RadiiResult found = radii_of(two_halves(), depth, focus);
  expect_untouched(found, depth, 0.5, found.strength);
}

TEST(SoftDepth, IsDeclaredWhereFewSilhouettesAreRamps) {
  // The last column of the nearer thing is half covered in the depth: a ramp of one pixel in three
  const Image depth = depth_of(edge - 0.6, 1);
  LensFocus focus = focus_at(0.1);
  focus.sharp_range = 0;
  EXPECT_LT(radii_of(two_halves(), depth, focus).at(edge - 1, 9) / 256.0, 8);
  focus.soft = SoftDepth::on;
  EXPECT_NEAR(radii_of(two_halves(), depth, focus).at(edge - 1, 9) / 256.0, 16, 1);
}

TEST(SoftDepth, IsSharpAroundTheFocusByDefault) {
  const Image depth = plane_of(width, height, Type::f32, [](auto x, auto y) {
    return ramp(static_cast<double>(x) + 0.5, edge, 8) + 0.005 * static_cast<double>(y / 3 % 7);
  });
  const RadiiResult by_default = radii_of(two_halves(), depth, focus_at(0.12));
  LensFocus focus = focus_at(0.12);
  focus.sharp_range = 0.01 * 0.83;  // 1 % of the range from 0.1 to 0.93
  const RadiiResult given = radii_of(two_halves(), depth, focus);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) EXPECT_NEAR(by_default.at(x, y), given.at(x, y), 2);
  EXPECT_EQ(given.at(100, 31), 0);  // 0.005 * 3 below the focus
  focus.sharp_range = 0;
  EXPECT_LT(radii_of(two_halves(), depth, focus).at(100, 22), -50);
}

TEST(SoftDepth, ThinExtremesGiveWay) {
  // An overshoot next to the silhouette: the far surface dips towards the focus
  const Image depth = plane_of(width, height, Type::f32, [](auto x, auto) {
    const double dip = x == edge + 7 ? -0.2 : 0;
    return 0.2 + ramp(static_cast<double>(x) + 0.5, edge, 8) + dip;
  });
  LensFocus focus = focus_at(0.1);
  focus.sharp_range = 0;
  const RadiiResult found = radii_of(dark_picture(width, height), depth, focus);
  for (int y = 0; y < height; ++y) EXPECT_GT(found.at(edge + 7, y), 3 * 256) << "0.2 * 20 pixels without";
}

TEST(SoftDepth, ThinExtremesBecomeTheMedianOfTheMedianFilter) {
  // Noisy radii on the left, which become medians, and flat ones on the right, which become means
  Random random(4);
  const auto index_of = [](int x, int y) {
    return static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
  };
  std::vector<SignedRadius256> radii(index_of(0, height));
  Image picture({width, height, 1, Type::f32});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      SignedRadius256& own = radii[index_of(x, y)];
      own = x < edge ? 256 * random.between(-30, 30) : random.between(-100, 100);
      picture.view().value<float>(x, y) = static_cast<float>(own);
    }
  const auto is_inside = [](int x, int y) { return x >= 0 && y >= 0 && x < width && y < height; };
  const Image medians = median(device_under_test(), picture.view(), {.radius = 2});
  std::vector<SignedRadius256> results(radii.size());
  DepthStatistics statistics;
  statistics.soft = 1;
  CleanRadii step{{}, width, height, &statistics, {}};
  step.radii.data = reinterpret_cast<const std::byte*>(radii.data());
  step.result.data = reinterpret_cast<std::byte*>(results.data());
  step.radii.distance = step.result.distance = width * sizeof(SignedRadius256);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      step(x, y);
      if (x >= edge && x < edge + 2) continue;  // windows with radii of both sides
      if (x < edge) {
        EXPECT_EQ(results[index_of(x, y)], medians.view().value<float>(x, y)) << x << ", " << y;
        continue;
      }
      double sum = 0;
      for (int v = y - 1; v <= y + 1; ++v)
        for (int u = x - 1; u <= x + 1; ++u) sum += is_inside(u, v) ? radii[index_of(u, v)] : 0;
      const bool inner = x + 1 < width && y > 0 && y + 1 < height;
      EXPECT_EQ(results[index_of(x, y)], inner ? std::floor(sum / 9 + 0.5) : radii[index_of(x, y)])
          << x << ", " << y;
    }
}

/// Radii with steps, slopes and single extremes next to the edge of a picture, and the result of the steps
/// called for every pixel.
struct SnapCase {
  SnapDepthJob job;
  Image picture, radii, thin, snapped;
  DepthStatistics statistics;
  std::vector<SideScores> scores;
  std::vector<ChosenSide> sides;

  SnapCase(int across, int down) {
    const Shape plane{across, down, 1, Type::f32};  // bits of i32
    picture = Image({across, down, 3, Type::u8});
    for (Image* image : {&radii, &thin, &snapped}) *image = Image(plane);
    job.sizes = {across, down, across, down};
    job.channels = job.colours = 3;
    statistics.soft = 1;
    Random random(static_cast<std::uint64_t>(across));
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x) {
        const int far = x % 300 > 150 + y % 7 ? 2000 : 10 * std::clamp(5 * x - 2 * y, 0, 200);
        radii.view().row<SignedRadius256>(y)[x] =
            far + (random.one_in(40) ? 1500 : random.between(0, 29)) - 900;
        for (int c = 0; c < 3; ++c)
          picture.view().row<std::uint8_t>(y)[3 * x + c] =
              static_cast<std::uint8_t>((x % 300 > 148 ? 200 : 20) + random.between(0, 8));
      }
    const CleanRadii clean{Rows<const SignedRadius256>(radii.view()), across, down, &statistics,
                           Rows<SignedRadius256>(thin.view())};
    const PictureColours<std::uint8_t> colours{Rows<const std::uint8_t>(picture.view()), 3, 3};
    scores.resize(static_cast<std::size_t>(across) * static_cast<std::size_t>(down));
    sides.resize(scores.size());
    const Rows<const SignedRadius256> cleaned(thin.view());
    const ScoreSides<PictureColours<std::uint8_t>> score{cleaned, across,      down,
                                                         colours, &statistics, scores.data()};
    const ChooseSides<PictureColours<std::uint8_t>> choose{cleaned,     across,        down,        colours,
                                                           &statistics, scores.data(), sides.data()};
    const SnapToSides snap{cleaned,     across,       down,
                           &statistics, sides.data(), Rows<SignedRadius256>(snapped.view())};
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x) clean(x, y);
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x) score(x, y);
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x) choose.row(y)(x);
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x) snap.row(y)(x);
  }
};

TEST(SoftDepth, RowsOfEverySimdTargetEqualSinglePixels) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "SIMD is the CPU's";
  const Device device = Device::open("cpu");
  int moved = 0;
  for (const auto& size : {std::pair{1, 1}, {2, 9}, {4, 3}, {37, 20}, {516, 40}, {517, 9}, {2100, 9}}) {
    const int across = size.first;
    const int down = size.second;
    SCOPED_TRACE(std::to_string(across) + " x " + std::to_string(down));
    SnapCase scene(across, down);
    on_every_target([&] {
      const auto operation = device.backend().prepare(scene.job);
      Image found = copy_of(scene.radii);
      Image spare(found.shape());
      operation->run({scene.picture.view(), &scene.statistics, nullptr, scene.scores.data(),
                      scene.sides.data(), found.view(), spare.view()},
                     {});
      for (int y = 0; y < down; ++y)
        for (int x = 0; x < across; ++x) {
          const SignedRadius256 own = found.view().row<SignedRadius256>(y)[x];
          ASSERT_EQ(own, scene.snapped.view().row<SignedRadius256>(y)[x]) << x << ", " << y;
          moved += own != scene.radii.view().row<SignedRadius256>(y)[x] ? 1 : 0;
        }
    });
  }
  EXPECT_GT(moved, 1000);
}

}  // namespace
}  // namespace satin::test
