#pragma once
// Steps that both ways to run the guided filter share: reading a pixel as integers, solving for the linear
// function of a window, and storing the mean of the functions around a pixel.

#include <cstdint>

#include "core/with_type.h"
#include "kernels/guided/launch.h"
#include "kernels/pixels/plane.cuh"
#include "pixels/maths/real_pixel.h"

namespace satin::kernels {

/// LinearLayout as a type.
template <int Guides, int Channels, bool GuidesItself>
struct Layout {
  static constexpr int guides = Guides;
  static constexpr int channels = Channels;
  static constexpr int first_own = LinearLayout{Guides, Channels, GuidesItself}.first_own();
  static constexpr int sums = LinearLayout{Guides, Channels, GuidesItself}.sums();
  static constexpr int coefficients = LinearLayout{Guides, Channels, GuidesItself}.coefficients();

  __host__ __device__ static constexpr LinearLayout layout() { return {Guides, Channels, GuidesItself}; }
};

__device__ inline std::int64_t whole_value(const LinearRead& read, FixedExponents exponents,
                                           const Source& image, std::int64_t x, std::int64_t y, int c) {
  const auto whole = [&](const auto* row) {
    return linear_value(row + x * read.channels, c, read, exponents).whole;
  };
  if (read.type == Type::u8) return whole(row_of<std::uint8_t>(image, y));
  if (read.type == Type::u16) return whole(row_of<std::uint16_t>(image, y));
  return whole(row_of<float>(image, y));
}

/// Returns n sum(u v) - sum(u) sum(v). `Exact`: sums are unsigned and both products are exact in doubles.
template <bool Exact, class Sum>
__device__ double numerator(double count, Sum sum_uv, Sum sum_u, Sum sum_v) {
  if constexpr (Exact) {
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

template <class L, bool Exact, class Sum>
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
    return numerator<Exact>(count, sums[layout.product(i, j)], sums[i], sums[j]);
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
      return numerator<Exact>(count, sums[layout.cross(c, j)], sums[layout.channel(c)], sums[j]);
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

/// Computes and stores results from sums of coefficients.
template <class T, int Guides, int Channels>
class LinearResults {
 public:
  __device__ explicit LinearResults(const LocalLinearArguments& arguments)
      : arguments_(arguments),
        guide_exponents_(linear_exponents(arguments.job.guide, arguments.guide_measured)),
        picture_exponents_(linear_exponents(arguments.job.picture, arguments.measured)),
        slope_step_(power_of_two(-arguments.job.format.slope_fraction)),
        offset_step_(power_of_two(-arguments.job.format.offset_fraction)) {}

  /// Stores pixel (x, y) from the sums of coefficients over the `count` windows that cover it.
  __device__ void store(std::int64_t x, std::int64_t y, const std::uint64_t* sums, double count) const {
    const LocalLinearJob& job = arguments_.job;
    double guide[Guides];
#pragma unroll
    for (int i = 0; i < Guides; ++i)
      guide[i] = static_cast<double>(whole_value(job.guide, guide_exponents_, arguments_.guide, x, y, i));
    const double inverse_count = 1.0 / count;
    const T* original = row_of<T>(arguments_.picture, y) + x * Channels;
    double values[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const auto sum = [&](int i) {
        return static_cast<double>(static_cast<std::int64_t>(sums[c * (Guides + 1) + i]));
      };
      double result = 0;
      if constexpr (Guides == 1) {
        result = linear_result(sum(0), sum(1), guide[0], slope_step_, offset_step_, inverse_count);
      } else {
        result = linear_result(sum(0), sum(1), sum(2), sum(3), guide[0], guide[1], guide[2], slope_step_,
                               offset_step_, inverse_count);
      }
      const int at = stored_channel(job.picture, c);
      const double rest = linear_value(original, c, job.picture, picture_exponents_).rest;
      const double value = (result + rest) * linear_step(job.picture, at, picture_exponents_);
#pragma unroll
      for (int i = 0; i < Channels; ++i)
        if (i == at) values[i] = value;
    }
    const StoreRule rule{job.picture.weighted, job.mask_maximum, {}};
    const std::uint32_t mask = mask_at(rule.mask_maximum, arguments_.mask, x, y);
    store_real_pixel<Channels>(values, original, mask, rule, row_of<T>(arguments_.output, y) + x * Channels);
  }

 private:
  const LocalLinearArguments& arguments_;
  FixedExponents guide_exponents_;
  FixedExponents picture_exponents_;
  double slope_step_;
  double offset_step_;
};

/// Calls launch(Layout{}) with the layout of the job.
template <class Launch>
void with_layout(const LinearLayout& layout, const Launch& launch) {
  with_channels(layout.channels, [&]<int Channels>() {
    if (layout.guides_itself) return launch(Layout < Channels < 3 ? 1 : 3, Channels, true > {});
    if (layout.guides == 1) return launch(Layout<1, Channels, false>{});
    launch(Layout<3, Channels, false>{});
  });
}

}  // namespace satin::kernels
