#pragma once
// The workspace of the steps of depth of field, in one backend's memory.

#include <cstddef>
#include <vector>

#include "core/backend.h"
#include "lens/lens_layers.h"
#include "lens/maths/depth_groups.h"

namespace satin {

class LensMemory {
 public:
  LensMemory(Backend& backend, const LensLayersJob& job) {
    const auto pixels = static_cast<std::size_t>(job.width * job.height);
    const auto colour = static_cast<std::size_t>(job.channels) * sizeof(std::uint32_t);
    planes_.width = static_cast<int>(job.width);
    planes_.height = static_cast<int>(job.height);
    planes_.channels = job.channels;
    list_.capacity = job.list_capacity();
    place(backend, work_, 1);
    place(backend, unit_, 1);
    place(backend, list_.count, 2);
    list_.attempted = list_.count + 1;
    place(backend, planes_.radii, pixels);
    place(backend, planes_.sharpened, pixels);
    place(backend, planes_.edges, pixels);
    place(backend, planes_.colours, pixels * colour / sizeof(std::uint32_t));
    place(backend, planes_.magnitudes, pixels);
    place(backend, planes_.weights, pixels);
    place(backend, planes_.groups, pixels);
    place(backend, list_.samples, list_.capacity);
  }

  [[nodiscard]] const LensPlanes& planes() const noexcept { return planes_; }
  [[nodiscard]] const LensList& list() const noexcept { return list_; }
  [[nodiscard]] LensUnit* unit() const noexcept { return unit_; }
  [[nodiscard]] GroupWork* work() const noexcept { return work_; }
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
  LensPlanes planes_;
  LensList list_;
  GroupWork* work_ = nullptr;
  LensUnit* unit_ = nullptr;
};

}  // namespace satin
