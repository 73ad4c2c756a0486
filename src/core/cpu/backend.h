#pragma once
// The CPU backend: threads by oneTBB (threads.h), SIMD by Highway (*_simd.cpp).

#include <cstdint>
#include <memory>
#include <span>

#include "core/backend.h"
#include "core/cpu/threads.h"

namespace satin::cpu {

struct CpuBackend final : Backend {
  explicit CpuBackend(int wanted);

  void upload(void* device, const void* host, std::size_t bytes, Stream stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream stream) override;
  void synchronize(Stream) override {}

  Threads threads;

 private:
  [[nodiscard]] Buffer allocate_own(std::size_t bytes) override { return allocate_host(bytes); }
};

inline CpuBackend& as_cpu(Backend& backend) { return static_cast<CpuBackend&>(backend); }

/// Calls body(first, last) for ranges of rows that together cover [0, rows), on the backend's threads.
template <class Body>
void parallel_rows(CpuBackend& backend, std::int64_t rows, std::int64_t grain, const Body& body) {
  backend.threads.for_rows(rows, grain,
                           [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
}

// One factory an operation, each in its own file.
std::unique_ptr<CopyOperation> prepare_copy(Backend& backend);
std::unique_ptr<MeasureOperation> prepare_measure(Backend& backend, const MeasureJob& job);
std::unique_ptr<TableOperation> prepare_table(Backend& backend, const TableJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job);
std::unique_ptr<PremultiplyOperation> prepare_premultiply(Backend& backend, const PremultipliedJob& job);
std::unique_ptr<UnpremultiplyOperation> prepare_unpremultiply(Backend& backend, const PremultipliedJob& job);
std::unique_ptr<BoxStatsOperation> prepare_box_stats(Backend& backend, const BoxStatsJob& job);
std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job);
std::unique_ptr<LensStoreOperation> prepare_lens_store(Backend& backend, const LensStoreJob& job);
std::unique_ptr<LevelOperation> prepare_level(Backend& backend, const LevelJob& job);
std::unique_ptr<DistanceOperation> prepare_distance(Backend& backend, const DistanceJob& job);
std::unique_ptr<DepositOperation> prepare_deposit(Backend& backend, const DepositJob& job);
std::unique_ptr<DetailOperation> prepare_detail(Backend& backend, const DetailJob& job);
std::unique_ptr<LobeMeanOperation> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job);
std::unique_ptr<LocalLinearOperation> prepare_local_linear(Backend& backend, const LocalLinearJob& job);
std::unique_ptr<RunningExtremeOperation> prepare_running_extreme(Backend& backend,
                                                                 const RunningExtremeJob& job);
std::unique_ptr<RecursiveOperation> prepare_recursive(Backend& backend, const RecursiveJob& job);
std::unique_ptr<LabelOperation> prepare_label(Backend& backend, const LabelJob& job);
std::unique_ptr<RelabelOperation> prepare_relabel(Backend& backend, const RelabelJob& job);
std::unique_ptr<RegionValuesOperation> prepare_region_values(Backend& backend, const RegionValuesJob& job);
std::unique_ptr<CoverageOperation> prepare_coverage(Backend& backend, const CoverageJob& job);
std::unique_ptr<PaintOperation> prepare_paint(Backend& backend, const PaintJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_chain(Backend& backend, std::span<const BoxMeanJob> jobs);
std::unique_ptr<DetailOperation> prepare_detail_chain(Backend& backend, std::span<const BoxMeanJob> boxes,
                                                      const DetailJob& detail);
std::unique_ptr<ActiveTilesOperation> prepare_active_tiles(Backend& backend, const ActiveTilesJob& job);
std::unique_ptr<InclusionOperation> prepare_inclusion(Backend& backend, const InclusionJob& job);

// Ways to a box mean: prepare_box_mean() chooses.
std::unique_ptr<BoxMeanOperation> prepare_box_mean_constant(CpuBackend& backend, const BoxMeanJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean_map(CpuBackend& backend, const BoxMeanJob& job);
/// Null if the job is not for it.
std::unique_ptr<BoxMeanOperation> prepare_box_mean_strips(CpuBackend& backend, const BoxMeanJob& job);

/// 32-bit sums where the job allows them and their differences fit a signed word, as SIMD conversion wants
/// them.
[[nodiscard]] bool narrow_sums(const BoxMeanJob& job);
/// Whether means of whole boxes with such sums stay below word_divide_limit, too.
[[nodiscard]] bool divides_words(const BoxMeanJob& job);

}  // namespace satin::cpu
