// Box mean with a radius for each pixel, or over some pixels only: one table of the whole picture, and one of
// how many of its pixels count, then four entries a whole box.

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

template <class Sum>
class BoxMeanMap final : public BoxMeanOperation {
 public:
  BoxMeanMap(CpuBackend& backend, const BoxMeanJob& job)
      : backend_(backend), job_(job), table_shape_{job.width, job.height, job.read.channels, sum_type} {
    table_ = backend.allocate(byte_size(table_shape_));
    TableJob table;
    table.width = job.width;
    table.height = job.height;
    table.read = job.read;
    table.accumulator = job.accumulator;
    build_ = backend.prepare(table);
    if (job.excludes) prepare_counts();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    const std::size_t counting =
        build_counts_ == nullptr ? 0 : counts_.size + build_counts_->workspace_bytes();
    return table_.size + build_->workspace_bytes() + counting;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    const MutableImageView table = mutable_view_of(table_.get(), table_shape_);
    build_->run(images.source, images.measured, table, stream);
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

  /// Pixels that count in a box are at most all of the largest one, below 2^32.
  void prepare_counts() {
    counts_shape_ = {job_.width, job_.height, 1, Type::u32};
    counts_ = backend_.allocate(byte_size(counts_shape_));
    TableJob table;
    table.width = job_.width;
    table.height = job_.height;
    table.read = counted_pixels();
    build_counts_ = backend_.prepare(table);
  }

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
  std::unique_ptr<TableOperation> build_;
  Shape counts_shape_;
  Buffer counts_;
  std::unique_ptr<TableOperation> build_counts_;  ///< null unless the job excludes pixels
};

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean_map(CpuBackend& backend, const BoxMeanJob& job) {
  if (job.accumulator == Accumulator::u32) return std::make_unique<BoxMeanMap<std::uint32_t>>(backend, job);
  return std::make_unique<BoxMeanMap<std::uint64_t>>(backend, job);
}

}  // namespace satin::cpu
