#pragma once
// One pass of recursive smoothing, forward and backward along one axis (recursive/maths/recursive.h): a block
// of threads has one row of up to three channels, or as many columns as a sector has values, one channel
// after the other. A value is read once and written once.

#include <cstdint>
#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/recursive/recursive_lines.cuh"

namespace satin::kernels {

template <class Real, Axis axis, bool guided>
__global__ void __launch_bounds__(LineShape<Real, axis>::most_threads, LineShape<Real, axis>::groups)
    scan_lines(const __grid_constant__ LineJob<Real, axis> job) {
  extern __shared__ __align__(16) unsigned char memory[];
  Lines<Real, axis, guided> lines(job, memory);
  const unsigned group = blockIdx.x / job.parts;
  const int first = static_cast<int>(blockIdx.x % job.parts) * job.channels_in_turn;
  if constexpr (axis == Axis::x) {
    lines.scan_channel(group, first + static_cast<int>(threadIdx.y));
  } else {
    for (int i = 0; i < job.channels_in_turn; ++i) lines.scan_channel(group, first + i);
  }
}

template <class Real, Axis axis, bool guided>
void launch_lines(const LineJob<Real, axis>& job, StreamHandle stream) {
  using Shape = LineShape<Real, axis>;
  const std::int64_t lines = Shape::rows ? job.scan.height : job.scan.width;
  const auto groups = static_cast<unsigned>((lines + Shape::lines - 1) / Shape::lines);
  const dim3 threads =
      Shape::rows ? dim3(job.blocks_at_once, job.side_by_side) : dim3(Shape::lines, job.blocks_at_once);
  scan_lines<Real, axis, guided><<<groups * job.parts, threads, job.memory.bytes, stream>>>(job);
}

/// Calls use(axis, guided) with the constants of a pass.
template <class Real, class Use>
auto with_pass(const RecursiveScan<Real>& scan, const Use& use) {
  using X = std::integral_constant<Axis, Axis::x>;
  using Y = std::integral_constant<Axis, Axis::y>;
  if (scan.axis == Axis::x) return scan.guided() ? use(X{}, std::true_type{}) : use(X{}, std::false_type{});
  return scan.guided() ? use(Y{}, std::true_type{}) : use(Y{}, std::false_type{});
}

template <class Real>
int prepare_lines(const RecursiveScan<Real>& scan) {
  return with_pass(scan, [](auto axis, auto guided) {
    return allow_all_shared_memory(scan_lines<Real, decltype(axis)::value, decltype(guided)::value>);
  });
}

template <class Real>
void scan_along_axis(const RecursiveScan<Real>& scan, StreamHandle stream) {
  with_pass(scan, [&](auto axis, auto guided) {
    constexpr Axis along = decltype(axis)::value;
    launch_lines<Real, along, decltype(guided)::value>(LineJob<Real, along>(scan), stream);
  });
}

}  // namespace satin::kernels
