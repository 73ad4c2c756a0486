// Local mean and deviation: a table of one plane and one of its squares in device memory, then a gather.

#include "kernels/box_stats.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/maths/window.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels

Type quantised_type(Type stored) { return stored == Type::f32 ? Type::u32 : stored; }

std::uint64_t largest_value(const PlaneRead& plane) {
  if (plane.type == Type::f32) return std::uint64_t{2} << plane.float_bits;
  return plane.type == Type::u8 ? 0xFF : 0xFFFF;
}

Shape plane_shape(const BoxStatsJob& job, Type type) {
  Shape shape;
  shape.width = job.width;
  shape.height = job.height;
  shape.type = type;
  return shape;
}

/// 32 bits hold the sum over every window.
Accumulator sum_type(const BoxStatsJob& job) {
  const auto extent = [&](std::int64_t reach, std::int64_t size) {
    return static_cast<std::uint64_t>(counted(window_around(size / 2, reach), size, job.border));
  };
  const std::uint64_t area = extent(job.reach_x, job.width) * extent(job.reach_y, job.height);
  return largest_value(job.plane) <= 0xFFFFFFFFU / area ? Accumulator::u32 : Accumulator::u64;
}

TableJob table_job(const BoxStatsJob& job, bool squared, Accumulator accumulator) {
  if (job.width > largest_side || job.height > largest_side)
    throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
  TableJob table;
  table.width = job.width;
  table.height = job.height;
  table.read.type = quantised_type(job.plane.type);
  table.read.maximum = largest_value(job.plane);
  table.squared = squared;
  table.accumulator = accumulator;
  return table;
}

class BoxStats final : public BoxStatsOperation {
 public:
  BoxStats(CudaBackend& backend, const BoxStatsJob& job)
      : backend_(backend),
        job_(job),
        sum_type_(sum_type(job)),
        make_sums_(prepare_table(backend, table_job(job, false, sum_type_))),
        make_squares_(prepare_table(backend, table_job(job, true, Accumulator::u64))),
        extracts_(job.plane.channels != 1 || job.plane.type == Type::f32) {
    if (extracts_) plane_ = image(quantised_type(job.plane.type));
    sums_ = image(sum_type_ == Accumulator::u32 ? Type::u32 : Type::u64);
    squares_ = image(Type::u64);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = make_sums_->workspace_bytes() + make_squares_->workspace_bytes();
    for (const Image* each : {&plane_, &sums_, &squares_})
      if (!each->empty()) bytes += byte_size(each->shape());
    return bytes;
  }

  void find_extremes(const ImageView& picture, const Measured* measured, PictureExtremes* extremes,
                     Stream stream) override {
    make_tables(picture, measured, stream);
    tables_stand_ = true;
    kernels::BoxStatsArguments arguments = arguments_of(picture, measured);
    arguments.extremes = extremes;
    kernels::find_extremes(arguments, backend_.stream_of(stream));
    check_launch("looking for the extremes of local statistics");
  }

  void run(const ImageView& picture, const Measured* measured, const PictureExtremes* extremes,
           const MutableImageView& output, Stream stream) override {
    if (!tables_stand_) make_tables(picture, measured, stream);
    tables_stand_ = false;
    kernels::BoxStatsArguments arguments = arguments_of(picture, measured);
    arguments.extremes = const_cast<PictureExtremes*>(extremes);
    arguments.output = target_of(output);
    arguments.output_channels = output.shape.channels;
    kernels::box_stats(arguments, backend_.stream_of(stream));
    check_launch("taking local statistics");
  }

 private:
  Image image(Type type) const {
    const Shape shape = plane_shape(job_, type);
    return {shape, backend_.allocate(byte_size(shape)), Memory::device};
  }

  void make_tables(const ImageView& picture, const Measured* measured, Stream stream) {
    backend_.select();
    ImageView plane = picture;
    if (extracts_) {
      kernels::PlaneArguments arguments{job_.width, job_.height,        job_.plane,
                                        measured,   source_of(picture), target_of(plane_.view())};
      kernels::extract_plane(arguments, backend_.stream_of(stream));
      check_launch("taking a plane of a picture");
      plane = plane_.view();
    }
    make_sums_->run(plane, nullptr, sums_.view(), stream);
    make_squares_->run(plane, nullptr, squares_.view(), stream);
  }

  kernels::BoxStatsArguments arguments_of(const ImageView& picture, const Measured* measured) {
    backend_.select();
    kernels::BoxStatsArguments arguments;
    arguments.job = job_;
    arguments.sum_type = sum_type_;
    arguments.measured = measured;
    arguments.picture = source_of(picture);
    arguments.sums = source_of(sums_.view());
    arguments.squares = source_of(squares_.view());
    return arguments;
  }

  CudaBackend& backend_;
  BoxStatsJob job_;
  Accumulator sum_type_;
  std::unique_ptr<TableOperation> make_sums_;
  std::unique_ptr<TableOperation> make_squares_;
  bool extracts_;
  bool tables_stand_ = false;  ///< those of the picture whose extremes were just looked for
  Image plane_, sums_, squares_;
};

}  // namespace

std::unique_ptr<BoxStatsOperation> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  return std::make_unique<BoxStats>(as_cuda(backend), job);
}

}  // namespace satin::cuda
