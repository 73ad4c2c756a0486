#include "scene_render.h"

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "scene_tone.h"

namespace scene {
namespace {

struct Pass {
  std::uint32_t samples;  ///< samples of a pixel after the pass, a power of two for stratification
  double tolerance;       ///< standard error of the displayed luminance above which a pixel needs more
};
/// The tolerance grows because the error of stratified samples falls faster than their standard error.
constexpr std::array<Pass, 4> passes{{{4, 0.012}, {8, 0.018}, {16, 0.045}, {32, 0}}};

struct Pixel {
  Vec3 radiance;
  double subject = 0, shown = 0, shown2 = 0;
  std::uint32_t samples = 0;
};

void parallel_rows(int height, unsigned threads, const std::function<void(int)>& work) {
  std::atomic<int> next{0};
  const auto loop = [&] {
    for (int y = next++; y < height; y = next++) work(y);
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(loop);
  loop();
}

double standard_error(const Pixel& pixel) {
  const double n = pixel.samples, mean = pixel.shown / n;
  return std::sqrt(std::max(0.0, pixel.shown2 / n - mean * mean) / (n - 1));
}

class Film {
 public:
  Film(const Renderer& renderer, const Camera& camera, int width, int height)
      : renderer_(renderer), camera_(camera), width_(width), height_(height) {
    pixels_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    wanted_.assign(pixels_.size(), true);
  }

  void sample(unsigned threads) {
    for (const Pass& pass : passes) {
      parallel_rows(height_, threads, [&](int y) {
        for (int x = 0; x < width_; ++x) {
          if (wanted_[index(x, y)] != 0) refine(x, y, pass.samples);
        }
      });
      parallel_rows(height_, threads, [&](int y) {
        for (int x = 0; x < width_; ++x) wanted_[index(x, y)] = needs_more(x, y, pass.tolerance);
      });
    }
  }

  [[nodiscard]] Picture develop(unsigned threads) const {
    Picture picture{width_, height_, std::vector<Vec3>(pixels_.size()), std::vector<double>(pixels_.size()),
                    std::vector<double>(pixels_.size())};
    parallel_rows(height_, threads, [&](int y) {
      for (int x = 0; x < width_; ++x) {
        const std::size_t i = index(x, y);
        const Pixel& pixel = pixels_[i];
        picture.radiance[i] = pixel.radiance * (1.0 / pixel.samples);
        picture.subject[i] = pixel.subject / pixel.samples;
        picture.depth[i] = camera_.depth(renderer_.intersect(camera_.ray(x + 0.5, y + 0.5)).position);
      }
    });
    return picture;
  }

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  void refine(int x, int y, std::uint32_t samples) {
    Pixel& pixel = pixels_[index(x, y)];
    for (; pixel.samples < samples; ++pixel.samples) {
      Sampler sampler(static_cast<std::uint32_t>(index(x, y)), pixel.samples);
      const Vec2 offset = sampler.next();
      const Ray ray = camera_.ray(x + offset.x, y + offset.y);
      const Hit hit = renderer_.intersect(ray);
      const Vec3 radiance = renderer_.radiance(ray, hit, sampler);
      const double shown = luminance(tone_map(radiance));
      pixel.radiance += radiance;
      pixel.subject += hit && hit.object->subject ? 1 : 0;
      pixel.shown += shown;
      pixel.shown2 += shown * shown;
    }
  }

  /// Looks at the neighbours too, because a few samples can agree by chance.
  [[nodiscard]] char needs_more(int x, int y, double tolerance) const {
    double error = 0;
    bool edge = false;
    for (int v = std::max(0, y - 1); v <= std::min(height_ - 1, y + 1); ++v) {
      for (int u = std::max(0, x - 1); u <= std::min(width_ - 1, x + 1); ++u) {
        const Pixel& pixel = pixels_[index(u, v)];
        error = std::max(error, standard_error(pixel) * (u == x && v == y ? 1 : 0.6));
        edge = edge || (pixel.subject > 0 && pixel.subject < pixel.samples);
      }
    }
    return error > tolerance || edge ? 1 : 0;
  }

  const Renderer& renderer_;
  const Camera& camera_;
  int width_, height_;
  std::vector<Pixel> pixels_;
  std::vector<char> wanted_;
};

}  // namespace

Picture render(const Scene& scene, const Camera& camera, int width, int height, unsigned threads) {
  const Renderer renderer(scene, camera.pixel_angle());
  Film film(renderer, camera, width, height);
  film.sample(threads);
  return film.develop(threads);
}

}  // namespace scene
