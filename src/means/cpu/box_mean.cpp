// Chooses the way to a box mean: windows that slide where there is one radius, a table in a ring for small
// radii of a map, and a table of the whole picture for all others, which is also defined here.

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "means/box_mean.h"
#include "means/cpu/box_mean_ways.h"
#include "means/cpu/store.h"
#include "means/maths/covered_box.h"
#include "tables/table.h"

namespace satin::cpu {
namespace {

/// Four entries of a table for every whole box, and if not all pixels count as many of a table of how many
/// do. A radius of 0 needs no table.
template <class Sum>
class BoxMeanTable final : public BoxMeanOperation {
 public:
  BoxMeanTable(CpuBackend& backend, const BoxMeanJob& job)
      : backend_(backend), job_(job), table_shape_{job.width, job.height, job.read.channels, sum_type} {
    if (!job.radius.from_map && job.radius.x == 0 && job.radius.y == 0) return;
    table_ = backend.allocate(byte_size(table_shape_));
    build_ = backend.prepare(TableJob{job.width, job.height, job.read, false, job.accumulator});
    if (!job.excludes) return;
    // pixels that count in a box are at most all of the largest one, below 2^32
    counts_shape_ = {job.width, job.height, 1, Type::u32};
    counts_ = backend.allocate(byte_size(counts_shape_));
    build_counts_ = backend.prepare(TableJob{job.width, job.height, counted_pixels()});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = table_.size + counts_.size;
    if (build_ != nullptr) bytes += build_->workspace_bytes();
    if (build_counts_ != nullptr) bytes += build_counts_->workspace_bytes();
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    if (build_ != nullptr)
      build_->run(images.source, images.measured, mutable_view_of(table_.get(), table_shape_), stream);
    if (build_counts_ != nullptr)
      build_counts_->run(images.included, nullptr, mutable_view_of(counts_.get(), counts_shape_), stream);
    const MeanStore store = mean_store(job_, images.measured);
    with_output(job_, [&]<int Channels, class T>() {
      parallel_rows(backend_, job_.height, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t y = first; y < last; ++y) gather_row<Channels, T>(store, images, y);
      });
    });
  }

 private:
  static constexpr Type sum_type = sizeof(Sum) == 4 ? Type::u32 : Type::u64;

  [[nodiscard]] Radius256 radius_along(Radius256 constant, const ImageView& map, std::int64_t x,
                                       std::int64_t y) const {
    return job_.radius.from_map ? radius_at(job_.radius, map, x, y) : constant;
  }

  template <int Channels, class T>
  void gather_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y) {
    const TableView<Sum> table{reinterpret_cast<const Sum*>(table_.get()), job_.width * Channels, job_.width,
                               job_.height};
    const TableView<std::uint32_t> counts{reinterpret_cast<const std::uint32_t*>(counts_.get()), job_.width,
                                          job_.width, job_.height};
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x, out += Channels) {
      const Radius256 radius_x = radius_along(job_.radius.x, images.radius_map, x, y);
      const Radius256 radius_y = radius_along(job_.radius.y, images.radius_map, x, y);
      const std::uint32_t mask = mask_at(images.mask, x, y);
      if ((radius_x == 0 && radius_y == 0) || mask == 0) {
        keep_pixel<Channels>(store, job_, images, x, y, out);
        continue;
      }
      WideSum sums[4];
      std::uint64_t count =
          covered_box_sums<Channels>(table, x, y, radius_x, radius_y, job_.border, store.rule, sums);
      if (job_.excludes) count = covered_count(counts, x, y, radius_x, radius_y, job_.border);
      store_pixel<Channels>(store, images, x, y, sums, count, mask, out);
    }
  }

  CpuBackend& backend_;
  BoxMeanJob job_;
  Shape table_shape_;
  Buffer table_;
  std::unique_ptr<TableOperation> build_;  ///< null for a radius of 0
  Shape counts_shape_;
  Buffer counts_;
  std::unique_ptr<TableOperation> build_counts_;  ///< null unless the job excludes pixels
};

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CpuBackend& cpu = as_cpu(backend);
  if (auto chain = backend.prepare(BoxChainJob{std::span(&job, 1)})) return chain;
  if (auto ring = prepare_box_mean_ring(cpu, job)) return ring;
  if (job.accumulator == Accumulator::u32) return std::make_unique<BoxMeanTable<std::uint32_t>>(cpu, job);
  return std::make_unique<BoxMeanTable<std::uint64_t>>(cpu, job);
}

}  // namespace satin::cpu
