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

/// Concentric map of the square to the disc (Shirley and Chiu 1997).
Vec2 to_disc(Vec2 square) {
  const double a = 2 * square.x - 1;
  const double b = 2 * square.y - 1;
  if (a == 0 && b == 0) return {};
  const bool wide = std::abs(a) > std::abs(b);
  const double radius = wide ? a : b;
  const double angle = wide ? scene::pi / 4 * (b / a) : scene::pi / 2 - scene::pi / 4 * (a / b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

Vec3 colour_at(const Hit& hit) { return hit.layer == nullptr ? Vec3{} : hit.layer->colour_at(hit.place); }

/// A net of points in pixel and aperture, the same for all pixels but for a digital shift: the bits of a
/// coordinate are exchanged where those of a random number are set, which keeps the net a net.
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

  /// The mean over a pixel of what `seen` gives for a place in it and a point of the aperture.
  template <class Seen>
  [[nodiscard]] Vec3 mean(int x, int y, const Seen& seen) const {
    std::array<std::uint32_t, 4> shift{};
    for (std::uint32_t i = 0; i < 4; ++i)
      shift[i] = scene::hash(sequence_ * 4 + i, static_cast<std::uint32_t>(y * width + x));
    Vec3 sum{};
    for (const auto& point : points_) {
      const auto at = [&](std::size_t i) { return scene::unit_interval(point[i] ^ shift[i]); };
      sum += seen(Vec2{x + at(0), y + at(1)}, to_disc({at(2), at(3)}));
    }
    return sum * (1.0 / static_cast<double>(points_.size()));
  }

 private:
  static std::uint32_t bits(double unit) { return static_cast<std::uint32_t>(unit * 0x1p32); }

  std::uint32_t sequence_;
  std::vector<std::array<std::uint32_t, 4>> points_;
};

}  // namespace

satin::Image render_lens(const Scene& scene, std::uint32_t samples, std::uint32_t sequence) {
  const Net net(samples, sequence);
  satin::Image result = picture(3);
  for_each_row([&](int y) {
    for (int x = 0; x < width; ++x)
      set_pixel(result, x, y,
                net.mean(x, y, [&](Vec2 p, Vec2 u) { return colour_at(nearest_hit(scene, p, u)); }));
  });
  return result;
}

Views render_views(const Scene& scene, std::uint32_t samples) {
  Views views{picture(3), picture(1), picture(3), picture(1), render_lens(scene, samples, 1)};
  const Net pixel(pinhole_samples, 3);
  const Net coarse(hidden_samples, 4);
  for_each_row([&](int y) {
    for (int x = 0; x < width; ++x) {
      set_pixel(views.pinhole, x, y,
                pixel.mean(x, y, [&](Vec2 p, Vec2) { return colour_at(nearest_hit(scene, p, {})); }));
      const Vec2 centre{x + 0.5, y + 0.5};
      const Hit first = nearest_hit(scene, centre, {});
      const Hit second = nearest_hit(scene, centre, {}, first.disparity);
      const bool hides = second.layer != nullptr;
      views.disparity.view().value<float>(x, y) = static_cast<float>(first.disparity);
      views.hidden_disparity.view().value<float>(x, y) = hides ? static_cast<float>(second.disparity) : -1.F;
      set_pixel(views.hidden, x, y,
                hides ? coarse.mean(x, y, [&](Vec2 p, Vec2) { return second.layer->colour_at(p); }) : Vec3{});
    }
  });
  return views;
}

}  // namespace lens
