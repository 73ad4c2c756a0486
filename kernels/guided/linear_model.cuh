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

/// Returns n sum(u v) - sum(u) sum(v). `Exact`: sums are unsigned and both products are exact in doubles, so
/// that fusing one with the difference changes nothing.
template <bool Exact, class Sum>
__device__ double numerator(double count, Sum sum_uv, Sum sum_u, Sum sum_v) {
  if constexpr (Exact) {
    return __fma_rn(count, static_cast<double>(sum_uv),
                    -(static_cast<double>(sum_u) * static_cast<double>(sum_v)));
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

/// A number below 2^51 in magnitude, rounded by nearest_whole().
class Whole {
 public:
  __device__ explicit Whole(double number) : shifted_(number + integer_shift) {}
  [[nodiscard]] __device__ double number() const { return shifted_ - integer_shift; }
  [[nodiscard]] __device__ std::uint64_t integer() const {
    return bits_of(shifted_) - bits_of(integer_shift);
  }

 private:
  double shifted_;
};

/// Computes the coefficients of a window by the steps of guided/maths/local_linear.h. Factors that are powers
/// of two are applied elsewhere than there, where fewer products need them: that commutes with every
/// rounding.
///
/// Slopes of integers need no clamp: a vector of slopes is at most the deviation of p over 2 sqrt(eps), thus
/// p / white times (1 / 2) / (2 sqrt(1e-9)) = 7906 for p up to `p` and a guide up to `white`, and the clamp
/// is 8192 times the quotient of the next powers of two, at least 0.992 p / white. The relative error of a
/// solution is below 1e-5.
template <class L, bool Exact, class Sum>
__device__ void solve(const LinearScales& scales, double eps, double count, double inverse_count,
                      const Sum* sums, std::uint64_t* coefficients) {
  constexpr LinearLayout layout = L::layout();
  const double ridge = count * count * eps;
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
  factors.inverse0 = factors.inverse0 * scales.slope;
  factors.inverse1 = factors.inverse1 * scales.slope;
  factors.inverse2 = factors.inverse2 * scales.slope;
  const double inverse = inverse_count * scales.offset;
  double guide_steps[L::guides];
#pragma unroll
  for (int i = 0; i < L::guides; ++i) guide_steps[i] = value_sum(sums[i]) * scales.slope_step;
#pragma unroll
  for (int c = 0; c < L::channels; ++c) {
    const double picture = value_sum(sums[layout.channel(c)]);
    const auto cross = [&](int j) {
      return numerator<Exact>(count, sums[layout.cross(c, j)], sums[layout.channel(c)], sums[j]);
    };
    const auto put_slope = [&](double slope) {
      const Whole whole(Exact ? slope : fmax(fmin(slope, scales.limit), -scales.limit));
      *coefficients++ = whole.integer();
      return whole.number();
    };
    const auto put_offset = [&](double line) {
      *coefficients++ = Whole((picture - line) * inverse).integer();
    };
    if constexpr (L::guides == 1) {
      put_offset(put_slope(linear_slopes(factors, cross(0)).s0) * guide_steps[0]);
    } else {
      const LinearSlopes slopes = linear_slopes(factors, cross(0), cross(1), cross(2));
      const double s0 = put_slope(slopes.s0);
      const double s1 = put_slope(slopes.s1);
      const double s2 = put_slope(slopes.s2);
      put_offset((s0 * guide_steps[0] + s1 * guide_steps[1]) + s2 * guide_steps[2]);
    }
  }
}

/// Returns the result of a channel in steps of the picture, from the sums of its coefficients over the
/// windows that cover the pixel. The scaled slopes are exact, so that fusing them with the offset changes
/// nothing.
template <int Guides>
__device__ double result_of(const LinearScales& scales, const std::uint64_t* sums, const double* guide,
                            double inverse_count) {
  const auto sum = [&](int i) { return static_cast<double>(static_cast<std::int64_t>(sums[i])); };
  double slopes = sum(0) * guide[0];
  if constexpr (Guides == 3) slopes = (slopes + sum(1) * guide[1]) + sum(2) * guide[2];
  return __fma_rn(slopes, scales.slope_in_offsets, sum(Guides)) * (inverse_count * scales.offset_step);
}

/// Computes and stores results from sums of coefficients.
template <class T, int Guides, int Channels>
class LinearResults {
 public:
  __device__ explicit LinearResults(const LocalLinearArguments& arguments)
      : arguments_(arguments),
        guide_exponents_(linear_exponents(arguments.job.guide, arguments.guide_measured)),
        picture_exponents_(linear_exponents(arguments.job.picture, arguments.measured)) {}

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
      const double result =
          result_of<Guides>(arguments_.scales, sums + c * (Guides + 1), guide, inverse_count);
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
