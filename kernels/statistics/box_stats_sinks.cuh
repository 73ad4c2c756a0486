#pragma once
// What becomes of a thread's eight windows of a row: results in doubles, thresholds decided in floats where
// those tell, and the extremes of the picture. See box_stats_running.cuh.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/statistics/box_stats_results.cuh"
#include "kernels/statistics/box_stats_running.cuh"
#include "statistics/maths/in_floats.h"

namespace satin::kernels {

/// n Q - S^2, which fits 64 bits, to 2 u of itself (u = 2^-24).
template <class Sum>
__device__ float approximate_radicand(std::uint32_t count, const SumPair<Sum>& sums, bool without_mean) {
  std::uint64_t exact = static_cast<std::uint64_t>(count) * sums.squares;
  if (!without_mean) exact -= static_cast<std::uint64_t>(sums.sum) * sums.sum;
  const float high = __uint2float_rn(static_cast<std::uint32_t>(exact >> 32));
  return __fmaf_rn(high, 4294967296.0F, __uint2float_rn(static_cast<std::uint32_t>(exact)));
}

/// Right to 2^-23. A template, because the host compiler does not know the instruction.
template <class Float>
__device__ Float approximate_root(Float value) {
  Float result = 0;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
/// Four bytes, 255 for a negative number and 0 for another.
__device__ inline std::uint32_t signs_of(const float* numbers) {
  const auto signs = [](float a, float b) {
    std::uint32_t result = 0;
    asm("prmt.b32 %0, %1, %2, 0xFB;" : "=r"(result) : "r"(__float_as_uint(a)), "r"(__float_as_uint(b)));
    return result;
  };
  return __byte_perm(signs(numbers[0], numbers[1]), signs(numbers[2], numbers[3]), 0x5410);
}

/// Element e of a row as a float.
template <class T>
__device__ float float_of(const std::uint32_t* words, int e) {
  if constexpr (sizeof(T) == 1) {
    constexpr std::uint32_t two_to_23 = 0x4B000000;
    return __uint_as_float(__byte_perm(words[e / 4], two_to_23, 0x7440 + e % 4)) - 8388608.0F;
  } else {
    return __uint2float_rn(element<T>(words, e));
  }
}

/// Writes a thread's results of any kind.
template <class T, class Stored, class Sum, class Windows>
class EveryResult {
 public:
  __device__ EveryResult(const RunningStatsArguments& arguments, const StatsPart&, const Windows& windows)
      : arguments_(arguments),
        windows_(windows),
        quantised_(quantised(arguments.job.plane, plane_exponent(arguments.job.plane, arguments.measured))),
        extremes_(found_extremes(arguments.extremes)) {}

  __device__ void fetch(int) {}
  __device__ void write(int y) {
#pragma unroll 1
    for (int i = 0; i < windows_.count(); ++i)
      write_one(windows_.x() + i, y, windows_.statistics(i, y, quantised_));
  }
  __device__ void finish() {}

 private:
  __device__ void write_one(std::int64_t x, int y, LocalStatistics found) const {
    const BoxStatsJob& job = arguments_.job;
    const double value = stored_value<Stored>(job, arguments_.picture, x, y);
    if (job.result == LocalResult::binary) {
      row_of<std::uint8_t>(arguments_.output, y)[x] = binary_result(job, extremes_, value, found);
      return;
    }
    const std::int64_t at = x * job.plane.channels + job.output_channel;
    row_of<Stored>(arguments_.output, y)[at] =
        blended_number(number_result(job, value, found), row_of<Stored>(arguments_.picture, y)[at],
                       mask_weight(job, arguments_.mask, x, y), job.mask_maximum);
  }

  const RunningStatsArguments& arguments_;
  const Windows& windows_;
  Quantised quantised_;
  PictureExtremes extremes_;
};

/// Writes a thread's results of a threshold of integers.
template <class T, class Stored, class Sum, class Windows>
class QuickBinary {
 public:
  __device__ QuickBinary(const RunningStatsArguments& arguments, const StatsPart& part,
                         const Windows& windows)
      : arguments_(arguments), windows_(windows), reader_(arguments, windows.x(), part.last_x - 1, true) {
    constexpr double largest = static_cast<T>(~T{0});
    threshold_ = quick_threshold(arguments.job.rule, found_extremes(arguments.extremes), largest);
  }

  __device__ void fetch(int y) { reader_.load(y, values_); }

  __device__ void write(int y) {
    if (windows_.count() == 0) return;
    const bool proportional = threshold_.constant == 0 && threshold_.of_spread == 0;
    Results results;
    std::uint32_t open = threshold_.without_mean ? compare<Rule::without_mean>(y, results)
                         : proportional          ? compare<Rule::proportional>(y, results)
                                                 : compare<Rule::any>(y, results);
    while (open != 0) {
      const int i = __ffs(static_cast<int>(open)) - 1;
      open &= open - 1;
      if (i < windows_.count()) results.put(i, exact(i, y));
    }
    results.store(
        reinterpret_cast<std::uint8_t*>(arguments_.output.data + y * arguments_.output.row) + windows_.x(),
        windows_.count());
  }
  __device__ void finish() {}

 private:
  using Results = StatsResults<std::uint8_t, Windows::pixels>;

  /// The terms of T in QuickThreshold that are not 0: a multiple of the mean has neither constant nor spread.
  enum class Rule { any, proportional, without_mean };

  /// What windows of `area` pixels share: T = constant + S (mean + product root) + spread root, where root =
  /// n d.
  struct Terms {
    std::uint32_t area = 0;
    float mean = 0;
    float product = 0;
    float spread = 0;
  };

  [[nodiscard]] __device__ Terms terms_of(std::uint32_t area) const {
    const float inverse = rough_reciprocal(__uint2float_rn(area));
    return {area, threshold_.of_mean * inverse, threshold_.of_product * inverse * inverse,
            threshold_.of_spread * inverse};
  }

  /// Finds all results in floats; the bits returned tell which of them those leave open.
  template <Rule Of>
  __device__ std::uint32_t compare(int y, Results& results) const {
    const std::uint32_t rows = windows_.rows(y);
    if (!windows_.whole())
      return compare_by<Of>(results, [&](int i) { return terms_of(windows_.clipped_area(i, rows)); });
    const Terms whole = terms_of(windows_.whole_area(rows));
    return compare_by<Of>(results, [&](int) { return whole; });
  }

  template <Rule Of, class TermsOf>
  __device__ std::uint32_t compare_by(Results& results, const TermsOf& terms_of_pixel) const {
    const std::uint32_t flip = arguments_.job.inverted ? ~0U : 0U;
    std::uint32_t open = 0;
#pragma unroll
    for (int w = 0; w < Results::count; ++w) {
      float below[4];  // T - value
#pragma unroll
      for (int k = 0; k < 4; ++k) below[k] = compare_one<Of>(4 * w + k, terms_of_pixel(4 * w + k));
      const float nearest =
          fminf(fminf(fabsf(below[0]), fabsf(below[1])), fminf(fabsf(below[2]), fabsf(below[3])));
      results.words[w] = signs_of(below) ^ flip;
      if (!(nearest > threshold_.doubt)) open |= Results::of_word(w);
    }
    return open;
  }

  template <Rule Of>
  [[nodiscard]] __device__ float compare_one(int i, const Terms& terms) const {
    const SumPair<Sum> found = windows_.sums(i);
    const float root = approximate_root(approximate_radicand(terms.area, found, Of == Rule::without_mean));
    const auto sum = static_cast<float>(found.sum);
    const float factor = __fmaf_rn(terms.product, root, terms.mean);
    const float value = float_of<T>(values_.words, i);
    if constexpr (Of == Rule::proportional) return __fmaf_rn(sum, factor, -value);
    const float rest = __fmaf_rn(terms.spread, root, threshold_.constant);
    return __fmaf_rn(sum, factor, rest) - value;
  }

  /// The result of pixel i, found in doubles.
  [[nodiscard]] __device__ std::uint8_t exact(int i, int y) const {
    const double value = stored_value<Stored>(arguments_.job, arguments_.picture, windows_.x() + i, y);
    const LocalStatistics found = windows_.statistics(i, y, {});
    return binary_result(arguments_.job, found_extremes(arguments_.extremes), value, found);
  }

  const RunningStatsArguments& arguments_;
  const Windows& windows_;
  StatsReader<StatsRows<T, 1, Sum>> reader_;
  typename StatsRows<T, 1, Sum>::Words values_{};
  QuickThreshold threshold_;
};

/// Looks for the extremes of the picture.
template <class T, class Stored, class Sum, class Windows>
class FoundExtremes {
 public:
  __device__ FoundExtremes(const RunningStatsArguments& arguments, const StatsPart&, const Windows& windows)
      : arguments_(arguments),
        windows_(windows),
        quantised_(quantised(arguments.job.plane, plane_exponent(arguments.job.plane, arguments.measured))) {}

  __device__ void fetch(int) {}
  __device__ void write(int y) {
    const Rectangle& inner = arguments_.inner;
    if (y < inner.y.first || y >= inner.y.last) return;
#pragma unroll 1
    for (int i = 0; i < windows_.count(); ++i) {
      if (windows_.x() + i < inner.x.first || windows_.x() + i >= inner.x.last) continue;
      const double value = stored_value<Stored>(arguments_.job, arguments_.picture, windows_.x() + i, y);
      if (!any_ || value < smallest_) smallest_ = value;
      any_ = true;
      if constexpr (requires { windows_.sums(i); })
        if (arguments_.quick && is_smaller(i, y)) continue;
      largest_ = fmax(largest_, windows_.statistics(i, y, quantised_).deviation);
    }
  }
  __device__ void finish() {
    OrderedExtremes found;
    if (any_) found = OrderedExtremes::of({largest_, smallest_});
    found.merge_into(arguments_.extremes);
  }

 private:
  /// A deviation in floats is wrong by less than 2^-18 of itself.
  [[nodiscard]] __device__ bool is_smaller(int i, int y) const {
    const std::uint32_t area = windows_.area(i, windows_.rows(y));
    const float deviation = approximate_root(approximate_radicand(area, windows_.sums(i), false)) *
                            rough_reciprocal(__uint2float_rn(area));
    return static_cast<double>(deviation) * (1 + 0x1p-18) < largest_;
  }

  const RunningStatsArguments& arguments_;
  const Windows& windows_;
  Quantised quantised_;
  double largest_ = 0;
  double smallest_ = 0;
  bool any_ = false;
};

}  // namespace satin::kernels
