#include "tests/oracles/oracle_lens.h"

#include "lens/splat.h"

#include <algorithm>
#include <cmath>

namespace satin::test {
namespace {

bool covers(const LensKernels& kernels, const Staircase& stairs, bool block, std::int64_t dx,
            std::int64_t dy) {
  for (std::uint32_t k = 0; k < stairs.outline.count; ++k) {
    const KernelBox& box = kernels.outlines[stairs.outline.first + k];
    if (dx >= box.left && dx < box.right && dy >= box.top && dy < box.bottom) return true;
  }
  if (stairs.outline.count != 0) return false;
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

class Splatting {
 public:
  explicit Splatting(const LensScene& scene)
      : job_(scene.job),
        kernels_(lens_kernels(job_)),
        reach_(kernels_.reach),
        layers_(static_cast<std::size_t>(job_.groups)) {
    for (Layer& layer : layers_) {
      layer.colour.resize(scene.colours.size());
      layer.weight.resize(scene.pixels());
    }
  }

  /// Adds a sample, and one like it for each pixel beyond the border that it is next to.
  void add(LensSample sample) {
    const std::int64_t x = sample.x;
    const std::int64_t y = sample.y;
    const bool repeats = sample.block == 1;
    for (std::int64_t v = repeats && y == 0 ? -reach_ : y;
         v <= (repeats && y + 1 == job_.height ? y + reach_ : y); ++v)
      for (std::int64_t u = repeats && x == 0 ? -reach_ : x;
           u <= (repeats && x + 1 == job_.width ? x + reach_ : x); ++u) {
        sample.x = static_cast<std::int32_t>(u);
        sample.y = static_cast<std::int32_t>(v);
        add_one(sample);
      }
  }

  void add_one(const LensSample& sample) {
    Layer& layer = layers_[sample.group];
    for (std::int64_t y = std::max<std::int64_t>(0, sample.y - reach_);
         y <= std::min(job_.height - 1, sample.y + reach_ + 1); ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, sample.x - reach_);
           x <= std::min(job_.width - 1, sample.x + reach_ + 1); ++x) {
        const std::uint64_t weight =
            weight_at(kernels_, sample.radius, sample.block == 2, sample.weight, x - sample.x, y - sample.y);
        const auto at = static_cast<std::size_t>(y * job_.width + x);
        layer.weight[at] += weight;
        for (int c = 0; c < job_.channels; ++c)
          layer.colour[at * static_cast<std::size_t>(job_.channels) + static_cast<std::size_t>(c)] +=
              weight * sample.colour[c];
      }
  }

  /// Adds a lamp by counting subpixels: 8 lines of 64 in every pixel.
  void add(const Lamp& lamp, const Aperture& aperture) {
    const LampShape shape(aperture, lamp.sample);
    const std::int64_t reach = shape.reach();
    for (std::int64_t dy = -reach; dy <= reach; ++dy)
      for (std::int64_t dx = -reach; dx <= reach; ++dx) {
        const std::int64_t x = lamp.sample.x + dx;
        const std::int64_t y = lamp.sample.y + dy;
        if (x < 0 || y < 0 || x >= job_.width || y >= job_.height) continue;
        std::uint64_t covered = 0;
        for (int line = 0; line < 8; ++line)
          covered += covered_subpixels(
              shape, static_cast<float>(dy) - .4375F + .125F * static_cast<float>(line), dx);
        add(lamp, static_cast<std::size_t>(y * job_.width + x), (covered * lamp.share + (1U << 23U)) >> 24U);
      }
  }

  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] int weight_bits() const { return kernels_.weight_bits; }

 private:
  static std::uint64_t covered_subpixels(const LampShape& shape, float height, std::int64_t column) {
    const ApertureRow row = shape.row(height);
    const LampRim rim = shape.rim(height);
    std::int64_t covered = 0;
    for (std::uint32_t i = 0; i < row.count; ++i) {
      const ApertureEdge edge = shape.aperture->edges[row.first + i];
      const std::int64_t from = std::clamp(LampShape::place(edge.at * shape.radius), rim.left, rim.right);
      for (std::int64_t at = column * 64; at < column * 64 + 64; ++at)
        if (at >= from) covered += edge.step;
    }
    return static_cast<std::uint64_t>(covered);
  }
  void add(const Lamp& lamp, std::size_t at, std::uint64_t weight) {
    Layer& layer = layers_[lamp.sample.group];
    layer.weight[at] += weight;
    for (std::size_t c = 0; c < static_cast<std::size_t>(job_.channels); ++c)
      layer.colour[at * static_cast<std::size_t>(job_.channels) + c] += weight * lamp.sample.colour[c];
  }

  SplatJob job_;
  LensKernels kernels_;
  std::int64_t reach_;
  std::vector<Layer> layers_;
};

LensSample visible_sample(const LensScene& scene, std::int64_t x, std::int64_t y) {
  const auto channels = static_cast<std::size_t>(scene.job.channels);
  const auto at = static_cast<std::size_t>(y * scene.job.width + x);
  LensSample sample{};
  std::copy_n(scene.colours.data() + at * channels, channels, sample.colour);
  sample.x = static_cast<std::int32_t>(x);
  sample.y = static_cast<std::int32_t>(y);
  sample.radius = scene.radii[at];
  sample.weight = scene.weights[at];
  sample.group = scene.groups[at];
  sample.block = 1;
  return sample;
}

}  // namespace

Aperture aperture_of(const LensScene& scene, const ApertureRow* rows, const ApertureEdge* edges) {
  const ApertureTable& table = scene.aperture_table;
  Aperture aperture;
  aperture.rows = rows;
  aperture.edges = edges;
  aperture.count = static_cast<std::int32_t>(table.rows.size());
  aperture.simple = table.simple ? 1 : 0;
  aperture.reach = aperture.rim = table.reach;
  aperture.middle_x = static_cast<float>(scene.job.width - 1) / 2;
  aperture.middle_y = static_cast<float>(scene.job.height - 1) / 2;
  aperture.cut = table.cut / static_cast<float>(std::hypot(scene.job.width, scene.job.height) / 2);
  return aperture;
}

std::vector<Lamp> lamps_of(const LensScene& scene) {
  const ApertureTable& table = scene.aperture_table;
  const Aperture aperture = aperture_of(scene, table.rows.data(), table.edges.data());
  const std::uint32_t full = 1U << splat_weight_bits(scene.job);
  std::vector<Lamp> lamps = scene.lamps;
  for (Lamp& lamp : lamps)
    lamp.share = lamp_share(LampShape(aperture, lamp.sample), sample_weight(full, lamp.sample.weight));
  return lamps;
}

LensScene empty_scene(std::int64_t width, std::int64_t height, int channels) {
  LensScene scene;
  scene.job.width = width;
  scene.job.height = height;
  scene.job.channels = channels;
  const std::size_t pixels = scene.pixels();
  scene.source.resize(pixels * static_cast<std::size_t>(channels));
  scene.colours = scene.source;
  scene.radii.resize(pixels);
  scene.groups.resize(pixels);
  scene.weights.resize(pixels);
  return scene;
}

std::uint64_t weight_at(const LensKernels& kernels, std::uint32_t radius, bool block, std::uint32_t weight,
                        std::int64_t dx, std::int64_t dy) {
  const auto view = kernels.view();
  const LensKernel& kernel = lens_kernel(view, radius, block);
  std::uint64_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t share = (std::uint64_t{kernel.weight[i]} * weight * 2 / lens_full_weight + 1) / 2;
    if (covers(kernels, kernels.staircases[kernel.staircase[i]], block, dx, dy)) sum += share;
  }
  return sum;
}

std::vector<long double> expected_composite(const LensScene& scene) {
  const SplatJob& job = scene.job;
  const auto channels = static_cast<std::size_t>(job.channels);
  Splatting splatting(scene);
  for (std::int64_t y = 0; y < job.height; ++y)
    for (std::int64_t x = 0; x < job.width; ++x) splatting.add(visible_sample(scene, x, y));
  for (const LensSample& sample : scene.listed) splatting.add(sample);
  const ApertureTable& table = scene.aperture_table;
  for (const Lamp& lamp : lamps_of(scene))
    splatting.add(lamp, aperture_of(scene, table.rows.data(), table.edges.data()));

  std::vector<long double> result(scene.colours.size());
  const long double whole = std::ldexp(1.0L, splatting.weight_bits());
  for (std::size_t i = 0; i < scene.pixels(); ++i) {
    long double through = 1;
    std::uint8_t group = 0;
    for (const Layer& layer : splatting.layers()) {
      const bool inside = scene.groups[i] == group++ && !scene.exposed.empty() && scene.exposed[i] == 0 &&
                          scene.radii[i] < 31 * 256;
      const auto weight = static_cast<long double>(layer.weight[i]);
      if (layer.weight[i] == 0) continue;
      const long double covered = weight / whole;
      const bool closes = inside && covered < 1 - 1.0L / 1024;
      const long double opacity = std::min(1.0L, closes ? covered * 1024 : covered);
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
