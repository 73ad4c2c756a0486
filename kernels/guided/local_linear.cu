// The guided filter from tables: moments of every pixel, their tables, the linear function of every window,
// tables of its coefficients, results. One thread a pixel; four planes lie interleaved, so that a corner of
// four tables is one access of 32 bytes.

#include <cstdint>

#include "core/maths/window.h"
#include "core/with_type.h"
#include "kernels/device/vector.cuh"
#include "kernels/guided/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {
namespace {

template <int Guides, int Channels, bool Shared>
struct Layout {
  static constexpr int guides = Guides;
  static constexpr int channels = Channels;
  static constexpr int first_own = LinearLayout{Guides, Channels, Shared}.first_own();
  static constexpr int sums = LinearLayout{Guides, Channels, Shared}.sums();
  static constexpr int coefficients = LinearLayout{Guides, Channels, Shared}.coefficients();

  __host__ __device__ static constexpr LinearLayout layout() { return {Guides, Channels, Shared}; }
};

__host__ __device__ constexpr int in_group(int planes, int group) {
  const int left = planes - group * LinearGroups::planes;
  return left < LinearGroups::planes ? left : LinearGroups::planes;
}

/// Writes the planes of one pixel.
template <int Planes, int First = 0, class Sum>
__device__ void write_planes(const LinearGroups& groups, std::int64_t x, std::int64_t y, const Sum* values) {
  if constexpr (First < Planes) {
    constexpr int group = First / LinearGroups::planes;
    constexpr int count = in_group(Planes, group);
    Vector<Sum, count> vector;
#pragma unroll
    for (int i = 0; i < count; ++i) vector.of[i] = values[First + i];
    const Target& to = groups.group[group];
    reinterpret_cast<Vector<Sum, count>*>(to.data + y * to.row)[x] = vector;
    write_planes<Planes, First + LinearGroups::planes>(groups, x, y, values);
  }
}

/// Sums over a window from tables modulo 2^32 or 2^64; they come out right, as the sums themselves fit.
template <int Planes, int First = 0, class Sum>
__device__ void sum_planes(const LinearGroups& tables, const PrefixTerms& along_x, const PrefixTerms& along_y,
                           Sum* sums) {
  if constexpr (First < Planes) {
    constexpr int group = First / LinearGroups::planes;
    constexpr int count = in_group(Planes, group);
    const Target& table = tables.group[group];
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
    sum_planes<Planes, First + LinearGroups::planes>(tables, along_x, along_y, sums);
  }
}

/// The window around a pixel, along both axes.
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

__device__ std::int64_t whole_value(const LinearRead& read, FixedExponents exponents, const Source& image,
                                    std::int64_t x, std::int64_t y, int c) {
  const auto whole = [&](const auto* row) {
    return linear_value(row + x * read.channels, c, read, exponents).whole;
  };
  if (read.type == Type::u8) return whole(row_of<std::uint8_t>(image, y));
  if (read.type == Type::u16) return whole(row_of<std::uint16_t>(image, y));
  return whole(row_of<float>(image, y));
}

template <class L, class Sum>
__global__ void __launch_bounds__(plane_threads)
    write_moments(const __grid_constant__ LocalLinearArguments arguments) {
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

/// n sum(u v) - sum(u) sum(v); sums of 32 bits are those of narrow jobs, for which doubles are exact.
template <class Sum>
__device__ double numerator(double count, Sum sum_uv, Sum sum_u, Sum sum_v) {
  if constexpr (sizeof(Sum) == 4) {
    return count * static_cast<double>(sum_uv) - static_cast<double>(sum_u) * static_cast<double>(sum_v);
  } else {
    return covariance_numerator(static_cast<std::uint64_t>(count), static_cast<std::int64_t>(sum_uv),
                                static_cast<std::int64_t>(sum_u), static_cast<std::int64_t>(sum_v));
  }
}

template <class Sum>
__device__ double value_sum(Sum sum) {
  if constexpr (sizeof(Sum) == 4) return static_cast<double>(sum);
  return static_cast<double>(static_cast<std::int64_t>(sum));
}

/// The coefficients of one window as integers, from its sums.
template <class L, class Sum>
__device__ void solve(const LinearFormat& format, double eps, double count, const Sum* sums,
                      std::uint64_t* coefficients) {
  constexpr LinearLayout layout = L::layout();
  const double limit = power_of_two(format.slope_range);
  const double slope_scale = power_of_two(format.slope_fraction);
  const double slope_step = power_of_two(-format.slope_fraction);
  const double offset_scale = power_of_two(format.offset_fraction);
  const double inverse = 1.0 / count;
  const double ridge = count * count * eps;
  const auto whole = [&](double slope) { return quantised_slope(slope, limit, slope_scale); };
  const auto put = [&](double number) { *coefficients++ = static_cast<std::uint64_t>(integer_of(number)); };
  const auto product = [&](int i, int j) {
    return numerator(count, sums[layout.product(i, j)], sums[i], sums[j]);
  };
  LinearFactors factors;
  if constexpr (L::guides == 1) {
    factors = linear_factors(product(0, 0), ridge);
  } else {
    factors = linear_factors(product(0, 0), product(0, 1), product(0, 2), product(1, 1), product(1, 2),
                             product(2, 2), ridge);
  }
#pragma unroll
  for (int c = 0; c < L::channels; ++c) {
    const double picture = value_sum(sums[layout.channel(c)]);
    const auto cross = [&](int j) {
      return numerator(count, sums[layout.cross(c, j)], sums[layout.channel(c)], sums[j]);
    };
    if constexpr (L::guides == 1) {
      const double slope = whole(linear_slopes(factors, cross(0)).s0);
      put(slope);
      put(quantised_offset(picture, slope * slope_step, value_sum(sums[0]), inverse, offset_scale));
    } else {
      const LinearSlopes slopes = linear_slopes(factors, cross(0), cross(1), cross(2));
      const LinearSlopes wholes{whole(slopes.s0), whole(slopes.s1), whole(slopes.s2)};
      put(wholes.s0);
      put(wholes.s1);
      put(wholes.s2);
      const LinearSlopes steps{wholes.s0 * slope_step, wholes.s1 * slope_step, wholes.s2 * slope_step};
      put(quantised_offset(picture, steps, value_sum(sums[0]), value_sum(sums[1]), value_sum(sums[2]),
                           inverse, offset_scale));
    }
  }
}

template <class L, class Sum>
__global__ void __launch_bounds__(plane_threads)
    write_coefficients(const __grid_constant__ LocalLinearArguments arguments) {
  const LocalLinearJob& job = arguments.job;
  const double eps = linear_eps(job.eps, job.guide, linear_exponents(job.guide, arguments.guide_measured));
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const WindowTerms window(job, x, y);
    Sum sums[L::sums];
    sum_planes<L::sums>(arguments.tables, window.along_x, window.along_y, sums);
    std::uint64_t coefficients[L::coefficients];
    solve<L>(job.format, eps, window.count, sums, coefficients);
    write_planes<L::coefficients>(arguments.values, x, y, coefficients);
  });
}

__device__ std::uint32_t mask_value(const LocalLinearArguments& arguments, std::int64_t x, std::int64_t y) {
  if (arguments.job.mask_maximum == 0xFF) return row_of<std::uint8_t>(arguments.mask, y)[x];
  if (arguments.job.mask_maximum == 0xFFFF) return row_of<std::uint16_t>(arguments.mask, y)[x];
  return 1;
}

template <class T, int Guides, int Channels>
__global__ void __launch_bounds__(plane_threads)
    write_results(const __grid_constant__ LocalLinearArguments arguments) {
  constexpr int planes = Channels * (Guides + 1);
  const LocalLinearJob& job = arguments.job;
  const FixedExponents guide_exponents = linear_exponents(job.guide, arguments.guide_measured);
  const FixedExponents picture_exponents = linear_exponents(job.picture, arguments.measured);
  const double slope_step = power_of_two(-job.format.slope_fraction);
  const double offset_step = power_of_two(-job.format.offset_fraction);
  const StoreRule rule{job.picture.weighted, job.mask_maximum, {}};
  if (arguments.guide_measured != arguments.measured && blockIdx.x + blockIdx.y + threadIdx.x == 0)
    arguments.measured->guide_not_finite = arguments.guide_measured->picture_not_finite;
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const WindowTerms window(job, x, y);
    std::uint64_t sums[planes];
    sum_planes<planes>(arguments.tables, window.along_x, window.along_y, sums);
    double guide[Guides];
#pragma unroll
    for (int i = 0; i < Guides; ++i)
      guide[i] = static_cast<double>(whole_value(job.guide, guide_exponents, arguments.guide, x, y, i));
    const double inverse_count = 1.0 / window.count;
    const T* original = row_of<T>(arguments.picture, y) + x * Channels;
    double values[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const auto sum = [&](int i) {
        return static_cast<double>(static_cast<std::int64_t>(sums[c * (Guides + 1) + i]));
      };
      double result = 0;
      if constexpr (Guides == 1) {
        result = linear_result(sum(0), sum(1), guide[0], slope_step, offset_step, inverse_count);
      } else {
        result = linear_result(sum(0), sum(1), sum(2), sum(3), guide[0], guide[1], guide[2], slope_step,
                               offset_step, inverse_count);
      }
      const int at = stored_channel(job.picture, c);
      const double rest = linear_value(original, c, job.picture, picture_exponents).rest;
      const double value = (result + rest) * linear_step(job.picture, at, picture_exponents);
#pragma unroll
      for (int i = 0; i < Channels; ++i)
        if (i == at) values[i] = value;
    }
    store_real_pixel<Channels>(values, original, mask_value(arguments, x, y), rule,
                               row_of<T>(arguments.output, y) + x * Channels);
  });
}

/// Calls launch(Layout{}) with the layout of the job.
template <class Launch>
void with_layout(const LinearLayout& layout, const Launch& launch) {
  with_channels(layout.channels, [&]<int Channels>() {
    if (layout.shared) return launch(Layout < Channels < 3 ? 1 : 3, Channels, true > {});
    if (layout.guides == 1) return launch(Layout<1, Channels, false>{});
    launch(Layout<3, Channels, false>{});
  });
}

dim3 grid_of(const LocalLinearArguments& arguments) {
  return plane_grid(arguments.job.width, arguments.job.height);
}

}  // namespace

void linear_moments(const LocalLinearArguments& arguments, StreamHandle stream) {
  with_layout(arguments.job.layout, [&](auto layout) {
    using L = decltype(layout);
    const auto kernel =
        arguments.job.narrow ? write_moments<L, std::uint32_t> : write_moments<L, std::uint64_t>;
    kernel<<<grid_of(arguments), plane_threads, 0, stream>>>(arguments);
  });
}

void linear_coefficients(const LocalLinearArguments& arguments, StreamHandle stream) {
  with_layout(arguments.job.layout, [&](auto layout) {
    using L = decltype(layout);
    const auto kernel =
        arguments.job.narrow ? write_coefficients<L, std::uint32_t> : write_coefficients<L, std::uint64_t>;
    kernel<<<grid_of(arguments), plane_threads, 0, stream>>>(arguments);
  });
}

void linear_results(const LocalLinearArguments& arguments, StreamHandle stream) {
  with_pixel_type(arguments.job.picture.type, [&]<class T>() {
    with_channels(arguments.job.layout.channels, [&]<int Channels>() {
      const auto kernel =
          arguments.job.layout.guides == 1 ? write_results<T, 1, Channels> : write_results<T, 3, Channels>;
      kernel<<<grid_of(arguments), plane_threads, 0, stream>>>(arguments);
    });
  });
}

}  // namespace satin::kernels
