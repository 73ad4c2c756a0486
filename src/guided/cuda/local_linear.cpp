// Host side of the guided filter on the GPU.
//
// Integers whose sums are exact in doubles and whose windows fit a block are filtered by sliding windows
// (kernels/guided/running_linear.cu), except 16 bits with alpha. All other jobs use summed-area tables
// (kernels/guided/local_linear.cu): moments of every pixel, their tables, coefficients of every window, their
// tables, results. Coefficients then reuse the memory of the moments, and their tables that of the moments'
// tables.

#include <algorithm>
#include <array>
#include <vector>

#include "core/cuda/backend.h"
#include "core/maths/window.h"
#include "guided/local_linear.h"
#include "kernels/guided/launch.h"
#include "means/tiling.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels
constexpr std::ptrdiff_t row_alignment = 256;

template <class Arguments>
Arguments arguments_of(const LocalLinearJob& job, const LocalLinearImages& images) {
  Arguments arguments;
  arguments.job = job;
  arguments.scales = kernels::LinearScales(job.format);
  arguments.measured = images.measured;
  arguments.guide_measured = images.guide_measured;
  arguments.picture = source_of(images.picture);
  arguments.guide = source_of(images.guide);
  arguments.mask = source_of(images.mask);
  arguments.output = target_of(images.output);
  return arguments;
}

/// Whether windows can slide over the pictures of the job.
bool slides(const LocalLinearJob& job) {
  if (job.picture.type != job.guide.type) return false;
  if (job.picture.weighted) return job.picture.type == Type::u8 && job.numerators_fit_double;
  if (job.guide.weighted) return false;
  return job.picture.type == Type::u8 ? job.sums_fit_32_bits : job.numerators_fit_double;
}

/// Returns tiles for sliding windows. spans is 0 for jobs that need tables: other types, or windows that
/// leave less than a quarter of a block's columns for results.
SlidingTiles sliding_tiles(const CudaBackend& backend, const LocalLinearJob& job) {
  if (!slides(job)) return {};
  const auto span_y = static_cast<int>(2 * job.reach_y + 1);
  SlidingTileRules rules;
  rules.width = static_cast<int>(job.width);
  rules.height = static_cast<int>(job.height);
  rules.multiprocessors = backend.multiprocessors();
  rules.most_rows = std::clamp(rules.height / span_y, 1, rules.most_rows);
  rules.row_cost = 4;
  rules.start_cost = 5 * span_y;
  SlidingTiler tiler(rules);
  for (const int threads : {512, 256}) {
    const auto usable = static_cast<int>(threads - 4 * job.reach_x);
    if (usable < threads / 4) continue;
    const kernels::RunningLinearBlock block = kernels::running_linear_block(job, threads);
    tiler.consider(
        threads / 32, usable, block.blocks_per_multiprocessor,
        [&](const SlidingTiles&) { return block.shared_bytes; }, block.shared_bytes);
  }
  return tiler.best();
}

class RunningLinear final : public LocalLinearOperation {
 public:
  RunningLinear(CudaBackend& backend, const LocalLinearJob& job, const SlidingTiles& tiles)
      : backend_(backend), job_(job), tiles_(tiles), kept_(backend.allocate(kept_bytes())) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return kept_.size; }

  void run(const LocalLinearImages& images, Stream stream) override {
    backend_.select();
    auto arguments = arguments_of<kernels::RunningLinearArguments>(job_, images);
    arguments.tiles = tiles_;
    arguments.eps = linear_eps(job_.eps, job_.guide, {});
    arguments.kept = kept_.get();
    kernels::running_linear(arguments, backend_.stream_of(stream));
    check_launch("filtering by a guide");
  }

 private:
  [[nodiscard]] std::size_t kept_bytes() const noexcept {
    const auto threads = static_cast<std::size_t>(tiles_.columns) * static_cast<std::size_t>(tiles_.rows) *
                         static_cast<std::size_t>(tiles_.spans) * 32;
    return threads * static_cast<std::size_t>(2 * job_.reach_y + 1) *
           static_cast<std::size_t>(job_.layout.coefficients()) * sizeof(std::uint64_t);
  }

  CudaBackend& backend_;
  LocalLinearJob job_;
  SlidingTiles tiles_;
  Buffer kept_;
};

class TableLinear final : public LocalLinearOperation {
 public:
  TableLinear(CudaBackend& backend, const LocalLinearJob& job) : backend_(backend), job_(job) {
    moments_.values = views_of(job.sums_fit_32_bits ? Type::u32 : Type::u64, job.layout.sums());
    coefficients_.values = views_of(Type::u64, job.layout.coefficients());
    const std::size_t bytes = std::max(bytes_of(moments_.values), bytes_of(coefficients_.values));
    values_ = backend.allocate(bytes);
    tables_ = backend.allocate(bytes);
    for (PlaneSet* planes : {&moments_, &coefficients_}) {
      planes->tables = within(planes->values, tables_);
      planes->values = within(planes->values, values_);
      prepare_tables(*planes);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = values_.size + tables_.size;
    for (const PlaneSet* planes : {&moments_, &coefficients_})
      for (const auto& make : planes->make_table)
        if (make != nullptr) bytes += make->workspace_bytes();
    return bytes;
  }

  void run(const LocalLinearImages& images, Stream stream) override {
    backend_.select();
    const auto handle = backend_.stream_of(stream);
    auto arguments = arguments_of<kernels::TableLinearArguments>(job_, images);
    arguments.values = targets_of(moments_.values);
    kernels::linear_moments(arguments, handle);
    check_launch("multiplying the values of a guided filter");
    build_tables(moments_, stream);
    arguments.tables = targets_of(moments_.tables);
    arguments.values = targets_of(coefficients_.values);
    kernels::linear_coefficients(arguments, handle);
    check_launch("solving for the coefficients of a guided filter");
    build_tables(coefficients_, stream);
    arguments.tables = targets_of(coefficients_.tables);
    kernels::linear_results(arguments, handle);
    check_launch("filtering by a guide");
  }

 private:
  using Views = std::vector<MutableImageView>;

  /// Planes interleaved in pictures of up to four channels, their tables, and a table operation for each
  /// number of channels.
  struct PlaneSet {
    Views values;
    Views tables;
    std::array<std::unique_ptr<TableOperation>, kernels::InterleavedPlanes::channels + 1> make_table;
  };

  /// Returns views without memory for this many planes.
  [[nodiscard]] Views views_of(Type type, int planes) const {
    Views views;
    for (; planes > 0; planes -= kernels::InterleavedPlanes::channels) {
      const int channels = std::min(kernels::InterleavedPlanes::channels, planes);
      views.push_back(mutable_view_of(nullptr, {job_.width, job_.height, channels, type}, Memory::device));
      std::ptrdiff_t& row = views.back().strides.row;
      row = (row + row_alignment - 1) / row_alignment * row_alignment;
    }
    return views;
  }

  [[nodiscard]] static std::size_t bytes_of(const Views& views) {
    std::size_t bytes = 0;
    for (const MutableImageView& view : views)
      bytes += static_cast<std::size_t>(view.strides.row * view.shape.height);
    return bytes;
  }

  /// Returns the views in consecutive memory of the buffer.
  [[nodiscard]] static Views within(Views views, const Buffer& buffer) {
    std::byte* data = buffer.get();
    for (MutableImageView& view : views) {
      view.data = data;
      data += view.strides.row * view.shape.height;
    }
    return views;
  }

  [[nodiscard]] static kernels::InterleavedPlanes targets_of(const Views& views) {
    kernels::InterleavedPlanes planes;
    for (std::size_t i = 0; i < views.size(); ++i) planes.pictures[i] = target_of(views[i]);
    return planes;
  }

  void prepare_tables(PlaneSet& planes) {
    for (const MutableImageView& view : planes.values) {
      auto& make = planes.make_table.at(static_cast<std::size_t>(view.shape.channels));
      if (make != nullptr) continue;
      TableJob job;
      job.width = job_.width;
      job.height = job_.height;
      job.read.type = view.shape.type;
      job.read.channels = view.shape.channels;
      job.accumulator = view.shape.type == Type::u32 ? Accumulator::u32 : Accumulator::u64;
      make = backend_.prepare(job);
    }
  }

  static void build_tables(const PlaneSet& planes, Stream stream) {
    for (std::size_t i = 0; i < planes.values.size(); ++i) {
      const auto channels = static_cast<std::size_t>(planes.values[i].shape.channels);
      planes.make_table.at(channels)->run(planes.values[i], nullptr, planes.tables[i], stream);
    }
  }

  CudaBackend& backend_;
  LocalLinearJob job_;
  PlaneSet moments_;
  PlaneSet coefficients_;
  Buffer values_;  ///< moments, then coefficients
  Buffer tables_;
};

}  // namespace

Prepared<LocalLinearJob> prepare_local_linear(Backend& backend, const LocalLinearJob& job) {
  if (job.width > largest_side || job.height > largest_side)
    throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
  CudaBackend& cuda = as_cuda(backend);
  if (const SlidingTiles tiles = sliding_tiles(cuda, job); tiles.spans > 0)
    return std::make_unique<RunningLinear>(cuda, job, tiles);
  return std::make_unique<TableLinear>(cuda, job);
}

}  // namespace satin::cuda
