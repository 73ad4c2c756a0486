#pragma once
// Arrays on the GPU, and errors of CUDA.

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../machine.h"
#include "satin/error.h"

namespace study::gpu {

inline void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw satin::Error(satin::ErrorKind::environment, std::string("CUDA: ") + cudaGetErrorString(status));
}

/// Throws if the last launch failed.
inline void check_launch() { check(cudaGetLastError()); }

inline unsigned blocks_for(Index n, Index per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(Index size) : size_(size) {
    T* data = nullptr;
    check(cudaMalloc(&data, bytes() > 0 ? bytes() : 1));
    data_.reset(data);
  }
  explicit DeviceArray(std::span<const T> host) : DeviceArray(std::ssize(host)) {
    check(cudaMemcpy(data(), host.data(), bytes(), cudaMemcpyHostToDevice));
  }

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

  void fill_bytes(int byte) const { check(cudaMemsetAsync(data(), byte, bytes())); }
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> host(static_cast<std::size_t>(size_));
    check(cudaMemcpy(host.data(), data(), bytes(), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  struct Free {
    void operator()(T* data) const { static_cast<void>(cudaFree(data)); }
  };
  std::unique_ptr<T, Free> data_;
  Index size_ = 0;
};

}  // namespace study::gpu
