// Deviations and normalised values of integers: computed in single precision, and again in double where the
// nearest integer is not certain (QuickNumber in statistics/maths/local_statistics.h). The sums come from
// box_stats_running.cuh.

#include <cstdint>

#include "kernels/device/shared_memory.cuh"
#include "kernels/statistics/box_stats_running.cuh"
#include "kernels/statistics/box_stats_sinks.cuh"
#include "statistics/maths/local_statistics.h"

namespace satin::kernels {

/// Returns the inverse root with a relative error of up to 2^-22.9.
template <class Float>
__device__ Float approximate_inverse_root(Float value) {
  Float result = 0;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// Sink that writes the numbers of one channel of the output, or of all channels.
template <class T, class Stored, class Sum, class Windows>
class QuickNumbers {
 public:
  __device__ QuickNumbers(const RunningStatsArguments& arguments, const StatsTile& tile,
                          const Windows& windows)
      : arguments_(arguments), windows_(windows), reader_(arguments, windows.x(), tile.last_x - 1, true) {}

  __device__ void fetch(int y) {
    if (normalises() || keeps_alpha() || arguments_.job.mask_maximum != 0) reader_.load(y, values_);
  }

  __device__ void write(int y) {
    if (windows_.count() == 0) return;
    Results results;
    std::uint32_t open = normalises() ? find<true>(y, results) : find<false>(y, results);
    if (arguments_.job.mask_maximum != 0) open = apply_mask(y, results, open);
    while (open != 0) {
      const int i = __ffs(static_cast<int>(open)) - 1;
      open &= open - 1;
      if (i / channels < windows_.count()) results.put(i, exact(i, y));
    }
    if (keeps_alpha()) keep_alpha(results);
    store(y, results);
  }
  __device__ void finish() {}

 private:
  static constexpr int channels = Windows::channels;
  static constexpr int elements = Windows::elements;
  static constexpr int per_word = StatsResults<T, elements>::per_word;
  static constexpr float largest = static_cast<T>(~T{0});

  using Results = StatsResults<T, elements>;

  [[nodiscard]] __device__ bool normalises() const {
    return arguments_.job.result == LocalResult::normalised;
  }
  [[nodiscard]] __device__ bool keeps_alpha() const { return channels == 4 && arguments_.job.colours < 4; }

  /// Coefficients for windows of `area` pixels.
  struct Terms {
    std::uint32_t area = 0;
    float inverse = 0;  ///< 1 / area
    float most = 0;     ///< largest factor of n v - S
  };

  [[nodiscard]] __device__ Terms terms_of(std::uint32_t area) const {
    const float inverse = rough_reciprocal(__uint2float_rn(area));
    return {area, inverse, arguments_.number.gain * inverse};
  }

  /// Computes all results in single precision. Returns a bit for each element that stays open.
  template <bool Normalised>
  __device__ std::uint32_t find(int y, Results& results) const {
    const std::uint32_t rows = windows_.rows(y);
    if (!windows_.full_width())
      return find_by<Normalised>(results, [&](int i) { return terms_of(windows_.clipped_area(i, rows)); });
    const Terms full = terms_of(windows_.full_area(rows));
    return find_by<Normalised>(results, [&](int) { return full; });
  }

  template <bool Normalised, class TermsOf>
  __device__ std::uint32_t find_by(Results& results, const TermsOf& terms_of_element) const {
    std::uint32_t open = 0;
#pragma unroll
    for (int w = 0; w < elements / per_word; ++w) {
      std::uint32_t codes[per_word];
      float farthest = 0;
#pragma unroll
      for (int k = 0; k < per_word; ++k) {
        const int i = w * per_word + k;
        farthest = fmaxf(farthest, fabsf(find_one<Normalised>(i, terms_of_element(i), codes[k])));
      }
      results.words[w] = packed(codes);
      if (!(farthest <= arguments_.number.limit)) open |= Results::elements_of_word(w);
    }
    return open;
  }

  /// Stores the number's nearest integer in the low bits of `code` and returns the difference from it.
  template <bool Normalised>
  __device__ float find_one(int i, const Terms& terms, std::uint32_t& code) const {
    constexpr float to_integer = 12582912.0F;  // 1.5 * 2^23: the sum's last bit counts ones
    const SumPair<Sum> found = windows_.sums(i);
    const float radicand = approximate_radicand(terms.area, found, false);
    if constexpr (Normalised) {
      const float own = difference(i, terms.area, found.sum);
      const float scale = fminf(terms.most, arguments_.number.target * approximate_inverse_root(radicand));
      const float there = __saturatef(__fmaf_rn(own, scale, arguments_.number.mean));
      const float share = own == 0 ? arguments_.number.flat : there;
      const float rounded = __fmaf_rn(share, largest, to_integer);
      code = __float_as_uint(rounded);
      return __fmaf_rn(share, largest, to_integer - rounded);
    } else {
      const float number = approximate_root(radicand) * terms.inverse;
      const float rounded = number + to_integer;
      code = __float_as_uint(rounded);
      return number - (rounded - to_integer);
    }
  }

  /// Returns n v - S, whose magnitude is below 2^24 with 32-bit sums and otherwise below 2^32.
  __device__ float difference(int i, std::uint32_t area, Sum sum) const {
    const std::uint32_t own = area * element<T>(values_.words, i);
    if constexpr (sizeof(Sum) == 4) return __int2float_rn(static_cast<int>(own - sum));
    const auto other = static_cast<std::uint32_t>(sum);
    const float size = __uint2float_rn(own < other ? other - own : own - other);
    return own < other ? -size : size;
  }

  __device__ static std::uint32_t packed(const std::uint32_t (&codes)[per_word]) {
    if constexpr (per_word == 4)
      return __byte_perm(__byte_perm(codes[0], codes[1], 0x0040), __byte_perm(codes[2], codes[3], 0x0040),
                         0x5410);
    else
      return __byte_perm(codes[0], codes[1], 0x5410);
  }

  [[nodiscard]] __device__ T own_value(int i, int y) const {
    const BoxStatsJob& job = arguments_.job;
    const int channel = channels == 1 ? job.output_channel : i % channels;
    return row_of<T>(arguments_.picture,
                     y)[std::int64_t{windows_.x() + i / channels} * job.plane.channels + channel];
  }

  [[nodiscard]] __device__ std::uint32_t weight(int pixel, int y) const {
    return mask_at(arguments_.job.mask_maximum, arguments_.mask, windows_.x() + pixel, y);
  }

  [[nodiscard]] __device__ T exact(int i, int y) const {
    const BoxStatsJob& job = arguments_.job;
    const T own = own_value(i, y);
    const double number = number_result(job, static_cast<double>(own), windows_.statistics(i, y, {}));
    return blended_number(number, own, weight(i / channels, y), job.mask_maximum);
  }

  /// Keeps the picture's values where the mask is 0 and returns the open elements, which include all that the
  /// mask blends.
  __device__ std::uint32_t apply_mask(int y, Results& results, std::uint32_t open) const {
    constexpr std::uint32_t pixel = (1U << channels) - 1;
#pragma unroll 1
    for (int p = 0; p < windows_.count(); ++p) {
      const std::uint32_t here = weight(p, y);
      if (here == arguments_.job.mask_maximum) continue;
      if (here == 0) open &= ~(pixel << (p * channels));
      if (here != 0) open |= pixel << (p * channels);
#pragma unroll 1
      for (int c = 0; here == 0 && c < channels; ++c)
        results.put(p * channels + c, own_value(p * channels + c, y));
    }
    return open;
  }

  __device__ void keep_alpha(Results& results) const {
#pragma unroll
    for (int i = 3; i < elements; i += 4) {
      std::uint32_t& word = results.words[i / per_word];
      word ^= (word ^ values_.words[i / per_word]) & Results::bits_of_element(i);
    }
  }

  __device__ void store(int y, const Results& results) const {
    const int stride = arguments_.job.plane.channels;
    T* to = row_of<T>(arguments_.output, y) + std::int64_t{windows_.x()} * stride;
    if (channels == 1 && stride > 1)
      results.store(to + arguments_.job.output_channel, windows_.count(), stride);
    else
      results.store(to, windows_.count() * channels);
  }

  const RunningStatsArguments& arguments_;
  const Windows& windows_;
  using Reader = StatsReader<StatsRows<T, channels, Sum>>;
  Reader reader_;
  typename Reader::Words values_{};
};

namespace {

template <class T, class Sum, int Channels, class Action>
int with_known_channels(const RunningStatsArguments& arguments, const Action& action) {
  return with_shift<StatsRows<T, Channels, Sum>, Sum>(arguments.running, [&](auto shift) {
    return action(running_statistics<T, T, Sum, QuickNumbers, decltype(shift)::value, Channels>);
  });
}

template <class T, class Sum, class Action>
int with_channels(const RunningStatsArguments& arguments, const Action& action) {
  if (arguments.running.channels == 3) return with_known_channels<T, Sum, 3>(arguments, action);
  if (arguments.running.channels == 4) return with_known_channels<T, Sum, 4>(arguments, action);
  return with_known_channels<T, Sum, 1>(arguments, action);
}

/// Calls action(kernel). Bytes with 64-bit sums are summed one channel at a time.
template <class Action>
int with_numbers(const RunningStatsArguments& arguments, const Action& action) {
  if (arguments.job.plane.type == Type::u16)
    return with_channels<std::uint16_t, std::uint64_t>(arguments, action);
  if (!arguments.running.wide) return with_channels<std::uint8_t, std::uint32_t>(arguments, action);
  return with_known_channels<std::uint8_t, std::uint64_t, 1>(arguments, action);
}

}  // namespace

int prepare_running_numbers(const RunningStatsArguments& arguments) {
  return with_numbers(arguments, [](auto* kernel) { return allow_all_shared_memory(kernel); });
}

void running_numbers(const RunningStatsArguments& arguments, StreamHandle stream) {
  with_numbers(arguments, [&](auto* kernel) {
    launch_running_statistics(kernel, arguments, stream);
    return 0;
  });
}

}  // namespace satin::kernels
