// Satin on the GPU beside a copy kernel of the same bytes, CUB and NPP, in one run. Prints the rows of
// RESULTS.md.
//
// Medians of 31 event timings. Inputs and outputs rotate over more memory than the L2 holds; all data is
// random. A kernel that spins goes before each timing, so that no launch is waited for inside it.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "satin/error.h"
#include "satin/filters.h"

#if defined(SATIN_BENCH_NPP)
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>
#endif

namespace {

using satin::Blur;
using satin::Device;
using satin::Image;
using satin::ImageView;
using satin::Integral;
using satin::Plan;
using satin::Shape;
using satin::Space;
using satin::Type;

constexpr int repeats = 31;
constexpr int warm_up = 3;
constexpr std::size_t rotated_bytes = 256U << 20;  // above the 60 MB of L2 by far
constexpr long long spin_cycles = 300'000;
constexpr int threads = 256;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(3);
}

// --- Kernels ---

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void nothing() {}

__global__ void fill_random(std::uint32_t* words, std::size_t count, std::uint32_t seed) {
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
__global__ void __launch_bounds__(threads)
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

cudaStream_t stream() {
  static cudaStream_t s = [] {
    cudaStream_t created = nullptr;
    check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
    return created;
  }();
  return s;
}

/// Median milliseconds of call(i); i counts up.
double time_of(const std::function<void(int)>& call) {
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
double time_of_copy(const Rotation& in, std::size_t in_bytes, const Rotation& out, std::size_t out_bytes) {
  struct Variant {
    Kernel kernel;
    int loads;
    int stores;
  };
  const Variant variants[] = {{copy_mix<1, 1>, 1, 1}, {copy_mix<4, 4>, 4, 4}, {copy_mix<1, 4>, 1, 4},
                              {copy_mix<2, 8>, 2, 8}, {copy_mix<1, 8>, 1, 8}, {copy_mix<4, 3>, 4, 3}};
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

/// One row; peers that do not apply have time 0.
void print_row(const std::string& name, double ours, double copy, double peer1, double peer2) {
  const auto peer = [](double ms) { return ms > 0 ? std::to_string(ms).substr(0, 7) : std::string("-"); };
  std::printf("| %s | %.4f | %.4f | %.2f | %s | %s |\n", name.c_str(), ours, copy, copy / ours,
              peer(peer1).c_str(), peer(peer2).c_str());
  std::fflush(stdout);
}

template <class In, class Out>
double time_of_cub(const Rotation& in, const Rotation& out, std::size_t count) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, static_cast<const In*>(in[0]),
                                      static_cast<Out*>(out[0]), count, stream()));
  const DeviceBytes workspace(bytes, 1);
  return time_of([&](int i) {
    std::size_t size = bytes;
    check(cub::DeviceScan::InclusiveSum(workspace.data, size, static_cast<const In*>(in[i]),
                                        static_cast<Out*>(out[i]), count, stream()));
  });
}

#if defined(SATIN_BENCH_NPP)
NppStreamContext npp_context() {
  NppStreamContext context{};
  context.hStream = stream();
  check(cudaGetDevice(&context.nCudaDeviceId));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  check(cudaStreamGetFlags(stream(), &context.nStreamFlags));
  return context;
}

/// NPP's table has a row and a column of zeros more.
double time_of_npp_table(const Rotation& in, int width, int height) {
  const NppStreamContext context = npp_context();
  const int step = (width + 1) * 4;
  const DeviceBytes out(static_cast<std::size_t>(step) * static_cast<std::size_t>(height + 1), 1);
  return time_of([&](int i) {
    nppiIntegral_8u32s_C1R_Ctx(static_cast<const Npp8u*>(in[i]), width, static_cast<Npp32s*>(out.data), step,
                               NppiSize{width, height}, 0, context);
  });
}

/// Only the pixels whose box lies in the picture.
double time_of_npp_box(const Rotation& in, const Rotation& out, int width, int height, int radius) {
  const NppStreamContext context = npp_context();
  const int step = width * 3;
  const std::ptrdiff_t first = std::ptrdiff_t{radius} * step + radius * 3;
  return time_of([&](int i) {
    nppiFilterBox_8u_C3R_Ctx(static_cast<const Npp8u*>(in[i]) + first, step, static_cast<Npp8u*>(out[i]),
                             step, NppiSize{width - 2 * radius, height - 2 * radius},
                             NppiSize{2 * radius + 1, 2 * radius + 1}, NppiPoint{radius, radius}, context);
  });
}
#else
double time_of_npp_table(const Rotation&, int, int) { return 0; }
double time_of_npp_box(const Rotation&, const Rotation&, int, int, int) { return 0; }
#endif

Shape shape_of(std::int64_t width, std::int64_t height, int channels, Type type) {
  Shape shape;
  shape.width = width;
  shape.height = height;
  shape.channels = channels;
  shape.type = type;
  return shape;
}

void bench_table(const Device& device, const Shape& shape, bool squared) {
  Plan plan = satin::plan(device, shape, Integral{squared});
  const Shape table = plan.output_shape();
  const std::size_t in_bytes = satin::byte_size(shape);
  const std::size_t out_bytes = satin::byte_size(table);
  const Rotation in(in_bytes, in_bytes + out_bytes);
  const Rotation out(out_bytes, in_bytes + out_bytes);
  const satin::Stream on{stream()};
  const double ours = time_of([&](int i) {
    plan.run(satin::view_of(in[i], shape, satin::Memory::device),
             satin::mutable_view_of(out[i], table, satin::Memory::device), on);
  });
  const double copy = time_of_copy(in, in_bytes, out, out_bytes);
  const std::size_t count = in_bytes / satin::size_of(shape.type);
  double cub = 0;
  if (shape.type == Type::u8 && table.type == Type::u32)
    cub = time_of_cub<std::uint8_t, std::uint32_t>(in, out, count);
  if (shape.type == Type::u8 && table.type == Type::u64)
    cub = time_of_cub<std::uint8_t, std::uint64_t>(in, out, count);
  if (shape.type == Type::u16 && table.type == Type::u64)
    cub = time_of_cub<std::uint16_t, std::uint64_t>(in, out, count);
  const bool plain = shape.channels == 1 && shape.type == Type::u8 && !squared;
  const double npp =
      plain ? time_of_npp_table(in, static_cast<int>(shape.width), static_cast<int>(shape.height)) : 0;
  print_row(std::to_string(shape.width) + " x " + std::to_string(shape.height) + ", " +
                std::to_string(shape.channels) + " x " + satin::name_of(shape.type) + " -> " +
                satin::name_of(table.type) + (squared ? ", squared" : ""),
            ours, copy, cub, npp);
}

void bench_tables(const Device& device) {
  std::printf(
      "\n| table | Satin ms | copy ms | copy / Satin | CUB 1-D ms | NPP ms |\n|---|---|---|---|---|---|\n");
  for (const std::int64_t side : {2048, 4096, 8192, 16384})
    bench_table(device, shape_of(side, side, 1, Type::u8), false);
  bench_table(device, shape_of(4001, 3003, 1, Type::u8), false);
  for (const std::int64_t side : {2048, 4096}) bench_table(device, shape_of(side, side, 3, Type::u8), false);
  bench_table(device, shape_of(3840, 2160, 3, Type::u8), false);
  bench_table(device, shape_of(4001, 3003, 3, Type::u8), false);
  bench_table(device, shape_of(3840, 2160, 4, Type::u8), false);
  for (const std::int64_t side : {2048, 4096, 8192})
    bench_table(device, shape_of(side, side, 1, Type::u16), false);
  bench_table(device, shape_of(4096, 4096, 1, Type::u8), true);
}

enum class Map { none, constant, smooth, random };

/// Radii are whole: values are multiples of 5 where the largest one, 255, means a radius of 51.
constexpr double map_radius = 51;

Image radius_map(const Device& device, const Shape& picture, Map kind) {
  const Shape shape = shape_of(picture.width, picture.height, 1, Type::u8);
  Image map(shape);
  std::uint32_t state = 1;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      state = state * 1664525U + 1013904223U;
      const auto patch = static_cast<std::uint32_t>((x / 16 + y / 9) % 33);
      const std::uint32_t radius = kind == Map::constant ? 16
                                   : kind == Map::smooth ? patch
                                                         : (state >> 16) % 33;
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(5 * radius);
    }
  }
  return device.upload(map);
}

void bench_blur(const Device& device, const std::string& name, const Shape& shape, Blur blur, Map kind,
                int npp_radius) {
  const std::size_t bytes = satin::byte_size(shape);
  const std::size_t map_bytes = kind == Map::none ? 0 : bytes / static_cast<std::size_t>(shape.channels);
  const Rotation in(bytes + map_bytes, 2 * bytes + map_bytes);
  const Rotation out(bytes, 2 * bytes + map_bytes);
  std::vector<Image> maps;
  if (kind != Map::none) {
    for (int i = 0; i < 8; ++i) maps.push_back(radius_map(device, shape, kind));
    blur.radius_map = maps[0];
    blur.radius_max = map_radius;
  }
  Plan plan = satin::plan(device, shape, blur);
  const satin::Stream on{stream()};
  const double ours = time_of([&](int i) {
    const ImageView inputs[] = {
        satin::view_of(in[i], shape, satin::Memory::device),
        maps.empty() ? ImageView{} : maps[static_cast<std::size_t>(i) % maps.size()].view(), ImageView{}};
    plan.run(inputs, satin::mutable_view_of(out[i], shape, satin::Memory::device), on);
  });
  const double copy = time_of_copy(in, bytes + map_bytes, out, bytes);
  const double npp = npp_radius == 0 ? 0
                                     : time_of_npp_box(in, out, static_cast<int>(shape.width),
                                                       static_cast<int>(shape.height), npp_radius);
  print_row(name, ours, copy, 0, npp);
}

void bench_blurs(const Device& device) {
  std::printf(
      "\n| mean, 3840 x 2160 RGB u8 | Satin ms | copy ms | copy / Satin | - | NPP ms "
      "|\n|---|---|---|---|---|---|\n");
  const Shape shape = shape_of(3840, 2160, 3, Type::u8);
  for (const Space space : {Space::encoded, Space::linear}) {
    const std::string suffix = space == Space::encoded ? ", encoded" : ", linear";
    for (const double radius : {16.0, 16.5, 64.0, 1000.0}) {
      Blur blur;
      blur.radius = radius;
      blur.space = space;
      char text[32];
      std::snprintf(text, sizeof text, "radius %g", radius);
      const bool peer = space == Space::encoded && radius == 16.0;
      bench_blur(device, text + suffix, shape, blur, Map::none, peer ? 16 : 0);
    }
    Blur by_map;
    by_map.space = space;
    bench_blur(device, "map, constant 16" + suffix, shape, by_map, Map::constant, 0);
    bench_blur(device, "map, smooth 0..32" + suffix, shape, by_map, Map::smooth, 0);
    bench_blur(device, "map, random 0..32" + suffix, shape, by_map, Map::random, 0);
  }
}

}  // namespace

int main() {
  try {
    const Device device = Device::open("cuda:0");
    std::printf("%s, CUDA %d.%d, medians of %d. Empty kernel %.4f ms.\n", device.info().name.c_str(),
                CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, repeats,
                time_of([](int) { nothing<<<1, 1, 0, stream()>>>(); }));
#if !defined(SATIN_BENCH_NPP)
    std::printf("NPP was not found when this was built.\n");
#endif
    bench_tables(device);
    bench_blurs(device);
  } catch (const satin::Error& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 3;
  }
}
