#include "statistics/cuda/box_stats.h"

#include "core/cuda/check.h"
#include "kernels/statistics/launch.h"
#include "statistics/box_stats.h"

namespace satin::cuda {

std::unique_ptr<BoxStatsOperation> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (auto running = prepare_box_stats_running(cuda, job)) return running;
  if (job.colours > 1) return prepare_each_colour(backend, job);
  return prepare_box_stats_table(cuda, job);
}

std::uint64_t largest_value(const PlaneRead& plane) {
  if (plane.type == Type::f32) return std::uint64_t{2} << plane.float_bits;
  return plane.type == Type::u8 ? 0xFF : 0xFFFF;
}

QuantisedPlane::QuantisedPlane(CudaBackend& backend, const BoxStatsJob& job) : backend_(backend), job_(job) {
  if ((job.plane.channels == 1 || job.colours > 1) && job.plane.type != Type::f32) return;
  Shape shape;
  shape.width = job.width;
  shape.height = job.height;
  shape.type = type_of(job.plane);
  plane_ = Image(shape, backend.allocate(byte_size(shape)), Memory::device);
}

std::size_t QuantisedPlane::bytes() const noexcept { return plane_.empty() ? 0 : byte_size(plane_.shape()); }

Type QuantisedPlane::type_of(const PlaneRead& plane) {
  return plane.type == Type::f32 ? Type::u32 : plane.type;
}

ImageView QuantisedPlane::of(const ImageView& picture, const Measured* measured, Stream stream) {
  if (plane_.empty()) return picture;
  backend_.select();
  const kernels::PlaneArguments arguments{job_.width, job_.height,        job_.plane,
                                          measured,   source_of(picture), target_of(plane_.view())};
  kernels::extract_plane(arguments, backend_.stream_of(stream));
  check_launch("taking a plane of a picture");
  return plane_.view();
}

}  // namespace satin::cuda
