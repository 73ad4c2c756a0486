#include "core/cpu/backend.h"

#include <hwy/targets.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "core/cpu/depth_operations.h"
#include "core/cpu/scan/operations.h"

namespace satin {
namespace cpu {
namespace {

/// Pixels that a thread filters while a window is begun and ended. RGB u8, radius 16, AVX-512, windows of 96
/// x 96 beside 544 x 544: means 2000 in linear light and 7000 as stored, extremes 2000.
constexpr std::int64_t run_cost_of_thread = 3000;

DeviceInfo describe(int threads) {
  DeviceInfo info;
  info.id = "cpu";
  const auto best = static_cast<std::int64_t>(
      std::uint64_t{1} << std::countr_zero(static_cast<std::uint64_t>(hwy::SupportedTargets())));
  info.name = std::string(hwy::TargetName(best)) + ", " + std::to_string(threads) +
              (threads == 1 ? " thread" : " threads");
  info.memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  info.usable = true;
  return info;
}

}  // namespace

CpuBackend::CpuBackend(int wanted) : threads(wanted) {
  info = describe(threads.count());
  mean_windows.run = extreme_windows.run = run_cost_of_thread * threads.count();
  operations = {.copy = prepare_copy,
                .measure = prepare_measure,
                .table = prepare_table,
                .box_mean = prepare_box_mean,
                .box_chain = prepare_box_chain,
                .premultiply = prepare_premultiply,
                .unpremultiply = prepare_unpremultiply,
                .box_stats = prepare_box_stats,
                .lens_layers = prepare_lens_layers,
                .lens_store = prepare_lens_store,
                .level = prepare_level,
                .distance = prepare_distance,
                .deposit = prepare_deposit,
                .detail = prepare_detail,
                .detail_chain = prepare_detail_chain,
                .lobe_mean = prepare_lobe_mean,
                .local_linear = prepare_local_linear,
                .running_extreme = prepare_running_extreme,
                .recursive = prepare_recursive,
                .label = prepare_label,
                .relabel = prepare_relabel,
                .region_values = prepare_region_values,
                .coverage = prepare_coverage,
                .paint = prepare_paint,
                .active_tiles = prepare_active_tiles,
                .inclusion = prepare_inclusion,
                .depth = depth_operations(),
                .scan = scan_operations()};
}

void CpuBackend::upload(void* device, const void* host, std::size_t bytes, Stream) {
  std::memcpy(device, host, bytes);
}
void CpuBackend::download(void* host, const void* device, std::size_t bytes, Stream) {
  std::memcpy(host, device, bytes);
}

}  // namespace cpu

DeviceInfo describe_cpu() { return cpu::CpuBackend(0).info; }

std::shared_ptr<Backend> open_cpu(int threads) { return std::make_shared<cpu::CpuBackend>(threads); }

}  // namespace satin
