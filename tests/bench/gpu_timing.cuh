#pragma once
// Timing on the GPU: medians of event timings over rotating buffers, and copies of the same bytes to compare
// with.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace satin::bench {

constexpr int repeats = 31;
constexpr int warm_up = 3;
constexpr std::size_t rotated_bytes = 256U << 20;  // above the 60 MB of L2 by far
constexpr long long spin_cycles = 300'000;
constexpr int threads = 256;

inline void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(3);
}

// --- Kernels ---

static __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

static __global__ void nothing() {}

static __global__ void fill_random(std::uint32_t* words, std::size_t count, std::uint32_t seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    std::uint32_t h = static_cast<std::uint32_t>(i) * 0x9E3779B9U ^ seed;
    h = (h ^ (h >> 16)) * 0x85EBCA6BU;
    h = (h ^ (h >> 13)) * 0xC2B2AE35U;
    words[i] = h ^ (h >> 16);
  }
}

/// Reads `Loads` and writes `Stores` words of 16 bytes a thread, streaming.
template <int Loads, int Stores>
static __global__ void __launch_bounds__(threads)
    copy_mix(const uint4* from, std::size_t from_count, uint4* to, std::size_t to_count) {
  uint4 value[Loads];
#pragma unroll
  for (int k = 0; k < Loads; ++k) {
    const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * Loads + k) * threads + threadIdx.x;
    value[k] = i < from_count ? __ldcs(from + i) : uint4{};
  }
#pragma unroll
  for (int k = 1; k < Loads; ++k) value[0].x ^= value[k].x ^ value[k].y ^ value[k].z ^ value[k].w;
#pragma unroll
  for (int k = 0; k < Stores; ++k) {
    const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * Stores + k) * threads + threadIdx.x;
    if (i < to_count) __stcs(to + i, k < Loads ? value[k < Loads ? k : 0] : value[0]);
  }
}

// --- Timing ---

inline cudaStream_t stream() {
  static cudaStream_t s = [] {
    cudaStream_t created = nullptr;
    check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
    return created;
  }();
  return s;
}

/// Median milliseconds of call(i); i counts up.
inline double time_of(const std::function<void(int)>& call) {
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  std::vector<double> times;
  for (int i = 0; i < warm_up + repeats; ++i) {
    spin<<<1, 1, 0, stream()>>>(spin_cycles);
    check(cudaEventRecord(start, stream()));
    call(i);
    check(cudaEventRecord(stop, stream()));
    check(cudaEventSynchronize(stop));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop));
    if (i >= warm_up) times.push_back(static_cast<double>(milliseconds));
  }
  check(cudaGetLastError());
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

// --- Memory ---

struct DeviceBytes {
  explicit DeviceBytes(std::size_t size, std::uint32_t seed) : size(size) {
    check(cudaMalloc(&data, (size + 255) / 256 * 256));
    fill_random<<<1024, threads, 0, stream()>>>(static_cast<std::uint32_t*>(data), (size + 255) / 256 * 64,
                                                seed);
    check(cudaStreamSynchronize(stream()));
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { static_cast<void>(cudaFree(data)); }
  void* data = nullptr;
  std::size_t size;
};

/// Buffers of one size, enough of them that they do not stay in the L2.
struct Rotation {
  Rotation(std::size_t bytes, std::size_t bytes_of_set) {
    const std::size_t count = std::clamp<std::size_t>(rotated_bytes / bytes_of_set + 1, 2, 64);
    for (std::size_t i = 0; i < count; ++i)
      buffers.push_back(std::make_unique<DeviceBytes>(bytes, static_cast<std::uint32_t>(7919 * i + 1)));
  }
  [[nodiscard]] void* operator[](int i) const {
    return buffers[static_cast<std::size_t>(i) % buffers.size()]->data;
  }
  std::vector<std::unique_ptr<DeviceBytes>> buffers;
};

// --- Cases ---

using Kernel = void (*)(const uint4*, std::size_t, uint4*, std::size_t);

/// The fastest copy of as many bytes that is tried here.
inline double time_of_copy(const Rotation& in, std::size_t in_bytes, const Rotation& out,
                           std::size_t out_bytes) {
  struct Variant {
    Kernel kernel;
    int loads;
    int stores;
  };
  const Variant variants[] = {{copy_mix<1, 1>, 1, 1}, {copy_mix<4, 4>, 4, 4}, {copy_mix<1, 4>, 1, 4},
                              {copy_mix<2, 8>, 2, 8}, {copy_mix<1, 8>, 1, 8}, {copy_mix<4, 3>, 4, 3},
                              {copy_mix<4, 2>, 4, 2}, {copy_mix<1, 2>, 1, 2}, {copy_mix<4, 8>, 4, 8},
                              {copy_mix<3, 1>, 3, 1}, {copy_mix<6, 2>, 6, 2}};
  const std::size_t from_count = in_bytes / 16;
  const std::size_t to_count = out_bytes / 16;
  double best = 1e30;
  for (const Variant& variant : variants) {
    const double share = static_cast<double>(from_count) / static_cast<double>(to_count);
    if (std::abs(share * variant.stores - variant.loads) > 0.01 * variant.loads) continue;
    const std::size_t per_block = static_cast<std::size_t>(variant.stores) * threads;
    const auto blocks = static_cast<unsigned>((to_count + per_block - 1) / per_block);
    best =
        std::min(best, time_of([&](int i) {
                   variant.kernel<<<blocks, threads, 0, stream()>>>(
                       static_cast<const uint4*>(in[i]), from_count, static_cast<uint4*>(out[i]), to_count);
                 }));
  }
  return best;
}

}  // namespace satin::bench
