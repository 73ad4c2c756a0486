#include "render.h"

#include <array>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace lens {
namespace {

constexpr std::uint32_t pinhole_samples = 64;
constexpr std::uint32_t hidden_samples = 16;

void for_each_row(const std::function<void(int)>& work) {
  std::atomic<int> next{0};
  const auto loop = [&] {
    for (int y = next++; y < height; y = next++) work(y);
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) others.emplace_back(loop);
  loop();
}

satin::Image picture(int channels) { return satin::Image({width, height, channels, satin::Type::f32}); }

/// Concentric map of the square to the disc (Shirley and Chiu 1997), with sines and cosines from a table.
class ConcentricMap {
 public:
  ConcentricMap() {
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      const double angle = scene::pi / 4 * (2 * static_cast<double>(i) / steps - 1);
      directions_[i] = {std::cos(angle), std::sin(angle)};
    }
  }

  [[nodiscard]] Vec2 operator()(Vec2 square) const {
    const double a = 2 * square.x - 1;
    const double b = 2 * square.y - 1;
    if (a == 0 && b == 0) return {};
    if (std::abs(a) > std::abs(b)) {
      const Vec2 direction = direction_at(b / a);
      return {a * direction.x, a * direction.y};
    }
    const Vec2 direction = direction_at(a / b);
    return {b * direction.y, b * direction.x};
  }

 private:
  static constexpr int steps = 2048;

  /// Cosine and sine of pi / 4 * turn, turn in [-1, 1]; interpolated linearly, with an error of at most 2e-7.
  [[nodiscard]] Vec2 direction_at(double turn) const {
    const double at = (turn + 1) * (steps / 2.0);
    const auto i = static_cast<std::size_t>(at);
    const double t = at - static_cast<double>(i);
    const Vec2& from = directions_[i];
    const Vec2& to = directions_[i + 1];
    return {from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)};
  }

  std::array<Vec2, steps + 2> directions_;
};

Vec3 colour_at(const Hit& hit) { return hit.layer == nullptr ? Vec3{} : hit.layer->colour_at(hit.place); }

/// A net of points in pixel and aperture, the same for all pixels except for a digital shift: bits of a
/// coordinate are flipped where those of a random number are set, which preserves the net.
class Net {
 public:
  Net(std::uint32_t samples, std::uint32_t sequence) : sequence_(sequence) {
    for (std::uint32_t i = 0; i < samples; ++i) {
      scene::Sampler sampler(sequence, i);
      const Vec2 place = sampler.next();
      const Vec2 lens = sampler.next();
      points_.push_back({bits(place.x), bits(place.y), bits(lens.x), bits(lens.y)});
    }
  }

  /// Mean over a pixel of seen(position, point of the aperture).
  template <class Seen>
  [[nodiscard]] Vec3 mean(int x, int y, const Seen& seen) const {
    std::array<std::uint32_t, 4> shift{};
    for (std::uint32_t i = 0; i < 4; ++i)
      shift[i] = scene::hash(sequence_ * 4 + i, static_cast<std::uint32_t>(y * width + x));
    Vec3 sum{};
    for (const auto& point : points_) {
      const auto at = [&](std::size_t i) { return scene::unit_interval(point[i] ^ shift[i]); };
      sum += seen(Vec2{x + at(0), y + at(1)}, disc_(Vec2{at(2), at(3)}));
    }
    return sum * (1.0 / static_cast<double>(points_.size()));
  }

 private:
  static std::uint32_t bits(double unit) { return static_cast<std::uint32_t>(unit * 0x1p32); }

  std::uint32_t sequence_;
  ConcentricMap disc_;
  std::vector<std::array<std::uint32_t, 4>> points_;
};

}  // namespace

satin::Image render_lens(const Scene& scene, std::uint32_t samples, std::uint32_t sequence) {
  const Net net(samples, sequence);
  satin::Image result = picture(3);
  for_each_row([&](int y) {
    for (int x = 0; x < width; ++x) {
      const std::vector<Candidate> seen = layers_seen(scene, {x + 0.5, y + 0.5}, 1);
      set_pixel(result, x, y,
                net.mean(x, y, [&](Vec2 p, Vec2 u) { return colour_at(nearest_hit(scene, seen, p, u)); }));
    }
  });
  return result;
}

satin::Image mean_of(const satin::Image& a, const satin::Image& b) {
  satin::Image result(a.shape());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) set_pixel(result, x, y, (pixel_of(a, x, y) + pixel_of(b, x, y)) * 0.5);
  return result;
}

Views render_views(const Scene& scene, std::uint32_t samples) {
  Views views{
      picture(3), picture(1), picture(3), {render_lens(scene, samples, 1), render_lens(scene, samples, 2)}};
  views.truth = mean_of(views.samplings[0], views.samplings[1]);
  const Net pixel(pinhole_samples, 3);
  const std::vector<Candidate> everything = all_layers(scene);
  for_each_row([&](int y) {
    for (int x = 0; x < width; ++x) {
      const Vec2 centre{x + 0.5, y + 0.5};
      const std::vector<Candidate> seen = layers_seen(scene, centre, 0);
      set_pixel(views.pinhole, x, y,
                pixel.mean(x, y, [&](Vec2 p, Vec2) { return colour_at(nearest_hit(scene, seen, p, {})); }));
      views.disparity.view().value<float>(x, y) =
          static_cast<float>(nearest_hit(scene, everything, centre, {}).disparity);
    }
  });
  return views;
}

std::vector<HiddenView> render_hidden(const Scene& scene, int layers) {
  std::vector<HiddenView> views;
  for (int i = 0; i < layers; ++i) views.push_back({picture(3), picture(1)});
  const Net coarse(hidden_samples, 4);
  const std::vector<Candidate> everything = all_layers(scene);
  for_each_row([&](int y) {
    for (int x = 0; x < width; ++x) {
      const Vec2 centre{x + 0.5, y + 0.5};
      Hit hit = nearest_hit(scene, everything, centre, {});
      for (HiddenView& view : views) {
        if (hit.layer != nullptr) hit = nearest_hit(scene, everything, centre, {}, hit.disparity);
        const Layer* layer = hit.layer;
        view.disparity.view().value<float>(x, y) =
            layer != nullptr ? static_cast<float>(hit.disparity) : -1.F;
        set_pixel(
            view.picture, x, y,
            layer != nullptr ? coarse.mean(x, y, [&](Vec2 p, Vec2) { return layer->colour_at(p); }) : Vec3{});
      }
    }
  });
  return views;
}

}  // namespace lens
