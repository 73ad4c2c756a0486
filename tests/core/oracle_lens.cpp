#include "oracle_lens.h"

#include <algorithm>
#include <cmath>

namespace satin::test {
namespace {

bool covers(const Staircase& stairs, bool block, std::int64_t dx, std::int64_t dy) {
  const std::int64_t more = block ? 1 : 0;
  for (int k = 0; k < stairs.boxes; ++k)
    if (dx >= -stairs.wide[k] && dx <= stairs.wide[k] + more && dy >= -stairs.high[k] &&
        dy <= stairs.high[k] + more)
      return true;
  return false;
}

/// Sums of one group over the picture.
struct Layer {
  std::vector<std::uint64_t> colour;
  std::vector<std::uint64_t> weight;
};

class Spreading {
 public:
  explicit Spreading(const LensScene& scene)
      : job_(scene.job),
        kernels_(lens_kernels(job_)),
        reach_(kernels_.reach),
        layers_(static_cast<std::size_t>(job_.groups)) {
    for (Layer& layer : layers_) {
      layer.colour.resize(scene.colours.size());
      layer.weight.resize(scene.pixels());
    }
  }

  void add(const LensSample& sample) {
    Layer& layer = layers_[sample.group];
    bool highlight = false;
    for (int c = 0; c < job_.channels - (job_.alpha ? 1 : 0); ++c) highlight |= sample.colour[c] > job_.white;
    for (std::int64_t y = std::max<std::int64_t>(0, sample.y - reach_);
         y <= std::min(job_.height - 1, sample.y + reach_ + 1); ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, sample.x - reach_);
           x <= std::min(job_.width - 1, sample.x + reach_ + 1); ++x) {
        const std::uint64_t weight = weight_at(kernels_, sample.radius, highlight, sample.block == 2,
                                               sample.weight, x - sample.x, y - sample.y);
        const auto at = static_cast<std::size_t>(y * job_.width + x);
        layer.weight[at] += weight;
        for (int c = 0; c < job_.channels; ++c)
          layer.colour[at * static_cast<std::size_t>(job_.channels) + static_cast<std::size_t>(c)] +=
              weight * sample.colour[c];
      }
  }

  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] int weight_bits() const { return kernels_.weight_bits; }

 private:
  DepositJob job_;
  LensKernels kernels_;
  std::int64_t reach_;
  std::vector<Layer> layers_;
};

}  // namespace

LensScene empty_scene(std::int64_t width, std::int64_t height, int channels) {
  LensScene scene;
  scene.job.width = width;
  scene.job.height = height;
  scene.job.channels = channels;
  scene.job.alpha = channels % 2 == 0;
  const std::size_t pixels = scene.pixels();
  scene.source.resize(pixels * static_cast<std::size_t>(channels));
  scene.colours = scene.source;
  scene.radii.resize(pixels);
  scene.groups.resize(pixels);
  scene.weights.resize(pixels);
  return scene;
}

std::uint64_t weight_at(const LensKernels& kernels, std::uint32_t radius, bool highlight, bool block,
                        std::uint32_t weight, std::int64_t dx, std::int64_t dy) {
  const LensKernel& kernel = lens_kernel(kernels.view(), radius, highlight, block);
  std::uint64_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t share = (std::uint64_t{kernel.weight[i]} * weight * 2 / lens_full_weight + 1) / 2;
    if (covers(kernels.staircases[kernel.staircase[i]], block, dx, dy)) sum += share;
  }
  return sum;
}

std::vector<long double> expected_composite(const LensScene& scene) {
  const DepositJob& job = scene.job;
  const auto channels = static_cast<std::size_t>(job.channels);
  Spreading spreading(scene);
  for (std::size_t i = 0; i < scene.pixels(); ++i) {
    LensSample sample{};
    std::copy_n(scene.colours.data() + i * channels, channels, sample.colour);
    sample.x = static_cast<std::int32_t>(i % static_cast<std::size_t>(job.width));
    sample.y = static_cast<std::int32_t>(i / static_cast<std::size_t>(job.width));
    sample.radius = scene.radii[i];
    sample.weight = scene.weights[i];
    sample.group = scene.groups[i];
    sample.block = 1;
    spreading.add(sample);
  }
  for (const LensSample& sample : scene.listed) spreading.add(sample);

  std::vector<long double> result(scene.colours.size());
  const long double whole = std::ldexp(1.0L, spreading.weight_bits());
  for (std::size_t i = 0; i < scene.pixels(); ++i) {
    long double through = 1;
    for (const Layer& layer : spreading.layers()) {
      const auto weight = static_cast<long double>(layer.weight[i]);
      if (layer.weight[i] == 0) continue;
      const long double opacity = std::min(1.0L, weight / whole);
      for (std::size_t c = 0; c < channels; ++c)
        result[i * channels + c] +=
            through * opacity * static_cast<long double>(layer.colour[i * channels + c]) / weight;
      through *= 1 - opacity;
    }
    for (std::size_t c = 0; c < channels; ++c) {
      long double& value = result[i * channels + c];
      value = through == 1 ? static_cast<long double>(scene.source[i * channels + c]) : value / (1 - through);
    }
  }
  return result;
}

}  // namespace satin::test
