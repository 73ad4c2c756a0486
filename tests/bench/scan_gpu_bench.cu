// The scan family on the GPU beside CUB called directly and a copy of the same bytes, in one run. Prints the
// rows of RESULTS.md.
//
// Medians of 31 event timings, buffers rotated over more memory than the L2 holds, random data. CUB has its
// workspace beforehand; Satin allocates it in stream order. Functions that return a number wait for it, in
// both columns.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <memory>
#include <string>

#include "satin/error.h"
#include "satin/scan.h"
#include "tests/bench/gpu_timing.cuh"

namespace {

using namespace satin::bench;
using satin::ArrayView;
using satin::Device;
using satin::Memory;
using satin::MutableArrayView;
using satin::Operator;

#if CUB_VERSION >= 200700
using Plus = ::cuda::std::plus<>;
#else
using Plus = cub::Sum;
#endif

satin::Stream bench_stream() { return {stream()}; }

template <class T>
ArrayView in_view(const void* data, std::int64_t n) {
  return {static_cast<const T*>(data), n, Memory::device};
}
template <class T>
MutableArrayView out_view(void* data, std::int64_t n) {
  return {static_cast<T*>(data), n, Memory::device};
}

void print_header() {
  std::printf(
      "| case | values | Satin ms | CUB ms | CUB / Satin | copy ms | copy / Satin |\n"
      "|---|---|---|---|---|---|---|\n");
}

/// A copy of time 0 stands for none.
void print_row(const char* name, int log2_n, double ours, double cub, double copy) {
  std::printf("| %s | 2^%d | %.4f | %.4f | %.2f |", name, log2_n, ours, cub, cub / ours);
  if (copy > 0)
    std::printf(" %.4f | %.2f |\n", copy, copy / ours);
  else
    std::printf(" - | - |\n");
  std::fflush(stdout);
}

/// Median of call(memory, bytes, i), which is CUB's; its workspace is allocated before.
template <class Call>
double time_of_cub(const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes, 0));
  const DeviceBytes workspace(bytes + 1, 1);
  return time_of([&](int i) {
    std::size_t size = bytes;
    check(call(workspace.data, size, i));
  });
}

template <class In, class Out>
void bench_scan(const Device& device, const char* name, int log2_n, bool exclusive) {
  const std::int64_t n = std::int64_t{1} << log2_n;
  const std::size_t in_bytes = static_cast<std::size_t>(n) * sizeof(In);
  const std::size_t out_bytes = static_cast<std::size_t>(n) * sizeof(Out);
  const Rotation in(in_bytes, in_bytes + out_bytes);
  const Rotation out(out_bytes, in_bytes + out_bytes);
  const double ours = time_of([&](int i) {
    const auto scan = [&](auto function) {
      function(device, in_view<In>(in[i], n), out_view<Out>(out[i], n), Operator::sum, bench_stream());
    };
    using Function = void (*)(const Device&, ArrayView, MutableArrayView, Operator, satin::Stream);
    scan(exclusive ? static_cast<Function>(satin::exclusive_scan)
                   : static_cast<Function>(satin::inclusive_scan));
  });
  const double cub = time_of_cub([&](void* memory, std::size_t& bytes, int i) {
    const auto* from = static_cast<const In*>(in[i]);
    auto* to = static_cast<Out*>(out[i]);
    const int count = static_cast<int>(n);
    return exclusive
               ? cub::DeviceScan::ExclusiveScan(memory, bytes, from, to, Plus(), Out{0}, count, stream())
               : cub::DeviceScan::InclusiveSum(memory, bytes, from, to, count, stream());
  });
  print_row(name, log2_n, ours, cub, time_of_copy(in, in_bytes, out, out_bytes));
}

template <class In, class Out>
void bench_reduce(const Device& device, const char* name, int log2_n) {
  const std::int64_t n = std::int64_t{1} << log2_n;
  const std::size_t in_bytes = static_cast<std::size_t>(n) * sizeof(In);
  const Rotation in(in_bytes, in_bytes);
  const DeviceBytes out(sizeof(Out), 1);
  const double ours = time_of([&](int i) {
    satin::reduce(device, in_view<In>(in[i], n), Operator::sum, out_view<Out>(out.data, 1), bench_stream());
  });
  const double cub = time_of_cub([&](void* memory, std::size_t& bytes, int i) {
    return cub::DeviceReduce::Reduce(memory, bytes, static_cast<const In*>(in[i]),
                                     static_cast<Out*>(out.data), static_cast<int>(n), Plus(), Out{0},
                                     stream());
  });
  print_row(name, log2_n, ours, cub, 0);
}

struct UpperHalf {
  __host__ __device__ bool operator()(std::uint32_t value) const { return value >= 0x80000000U; }
};

void bench_compact(const Device& device, int log2_n) {
  const std::int64_t n = std::int64_t{1} << log2_n;
  const std::size_t bytes_in = static_cast<std::size_t>(n) * sizeof(std::uint32_t);
  const Rotation in(bytes_in, 2 * bytes_in);
  const Rotation out(bytes_in, 2 * bytes_in);
  const satin::Predicate upper{satin::Comparison::greater_equal, 0x80000000U};
  const double ours = time_of([&](int i) {
    satin::compact(device, in_view<std::uint32_t>(in[i], n), upper, out_view<std::uint32_t>(out[i], n),
                   bench_stream());
  });
  const DeviceBytes selected(sizeof(std::int64_t), 1);
  std::size_t bytes = 0;
  const auto cub_call = [&](void* memory, std::size_t& size, int i) {
    return cub::DeviceSelect::If(
        memory, size, static_cast<const std::uint32_t*>(in[i]), static_cast<std::uint32_t*>(out[i]),
        static_cast<std::int64_t*>(selected.data), static_cast<int>(n), UpperHalf(), stream());
  };
  const double alone = time_of_cub(cub_call);
  check(cub_call(nullptr, bytes, 0));
  const DeviceBytes workspace(bytes + 1, 1);
  const double waiting = time_of([&](int i) {
    std::size_t size = bytes;
    std::int64_t count = 0;
    check(cub_call(workspace.data, size, i));
    check(cudaMemcpyAsync(&count, selected.data, sizeof count, cudaMemcpyDeviceToHost, stream()));
    check(cudaStreamSynchronize(stream()));
  });
  const double copy = time_of_copy(in, bytes_in, out, bytes_in / 2);
  print_row("compact u32, half of them", log2_n, ours, waiting, copy);
  print_row("the same; CUB without waiting", log2_n, ours, alone, copy);
}

/// Random bits become floats of [0, 1) where sorts of floats are timed.
__global__ void to_unit_floats(std::uint32_t* words, std::int64_t n) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    words[i] = __float_as_uint(static_cast<float>(words[i] >> 8) * 0x1p-24F);
}

template <class Key>
void bench_sort(const Device& device, const char* name, int log2_n) {
  const std::int64_t n = std::int64_t{1} << log2_n;
  const std::size_t key_bytes = static_cast<std::size_t>(n) * sizeof(Key);
  const Rotation in(key_bytes, 2 * key_bytes);
  const Rotation out(key_bytes, 2 * key_bytes);
  if constexpr (std::is_same_v<Key, float>)
    for (const auto& buffer : in.buffers)
      to_unit_floats<<<1024, threads, 0, stream()>>>(static_cast<std::uint32_t*>(buffer->data), n);
  const double ours = time_of([&](int i) {
    satin::radix_sort(device, in_view<Key>(in[i], n), out_view<Key>(out[i], n), bench_stream());
  });
  const double cub = time_of_cub([&](void* memory, std::size_t& bytes, int i) {
    return cub::DeviceRadixSort::SortKeys(memory, bytes, static_cast<const Key*>(in[i]),
                                          static_cast<Key*>(out[i]), static_cast<int>(n), 0,
                                          static_cast<int>(sizeof(Key)) * 8, stream());
  });
  print_row(name, log2_n, ours, cub, time_of_copy(in, key_bytes, out, key_bytes));
}

template <class Key>
void bench_sort_pairs(const Device& device, const char* name, int log2_n) {
  using Value = std::uint32_t;
  const std::int64_t n = std::int64_t{1} << log2_n;
  const std::size_t bytes_each = static_cast<std::size_t>(n) * sizeof(Value);
  const Rotation keys(bytes_each, 4 * bytes_each);
  const Rotation values(bytes_each, 4 * bytes_each);
  const Rotation sorted_keys(bytes_each, 4 * bytes_each);
  const Rotation sorted_values(bytes_each, 4 * bytes_each);
  if constexpr (std::is_same_v<Key, float>)
    for (const auto& buffer : keys.buffers)
      to_unit_floats<<<1024, threads, 0, stream()>>>(static_cast<std::uint32_t*>(buffer->data), n);
  const double ours = time_of([&](int i) {
    satin::radix_sort_pairs(device, in_view<Key>(keys[i], n), in_view<Value>(values[i], n),
                            out_view<Key>(sorted_keys[i], n), out_view<Value>(sorted_values[i], n),
                            bench_stream());
  });
  const double cub = time_of_cub([&](void* memory, std::size_t& bytes, int i) {
    return cub::DeviceRadixSort::SortPairs(
        memory, bytes, static_cast<const Key*>(keys[i]), static_cast<Key*>(sorted_keys[i]),
        static_cast<const Value*>(values[i]), static_cast<Value*>(sorted_values[i]), static_cast<int>(n), 0,
        32, stream());
  });
  const double copy = 2 * time_of_copy(keys, bytes_each, sorted_keys, bytes_each);
  print_row(name, log2_n, ours, cub, copy);
}

void bench_histogram(const Device& device, int log2_n) {
  const std::int64_t n = std::int64_t{1} << log2_n;
  const Rotation in(static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  const DeviceBytes counts(256 * sizeof(std::uint32_t), 1);
  const satin::Bins bins = satin::Bins::even(0, 256, 256);
  const double ours = time_of([&](int i) {
    satin::histogram(device, in_view<std::uint8_t>(in[i], n), bins, out_view<std::uint32_t>(counts.data, 256),
                     bench_stream());
  });
  const double cub = time_of_cub([&](void* memory, std::size_t& bytes, int i) {
    return cub::DeviceHistogram::HistogramEven(memory, bytes, static_cast<const std::uint8_t*>(in[i]),
                                               static_cast<std::uint32_t*>(counts.data), 257, 0, 256,
                                               static_cast<int>(n), stream());
  });
  print_row("histogram u8, 256 bins", log2_n, ours, cub, 0);
}

void run() {
  const Device device = Device::open("cuda:0");
  print_header();
  for (int log2_n = 16; log2_n <= 28; log2_n += 2) {
    bench_scan<std::uint32_t, std::uint32_t>(device, "inclusive scan u32", log2_n, false);
    bench_scan<std::uint32_t, std::uint32_t>(device, "exclusive scan u32", log2_n, true);
    bench_scan<float, float>(device, "inclusive scan f32", log2_n, false);
    bench_scan<std::uint8_t, std::uint32_t>(device, "inclusive scan u8 -> u32", log2_n, false);
    bench_reduce<std::uint32_t, std::uint32_t>(device, "reduce u32", log2_n);
    bench_reduce<std::uint8_t, std::uint64_t>(device, "reduce u8 -> u64", log2_n);
    bench_compact(device, log2_n);
    bench_sort<std::uint32_t>(device, "radix sort u32", log2_n);
    bench_sort<float>(device, "radix sort f32", log2_n);
    bench_sort_pairs<std::uint32_t>(device, "radix sort u32 with u32", log2_n);
    bench_sort_pairs<float>(device, "radix sort f32 with u32", log2_n);
    bench_histogram(device, log2_n);
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const satin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
