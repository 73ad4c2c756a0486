// Local mean and deviation: a table of one plane and one of its squares in device memory, then a gather.

#include "kernels/statistics/launch.h"

#include "core/cuda/check.h"
#include "core/maths/window.h"
#include "statistics/box_stats.h"
#include "statistics/cuda/box_stats.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels

Shape plane_shape(const BoxStatsJob& job, Type type) {
  Shape shape;
  shape.width = job.width;
  shape.height = job.height;
  shape.type = type;
  return shape;
}

/// 32 bits hold the sum over every window.
Accumulator sum_type(const BoxStatsJob& job) {
  return largest_value(job.plane) <= 0xFFFFFFFFU / largest_window_of(job) ? Accumulator::u32
                                                                          : Accumulator::u64;
}

TableJob table_job(const BoxStatsJob& job, bool squared, Accumulator accumulator) {
  if (job.width > largest_side || job.height > largest_side)
    throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
  TableJob table;
  table.width = job.width;
  table.height = job.height;
  table.read.type = QuantisedPlane::type_of(job.plane);
  table.read.maximum = largest_value(job.plane);
  table.squared = squared;
  table.accumulator = accumulator;
  return table;
}

class BoxStatsTable final : public BoxStatsOperation {
 public:
  BoxStatsTable(CudaBackend& backend, const BoxStatsJob& job)
      : backend_(backend),
        job_(job),
        sum_type_(sum_type(job)),
        make_sums_(backend.prepare(table_job(job, false, sum_type_))),
        make_squares_(backend.prepare(table_job(job, true, Accumulator::u64))),
        plane_(backend, job) {
    sums_ = image(sum_type_ == Accumulator::u32 ? Type::u32 : Type::u64);
    squares_ = image(Type::u64);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return make_sums_->workspace_bytes() + make_squares_->workspace_bytes() + plane_.bytes() +
           byte_size(sums_.shape()) + byte_size(squares_.shape());
  }

  void clear_extremes(PictureExtremes* extremes, Stream stream) override {
    backend_.select();
    kernels::clear_extremes(extremes, backend_.stream_of(stream));
    check_launch("clearing the extremes of local statistics");
  }

  void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                     PictureExtremes* extremes, Stream stream) override {
    make_tables(picture, measured, stream);
    tables_stand_ = inner == Rectangle{{0, picture.shape.width}, {0, picture.shape.height}};
    kernels::BoxStatsArguments arguments = arguments_of(picture, measured);
    arguments.inner = inner;
    arguments.extremes = extremes;
    kernels::find_extremes(arguments, backend_.stream_of(stream));
    check_launch("looking for the extremes of local statistics");
  }

  void run(const BoxStatsImages& images, Stream stream) override {
    if (!tables_stand_) make_tables(images.picture, images.measured, stream);
    tables_stand_ = false;
    kernels::BoxStatsArguments arguments = arguments_of(images.picture, images.measured);
    arguments.mask = source_of(images.mask);
    arguments.extremes = const_cast<PictureExtremes*>(images.extremes);
    arguments.output = target_of(images.output);
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
    const ImageView plane = plane_.of(picture, measured, stream);
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
  QuantisedPlane plane_;
  bool tables_stand_ = false;  ///< those of the whole picture whose extremes were just looked for
  Image sums_, squares_;
};

}  // namespace

std::unique_ptr<BoxStatsOperation> prepare_box_stats_table(CudaBackend& backend, const BoxStatsJob& job) {
  return std::make_unique<BoxStatsTable>(backend, job);
}

}  // namespace satin::cuda
