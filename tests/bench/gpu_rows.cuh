#pragma once
// Rows of gpu_bench, and the peers that some of them have: CUB and NPP.

#include <cstdio>
#include <cub/device/device_scan.cuh>
#include <string>

#include "satin/image.h"
#include "tests/bench/gpu_timing.cuh"

#if defined(SATIN_BENCH_NPP)
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>
#endif

namespace satin::bench {

/// Rows whose name holds this text are measured.
inline std::string& wanted() {
  static std::string text;
  return text;
}

inline bool is_wanted(const std::string& name) { return name.find(wanted()) != std::string::npos; }

/// One row; peers that do not apply have time 0.
inline void print_row(const std::string& name, double ours, double copy, double peer1, double peer2) {
  const auto peer = [](double ms) { return ms > 0 ? std::to_string(ms).substr(0, 7) : std::string("-"); };
  std::printf("| %s | %.4f | %.4f | %.2f | %s | %s |\n", name.c_str(), ours, copy, copy / ours,
              peer(peer1).c_str(), peer(peer2).c_str());
  std::fflush(stdout);
}

inline Shape shape_of(std::int64_t width, std::int64_t height, int channels, Type type) {
  Shape shape;
  shape.width = width;
  shape.height = height;
  shape.channels = channels;
  shape.type = type;
  return shape;
}

// --- Peers ---

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
inline NppStreamContext npp_context() {
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
inline double time_of_npp_table(const Rotation& in, int width, int height) {
  const NppStreamContext context = npp_context();
  const int step = (width + 1) * 4;
  const DeviceBytes out(static_cast<std::size_t>(step) * static_cast<std::size_t>(height + 1), 1);
  return time_of([&](int i) {
    nppiIntegral_8u32s_C1R_Ctx(static_cast<const Npp8u*>(in[i]), width, static_cast<Npp32s*>(out.data), step,
                               NppiSize{width, height}, 0, context);
  });
}

/// Only the pixels whose box lies in the picture.
inline double time_of_npp_box(const Rotation& in, const Rotation& out, int width, int height, int radius) {
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
inline double time_of_npp_table(const Rotation&, int, int) { return 0; }
inline double time_of_npp_box(const Rotation&, const Rotation&, int, int, int) { return 0; }
#endif

}  // namespace satin::bench
