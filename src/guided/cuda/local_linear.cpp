// The guided filter in device memory: moments of every pixel, their tables, coefficients of every window,
// their tables, results. Moments and coefficients take the same place, and so do their tables.

#include <algorithm>
#include <array>
#include <vector>

#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/maths/window.h"
#include "guided/local_linear.h"
#include "kernels/guided/launch.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels
constexpr std::ptrdiff_t row_alignment = 256;

class LocalLinear final : public LocalLinearOperation {
 public:
  LocalLinear(CudaBackend& backend, const LocalLinearJob& job) : backend_(backend), job_(job) {
    if (job.width > largest_side || job.height > largest_side)
      throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
    moments_.values = views_of(job.narrow ? Type::u32 : Type::u64, job.layout.sums());
    coefficients_.values = views_of(Type::u64, job.layout.coefficients());
    const std::size_t bytes = std::max(bytes_of(moments_.values), bytes_of(coefficients_.values));
    values_ = backend.allocate(bytes);
    tables_ = backend.allocate(bytes);
    for (Groups* groups : {&moments_, &coefficients_}) {
      groups->tables = placed(groups->values, tables_);
      groups->values = placed(groups->values, values_);
      prepare_tables(*groups);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = values_.size + tables_.size;
    for (const Groups* groups : {&moments_, &coefficients_})
      for (const auto& make : groups->make_table)
        if (make != nullptr) bytes += make->workspace_bytes();
    return bytes;
  }

  void run(const LocalLinearImages& images, Stream stream) override {
    backend_.select();
    const auto handle = backend_.stream_of(stream);
    kernels::LocalLinearArguments arguments;
    arguments.job = job_;
    arguments.measured = images.measured;
    arguments.guide_measured = images.guide_measured;
    arguments.picture = source_of(images.picture);
    arguments.guide = source_of(images.guide);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);

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

  /// Planes four and four interleaved, one group behind the other, their tables likewise, and one table
  /// operation for each number of channels.
  struct Groups {
    Views values;
    Views tables;
    std::array<std::unique_ptr<TableOperation>, kernels::LinearGroups::planes + 1> make_table;
  };

  /// Groups that have no place yet.
  [[nodiscard]] Views views_of(Type type, int planes) const {
    Views views;
    for (; planes > 0; planes -= kernels::LinearGroups::planes) {
      const int channels = std::min(kernels::LinearGroups::planes, planes);
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

  [[nodiscard]] static Views placed(Views views, const Buffer& buffer) {
    std::byte* data = buffer.get();
    for (MutableImageView& view : views) {
      view.data = data;
      data += view.strides.row * view.shape.height;
    }
    return views;
  }

  [[nodiscard]] static kernels::LinearGroups targets_of(const Views& views) {
    kernels::LinearGroups groups;
    for (std::size_t i = 0; i < views.size(); ++i) groups.group[i] = target_of(views[i]);
    return groups;
  }

  void prepare_tables(Groups& groups) {
    for (const MutableImageView& view : groups.values) {
      auto& make = groups.make_table.at(static_cast<std::size_t>(view.shape.channels));
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

  static void build_tables(const Groups& groups, Stream stream) {
    for (std::size_t i = 0; i < groups.values.size(); ++i) {
      const auto channels = static_cast<std::size_t>(groups.values[i].shape.channels);
      groups.make_table.at(channels)->run(groups.values[i], nullptr, groups.tables[i], stream);
    }
  }

  CudaBackend& backend_;
  LocalLinearJob job_;
  Groups moments_;
  Groups coefficients_;
  Buffer values_;  ///< moments, then coefficients
  Buffer tables_;
};

}  // namespace

std::unique_ptr<LocalLinearOperation> prepare_local_linear(Backend& backend, const LocalLinearJob& job) {
  return std::make_unique<LocalLinear>(as_cuda(backend), job);
}

}  // namespace satin::cuda
