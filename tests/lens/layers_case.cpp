#include "tests/lens/layers_case.h"

#include <algorithm>
#include <tuple>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "lens/lens_blur.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

template <class T>
std::vector<T> downloaded(Backend& backend, const T* values, std::size_t count) {
  std::vector<T> result(count);
  if (count > 0) backend.download(result.data(), values, count * sizeof(T), {});
  backend.synchronize({});
  return result;
}

/// Samples of silhouettes are of their pixel's group or a nearer one.
bool is_hidden(const Layers& layers, const LensSample& sample) {
  return sample.block == 2 || sample.group > layers.group_of[layers.at(sample.x, sample.y)];
}

}  // namespace

bool before(const LensSample& a, const LensSample& b) {
  return std::tie(a.y, a.x, a.group, a.block) < std::tie(b.y, b.x, b.group, b.block);
}

Layers layers_of(const Device& device, const Image& picture, const std::vector<std::int32_t>& radii,
                 int most_groups, int pairs, bool soft, float merged_radius) {
  Backend& backend = device.backend();
  const Shape& shape = picture.shape();
  LensLayersJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.type = shape.type;
  job.channels = shape.channels;
  job.most_groups = most_groups;
  job.offset_pairs = pairs;
  job.merged_radius = merged_radius;
  const auto operation = backend.prepare(job);
  const Buffer pixels = backend.allocate(byte_size(shape));
  backend.upload(pixels.get(), picture.view().data, byte_size(shape), {});
  const Buffer softness = backend.allocate(sizeof(std::uint32_t));
  const std::uint32_t is_soft = soft ? 1 : 0;
  backend.upload(softness.get(), &is_soft, sizeof is_soft, {});
  LensMemory memory(backend, job);
  memory.set_soft(reinterpret_cast<const std::uint32_t*>(softness.get()));
  const LensScene& scene = memory.scene();
  const LensPlanes& planes = scene.planes;
  backend.upload(planes.radii, radii.data(), radii.size() * sizeof(std::int32_t), {});
  ImageView stored = picture.view();
  stored.data = pixels.get();
  stored.memory = device.is_cuda() ? Memory::device : Memory::host;
  const Buffer measured_there = backend.allocate(sizeof(Measured));
  Measured* measured = nullptr;
  if (shape.type == Type::f32) {
    const std::uint64_t least = bits_of(lens_least_magnitude);
    measured = reinterpret_cast<Measured*>(measured_there.get());
    const auto measure =
        backend.prepare(MeasureJob{shape.width, shape.height, shape.channels, false, true, {least, least}});
    measure->clear(measured, {});
    measure->measure(stored, measured, {});
  }
  operation->run(stored, measured, scene, {});

  Layers layers;
  layers.width = static_cast<int>(shape.width);
  layers.height = static_cast<int>(shape.height);
  layers.channels = shape.channels;
  layers.capacity = scene.list.capacity;
  const std::size_t size = radii.size();
  layers.unit = downloaded(backend, scene.unit, 1).front();
  layers.groups = downloaded(backend, &scene.work->groups, 1).front();
  layers.radii = downloaded(backend, planes.radii, size);
  layers.colours = downloaded(backend, planes.colours, size * static_cast<std::size_t>(shape.channels));
  layers.magnitudes = downloaded(backend, planes.magnitudes, size);
  layers.edges = downloaded(backend, planes.edges, size);
  layers.group_of = downloaded(backend, planes.groups, size);
  layers.exposed = downloaded(backend, planes.exposed, size);
  const std::uint32_t count = downloaded(backend, scene.list.count, 1).front();
  layers.hidden = downloaded(backend, scene.list.samples, count);
  const auto first_hidden =
      std::partition(layers.hidden.begin(), layers.hidden.end(),
                     [&](const LensSample& sample) { return !is_hidden(layers, sample); });
  layers.separate.assign(layers.hidden.begin(), first_hidden);
  layers.hidden.erase(layers.hidden.begin(), first_hidden);
  std::ranges::sort(layers.hidden, before);
  std::ranges::sort(layers.separate, before);
  return layers;
}

std::vector<std::int32_t> random_radii(int width, int height, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> radii(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const auto at = [&](int x, int y) -> std::int32_t& {
    return radii[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) at(x, y) = 256 * (y - height) * 20 / height;
  for (int i = 0; i < 12; ++i) {
    const int u = random.between(0, width);
    const int v = random.between(0, height);
    const int reach = random.between(2, 40);
    const int own = random.between(-12 * 256, 20 * 256);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if ((x - u) * (x - u) + (y - v) * (y - v) < reach * reach) at(x, y) = own;
  }
  return radii;
}

}  // namespace satin::test
