// Local mean and deviation: running sums of the columns and of their squares, no table.

#include "kernels/statistics/launch.h"

#include <algorithm>

#include "core/cuda/check.h"
#include "means/cuda/box_mean.h"
#include "statistics/box_stats.h"
#include "statistics/cuda/box_stats.h"
#include "statistics/maths/quick_number.h"
#include "statistics/maths/quick_threshold.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 26;  // offsets within a row are 32-bit integers in the kernels

class BoxStatsRunning final : public BoxStatsOperation {
 public:
  BoxStatsRunning(CudaBackend& backend, const kernels::RunningStatsArguments& arguments)
      : backend_(backend), arguments_(arguments), plane_(backend, arguments.job) {
    const BoxStatsJob& job = arguments_.job;
    const int margin = kernels::running_stats_margin(arguments_.running);
    rows_ = upload_positions(backend, job.height, margin, job.border);
    columns_ = upload_positions(backend, job.width, margin, job.border);
    arguments_.rows = reinterpret_cast<const int*>(rows_.get()) + margin;
    arguments_.columns = reinterpret_cast<const int*>(columns_.get()) + margin;
    check(static_cast<cudaError_t>(kernels::prepare_running_stats(arguments_)), "asking for shared memory");
  }

  [[nodiscard]] bool keeps_other_channels() const noexcept override {
    return arguments_.running.channels > 1;
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rows_.size + columns_.size + plane_.bytes();
  }

  void clear_extremes(PictureExtremes* extremes, Stream stream) override {
    backend_.select();
    kernels::clear_extremes(extremes, backend_.stream_of(stream));
    check_launch("clearing the extremes of local statistics");
  }

  void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                     PictureExtremes* extremes, Stream stream) override {
    plane_stands_ = false;
    kernels::RunningStatsArguments arguments = arguments_of(picture, measured, stream);
    arguments.inner = inner;
    arguments.extremes = extremes;
    kernels::find_extremes(arguments, backend_.stream_of(stream));
    check_launch("looking for the extremes of local statistics");
    known_plane_ = arguments.plane;
    plane_stands_ = inner == Rectangle{{0, picture.shape.width}, {0, picture.shape.height}};
  }

  void run(const BoxStatsImages& images, Stream stream) override {
    kernels::RunningStatsArguments arguments = arguments_of(images.picture, images.measured, stream);
    plane_stands_ = false;
    arguments.mask = source_of(images.mask);
    arguments.extremes = const_cast<PictureExtremes*>(images.extremes);
    arguments.output = target_of(images.output);
    kernels::running_stats(arguments, backend_.stream_of(stream));
    check_launch("taking local statistics");
  }

 private:
  kernels::RunningStatsArguments arguments_of(const ImageView& picture, const Measured* measured,
                                              Stream stream) {
    backend_.select();
    kernels::RunningStatsArguments arguments = arguments_;
    arguments.measured = measured;
    arguments.picture = source_of(picture);
    arguments.plane = plane_stands_ ? known_plane_ : source_of(plane_.of(picture, measured, stream));
    return arguments;
  }

  CudaBackend& backend_;
  kernels::RunningStatsArguments arguments_;
  QuantisedPlane plane_;
  Buffer rows_;
  Buffer columns_;
  kernels::Source known_plane_;
  bool plane_stands_ = false;  ///< that of the whole picture whose extremes were just looked for
};

}  // namespace

std::unique_ptr<BoxStatsOperation> prepare_box_stats_running(CudaBackend& backend, const BoxStatsJob& job) {
  if (job.width > largest_side || job.height > largest_side) return nullptr;
  const std::uint64_t window = largest_window_of(job);
  const std::uint64_t largest = largest_value(job.plane);
  kernels::RunningStatsArguments arguments;
  arguments.job = job;
  kernels::RunningStatsJob& running = arguments.running;
  running.width = static_cast<int>(job.width);
  running.height = static_cast<int>(job.height);
  // A window that sees the whole picture sees no more than that.
  running.clipped = job.border == Border::shrink;
  running.reach_x = static_cast<int>(running.clipped ? std::min(job.reach_x, job.width) : job.reach_x);
  running.reach_y = static_cast<int>(running.clipped ? std::min(job.reach_y, job.height) : job.reach_y);
  running.wide = job.plane.type != Type::u8 || !narrow_squares(window);
  arguments.number = quick_number(job, static_cast<double>(largest));
  arguments.quick = job.plane.type != Type::f32 && quick_suffices(window, largest) &&
                    (job.result == LocalResult::binary || arguments.number.limit > 0);
  if (job.colours > 1) {
    const bool together = job.plane.channels >= 3 && kernels::has_quick_numbers(arguments) &&
                          running.wide == (job.plane.type == Type::u16);
    if (!together) return nullptr;
    running.channels = job.plane.channels;
  }
  arguments.tiles = kernels::running_stats_tiles(running, backend.multiprocessors(), backend.shared_memory());
  if (arguments.tiles.spans == 0) return nullptr;
  return std::make_unique<BoxStatsRunning>(backend, arguments);
}

}  // namespace satin::cuda
