#pragma once
// Defines, for each kind of pixel, the entries of the table of tiled_table.cu: the values that a lane reads
// and sums, how a row of sums is staged between warps, and the mean of a box.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/lane.cuh"
#include "kernels/pixels/short_light.cuh"

namespace satin::kernels {

/// Packs the low bytes of all channels' means, the first channel lowest.
template <int Channels>
__device__ std::uint32_t low_bytes(const std::uint32_t (&means)[Channels]) {
  if constexpr (Channels == 1) return means[0];
  std::uint32_t bytes = __byte_perm(means[0], means[1 % Channels], 0x0040);
  if constexpr (Channels == 3) bytes = __byte_perm(bytes, means[2 % Channels], 0x0410);
  return bytes;
}

/// The quotient of a weighted sum by the covered area of a box, in 2^-16 pixel, from 2^16 to below 2^30. The
/// estimate is too small by less than 1: by 2^shift / 2^16 for the bits shifted out, and by less than 2^-20
/// of itself for the conversion and the reciprocal. Its floor is that of the quotient or one less, and the
/// remainder fits 32 bits.
class AreaQuotient {
 public:
  __device__ explicit AreaQuotient(std::uint32_t area) : area_(area) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(area)), (1U << shift) * too_small);
  }

  /// Returns floor(total / area).
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t total) const {
    const std::uint32_t shifted = static_cast<std::uint32_t>(total >> shift);
    const float estimate = __fmaf_rd(__uint2float_rz(shifted), inverse_, FloatInteger::whole);
    const std::uint32_t quotient = __float_as_uint(estimate) - FloatInteger::whole_bits;
    const std::uint32_t remainder = static_cast<std::uint32_t>(total) - quotient * area_;
    return quotient + (remainder >= area_ ? 1U : 0U);
  }

  [[nodiscard]] __device__ std::uint32_t half() const { return area_ / 2; }

 private:
  static constexpr int shift = 14;

  std::uint32_t area_;
  float inverse_ = 0;  ///< at most 2^shift / area
};

/// Returns where vector i of a staged row is stored, of which each lane has `LaneVectors`. Neither lanes that
/// store the same one of their vectors nor neighbouring vectors conflict in a bank.
template <int LaneVectors>
__device__ int staged_index(int i) {
  const int lane = i / LaneVectors;
  return lane * LaneVectors + (i ^ lane * LaneVectors / 8) % LaneVectors;
}

// --- Light of 16 bits ---

/// Bytes without alpha, a word for each channel. Sums of whole boxes fit a word, as they have less than 2^14
/// pixels.
template <int Channels>
class LinearBytes {
 public:
  using Element = std::uint8_t;
  using Sum = Vector<std::uint32_t, Channels>;
  using Box = Sum;
  using Means = Vector<std::uint32_t, 1>;
  using Rows = LaneRows<std::uint8_t, Channels, std::uint32_t, 8 * Channels>;
  using Words = typename Rows::Words;
  static constexpr int lane_pixels = Rows::pixels;
  static constexpr int channels = Channels;
  static constexpr bool has_alpha = false;
  static constexpr int largest_reach = 63;
  static constexpr int row_warps = 8;
  static constexpr int gather_warps = tuning::tiled_table_gather_warps;
  static constexpr int shares = 2;
  /// A multiple of 32 rows keeps the banks of a row across the ring's end: UHD RGB, random radii to 24, 0.184
  /// instead of 0.193 ms.
  static constexpr int ring_step = 32;
  static constexpr int staged_columns = warp_size * Rows::pixels;
  static constexpr int table_bytes = ByteLight::bytes;

  __device__ LinearBytes(const TiledTableArguments& /*arguments*/, void* memory) : light_(memory) {}

  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    light_.fill(arguments.transfer, thread, threads);
  }

  /// A lane's share of a scanned row, staged channel by channel.
  class LaneSums {
   public:
    __device__ LaneSums(const LinearBytes& values, const Words& loaded) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p)
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          const int byte = p * Channels + c;
          const std::uint32_t light =
              values.light_.decoded(__byte_perm(loaded.words[byte / 4], 0, 0x4440U + byte % 4));
          prefix_[c][p] = p == 0 ? light : prefix_[c][p == 0 ? 0 : p - 1] + light;
        }
    }

    __device__ void scan() {
#pragma unroll
      for (int c = 0; c < Channels; ++c) before_[c] = prefix_[c][lane_pixels - 1];
      inclusive_scans(before_);
#pragma unroll
      for (int c = 0; c < Channels; ++c) before_[c] -= prefix_[c][lane_pixels - 1];
    }

    __device__ void stage(Sum* row) {
      using Quad = Vector<std::uint32_t, 4>;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const std::uint32_t before = opaque(before_[c]);
        auto* const to = reinterpret_cast<Quad*>(reinterpret_cast<std::uint32_t*>(row) + c * staged_columns);
#pragma unroll
        for (int i = 0; i < lane_quads; ++i) {
          Quad quad;
#pragma unroll
          for (int p = 0; p < 4; ++p) quad.of[p] = before + prefix_[c][4 * i + p];
          to[staged_index<lane_quads>(lane_index() * lane_quads + i)] = quad;
        }
      }
    }

   private:
    std::uint32_t prefix_[Channels][lane_pixels];
    std::uint32_t before_[Channels];
  };

  /// Returns the sums of a staged row up to a column.
  __device__ static Sum staged(const Sum* row, int column) {
    const int index = staged_index<lane_quads>(column / 4) * 4 + column % 4;
    Sum sums;
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums.of[c] = reinterpret_cast<const std::uint32_t*>(row)[c * staged_columns + index];
    return sums;
  }

  /// Adds a staged row to an entry of the row above.
  __device__ static void add(Sum& sums, const Sum& row) { sums = sums + row; }

  /// Returns the sum over a box from the entries at its corners.
  __device__ static Box box(const Sum& last_right, const Sum& last_left, const Sum& before_right,
                            const Sum& before_left) {
    return (last_right - last_left) - (before_right - before_left);
  }

  [[nodiscard]] __device__ Means whole_means(const Box& sum, std::uint32_t count) const {
    return means(AreaQuotient(count << 16),
                 [&](int c) { return static_cast<std::uint64_t>(sum.of[c]) << 16; });
  }
  /// box_of(outer_x, outer_y) returns the sum over a box with the inner (0) or outer (1) window along each
  /// axis.
  template <class BoxOf>
  [[nodiscard]] __device__ Means covered_means(std::uint32_t area, std::uint32_t inner, std::uint32_t outer,
                                               const BoxOf& box_of) const {
    const Sum inner_sum = box_of(0, 0);
    const Sum outer_sum = box_of(1, 1);
    const Sum mixed = box_of(1, 0) + box_of(0, 1);
    return means(AreaQuotient(area), [&](int c) {
      return static_cast<std::uint64_t>(inner * inner) * inner_sum.of[c] +
             static_cast<std::uint64_t>(inner * outer) * mixed.of[c] +
             static_cast<std::uint64_t>(outer * outer) * outer_sum.of[c];
    });
  }

 private:
  static constexpr int lane_quads = lane_pixels / 4;

  template <class Total>
  [[nodiscard]] __device__ Means means(const AreaQuotient& quotient, const Total& total) const {
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = light_.encoded(quotient(total(c) + quotient.half()));
    return {low_bytes<Channels>(means)};
  }

  ByteLight light_;
};

// --- Light of 24 bits, and light of 16 bits times alpha ---

/// u16 without alpha, and bytes whose last channel is alpha. Sums of whole boxes have up to 36 bits, as they
/// have less than 2^12 pixels; sums of alpha have 20 bits.
///
/// An entry has a word for each colour, the sum modulo 2^32, and one more word: the sum of alpha, plus for
/// each colour the upper part of its sum times 2^upper_bit(colour), modulo 2^32. Differences of this word are
/// exact, as it is a linear combination; the upper part of a box sum is that of the differences plus the
/// carry of the lower words. All parts of a box then fit their bits.
template <class T, int Channels>
class WideLight {
 public:
  using Element = T;
  static constexpr int channels = Channels;
  static constexpr bool has_alpha = sizeof(T) == 1;
  static constexpr int colours = has_alpha ? Channels - 1 : Channels;
  using Sum = Vector<std::uint32_t, colours + 1>;
  struct Box {
    std::uint64_t colours[WideLight::colours];
    std::uint32_t alpha;
  };
  using Means = Vector<std::uint32_t, (Channels * sizeof(T) + 3) / 4>;
  using Rows = LaneRows<T, Channels, std::uint32_t, 6 * Channels>;
  using Words = typename Rows::Words;
  static constexpr int lane_pixels = Rows::pixels;
  static constexpr int largest_reach = 31;
  /// Bytes with 8: 0.253 instead of 0.248 ms (H200, UHD, smooth radii to 24); u16 with 4: 0.388 instead of
  /// 0.363.
  static constexpr int row_warps = has_alpha ? 4 : 8;
  static constexpr int gather_warps = 16;
  static constexpr int shares = 4;
  static constexpr int ring_step = 4;
  /// One entry more for every four lanes: then eight lanes that store 16 bytes each use all banks.
  static constexpr int lanes_per_gap = 4;
  static constexpr int staged_columns = warp_size * Rows::pixels + warp_size / lanes_per_gap;
  static constexpr int table_bytes = has_alpha ? ByteLight::bytes : 0;

  __device__ WideLight(const TiledTableArguments& arguments, void* memory)
      : transfer_(arguments.transfer), light_(memory) {}

  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    if constexpr (has_alpha) light_.fill(arguments.transfer, thread, threads);
  }

  /// A lane's share of a scanned row. Sums of 255 pixels of 24 bits fit a word.
  class LaneSums {
   public:
    __device__ LaneSums(const WideLight& values, const Words& loaded) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) {
        std::uint32_t of_pixel[summed];
        values.read(loaded, p, of_pixel);
#pragma unroll
        for (int c = 0; c < summed; ++c)
          prefix_[p][c] = p == 0 ? of_pixel[c] : prefix_[p == 0 ? 0 : p - 1][c] + of_pixel[c];
      }
    }

    __device__ void scan() {
#pragma unroll
      for (int c = 0; c < summed; ++c) before_[c] = prefix_[lane_pixels - 1][c];
      inclusive_scans(before_);
#pragma unroll
      for (int c = 0; c < summed; ++c) before_[c] -= prefix_[lane_pixels - 1][c];
    }

    __device__ void stage(Sum* row) {
      Sum* const to = row + lane_index() * lane_pixels + lane_index() / lanes_per_gap;
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) {
        Sum entry{};
#pragma unroll
        for (int c = 0; c < summed; ++c) entry.of[c] = before_[c] + prefix_[p][c];
        to[p] = entry;
      }
    }

   private:
    static constexpr int summed = has_alpha ? Channels : colours;
    std::uint32_t prefix_[lane_pixels][summed];
    std::uint32_t before_[summed];
  };

  /// Returns the sums of a staged row up to a column.
  __device__ static Sum staged(const Sum* row, int column) {
    return row[column + column / (lanes_per_gap * lane_pixels)];
  }

  /// Adds a staged row to an entry of the row above.
  __device__ static void add(Sum& sums, const Sum& row) {
    if constexpr (has_alpha) sums.of[colours] += row.of[colours];
#pragma unroll
    for (int c = 0; c < colours; ++c) {
      sums.of[c] += row.of[c];
      sums.of[colours] += sums.of[c] < row.of[c] ? 1U << upper_bit(c) : 0U;
    }
  }

  /// Returns the sum over a box from the entries at its corners.
  __device__ static Box box(const Sum& last_right, const Sum& last_left, const Sum& before_right,
                            const Sum& before_left) {
    std::uint32_t upper = (last_right.of[colours] - last_left.of[colours]) -
                          (before_right.of[colours] - before_left.of[colours]);
    std::uint32_t lower[colours];
#pragma unroll
    for (int c = 0; c < colours; ++c) {
      const std::uint64_t difference = (static_cast<std::uint64_t>(last_right.of[c]) + before_left.of[c]) -
                                       (static_cast<std::uint64_t>(last_left.of[c]) + before_right.of[c]);
      lower[c] = static_cast<std::uint32_t>(difference);
      upper += static_cast<std::uint32_t>(difference >> 32) << upper_bit(c);
    }
    Box sums;
#pragma unroll
    for (int c = 0; c < colours; ++c)
      sums.colours[c] =
          static_cast<std::uint64_t>(upper >> upper_bit(c) & ((1U << upper_bits) - 1)) << 32 | lower[c];
    sums.alpha = upper & ((1U << upper_bit(0)) - 1);
    return sums;
  }

  [[nodiscard]] __device__ Means whole_means(const Box& sum, std::uint32_t count) const {
    std::uint32_t values[colours];
    if constexpr (has_alpha) {
      const LongDivision<false> division(max(sum.alpha, 1U));
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = division(sum.colours[c]);
      return encoded(values, LongDivision<false>(count)(sum.alpha));
    } else {
      const LongDivision<true> division(count);
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = division(sum.colours[c]);
      return encoded(values, 0);
    }
  }
  /// box_of() as above. A loop over the windows of rows, as all boxes at once need too many registers.
  template <class BoxOf>
  [[nodiscard]] __device__ Means covered_means(std::uint32_t area, std::uint32_t inner, std::uint32_t outer,
                                               const BoxOf& box_of) const {
    std::uint64_t totals[colours] = {};
    std::uint64_t alphas = 0;
#pragma unroll 1
    for (int outer_y = 0; outer_y < 2; ++outer_y)
#pragma unroll
      for (int outer_x = 0; outer_x < 2; ++outer_x) {
        const std::uint32_t weight = (outer_x == 0 ? inner : outer) * (outer_y == 0 ? inner : outer);
        const Box sum = box_of(outer_x, outer_y);
#pragma unroll
        for (int c = 0; c < colours; ++c) totals[c] += weighted(weight, sum.colours[c]);
        alphas += static_cast<std::uint64_t>(weight) * sum.alpha;
      }
    std::uint32_t values[colours];
    if constexpr (has_alpha) {
      const AreaDivision division(max(alphas, std::uint64_t{1}));
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = division(totals[c]);
      return encoded(values, LongDivision<false>(area)(alphas));
    } else {
      const LongDivision<true> division(area);
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = division(totals[c]);
      return encoded(values, 0);
    }
  }

  /// Returns the alpha of a mean.
  [[nodiscard]] __device__ static std::uint32_t alpha_of(const Means& means) {
    return means.of[0] >> 8 * colours & 0xFF;
  }

 private:
  static constexpr int upper_bits = 4;

  __host__ __device__ static constexpr int upper_bit(int colour) {
    return 32 - upper_bits * (colours - colour);
  }

  /// Returns weight * sum, for weights up to 2^16 and sums below 2^36.
  __device__ static std::uint64_t weighted(std::uint32_t weight, std::uint64_t sum) {
    const auto upper = weight * static_cast<std::uint32_t>(sum >> 32);
    return static_cast<std::uint64_t>(weight) * static_cast<std::uint32_t>(sum) +
           (static_cast<std::uint64_t>(upper) << 32);
  }

  /// Converts pixel p of a lane to its working values.
  template <int Count>
  __device__ void read(const Words& loaded, int p, std::uint32_t (&values)[Count]) const {
    if constexpr (has_alpha) {
      const auto byte = [&](int c) {
        const int i = p * Channels + c;
        return __byte_perm(loaded.words[i / 4], 0, 0x4440U + i % 4);
      };
      const std::uint32_t alpha = byte(colours);
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = light_.decoded(byte(c)) * alpha;
      values[colours] = alpha;
    } else {
#pragma unroll
      for (int c = 0; c < colours; ++c)
        values[c] = __ldg(transfer_.decode + element<T>(loaded.words, p * Channels + c));
    }
  }

  /// Encodes means. Those of pixels that are not stored may be too large for the tables.
  [[nodiscard]] __device__ Means encoded(std::uint32_t (&values)[colours], std::uint32_t alpha) const {
    Means means{};
    if constexpr (has_alpha) {
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = light_.encoded(values[c]);
      means.of[0] = __byte_perm(low_bytes<colours>(values), alpha, colours == 1 ? 0x0040 : 0x4210);
    } else {
      constexpr std::uint32_t white = (1U << 24) - 1;
#pragma unroll
      for (int c = 0; c < colours; ++c) values[c] = min(values[c], white);
      encode16(values, transfer_);
      means.of[0] = values[0];
      if constexpr (colours == 3) {
        means.of[0] = __byte_perm(values[0], values[1], 0x5410);
        means.of[1] = values[2];
      }
    }
    return means;
  }

  const TransferView& transfer_;
  ByteLight light_;
};

}  // namespace satin::kernels
