// Host side of local statistics on the GPU: chooses tiles and kernels for a job and runs them.

#include "statistics/box_stats.h"

#include <algorithm>

#include "core/cuda/backend.h"
#include "kernels/statistics/launch.h"
#include "statistics/maths/local_statistics.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels

std::uint64_t largest_value(const PlaneRead& plane) {
  if (plane.type == Type::f32) return std::uint64_t{2} << plane.float_bits;
  return plane.type == Type::u8 ? 0xFF : 0xFFFF;
}

/// Allocates the job's plane as dense rows of u8, u16 or, for floats, u32; empty where the kernels read the
/// picture.
Image allocate_plane(CudaBackend& backend, const kernels::RunningStatsArguments& arguments) {
  const BoxStatsJob& job = arguments.job;
  if (job.plane.channels == arguments.running.channels && job.plane.type != Type::f32) return {};
  const Type type = job.plane.type == Type::f32 ? Type::u32 : job.plane.type;
  const Shape shape{job.width, job.height, 1, type};
  return {shape, backend.allocate(byte_size(shape)), Memory::device};
}

class BoxStats final : public BoxStatsOperation {
 public:
  /// `long_rows` is the memory that the arguments point to.
  BoxStats(CudaBackend& backend, const kernels::RunningStatsArguments& arguments, Buffer long_rows)
      : backend_(backend),
        arguments_(arguments),
        plane_(allocate_plane(backend, arguments)),
        long_rows_(std::move(long_rows)) {
    const BoxStatsJob& job = arguments_.job;
    const int margin = kernels::running_stats_margin(arguments_.running);
    rows_ = backend.upload_positions(job.height, margin, job.border);
    columns_ = backend.upload_positions(job.width, margin, job.border);
    arguments_.rows = reinterpret_cast<const int*>(rows_.get()) + margin;
    arguments_.columns = reinterpret_cast<const int*>(columns_.get()) + margin;
    check(static_cast<cudaError_t>(kernels::prepare_running_stats(arguments_)), "asking for shared memory");
  }

  [[nodiscard]] bool keeps_other_channels() const noexcept override {
    return arguments_.running.channels > 1;
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rows_.size + columns_.size + long_rows_.size + (plane_.empty() ? 0 : byte_size(plane_.shape()));
  }

  void clear_extremes(PictureExtremes* extremes, Stream stream) override {
    backend_.select();
    kernels::clear_extremes(extremes, backend_.stream_of(stream));
    check_launch("clearing the extremes of local statistics");
  }

  void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                     PictureExtremes* extremes, Stream stream) override {
    plane_is_extracted_ = false;
    kernels::RunningStatsArguments arguments = arguments_of(picture, measured, stream);
    arguments.inner = inner;
    arguments.extremes = extremes;
    kernels::find_extremes(arguments, backend_.stream_of(stream));
    check_launch("finding the extremes of local statistics");
    plane_is_extracted_ = inner == Rectangle{{0, picture.shape.width}, {0, picture.shape.height}};
  }

  void run(const BoxStatsImages& images, Stream stream) override {
    BoxStatsJob& job = arguments_.job;
    if (job.colours == 1 || keeps_other_channels()) return run_once(images, stream);
    for (int colour = 0; colour < job.colours; ++colour) {
      job.plane.channel = job.output_channel = colour;
      run_once(images, stream);
    }
  }

 private:
  void run_once(const BoxStatsImages& images, Stream stream) {
    kernels::RunningStatsArguments arguments = arguments_of(images.picture, images.measured, stream);
    plane_is_extracted_ = false;
    arguments.mask = source_of(images.mask);
    arguments.extremes = const_cast<PictureExtremes*>(images.extremes);
    arguments.output = target_of(images.output);
    kernels::running_stats(arguments, backend_.stream_of(stream));
    check_launch("computing local statistics");
  }

  kernels::RunningStatsArguments arguments_of(const ImageView& picture, const Measured* measured,
                                              Stream stream) {
    backend_.select();
    kernels::RunningStatsArguments arguments = arguments_;
    arguments.measured = measured;
    arguments.picture = arguments.plane = source_of(picture);
    if (plane_.empty()) return arguments;
    arguments.plane = source_of(plane_.view());
    if (plane_is_extracted_) return arguments;
    const BoxStatsJob& job = arguments.job;
    kernels::extract_plane(
        {job.width, job.height, job.plane, measured, arguments.picture, target_of(plane_.view())},
        backend_.stream_of(stream));
    check_launch("extracting a plane of a picture");
    return arguments;
  }

  CudaBackend& backend_;
  kernels::RunningStatsArguments arguments_;
  Image plane_;
  Buffer long_rows_;
  Buffer rows_;
  Buffer columns_;
  bool plane_is_extracted_ = false;  ///< by find_extremes(), for the run that follows
};

kernels::RunningStatsArguments arguments_of(const BoxStatsJob& job) {
  kernels::RunningStatsArguments arguments;
  arguments.job = job;
  kernels::RunningStatsJob& running = arguments.running;
  running.width = static_cast<int>(job.width);
  running.height = static_cast<int>(job.height);
  // A larger reach than the picture's size gives the same windows.
  running.clipped = job.border == Border::shrink;
  running.reach_x = static_cast<int>(running.clipped ? std::min(job.reach_x, job.width) : job.reach_x);
  running.reach_y = static_cast<int>(running.clipped ? std::min(job.reach_y, job.height) : job.reach_y);
  const std::uint64_t window = largest_window_of(job);
  const std::uint64_t largest = largest_value(job.plane);
  running.wide = job.plane.type != Type::u8 || !squares_fit_32_bits(window);
  arguments.number = quick_number(job, static_cast<double>(largest));
  arguments.quick = job.plane.type != Type::f32 && quick_suffices(window, largest) &&
                    (job.result == LocalResult::binary || arguments.number.limit > 0);
  return arguments;
}

}  // namespace

Prepared<BoxStatsJob> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (job.width > largest_side || job.height > largest_side)
    throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
  kernels::RunningStatsArguments arguments = arguments_of(job);
  kernels::RunningStatsJob& running = arguments.running;
  const auto cut = [&](int channels) {
    running.channels = channels;
    arguments.tiles = kernels::running_stats_tiles(running, cuda.multiprocessors(), cuda.shared_memory());
  };
  const bool sums_all_channels = job.colours > 1 && job.plane.channels >= 3 &&
                                 kernels::has_quick_numbers(arguments) &&
                                 running.wide == (job.plane.type == Type::u16);
  if (sums_all_channels) cut(job.plane.channels);
  if (arguments.tiles.spans == 0) cut(1);
  Buffer long_rows;
  if (arguments.tiles.spans == 0) {
    arguments.quick = false;
    arguments.tiles = kernels::long_stats_tiles(running, cuda.multiprocessors());
    long_rows = cuda.allocate(kernels::long_stats_bytes(running, arguments.tiles));
    arguments.long_rows = long_rows.get();
  }
  return std::make_unique<BoxStats>(cuda, arguments, std::move(long_rows));
}

}  // namespace satin::cuda
