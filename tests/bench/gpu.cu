// The clock of a GPU, copies of the same bytes, and the peers CUB and, if found, NPP.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>

#include "satin/error.h"
#include "tests/bench/bench.h"

#if defined(SATIN_BENCH_NPP)
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>
#endif

namespace satin::bench {
namespace {

constexpr long long spin_cycles = 300'000;
constexpr int threads = 256;

#if CUB_VERSION >= 200700
using Plus = ::cuda::std::plus<>;
#else
using Plus = cub::Sum;
#endif

void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error(ErrorKind::environment, std::string("CUDA: ") + cudaGetErrorString(status) + ".");
}

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

/// Reads `Loads` and writes `Stores` words of 16 bytes for each thread, without caching.
template <int Loads, int Stores>
__global__ void __launch_bounds__(threads)
    copy_words(const uint4* from, std::size_t from_count, uint4* to, std::size_t to_count) {
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
  // Keeps the loads if nothing is stored. The condition is practically never true
  if (to_count == 0 && value[0].x == 0x9E3779B9U && value[0].y == 1) *to = value[0];
}

struct CopyKernel {
  void (*kernel)(const uint4*, std::size_t, uint4*, std::size_t);
  int loads;
  int stores;
};

/// Copies for every ratio of bytes read to bytes written of the cases, and some wider ones.
constexpr CopyKernel copy_kernels[] = {
    {copy_words<1, 1>, 1, 1}, {copy_words<4, 4>, 4, 4}, {copy_words<1, 4>, 1, 4}, {copy_words<2, 8>, 2, 8},
    {copy_words<4, 3>, 4, 3}, {copy_words<4, 2>, 4, 2}, {copy_words<2, 1>, 2, 1}, {copy_words<7, 6>, 7, 6},
    {copy_words<5, 4>, 5, 4}, {copy_words<3, 1>, 3, 1}, {copy_words<4, 1>, 4, 1}};

/// Measures by events on one stream, behind a kernel that spins until all launches are queued.
class CudaBench : public Bench {
 public:
  CudaBench(const Device& device, int runs) : Bench(device, runs) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
  }
  ~CudaBench() override {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] Stream stream() const override { return {stream_}; }

 protected:
  double seconds_of(const Call& call, int i) override {
    spin<<<1, 1, 0, stream_>>>(spin_cycles);
    check(cudaEventRecord(start_, stream_));
    call(i);
    check(cudaEventRecord(stop_, stream_));
    check(cudaEventSynchronize(stop_));
    check(cudaGetLastError());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

  std::vector<Call> copies(std::size_t read, std::size_t written) override {
    const auto from = std::make_shared<Rotation>(device(), Type::u8, read, read + written);
    const auto to = std::make_shared<Rotation>(device(), Type::u8, written, read + written);
    const std::size_t from_count = read / 16, to_count = written / 16;
    std::vector<Call> calls;
    for (const CopyKernel& copy : copy_kernels) {
      const double wanted = static_cast<double>(from_count) * copy.stores;
      const double has = static_cast<double>(to_count) * copy.loads;
      if (written > 0 ? std::abs(wanted - has) > 0.01 * has : copy.loads != 4 || copy.stores != 1) continue;
      const std::size_t words = written > 0 ? to_count : from_count;
      const std::size_t per_block =
          static_cast<std::size_t>(written > 0 ? copy.stores : copy.loads) * threads;
      const auto blocks =
          static_cast<unsigned>(std::max<std::size_t>((words + per_block - 1) / per_block, 1));
      calls.push_back([=, kernel = copy.kernel, stream = stream_](int i) {
        kernel<<<blocks, threads, 0, stream>>>(reinterpret_cast<const uint4*>((*from)[i]), from_count,
                                               reinterpret_cast<uint4*>((*to)[i]), to_count);
      });
    }
    return calls;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

// --- CUB, with workspace allocated in advance ---

/// Returns a run of a function of CUB, called as call(memory, bytes, i).
template <class CubCall>
Call with_workspace(const CubCall& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes, 0));
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes + 1));
  const std::shared_ptr<void> workspace(memory, [](void* last) { static_cast<void>(cudaFree(last)); });
  return [call, workspace, bytes](int i) {
    std::size_t size = bytes;
    check(call(workspace.get(), size, i));
  };
}

struct UpperHalf {
  __host__ __device__ bool operator()(std::uint32_t value) const { return value >= 0x80000000U; }
};

/// CUB alone, and CUB with a wait for the number of selected values, because compact() returns it.
std::vector<Peer> compact_peers(const std::shared_ptr<Arrays>& arrays, cudaStream_t stream) {
  const auto selected = std::make_shared<std::int64_t>(0);
  void* memory = nullptr;
  check(cudaMalloc(&memory, sizeof(std::int64_t)));
  const std::shared_ptr<void> count(memory, [](void* last) { static_cast<void>(cudaFree(last)); });
  const Call alone = with_workspace([=](void* workspace, std::size_t& bytes, int i) {
    return cub::DeviceSelect::If(workspace, bytes, reinterpret_cast<const std::uint32_t*>(arrays->in[i]),
                                 reinterpret_cast<std::uint32_t*>(arrays->out[i]),
                                 static_cast<std::int64_t*>(count.get()), static_cast<int>(arrays->count),
                                 UpperHalf(), stream);
  });
  const Call waiting = [=](int i) {
    alone(i);
    check(cudaMemcpyAsync(selected.get(), count.get(), sizeof *selected, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  };
  return {{"CUB", waiting}, {"CUB without waiting", alone}};
}

template <class In, class Out>
std::vector<Peer> peers_of_types(const std::shared_ptr<Arrays>& arrays, cudaStream_t stream) {
  const auto from = [arrays](int i) { return reinterpret_cast<const In*>(arrays->in[i]); };
  const auto to = [arrays](int i) { return reinterpret_cast<Out*>(arrays->out[i]); };
  const int count = static_cast<int>(arrays->count);
  const std::string& name = arrays->name;
  if (name == "inclusive scan")
    return {{"CUB", with_workspace([=](void* memory, std::size_t& bytes, int i) {
               return cub::DeviceScan::InclusiveSum(memory, bytes, from(i), to(i), count, stream);
             })}};
  if (name == "exclusive scan")
    return {{"CUB", with_workspace([=](void* memory, std::size_t& bytes, int i) {
               return cub::DeviceScan::ExclusiveScan(memory, bytes, from(i), to(i), Plus(), Out{0}, count,
                                                     stream);
             })}};
  if (name == "reduce")
    return {{"CUB", with_workspace([=](void* memory, std::size_t& bytes, int i) {
               return cub::DeviceReduce::Reduce(memory, bytes, from(i), to(i), count, Plus(), Out{0}, stream);
             })}};
  if (name == "histogram") {
    using Level = std::conditional_t<std::is_same_v<In, float>, float, int>;
    constexpr Level top = std::is_same_v<In, float> ? 1 : 256;
    return {{"CUB", with_workspace([=](void* memory, std::size_t& bytes, int i) {
               auto* counts = reinterpret_cast<std::uint32_t*>(arrays->out[i]);
               return cub::DeviceHistogram::HistogramEven(memory, bytes, from(i), counts, 257, Level{0}, top,
                                                          count, stream);
             })}};
  }
  return {};
}

template <class Key>
std::vector<Peer> sort_peers(const std::shared_ptr<Arrays>& arrays, cudaStream_t stream) {
  const auto from = [arrays](int i) { return reinterpret_cast<const Key*>(arrays->in[i]); };
  const auto to = [arrays](int i) { return reinterpret_cast<Key*>(arrays->out[i]); };
  const int count = static_cast<int>(arrays->count);
  if (arrays->name == "radix sort")
    return {{"CUB", with_workspace([=](void* memory, std::size_t& bytes, int i) {
               return cub::DeviceRadixSort::SortKeys(memory, bytes, from(i), to(i), count, 0, 32, stream);
             })}};
  return {{"CUB", with_workspace([=](void* memory, std::size_t& bytes, int i) {
             return cub::DeviceRadixSort::SortPairs(
                 memory, bytes, from(i), to(i), reinterpret_cast<const std::uint32_t*>(arrays->values[i]),
                 reinterpret_cast<std::uint32_t*>(arrays->sorted_values[i]), count, 0, 32, stream);
           })}};
}

}  // namespace

std::unique_ptr<Bench> cuda_bench(const Device& device, int runs) {
  return std::make_unique<CudaBench>(device, runs);
}

std::vector<Peer> scan_peers(const std::shared_ptr<Arrays>& arrays, Stream on) {
  const auto stream = static_cast<cudaStream_t>(on.handle);
  if (arrays->name == "compact") return compact_peers(arrays, stream);
  const bool is_float = arrays->type == Type::f32;
  if (arrays->name.starts_with("radix sort"))
    return is_float ? sort_peers<float>(arrays, stream) : sort_peers<std::uint32_t>(arrays, stream);
  if (is_float) return peers_of_types<float, float>(arrays, stream);
  if (arrays->type == Type::u32) return peers_of_types<std::uint32_t, std::uint32_t>(arrays, stream);
  if (arrays->result_type == Type::u64) return peers_of_types<std::uint8_t, std::uint64_t>(arrays, stream);
  return peers_of_types<std::uint8_t, std::uint32_t>(arrays, stream);
}

// --- NPP ---

#if defined(SATIN_BENCH_NPP)
namespace {

NppStreamContext npp_context(cudaStream_t stream) {
  NppStreamContext context{};
  context.hStream = stream;
  check(cudaGetDevice(&context.nCudaDeviceId));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  check(cudaStreamGetFlags(stream, &context.nStreamFlags));
  return context;
}

/// NPP's table has an extra row and column of zeros.
Peer npp_table(const std::shared_ptr<Pictures>& pictures, cudaStream_t stream) {
  const int width = static_cast<int>(pictures->shape.width),
            height = static_cast<int>(pictures->shape.height);
  const int step = (width + 1) * 4;
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(step) * static_cast<std::size_t>(height + 1)));
  const std::shared_ptr<void> table(memory, [](void* last) { static_cast<void>(cudaFree(last)); });
  return {"NPP", [=, context = npp_context(stream)](int i) {
            nppiIntegral_8u32s_C1R_Ctx(reinterpret_cast<const Npp8u*>(pictures->in[i]), width,
                                       static_cast<Npp32s*>(table.get()), step, NppiSize{width, height}, 0,
                                       context);
          }};
}

/// Only pixels whose window is inside the picture.
Peer npp_box(const std::shared_ptr<Pictures>& pictures, int radius, cudaStream_t stream) {
  const int width = static_cast<int>(pictures->shape.width),
            height = static_cast<int>(pictures->shape.height);
  const int step = width * 3;
  const std::ptrdiff_t first = std::ptrdiff_t{radius} * step + radius * 3;
  return {"NPP", [=, context = npp_context(stream)](int i) {
            nppiFilterBox_8u_C3R_Ctx(reinterpret_cast<const Npp8u*>(pictures->in[i]) + first, step,
                                     reinterpret_cast<Npp8u*>(pictures->out[i]), step,
                                     NppiSize{width - 2 * radius, height - 2 * radius},
                                     NppiSize{2 * radius + 1, 2 * radius + 1}, NppiPoint{radius, radius},
                                     context);
          }};
}

}  // namespace

std::vector<Peer> mean_peers(const std::shared_ptr<Pictures>& pictures, int radius, Stream on) {
  return {npp_box(pictures, radius, static_cast<cudaStream_t>(on.handle))};
}
#else
std::vector<Peer> mean_peers(const std::shared_ptr<Pictures>&, int, Stream) { return {}; }
#endif

/// CUB scans the same bytes in one dimension: a bound for the table.
std::vector<Peer> table_peers(const std::shared_ptr<Pictures>& pictures, Stream on) {
  const auto stream = static_cast<cudaStream_t>(on.handle);
  const std::size_t count = byte_size(pictures->shape);
  std::vector<Peer> peers{
      {"CUB in one dimension", with_workspace([=](void* memory, std::size_t& bytes, int i) {
         return cub::DeviceScan::InclusiveSum(
             memory, bytes, reinterpret_cast<const std::uint8_t*>(pictures->in[i]),
             reinterpret_cast<std::uint32_t*>(pictures->out[i]), count, stream);
       })}};
#if defined(SATIN_BENCH_NPP)
  if (pictures->shape.channels == 1) peers.push_back(npp_table(pictures, stream));
#endif
  return peers;
}

}  // namespace satin::bench
