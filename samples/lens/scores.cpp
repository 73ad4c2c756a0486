#include "scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "render.h"

namespace lens {
namespace {

constexpr double edge_step = 1.5;   // difference of blur between neighbours, pixels
constexpr double band_share = 0.8;  // width of the edge band, as a share of the largest radius
constexpr int window_reach = 5;

using Values = std::vector<double>;

std::size_t index_of(int x, int y) {
  return static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
}

double encoded(double value) {
  const double v = scene::saturate(value);
  return v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
}

Vec3 shown(const satin::Image& image, int x, int y) {
  const Vec3 c = pixel_of(image, x, y);
  return {encoded(c.x), encoded(c.y), encoded(c.z)};
}

constexpr double much_blur = 8;  // least blur of the nearer side of a silhouette that is searched for specks
constexpr int speck_reach = 6;

void mark_around(std::vector<char>& band, int x, int y, int reach) {
  for (int v = std::max(0, y - reach); v <= std::min(height - 1, y + reach); ++v)
    for (int u = std::max(0, x - reach); u <= std::min(width - 1, x + reach); ++u)
      if ((u - x) * (u - x) + (v - y) * (v - y) <= reach * reach) band[index_of(u, v)] = 1;
}

std::vector<char> edge_band(const Scene& scene, const satin::Image& disparity) {
  const auto blur = [&](int x, int y) { return scene.blur_at(disparity.view().value<float>(x, y)); };
  double largest = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) largest = std::max(largest, std::abs(blur(x, y)));
  const int reach = static_cast<int>(band_share * largest);
  std::vector<char> band(static_cast<std::size_t>(width) * height);
  for (int y = 1; y < height; ++y)
    for (int x = 1; x < width; ++x) {
      const double here = blur(x, y);
      if (std::abs(here - blur(x - 1, y)) <= edge_step && std::abs(here - blur(x, y - 1)) <= edge_step)
        continue;
      mark_around(band, x, y, reach);
    }
  return band;
}

/// Marks the pixels near silhouettes of blurred objects that hide others.
std::vector<char> blurred_silhouettes(const Scene& scene, const satin::Image& disparity) {
  std::vector<char> band(static_cast<std::size_t>(width) * height);
  const auto at = [&](int x, int y) { return disparity.view().value<float>(x, y); };
  for (int y = 1; y < height; ++y)
    for (int x = 1; x < width; ++x)
      for (const float other : {at(x - 1, y), at(x, y - 1)}) {
        const double here = scene.blur_at(at(x, y));
        const double there = scene.blur_at(other);
        if (std::abs(here - there) > edge_step && std::abs(std::max(here, there)) > much_blur)
          mark_around(band, x, y, speck_reach);
      }
  return band;
}

double laplacian(const Values& values, int x, int y) {
  return 4 * values[index_of(x, y)] - values[index_of(x - 1, y)] - values[index_of(x + 1, y)] -
         values[index_of(x, y - 1)] - values[index_of(x, y + 1)];
}

double specks_of(const Values& luminances, const Values& truth, const std::vector<char>& band) {
  double squares = 0;
  double count = 0;
  for (int y = border; y < height - border; ++y)
    for (int x = border; x < width - border; ++x) {
      if (band[index_of(x, y)] == 0) continue;
      double allowed = 0;
      for (int i = 0; i < 9; ++i)
        allowed = std::max(allowed, std::abs(laplacian(truth, x + i % 3 - 1, y + i / 3 - 1)));
      const double excess = std::max(0.0, std::abs(laplacian(luminances, x, y)) - allowed);
      squares += excess * excess;
      ++count;
    }
  return count > 0 ? 255 * std::sqrt(squares / count) : 0;
}

/// Gaussian of sigma 1.5 along both axes.
Values smoothed(const Values& values) {
  std::array<double, 2 * window_reach + 1> weights{};
  double total = 0;
  for (int i = -window_reach; i <= window_reach; ++i)
    total += weights[static_cast<std::size_t>(i + window_reach)] = std::exp(-i * i / 4.5);
  const auto along = [&](const Values& from, bool x_axis) {
    Values to(from.size());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (int i = -window_reach; i <= window_reach; ++i)
          sum += weights[static_cast<std::size_t>(i + window_reach)] / total *
                 from[index_of(std::clamp(x_axis ? x + i : x, 0, width - 1),
                               std::clamp(x_axis ? y : y + i, 0, height - 1))];
        to[index_of(x, y)] = sum;
      }
    return to;
  };
  return along(along(values, true), false);
}

Values product(const Values& a, const Values& b) {
  Values result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] * b[i];
  return result;
}

double ssim_of(const Values& a, const Values& b) {
  constexpr double c1 = 0.01 * 0.01;
  constexpr double c2 = 0.03 * 0.03;
  const Values mean_a = smoothed(a);
  const Values mean_b = smoothed(b);
  const Values square_a = smoothed(product(a, a));
  const Values square_b = smoothed(product(b, b));
  const Values mixed = smoothed(product(a, b));
  double sum = 0;
  int count = 0;
  for (int y = border; y < height - border; ++y)
    for (int x = border; x < width - border; ++x, ++count) {
      const std::size_t i = index_of(x, y);
      const double m = mean_a[i] * mean_b[i];
      const double squares = mean_a[i] * mean_a[i] + mean_b[i] * mean_b[i];
      sum += (2 * m + c1) * (2 * (mixed[i] - m) + c2) /
             ((squares + c1) * (square_a[i] + square_b[i] - squares + c2));
    }
  return sum / count;
}

double decibels(double squares, double count) {
  return count > 0 ? -10 * std::log10(squares / count + 1e-12) : 0;
}

}  // namespace

Scores scores_of(const satin::Image& picture, const satin::Image& truth, const Scene& scene,
                 const satin::Image& disparity) {
  const std::vector<char> band = edge_band(scene, disparity);
  Values luminances(band.size());
  Values true_luminances(band.size());
  double squares = 0;
  double count = 0;
  double band_squares = 0;
  double band_count = 0;
  double border_squares = 0;
  double border_count = 0;
  double all_squares = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Vec3 a = shown(picture, x, y);
      const Vec3 b = shown(truth, x, y);
      luminances[index_of(x, y)] = luminance(a);
      true_luminances[index_of(x, y)] = luminance(b);
      const double error = dot(a - b, a - b);
      const int inwards = std::min({x, y, width - 1 - x, height - 1 - y});
      all_squares += error;
      if (inwards < border_band) {
        border_squares += error;
        border_count += 3;
      }
      if (inwards < border) continue;
      squares += error;
      count += 3;
      if (band[index_of(x, y)] == 0) continue;
      band_squares += error;
      band_count += 3;
    }
  return {decibels(squares, count),
          decibels(band_squares, band_count),
          ssim_of(luminances, true_luminances),
          specks_of(luminances, true_luminances, blurred_silhouettes(scene, disparity)),
          decibels(border_squares, border_count),
          decibels(all_squares, 3.0 * width * height)};
}

}  // namespace lens
