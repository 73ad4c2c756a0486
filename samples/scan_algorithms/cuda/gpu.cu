// Checks and measures the kernels (../gpu.h).

#include "../gpu.h"

#include <algorithm>

#include "kernels.cuh"

namespace study {

namespace {

using namespace gpu;

/// Returns the reason why there is no GPU; empty if there is one.
std::string absence() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("No GPU: ") + cudaGetErrorString(status) + '.';
  return count == 0 ? "No GPU." : "";
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  void record() { check(cudaEventRecord(event_)); }
  [[nodiscard]] double milliseconds_since(const Event& start) const {
    check(cudaEventSynchronize(event_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Keeps the GPU busy until all launches behind it are queued, so that no launch is part of a time.
__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

double milliseconds_of(const std::function<void()>& run) {
  constexpr long long spin_cycles = 300'000;
  Event start;
  Event stop;
  spin<<<1, 1>>>(spin_cycles);
  start.record();
  run();
  stop.record();
  return stop.milliseconds_since(start);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Alternates the kernel, the copy and CUB. Returns medians of 11 after two rounds of warm-up.
GpuTime time_of(const Kernel& kernel, Index n) {
  constexpr int rounds = 11;
  constexpr int warm_up = 2;
  const auto study = kernel.make(n, 1);
  const auto peer = study->peer();
  const Index half = study->bytes() / 2;
  const DeviceArray<std::byte> from(half);
  const DeviceArray<std::byte> to(half);
  std::vector<double> ours;
  std::vector<double> copies;
  std::vector<double> peers;
  study->poison_results();
  for (int i = 0; i < warm_up + rounds; ++i) {
    const double a = milliseconds_of([&] { study->run(); });
    const double b = milliseconds_of(
        [&] { check(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDeviceToDevice)); });
    const double c = peer ? milliseconds_of(peer) : 0;
    if (i < warm_up) continue;
    ours.push_back(a);
    copies.push_back(b);
    peers.push_back(c);
  }
  return {kernel.name, n, median(ours), median(copies), median(peers)};
}

/// Checks the blocks with the segmented operator, which detects swapped operands.
template <class InBlock>
std::string difference_of_segments(Index n) {
  const std::vector<std::uint32_t> values = random_words(n, 3);
  const std::vector<std::uint8_t> heads = random_heads(n, 3);
  std::vector<Flagged> states;
  for (std::size_t i = 0; i < values.size(); ++i) states.push_back({heads[i], values[i]});
  const DeviceArray<Flagged> x{std::span<const Flagged>(states)};
  Result<Flagged> y(n);
  y.poison_all();
  ScanBlocks<InBlock>(n).run(x.data(), y.data(), n);
  return y.check([&](std::span<const Flagged> before) {
    std::vector<std::uint32_t> result;
    for (std::size_t i = 0; i < states.size(); ++i)
      result.push_back(FlaggedSum{}(before[i], states[i]).value);
    return difference(result, segmented_sums(values, heads));
  });
}

constexpr Index sizes[] = {1,        2,    31,   32,   33,   127,     1000,          1023,    1024,
                           1025,     4095, 4096, 4097, 8193, 100'003, (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
                           5'000'003};

}  // namespace

std::string gpu_name() {
  if (const std::string reason = absence(); !reason.empty()) return reason;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

void check_gpu(const std::function<void(const std::string&, Index, const std::string&)>& report) {
  if (!absence().empty()) return;
  const auto run = [&](const std::string& name, Index n, KernelStudy& study) {
    for (int time = 0; time < 3; ++time) {  // with other orders of the blocks, and with a used board
      study.poison_results();
      study.run();
      report("kernel " + name, n, study.difference());
    }
  };
  for (const Kernel& kernel : kernels)
    for (const Index n : sizes) run(kernel.name, n, *kernel.make(n, static_cast<std::uint32_t>(n)));
  for (const Index n : sizes) {
    report("kernel hillis_steele_blocks of segments", n,
           difference_of_segments<gpu::HillisSteeleInBlock<FlaggedSum, 1024>>(n));
    report("kernel blelloch_blocks of segments", n,
           difference_of_segments<gpu::BlellochInBlock<FlaggedSum, 1024>>(n));
  }
  BinStudy puzzle(bin_puzzle());
  run("bins, the puzzle", 128, puzzle);
}

std::vector<GpuTime> measure_gpu(Index max_n) {
  std::vector<GpuTime> rows;
  if (!absence().empty()) return rows;
  for (Index n = 1000; n <= max_n; n *= 10)
    for (const Kernel& kernel : kernels) rows.push_back(time_of(kernel, n));
  return rows;
}

}  // namespace study
