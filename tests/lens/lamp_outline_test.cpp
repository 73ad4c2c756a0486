// Lamps have the outline of the opening at each radius and for each shape: the result lies between the true
// shape without a rim of 0.6 pixels and the shape with one, and its light is in the right pixels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "tests/lens/lamp_case.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr double rim = 0.6;              // pixels
constexpr double most_misplaced = 0.01;  // share of the light

/// Side of a picture in whose centre no kernel of the black pixels around a lamp is cut by the border, as a
/// cut kernel makes other samples count more.
std::int64_t roomy_size_for(double radius) {
  constexpr double farthest_corner = 1.6;  // radii, of a triangle; a disc that is squeezed by 2 has 1.41
  return 4 * static_cast<std::int64_t>(farthest_corner * radius) + 21;
}

/// Whether light passes at a point, in radii from the lamp.
using Opening = std::function<bool(double, double)>;

bool disc(double x, double y) { return x * x + y * y <= 1; }

/// Scales an opening to the variance of a disc.
Opening of_disc_variance(const Opening& opening) {
  constexpr int steps = 600;
  constexpr double reach = 2;
  double area = 0;
  double squares = 0;
  for (int j = 0; j < steps; ++j)
    for (int i = 0; i < steps; ++i) {
      const double x = reach * (2 * (i + .5) / steps - 1);
      const double y = reach * (2 * (j + .5) / steps - 1);
      if (!opening(x, y)) continue;
      area += 1;
      squares += (x * x + y * y) / 2;
    }
  const double scale = 2 * std::sqrt(squares / area);
  return [=](double x, double y) { return opening(x * scale, y * scale); };
}

/// A polygon with corners at distance 1 that stands on a side, turned clockwise. Its sides are arcs through
/// the corners, `curvature` times as high as those of the circle: intersections of discs, or half planes.
Opening polygon(int blades, double degrees, double curvature = 0) {
  struct Side {
    double x, y;
  };
  const double half = std::numbers::pi / blades;
  const double height = curvature * (1 - std::cos(half));
  const double arc = curvature > 0 ? (std::sin(half) * std::sin(half) + height * height) / (2 * height) : 0;
  const double centre = std::cos(half) + height - arc;
  std::vector<Side> sides;
  for (int i = 0; i < blades; ++i) {
    const double normal = std::numbers::pi / 2 + degrees * std::numbers::pi / 180 + 2 * half * i;
    sides.push_back({std::cos(normal), std::sin(normal)});
  }
  return [=](double x, double y) {
    return std::all_of(sides.begin(), sides.end(), [&](const Side& side) {
      if (curvature == 0) return x * side.x + y * side.y <= std::cos(half);
      return std::hypot(x - centre * side.x, y - centre * side.y) <= arc;
    });
  };
}

struct Shown {
  std::string name;
  LensStyle style;
  Opening opening;
};

Shown of_polygon(const std::string& name, Bokeh bokeh, int blades, double degrees, double curvature = 0) {
  LensStyle style;
  style.bokeh = bokeh;
  if (bokeh == Bokeh::polygon) style.blades = blades;
  style.blade_angle = degrees;
  style.blade_curvature = curvature;
  return {name, style, of_disc_variance(polygon(blades, degrees, curvature))};
}

Shown squeezed(double squeeze) {
  LensStyle style;
  style.squeeze = squeeze;
  const double root = std::sqrt(squeeze);
  return {"disc squeezed by " + std::to_string(squeeze), style,
          [=](double x, double y) { return disc(x * root, y / root); }};
}

std::vector<Shown> shapes() {
  return {{"disc", {}, disc},
          of_polygon("hexagon", Bokeh::hexagon, 6, 0),
          of_polygon("square", Bokeh::square, 4, 0),
          of_polygon("square on a corner", Bokeh::square, 4, 45),
          of_polygon("triangle", Bokeh::polygon, 3, 17),
          of_polygon("pentagon", Bokeh::polygon, 5, 0),
          of_polygon("16 blades", Bokeh::polygon, 16, 3),
          of_polygon("seven round blades", Bokeh::polygon, 7, 100, 0.5),
          squeezed(0.5),
          squeezed(2)};
}

/// Share of each pixel that an opening around the lamp covers: exactly, without a rim, and with one.
struct Coverage {
  std::vector<double> own;
  std::vector<double> least;
  std::vector<double> most;
};

/// Whether all points on a circle around (x, y) are in the opening, and whether any is.
std::pair<bool, bool> around(const Opening& opening, double radius, double x, double y, double distance) {
  constexpr int directions = 16;
  bool all = opening(x / radius, y / radius);
  bool any = all;
  for (int i = 0; i < directions; ++i) {
    const double angle = 2 * std::numbers::pi * i / directions;
    const bool open =
        opening((x + distance * std::cos(angle)) / radius, (y + distance * std::sin(angle)) / radius);
    all = all && open;
    any = any || open;
  }
  return {all, any};
}

Coverage coverage_of(const Opening& opening, double radius, std::int64_t size, double lamp_x, double lamp_y) {
  constexpr int places = 64;  // points per pixel, no two in one row or column
  Coverage coverage;
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x) {
      const double dx = static_cast<double>(x) - lamp_x;
      const double dy = static_cast<double>(y) - lamp_y;
      const bool far = std::hypot(dx, dy) > 1.8 * radius + 2;
      const auto [all, any] = far ? std::pair{false, false} : around(opening, radius, dx, dy, rim + 0.8);
      double own = all ? 1 : 0;
      double least = own;
      double most = own;
      if (all != any) {
        for (int i = 0; i < places; ++i) {
          const double u = dx + (i + .5) / places - .5;
          const double v = dy + std::fmod((i + .5) * std::numbers::phi, 1) - .5;
          const auto [inside, near] = around(opening, radius, u, v, rim);
          own += opening(u / radius, v / radius) ? 1 : 0;
          least += inside ? 1 : 0;
          most += near ? 1 : 0;
        }
        own /= places;
        least /= places;
        most /= places;
      }
      coverage.own.push_back(own);
      coverage.least.push_back(least);
      coverage.most.push_back(most);
    }
  return coverage;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// Linear light of the first channel.
std::vector<double> light_of(const Image& picture) {
  const ImageView view = picture.view();
  std::vector<double> light;
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x)
      light.push_back(static_cast<double>(view.value<float>(x, y)));
  return light;
}

/// Light in wrong pixels, and the largest excess over the rims in one pixel, in covered pixels.
struct Misplaced {
  double light = 0;
  double beyond_rim = 0;
};

Misplaced misplaced(const std::vector<double>& found, const Coverage& coverage) {
  const double area = sum_of(coverage.own);
  const double light = sum_of(found);
  Misplaced result;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double covered = found[i] / light * area;
    result.light += std::max(0.0, covered - coverage.own[i]) / area;
    result.beyond_rim =
        std::max({result.beyond_rim, coverage.least[i] - covered, covered - coverage.most[i]});
  }
  return result;
}

TEST(LampOutline, IsTrueAtEveryRadius) {
  for (const Shown& shown : shapes())
    for (const double radius : {8.0, 16.0, 32.0, 64.0}) {
      const std::int64_t size = roomy_size_for(radius);
      const std::int64_t at = size / 2;
      const auto middle = static_cast<double>(at);
      const Image result = out_of_focus(point_at(size, Type::f32, at, at), radius, shown.style);
      const std::vector<double> light = light_of(result);
      const auto [outside, beyond] =
          misplaced(light, coverage_of(shown.opening, radius, size, middle, middle));
      EXPECT_LE(outside, most_misplaced) << shown.name << ", radius " << radius;
      EXPECT_LE(beyond, 0.02) << shown.name << ", radius " << radius;
      EXPECT_NEAR(sum_of(light), 1, 2e-3) << shown.name << ", radius " << radius;
    }
}

TEST(LampOutline, OfACatsEyeIsCutByARimTowardsTheMiddle) {
  constexpr double farthest_rim = 0.8;  // radii, in the corner
  for (const bool hexagon : {false, true})
    for (const double radius : {8.0, 16.0, 32.0, 64.0})
      for (const double cats_eye : {0.5, 1.0}) {
        if (radius > 32 && hexagon) continue;
        const std::int64_t at = 2 * static_cast<std::int64_t>(1.15 * radius) + 5;
        const std::int64_t size = 3 * at;
        const Shown open = hexagon ? of_polygon("hexagon", Bokeh::hexagon, 6, 0) : Shown{"disc", {}, disc};
        LensStyle style = open.style;
        style.cats_eye = cats_eye;
        const double middle = static_cast<double>(size - 1) / 2;
        const double corner = static_cast<double>(size) / std::sqrt(2.0);
        // Where nothing is cut, the opening touches the circle of the rim.
        double reach = 1;
        while (hexagon && (open.opening(reach, 0) || open.opening(0, reach))) reach += 1e-4;
        const double moved = (middle - static_cast<double>(at)) / corner * farthest_rim * cats_eye * reach;
        const Opening cut = [&](double x, double y) {
          return open.opening(x, y) && std::hypot(x - moved, y - moved) <= reach;
        };
        const Image result = out_of_focus(point_at(size, Type::f32, at, at), radius, style);
        const auto [outside, beyond] =
            misplaced(light_of(result),
                      coverage_of(cut, radius, size, static_cast<double>(at), static_cast<double>(at)));
        EXPECT_LE(outside, most_misplaced) << open.name << ", radius " << radius << ", " << cats_eye;
        EXPECT_LE(beyond, 0.02) << open.name << ", radius " << radius << ", " << cats_eye;
      }
}

/// Mean coverage of lamps that fill a square of `side` pixels.
std::vector<double> of_square(const std::vector<double>& coverage, std::int64_t size, std::int64_t side) {
  std::vector<double> sums(coverage.size());
  for (std::int64_t y = side / 2; y < size - side / 2; ++y)
    for (std::int64_t x = side / 2; x < size - side / 2; ++x)
      for (std::int64_t i = 0; i < side * side; ++i)
        sums[static_cast<std::size_t>(y * size + x)] +=
            coverage[static_cast<std::size_t>((y + i / side - side / 2) * size + x + i % side - side / 2)];
  return sums;
}

/// Code of a pixel that `covered` of `area` white lamps cover.
double code_of(double covered, double area) {
  const double light = covered / area;
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055);
}

TEST(LampOutline, IsTrueIn8BitsWithoutHighlights) {
  // A lamp of one pixel with radius 64 is a quarter of a code, so lamps grow with the radius.
  for (const LensQuality quality : {LensQuality::fast, LensQuality::high})
    for (const auto& [radius, side] : {std::pair{8.0, std::int64_t{1}}, {16.0, 3}, {32.0, 5}, {64.0, 9}})
      for (const Shown& shown : {shapes()[0], shapes()[1]}) {
        if (quality == LensQuality::fast && radius > 32) continue;
        const std::int64_t size = size_for(radius);
        const std::int64_t middle = size / 2;
        Image picture = point_at(size, Type::u8, middle, middle);
        for (std::int64_t i = 0; i < side * side; ++i)
          set_fraction(picture.view(), middle + i % side - side / 2, middle + i / side - side / 2, 0, 1);
        LensStyle style = shown.style;
        style.highlights = 1;
        style.quality = quality;
        const Image result = out_of_focus(picture, radius, style);
        const Coverage coverage = coverage_of(shown.opening, radius, size, static_cast<double>(middle),
                                              static_cast<double>(middle));
        const double area = sum_of(coverage.own);
        const std::vector<double> least = of_square(coverage.least, size, side);
        const std::vector<double> most = of_square(coverage.most, size, side);
        double worst = 0;  // codes
        for (std::int64_t y = 0; y < size; ++y)
          for (std::int64_t x = 0; x < size; ++x) {
            const auto i = static_cast<std::size_t>(y * size + x);
            const double code = result.view().value<std::uint8_t>(x, y);
            worst = std::max({worst, code_of(least[i], area) - code, code - code_of(most[i], area)});
          }
        EXPECT_LE(worst, 1) << shown.name << ", radius " << radius;
      }
}

}  // namespace
}  // namespace satin::test
