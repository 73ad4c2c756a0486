#pragma once
// Workspace in stream order, and the two calls of a kernel function with a kernels::Space.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/cuda/backend.h"
#include "kernels/scan/launch.h"

namespace satin::cuda {

/// Memory of the backend's pool, allocated and freed in stream order.
class StreamBuffer {
 public:
  StreamBuffer(const CudaBackend& backend, std::size_t bytes, Stream stream)
      : data_(nullptr, FreeInOrder{backend.stream_of(stream)}) {
    void* data = nullptr;
    check(cudaMallocFromPoolAsync(&data, std::max<std::size_t>(bytes, 1), backend.pool(),
                                  backend.stream_of(stream)),
          "allocating workspace");
    data_.reset(data);
  }

  [[nodiscard]] std::byte* get() const noexcept { return static_cast<std::byte*>(data_.get()); }
  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_.get());
  }
  void clear(std::size_t bytes) const {
    check(cudaMemsetAsync(data_.get(), 0, bytes, data_.get_deleter().stream), "clearing workspace");
  }

 private:
  struct FreeInOrder {
    cudaStream_t stream;
    void operator()(void* data) const { static_cast<void>(cudaFreeAsync(data, stream)); }
  };
  std::unique_ptr<void, FreeInOrder> data_;
};

class StreamArray {
 public:
  StreamArray(const CudaBackend& backend, Type type, std::int64_t size, Stream stream)
      : buffer_(backend, static_cast<std::size_t>(size) * size_of(type), stream), size_(size), type_(type) {}
  [[nodiscard]] MutableArrayView view() const noexcept {
    return {buffer_.get(), size_, type_, Memory::device};
  }

 private:
  StreamBuffer buffer_;
  std::int64_t size_;
  Type type_;
};

/// Calls function(space) for its size, then with its memory.
template <class Function>
void run_in_space(const CudaBackend& backend, Stream stream, const char* doing, const Function& function) {
  kernels::Space space;
  check(static_cast<cudaError_t>(function(space)), doing);
  const StreamBuffer memory(backend, space.bytes, stream);
  space.memory = memory.get();
  check(static_cast<cudaError_t>(function(space)), doing);
  check_launch(doing);
}

/// Copies a value from device memory. Waits.
template <class Value>
[[nodiscard]] Value download(CudaBackend& backend, const void* device, Stream stream) {
  Value value{};
  backend.download(&value, device, sizeof value, stream);
  return value;
}

}  // namespace satin::cuda
