#pragma once
// Sinks of the kernels of local statistics: they turn the windows of a thread in one row into results.
//
// EveryResult computes any result in double precision. QuickBinary decides thresholds of integers in single
// precision and only the open ones in double. FoundExtremes finds the largest deviation and the smallest
// value of the picture. The sink for deviations and normalised values of integers is in box_stats_numbers.cu.
//
// A sink has fetch(y), which loads its pixels early, write(y), and finish().

#include <cstddef>
#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/statistics/box_stats_running.cuh"
#include "statistics/box_stats.h"
#include "statistics/maths/local_statistics.h"

namespace satin::kernels {

template <class T>
__device__ double stored_value(const BoxStatsJob& job, const Source& picture, std::int64_t x,
                               std::int64_t y) {
  return static_cast<double>(plane_value_at<T>(job.plane, picture, x, y));
}

__device__ inline std::uint64_t ordered_bits(double value) {
  const std::uint64_t bits = bits_of(value);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

__device__ inline double of_ordered_bits(std::uint64_t ordered) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return double_of((ordered & sign) != 0 ? ordered ^ sign : ~ordered);
}

/// The extremes of a picture in device memory, as ordered bits for atomics.
struct OrderedExtremes {
  unsigned long long largest_deviation = 0;
  unsigned long long smallest_value = ~0ULL;

  __device__ static OrderedExtremes of(const PictureExtremes& extremes) {
    return {ordered_bits(extremes.largest_deviation), ordered_bits(extremes.smallest_value)};
  }

  /// All lanes of a warp call this together.
  __device__ void merge_into(PictureExtremes* all) {
    auto* ordered = reinterpret_cast<OrderedExtremes*>(all);
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
      largest_deviation = max(largest_deviation, __shfl_xor_sync(whole_warp, largest_deviation, distance));
      smallest_value = min(smallest_value, __shfl_xor_sync(whole_warp, smallest_value, distance));
    }
    if (lane_index() != 0) return;
    atomicMax(&ordered->largest_deviation, largest_deviation);
    atomicMin(&ordered->smallest_value, smallest_value);
  }
};
static_assert(sizeof(OrderedExtremes) == sizeof(PictureExtremes));

/// Returns the extremes that were found, or zeros without a search.
__device__ inline PictureExtremes found_extremes(const PictureExtremes* extremes) {
  if (extremes == nullptr) return {};
  const OrderedExtremes found = *reinterpret_cast<const OrderedExtremes*>(extremes);
  return {of_ordered_bits(found.largest_deviation), of_ordered_bits(found.smallest_value)};
}

/// Results of one thread in one row, packed into words as in the output.
template <class T, int Elements>
struct alignas(Elements * sizeof(T) % 16 == 0 ? 16 : 8) StatsResults {
  static constexpr int per_word = 4 / static_cast<int>(sizeof(T));
  static constexpr int count = Elements / per_word;
  static_assert(Elements * sizeof(T) % 8 == 0);

  std::uint32_t words[count];

  /// Returns a bit for each element of word w, at the element's index.
  [[nodiscard]] __device__ static std::uint32_t elements_of_word(int w) {
    return ((1U << per_word) - 1) << (w * per_word);
  }
  [[nodiscard]] __device__ static std::uint32_t bits_of_element(int i) {
    return std::uint32_t{static_cast<T>(~T{0})} << (i % per_word * 8 * static_cast<int>(sizeof(T)));
  }

  /// Sets element i, which is no constant. There are no branches, which would move the words from registers
  /// to memory.
  __device__ void put(int i, T value) {
    const std::uint32_t own = bits_of_element(i);
    const std::uint32_t bits = std::uint32_t{value} << (i % per_word * 8 * static_cast<int>(sizeof(T)));
#pragma unroll
    for (int w = 0; w < count; ++w) {
      const bool here = w == i / per_word;
      words[w] = (words[w] & (here ? ~own : ~0U)) | (here ? bits : 0U);
    }
  }

  /// Stores `existing` adjacent elements with streaming stores.
  __device__ void store(T* to, int existing) const {
    if (existing == Elements && reinterpret_cast<std::uintptr_t>(to) % alignof(StatsResults) == 0)
      return store_whole(reinterpret_cast<std::byte*>(to));
#pragma unroll
    for (int i = 0; i < Elements; ++i)
      if (i < existing) to[i] = at(i);
  }
  /// Stores `existing` elements that are `stride` apart.
  __device__ void store(T* to, int existing, int stride) const {
#pragma unroll
    for (int i = 0; i < Elements; ++i)
      if (i < existing) to[i * stride] = at(i);
  }

 private:
  [[nodiscard]] __device__ T at(int i) const {
    return static_cast<T>(words[i / per_word] >> (i % per_word * 8 * static_cast<int>(sizeof(T))));
  }

  __device__ void store_whole(std::byte* to) const {
#pragma unroll
    for (int w = 0; w < count; w += static_cast<int>(alignof(StatsResults)) / 4) {
      if constexpr (alignof(StatsResults) == 16)
        __stcs(reinterpret_cast<uint4*>(to + 4 * w),
               make_uint4(words[w], words[w + 1], words[w + 2], words[w + 3]));
      else
        __stcs(reinterpret_cast<uint2*>(to + 4 * w), make_uint2(words[w], words[w + 1]));
    }
  }
};

/// Returns n Q - S^2, or n Q if `without_mean`, which fits 64 bits, with a relative error of up to 2^-23.
template <class Sum>
__device__ float approximate_radicand(std::uint32_t count, const SumPair<Sum>& sums, bool without_mean) {
  std::uint64_t exact = static_cast<std::uint64_t>(count) * sums.squares;
  if (!without_mean) exact -= static_cast<std::uint64_t>(sums.sum) * sums.sum;
  const float high = __uint2float_rn(static_cast<std::uint32_t>(exact >> 32));
  return __fmaf_rn(high, 4294967296.0F, __uint2float_rn(static_cast<std::uint32_t>(exact)));
}

/// Returns the root with a relative error of up to 2^-23. A template, because the host compiler does not know
/// the instruction.
template <class Float>
__device__ Float approximate_root(Float value) {
  Float result = 0;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// Returns four bytes: 255 for a negative number, otherwise 0.
__device__ inline std::uint32_t signs_of(const float* numbers) {
  const auto signs = [](float a, float b) {
    std::uint32_t result = 0;
    asm("prmt.b32 %0, %1, %2, 0xFB;" : "=r"(result) : "r"(__float_as_uint(a)), "r"(__float_as_uint(b)));
    return result;
  };
  return __byte_perm(signs(numbers[0], numbers[1]), signs(numbers[2], numbers[3]), 0x5410);
}

template <class T>
__device__ float float_of(const std::uint32_t* words, int e) {
  if constexpr (sizeof(T) == 1) {
    constexpr std::uint32_t two_to_23 = 0x4B000000;
    return __uint_as_float(__byte_perm(words[e / 4], two_to_23, 0x7440 + e % 4)) - 8388608.0F;
  } else {
    return __uint2float_rn(element<T>(words, e));
  }
}

/// Computes results of any kind in double precision.
template <class T, class Stored, class Sum, class Windows>
class EveryResult {
 public:
  __device__ EveryResult(const RunningStatsArguments& arguments, const StatsTile&, const Windows& windows)
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
                       mask_at(job.mask_maximum, arguments_.mask, x, y), job.mask_maximum);
  }

  const RunningStatsArguments& arguments_;
  const Windows& windows_;
  Quantised quantised_;
  PictureExtremes extremes_;
};

/// Decides thresholds of integers in single precision where that is certain.
template <class T, class Stored, class Sum, class Windows>
class QuickBinary {
 public:
  __device__ QuickBinary(const RunningStatsArguments& arguments, const StatsTile& tile,
                         const Windows& windows)
      : arguments_(arguments), windows_(windows), reader_(arguments, windows.x(), tile.last_x - 1, true) {
    constexpr double largest = static_cast<T>(~T{0});
    threshold_ = quick_threshold(arguments.job.rule, found_extremes(arguments.extremes), largest);
  }

  __device__ void fetch(int y) { reader_.load(y, values_); }

  __device__ void write(int y) {
    if (windows_.count() == 0) return;
    Results results;
    std::uint32_t open = compare(y, results);
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

  /// Coefficients for windows of `area` pixels: T = constant + S (mean + product root) + spread root with
  /// root = n d.
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

  /// Computes all results in single precision. Returns a bit for each result that stays open.
  __device__ std::uint32_t compare(int y, Results& results) const {
    const std::uint32_t rows = windows_.rows(y);
    if (!windows_.full_width())
      return compare_by(results, [&](int i) { return terms_of(windows_.clipped_area(i, rows)); });
    const Terms full = terms_of(windows_.full_area(rows));
    return compare_by(results, [&](int) { return full; });
  }

  template <class TermsOf>
  __device__ std::uint32_t compare_by(Results& results, const TermsOf& terms_of_pixel) const {
    const std::uint32_t flip = arguments_.job.inverted ? ~0U : 0U;
    std::uint32_t open = 0;
#pragma unroll
    for (int w = 0; w < Results::count; ++w) {
      float below[4];  // T - value
#pragma unroll
      for (int k = 0; k < 4; ++k) below[k] = compare_one(4 * w + k, terms_of_pixel(4 * w + k));
      const float nearest =
          fminf(fminf(fabsf(below[0]), fabsf(below[1])), fminf(fabsf(below[2]), fabsf(below[3])));
      results.words[w] = signs_of(below) ^ flip;
      if (!(nearest > threshold_.doubt)) open |= Results::elements_of_word(w);
    }
    return open;
  }

  [[nodiscard]] __device__ float compare_one(int i, const Terms& terms) const {
    const SumPair<Sum> found = windows_.sums(i);
    const float root = approximate_root(approximate_radicand(terms.area, found, threshold_.without_mean));
    const auto sum = static_cast<float>(found.sum);
    const float factor = __fmaf_rn(terms.product, root, terms.mean);
    const float value = float_of<T>(values_.words, i);
    const float rest = __fmaf_rn(terms.spread, root, threshold_.constant);
    return __fmaf_rn(sum, factor, rest) - value;
  }

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

/// Finds the extremes of the picture.
template <class T, class Stored, class Sum, class Windows>
class FoundExtremes {
 public:
  __device__ FoundExtremes(const RunningStatsArguments& arguments, const StatsTile&, const Windows& windows)
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
  /// Whether the deviation is certainly smaller than the largest so far: in single precision its relative
  /// error is below 2^-18.
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
