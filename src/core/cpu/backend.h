#pragma once
// The CPU backend: threads by oneTBB, SIMD by Highway (in rows.cpp).

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <cstdint>
#include <memory>

#include "core/backend.h"

namespace satin::cpu {

struct CpuBackend final : Backend {
  explicit CpuBackend(int threads);

  [[nodiscard]] Buffer allocate(std::size_t bytes) override { return allocate_host(bytes); }
  void upload(void* device, const void* host, std::size_t bytes, Stream stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream stream) override;
  void synchronize(Stream) override {}

  [[nodiscard]] int threads() { return arena.max_concurrency(); }

  tbb::task_arena arena;
};

inline CpuBackend& as_cpu(Backend& backend) { return static_cast<CpuBackend&>(backend); }

/// Calls body(first, last) for ranges of at least `grain` rows that together cover [0, rows), on the
/// backend's threads.
template <class Body>
void parallel_rows(CpuBackend& backend, std::int64_t rows, std::int64_t grain, const Body& body) {
  backend.arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, rows, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<std::int64_t>& range) { body(range.begin(), range.end()); });
  });
}

// One factory an operation, each in its own file.
std::unique_ptr<CopyOperation> prepare_copy(Backend& backend);
std::unique_ptr<MeasureOperation> prepare_measure(Backend& backend, const MeasureJob& job);
std::unique_ptr<TableOperation> prepare_table(Backend& backend, const TableJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job);

// Ways to a box mean: prepare_box_mean() chooses.
std::unique_ptr<BoxMeanOperation> prepare_box_mean_constant(CpuBackend& backend, const BoxMeanJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean_map(CpuBackend& backend, const BoxMeanJob& job);
/// Null if the job is not for it.
std::unique_ptr<BoxMeanOperation> prepare_box_mean_strips(CpuBackend& backend, const BoxMeanJob& job);

/// 32-bit sums where the job allows them and their differences fit a signed word, as SIMD conversion wants
/// them.
[[nodiscard]] bool narrow_sums(const BoxMeanJob& job);

}  // namespace satin::cpu
