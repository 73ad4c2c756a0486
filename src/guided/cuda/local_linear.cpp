// The guided filter in device memory: moments of every pixel, their tables, coefficients of every window,
// their tables, results. Moments and coefficients take the same place, and so do their tables.

#include <array>

#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/maths/window.h"
#include "guided/local_linear.h"
#include "kernels/guided/launch.h"
#include "kernels/tables/launch.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels
constexpr std::size_t row_alignment = 256;

class LocalLinear final : public LocalLinearOperation {
 public:
  LocalLinear(CudaBackend& backend, const LocalLinearJob& job)
      : backend_(backend),
        job_(job),
        sum_type_(job.narrow ? Type::u32 : Type::u64),
        values_(backend.allocate(std::max(moments().bytes, coefficients().bytes))),
        tables_(backend.allocate(values_.size)) {
    if (job.width > largest_side || job.height > largest_side)
      throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
    prepare_tables(moments(), sum_tables_);
    prepare_tables(coefficients(), coefficient_tables_);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = values_.size + tables_.size;
    for (const auto* tables : {&sum_tables_, &coefficient_tables_})
      for (const auto& table : *tables)
        if (table != nullptr) bytes += table->workspace_bytes();
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

    arguments.values = groups_in(values_, moments());
    kernels::linear_moments(arguments, handle);
    check_launch("multiplying the values of a guided filter");
    build_tables(moments(), sum_tables_, stream);
    arguments.tables = groups_in(tables_, moments());
    arguments.values = groups_in(values_, coefficients());
    kernels::linear_coefficients(arguments, handle);
    check_launch("solving for the coefficients of a guided filter");
    build_tables(coefficients(), coefficient_tables_, stream);
    arguments.tables = groups_in(tables_, coefficients());
    kernels::linear_results(arguments, handle);
    check_launch("filtering by a guide");
  }

 private:
  using Tables = std::array<std::unique_ptr<TableOperation>, kernels::LinearGroups::planes + 1>;

  /// Planes in groups of four, one group behind the other.
  struct Groups {
    Type type = Type::u64;
    int planes = 0;
    std::size_t bytes = 0;

    [[nodiscard]] int count() const {
      return (planes + kernels::LinearGroups::planes - 1) / kernels::LinearGroups::planes;
    }
    [[nodiscard]] int channels(int group) const {
      return std::min(kernels::LinearGroups::planes, planes - group * kernels::LinearGroups::planes);
    }
  };

  [[nodiscard]] Groups groups_of(Type type, int planes) const {
    Groups groups{type, planes, 0};
    for (int group = 0; group < groups.count(); ++group)
      groups.bytes += row_bytes(groups, group) * static_cast<std::size_t>(job_.height);
    return groups;
  }
  [[nodiscard]] Groups moments() const { return groups_of(sum_type_, job_.layout.sums()); }
  [[nodiscard]] Groups coefficients() const { return groups_of(Type::u64, job_.layout.coefficients()); }

  [[nodiscard]] std::size_t row_bytes(const Groups& groups, int group) const {
    const std::size_t bytes = static_cast<std::size_t>(job_.width) *
                              static_cast<std::size_t>(groups.channels(group)) * size_of(groups.type);
    return (bytes + row_alignment - 1) / row_alignment * row_alignment;
  }

  [[nodiscard]] MutableImageView view_of_group(const Buffer& buffer, const Groups& groups, int group) const {
    Shape shape;
    shape.width = job_.width;
    shape.height = job_.height;
    shape.channels = groups.channels(group);
    shape.type = groups.type;
    std::byte* data = buffer.get();
    for (int before = 0; before < group; ++before)
      data += row_bytes(groups, before) * static_cast<std::size_t>(job_.height);
    MutableImageView view = mutable_view_of(data, shape, Memory::device);
    view.strides.row = static_cast<std::ptrdiff_t>(row_bytes(groups, group));
    return view;
  }

  [[nodiscard]] kernels::LinearGroups groups_in(const Buffer& buffer, const Groups& groups) const {
    kernels::LinearGroups result;
    for (int group = 0; group < groups.count(); ++group)
      result.group[group] = target_of(view_of_group(buffer, groups, group));
    return result;
  }

  /// One table operation for each number of channels.
  void prepare_tables(const Groups& groups, Tables& tables) {
    for (int group = 0; group < groups.count(); ++group) {
      auto& table = tables.at(static_cast<std::size_t>(groups.channels(group)));
      if (table != nullptr) continue;
      TableJob job;
      job.width = job_.width;
      job.height = job_.height;
      job.read.type = groups.type;
      job.read.channels = groups.channels(group);
      job.accumulator = groups.type == Type::u32 ? Accumulator::u32 : Accumulator::u64;
      table = backend_.prepare(job);
    }
  }

  void build_tables(const Groups& groups, const Tables& tables, Stream stream) {
    for (int group = 0; group < groups.count(); ++group)
      tables.at(static_cast<std::size_t>(groups.channels(group)))
          ->run(view_of_group(values_, groups, group), nullptr, view_of_group(tables_, groups, group),
                stream);
  }

  CudaBackend& backend_;
  LocalLinearJob job_;
  Type sum_type_;
  Buffer values_;
  Buffer tables_;
  Tables sum_tables_;
  Tables coefficient_tables_;
};

}  // namespace

std::unique_ptr<LocalLinearOperation> prepare_local_linear(Backend& backend, const LocalLinearJob& job) {
  return std::make_unique<LocalLinear>(as_cuda(backend), job);
}

}  // namespace satin::cuda
