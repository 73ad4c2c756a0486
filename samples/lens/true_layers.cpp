#include "true_layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "render.h"

namespace lens {
namespace {

constexpr int around = 32;  ///< pixels beyond the picture that are spread
constexpr int parts = 6;    ///< samples per pixel along each axis

/// Sums of the samples that arrive at one pixel: weighted light, and weight.
struct Arrived {
  Vec3 light{};
  double weight = 0;
};

/// A disc of the given radius with antialiased pixels; the sum is 1.
struct Disc {
  int reach;
  std::vector<double> weights;

  explicit Disc(double radius) : reach(static_cast<int>(std::ceil(radius + 0.5))) {
    double sum = 0;
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x)
        sum += weights.emplace_back(std::clamp(radius + 0.5 - std::hypot(x, y), 0.0, 1.0));
    for (double& weight : weights) weight /= sum;
  }
};

/// Light and weight of one pixel of one layer alone.
Arrived pixel_of_layer(const Layer& layer, int x, int y) {
  Arrived pixel;
  for (int part = 0; part < parts * parts; ++part) {
    const Vec2 p{x + (part % parts + 0.5) / parts, y + (part / parts + 0.5) / parts};
    if (layer.outline.at(p) <= 0) continue;
    pixel.light += layer.colour_at(p) * (1.0 / (parts * parts));
    pixel.weight += 1.0 / (parts * parts);
  }
  return pixel;
}

void spread(const Arrived& pixel, int x, int y, const Disc& disc, std::vector<Arrived>& to) {
  const int side = 2 * disc.reach + 1;
  for (int v = std::max(0, y - disc.reach); v <= std::min(height - 1, y + disc.reach); ++v)
    for (int u = std::max(0, x - disc.reach); u <= std::min(width - 1, x + disc.reach); ++u) {
      const double share =
          disc.weights[static_cast<std::size_t>((v - y + disc.reach) * side + u - x + disc.reach)];
      Arrived& sum = to[static_cast<std::size_t>(v) * width + static_cast<std::size_t>(u)];
      sum.light += pixel.light * share;
      sum.weight += pixel.weight * share;
    }
}

std::vector<Arrived> spread_layer(const Scene& scene, const Layer& layer) {
  std::vector<Arrived> sums(static_cast<std::size_t>(width) * height);
  std::map<int, Disc> discs;  // by radius in 1/8 pixel
  for (int y = -around; y < height + around; ++y)
    for (int x = -around; x < width + around; ++x) {
      const Arrived pixel = pixel_of_layer(layer, x, y);
      if (pixel.weight <= 0) continue;
      const double radius = std::abs(scene.blur_at(layer.disparity_at({x + 0.5, y + 0.5})));
      const int eighths = static_cast<int>(std::lround(8 * radius));
      const Disc& disc = discs.try_emplace(eighths, eighths / 8.0).first->second;
      spread(pixel, x, y, disc, sums);
    }
  return sums;
}

}  // namespace

satin::Image spread_true_layers(const Scene& scene) {
  std::vector<const Layer*> layers;
  for (const Layer& layer : scene.layers) layers.push_back(&layer);
  std::ranges::sort(layers, [](const Layer* a, const Layer* b) {
    return a->disparity > b->disparity || (a->disparity == b->disparity && a < b);
  });
  std::vector<Arrived> seen(static_cast<std::size_t>(width) * height);
  for (const Layer* layer : layers) {
    const std::vector<Arrived> sums = spread_layer(scene, *layer);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const double through = 1 - seen[i].weight;
      const double factor = sums[i].weight > 1 ? through / sums[i].weight : through;
      seen[i].light += sums[i].light * factor;
      seen[i].weight += sums[i].weight * factor;
    }
  }
  satin::Image result({width, height, 3, satin::Type::f32});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Arrived& pixel = seen[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
      set_pixel(result, x, y, pixel.light * (1 / std::max(pixel.weight, 1e-9)));
    }
  return result;
}

}  // namespace lens
