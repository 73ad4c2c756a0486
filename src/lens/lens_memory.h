#pragma once
// The memory of what the steps of depth of field make of one picture.

#include <cstddef>
#include <vector>

#include "core/backend.h"
#include "lens/lens_layers.h"

namespace satin {

class LensMemory {
 public:
  LensMemory(Backend& backend, const LensLayersJob& job) {
    const auto pixels = static_cast<std::size_t>(job.width * job.height);
    LensPlanes& planes = scene_.planes;
    LensList& list = scene_.list;
    planes.width = static_cast<int>(job.width);
    planes.height = static_cast<int>(job.height);
    planes.channels = job.channels;
    list.capacity = job.list_capacity();
    place(backend, scene_.work, 1);
    place(backend, scene_.unit, 1);
    place(backend, list.count, 2);
    list.attempted = list.count + 1;
    place(backend, planes.radii, pixels);
    place(backend, planes.sharpened, pixels);
    place(backend, planes.edges, pixels);
    place(backend, planes.colours, pixels * static_cast<std::size_t>(job.channels));
    place(backend, planes.magnitudes, pixels);
    place(backend, planes.weights, pixels);
    place(backend, planes.groups, pixels);
    place(backend, list.samples, list.capacity);
  }

  [[nodiscard]] const LensScene& scene() const noexcept { return scene_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Buffer& buffer : buffers_) sum += buffer.size;
    return sum;
  }

 private:
  template <class T>
  void place(Backend& backend, T*& values, std::size_t count) {
    buffers_.push_back(backend.allocate(count * sizeof(T)));
    values = reinterpret_cast<T*>(buffers_.back().get());
  }

  std::vector<Buffer> buffers_;
  LensScene scene_;
};

}  // namespace satin
