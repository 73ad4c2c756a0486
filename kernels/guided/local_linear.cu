// The guided filter from summed-area tables, for all jobs that running_linear.cu cannot do.
//
// Three kernels with a thread for each pixel: moments, coefficients from the tables of moments, and results
// from the tables of coefficients. Four planes are interleaved, so that a corner of four tables is one
// access of 32 bytes.

#include <cstdint>

#include "core/maths/window.h"
#include "core/with_type.h"
#include "kernels/device/vector.cuh"
#include "kernels/guided/launch.h"
#include "kernels/guided/linear_model.cuh"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {
namespace {

/// Returns the number of channels of a picture that holds some of `planes` planes.
__host__ __device__ constexpr int channels_of(int planes, int picture) {
  const int left = planes - picture * InterleavedPlanes::channels;
  return left < InterleavedPlanes::channels ? left : InterleavedPlanes::channels;
}

/// Writes the planes of one pixel.
template <int Planes, int First = 0, class Sum>
__device__ void write_planes(const InterleavedPlanes& planes, std::int64_t x, std::int64_t y,
                             const Sum* values) {
  if constexpr (First < Planes) {
    constexpr int picture = First / InterleavedPlanes::channels;
    constexpr int count = channels_of(Planes, picture);
    Vector<Sum, count> vector;
#pragma unroll
    for (int i = 0; i < count; ++i) vector.of[i] = values[First + i];
    const Target& to = planes.pictures[picture];
    reinterpret_cast<Vector<Sum, count>*>(to.data + y * to.row)[x] = vector;
    write_planes<Planes, First + InterleavedPlanes::channels>(planes, x, y, values);
  }
}

/// Computes the sums over a window from tables modulo 2^32 or 2^64, which is exact because the sums
/// themselves fit.
template <int Planes, int First = 0, class Sum>
__device__ void sum_planes(const InterleavedPlanes& tables, const PrefixTerms& along_x,
                           const PrefixTerms& along_y, Sum* sums) {
  if constexpr (First < Planes) {
    constexpr int picture = First / InterleavedPlanes::channels;
    constexpr int count = channels_of(Planes, picture);
    const Target& table = tables.pictures[picture];
#pragma unroll
    for (int i = 0; i < count; ++i) sums[First + i] = 0;
#pragma unroll
    for (int j = 0; j < PrefixTerms::count; ++j) {
      if (along_y.coefficient[j] == 0) continue;
      const auto* row =
          reinterpret_cast<const Vector<Sum, count>*>(table.data + along_y.index[j] * table.row);
#pragma unroll
      for (int k = 0; k < PrefixTerms::count; ++k) {
        if (along_x.coefficient[k] == 0) continue;
        const Vector<Sum, count> entry = row[along_x.index[k]];
        const auto times =
            static_cast<Sum>(static_cast<std::int64_t>(along_x.coefficient[k]) * along_y.coefficient[j]);
#pragma unroll
        for (int i = 0; i < count; ++i) sums[First + i] += times * entry.of[i];
      }
    }
    sum_planes<Planes, First + InterleavedPlanes::channels>(tables, along_x, along_y, sums);
  }
}

/// The terms of a window's sums along both axes, and its number of pixels.
struct WindowTerms {
  PrefixTerms along_x;
  PrefixTerms along_y;
  double count;

  __device__ WindowTerms(const LocalLinearJob& job, std::int64_t x, std::int64_t y) {
    const Window columns = window_around(x, job.reach_x);
    const Window rows = window_around(y, job.reach_y);
    along_x = prefix_terms(columns, job.width, job.border);
    along_y = prefix_terms(rows, job.height, job.border);
    count = static_cast<double>(counted(columns, job.width, job.border)) *
            static_cast<double>(counted(rows, job.height, job.border));
  }
};

template <class L, class Sum>
__global__ void __launch_bounds__(plane_threads)
    write_moments(const __grid_constant__ TableLinearArguments arguments) {
  const LocalLinearJob& job = arguments.job;
  const FixedExponents guide_exponents = linear_exponents(job.guide, arguments.guide_measured);
  const FixedExponents picture_exponents = linear_exponents(job.picture, arguments.measured);
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    Sum moments[L::sums];
#pragma unroll
    for (int i = 0; i < L::guides; ++i)
      moments[i] = static_cast<Sum>(whole_value(job.guide, guide_exponents, arguments.guide, x, y, i));
#pragma unroll
    for (int i = 0; i < L::guides; ++i)
#pragma unroll
      for (int j = i; j < L::guides; ++j) moments[L::layout().product(i, j)] = moments[i] * moments[j];
#pragma unroll
    for (int c = L::first_own; c < L::channels; ++c) {
      const auto value =
          static_cast<Sum>(whole_value(job.picture, picture_exponents, arguments.picture, x, y, c));
      moments[L::layout().channel(c)] = value;
#pragma unroll
      for (int j = 0; j < L::guides; ++j) moments[L::layout().cross(c, j)] = value * moments[j];
    }
    write_planes<L::sums>(arguments.values, x, y, moments);
  });
}

template <class L, class Sum>
__global__ void __launch_bounds__(plane_threads)
    write_coefficients(const __grid_constant__ TableLinearArguments arguments) {
  const LocalLinearJob& job = arguments.job;
  const double eps = linear_eps(job.eps, job.guide, linear_exponents(job.guide, arguments.guide_measured));
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const WindowTerms window(job, x, y);
    Sum sums[L::sums];
    sum_planes<L::sums>(arguments.tables, window.along_x, window.along_y, sums);
    std::uint64_t coefficients[L::coefficients];
    solve<L, sizeof(Sum) == 4>(arguments.scales, eps, window.count, 1.0 / window.count, sums, coefficients);
    write_planes<L::coefficients>(arguments.values, x, y, coefficients);
  });
}

template <class T, int Guides, int Channels>
__global__ void __launch_bounds__(plane_threads)
    write_results(const __grid_constant__ TableLinearArguments arguments) {
  const LocalLinearJob& job = arguments.job;
  if (arguments.guide_measured != arguments.measured && blockIdx.x + blockIdx.y + threadIdx.x == 0)
    arguments.measured->guide_not_finite = arguments.guide_measured->picture_not_finite;
  const LinearResults<T, Guides, Channels> results(arguments);
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const WindowTerms window(job, x, y);
    std::uint64_t sums[Channels * (Guides + 1)];
    sum_planes<Channels*(Guides + 1)>(arguments.tables, window.along_x, window.along_y, sums);
    results.store(x, y, sums, window.count);
  });
}

dim3 grid_of(const TableLinearArguments& arguments) {
  return plane_grid(arguments.job.width, arguments.job.height);
}

}  // namespace

void linear_moments(const TableLinearArguments& arguments, StreamHandle stream) {
  with_layout(arguments.job.layout, [&](auto layout) {
    using L = decltype(layout);
    const auto kernel =
        arguments.job.sums_fit_32_bits ? write_moments<L, std::uint32_t> : write_moments<L, std::uint64_t>;
    kernel<<<grid_of(arguments), plane_threads, 0, stream>>>(arguments);
  });
}

void linear_coefficients(const TableLinearArguments& arguments, StreamHandle stream) {
  with_layout(arguments.job.layout, [&](auto layout) {
    using L = decltype(layout);
    const auto kernel = arguments.job.sums_fit_32_bits ? write_coefficients<L, std::uint32_t>
                                                       : write_coefficients<L, std::uint64_t>;
    kernel<<<grid_of(arguments), plane_threads, 0, stream>>>(arguments);
  });
}

void linear_results(const TableLinearArguments& arguments, StreamHandle stream) {
  with_pixel_type(arguments.job.picture.type, [&]<class T>() {
    with_channels(arguments.job.layout.channels, [&]<int Channels>() {
      const auto kernel =
          arguments.job.layout.guides == 1 ? write_results<T, 1, Channels> : write_results<T, 3, Channels>;
      kernel<<<grid_of(arguments), plane_threads, 0, stream>>>(arguments);
    });
  });
}

}  // namespace satin::kernels
