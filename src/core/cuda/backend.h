#pragma once
// The host side of the CUDA backend: memory, streams and checked calls.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <unordered_map>

#include "core/backend.h"
#include "core/maths/window.h"
#include "kernels/device/launch.h"
#include "satin/error.h"

namespace satin::cuda {

/// Returns a text such as "out of memory (cudaErrorMemoryAllocation)".
inline std::string message_of(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

/// Throws Error(environment) with the activity `doing` if the call failed.
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error
  throw Error(ErrorKind::environment,
              std::string("CUDA failed while ") + doing + ": " + message_of(status) + ".");
}

/// Throws Error(environment) if the launch before it failed. Follows every launch.
inline void check_launch(const char* doing) { check(cudaGetLastError(), doing); }

struct Destroy {
  void operator()(CUstream_st* stream) const noexcept { static_cast<void>(cudaStreamDestroy(stream)); }
  void operator()(CUmemPoolHandle_st* pool) const noexcept { static_cast<void>(cudaMemPoolDestroy(pool)); }
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(int ordinal, const DeviceInfo& description);
  ~CudaBackend() override;

  void upload(void* device, const void* host, std::size_t bytes, Stream stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream stream) override;
  void synchronize(Stream stream) override;
  [[nodiscard]] std::shared_ptr<void> new_stream() override;

  /// Returns device memory with the elements of a host array, usable in any stream.
  template <class Values>
  [[nodiscard]] Buffer uploaded(const Values& values) {
    const std::size_t bytes = values.size() * sizeof(values[0]);
    Buffer buffer = allocate(bytes);
    upload(buffer.get(), values.data(), bytes, {});
    return buffer;
  }

  /// Uploads the pixel of the picture, or -1, for every position from -margin to size + margin - 1 of a line
  /// that is extended by its border: 32-bit integers.
  [[nodiscard]] Buffer upload_positions(std::int64_t size, int margin, Border border);

  /// Makes this backend's device current. Called at the entry of every call from outside.
  void select() const;
  [[nodiscard]] cudaStream_t stream_of(Stream stream) const noexcept;
  [[nodiscard]] cudaMemPool_t pool() const noexcept { return pool_.get(); }
  [[nodiscard]] int multiprocessors() const noexcept { return multiprocessors_; }
  /// Returns the largest shared memory of a block.
  [[nodiscard]] std::size_t shared_memory() const noexcept {
    return static_cast<std::size_t>(shared_memory_);
  }
  /// Returns the object of type T that lives as long as the device is open, such as tables in device memory.
  /// It is constructed as T(backend) on first use. Thread-safe.
  template <class T>
  [[nodiscard]] T& resident() {
    const std::lock_guard lock(residents_mutex_);
    std::shared_ptr<void>& object = residents_[typeid(T)];
    if (object == nullptr) object = std::make_shared<T>(*this);
    return *static_cast<T*>(object.get());
  }

 private:
  [[nodiscard]] Buffer allocate_own(std::size_t bytes) override;

  int ordinal_;  ///< before the members that are created on the device, which it makes current
  int multiprocessors_ = 1;
  int shared_memory_ = 0;
  std::unique_ptr<CUstream_st, Destroy> stream_;
  std::unique_ptr<CUmemPoolHandle_st, Destroy> pool_;  ///< null on a device without pools
  std::mutex residents_mutex_;
  std::unordered_map<std::type_index, std::shared_ptr<void>> residents_;
};

inline CudaBackend& as_cuda(Backend& backend) { return static_cast<CudaBackend&>(backend); }

[[nodiscard]] inline kernels::Source source_of(const ImageView& view) {
  return {view.data, view.strides.row};
}
[[nodiscard]] inline kernels::Target target_of(const MutableImageView& view) {
  return {view.data, view.strides.row};
}

/// Adds every operation of this backend (src/backends/cuda.cpp).
void add_operations(Operations& operations);

}  // namespace satin::cuda
