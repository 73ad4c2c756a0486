#include "core/cpu/backend.h"

#include <hwy/targets.h>
#include <unistd.h>

#include <cstring>

#include "satin/error.h"

namespace satin {
namespace cpu {
namespace {

/// Pixels that a thread filters in the time that one more window costs. RGB u8, radius 16, AVX-512,
/// windows of 96 x 96 against 544 x 544: means 2000 in linear light and 7000 as stored, extremes 2000.
constexpr std::int64_t run_cost_of_thread = 3000;

DeviceInfo describe(int threads) {
  DeviceInfo info;
  info.id = "cpu";
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    info.simd.emplace_back(hwy::TargetName(target));
  info.name = info.simd.front() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  info.memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  info.usable = true;
  return info;
}

}  // namespace

CpuBackend::CpuBackend(int thread_count) : threads(thread_count) {
  info = describe(threads.count());
  mean_windows.run = sliding_windows.run = run_cost_of_thread * threads.count();
  // RGB u8, radius 16, linear light: 2.9 ms under a mask of 0, 4.8 ms otherwise; a copy takes 1.2 ms
  box_windows = {.run = mean_windows.run, .copied = 5, .left_alone_percent = 60};
  alpha_box_windows = box_windows;
}

void CpuBackend::upload(void* device, const void* host, std::size_t bytes, Stream) {
  std::memcpy(device, host, bytes);
}
void CpuBackend::download(void* host, const void* device, std::size_t bytes, Stream) {
  std::memcpy(host, device, bytes);
}

Buffer CpuBackend::allocate_own(std::size_t bytes) {
  try {
    return allocate_host(bytes);
  } catch (const Error& error) {
    throw NoMemory(error.what());
  }
}

}  // namespace cpu

DeviceInfo describe_cpu() { return cpu::CpuBackend(cpu::Threads::usable(0)).info; }

void limit_simd(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  std::string names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) {
      // Bits of more capable targets are lower. Disabling them is not enough: SupportedTargets() detects all
      // targets again unless it is given a set.
      hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(target - 1));
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  throw Error(ErrorKind::usage,
              "There is no SIMD instruction set '" + std::string(name) + "' here. There are " + names + ".");
}

std::shared_ptr<Backend> open_cpu(int threads) {
  auto backend = std::make_shared<cpu::CpuBackend>(cpu::Threads::usable(threads));
  cpu::add_operations(backend->operations);
  return backend;
}

}  // namespace satin
