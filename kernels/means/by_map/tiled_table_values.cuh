#pragma once
// The values of tiled_table.cu: StoredBytes sums bytes as they are stored, with the channels of an entry
// packed into one word; LinearBytes sums their linear light, a word per channel. Both define how a lane sums
// its pixels, how rows are staged between warps, and how sums become codes.

#include <cstdint>
#include <type_traits>

#include "core/maths/window.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/lane.cuh"

namespace satin::kernels {

// --- Sums of channels and their division ---

/// Sums of all channels of 8-bit pixels in one word. Sums and differences of packed values, modulo 2^64, are
/// the packed sums and differences as long as every channel's true result fits its bits.
template <int Channels>
struct PackedSums;

template <>
struct PackedSums<1> {
  using Sum = std::uint32_t;
  static constexpr int bits = 32;
  __device__ static Sum pack(const std::uint32_t* values) { return values[0]; }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) { sums[0] = sum; }
};

template <>
struct PackedSums<2> {
  using Sum = std::uint64_t;
  static constexpr int bits = 32;
  __device__ static Sum pack(const std::uint32_t* values) {
    return static_cast<Sum>(values[1]) << 32 | values[0];
  }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) {
    sums[0] = static_cast<std::uint32_t>(sum);
    sums[1] = static_cast<std::uint32_t>(sum >> 32);
  }
};

template <>
struct PackedSums<3> {
  using Sum = std::uint64_t;
  static constexpr int bits = TiledTableJob::sum_bits(3);
  __device__ static Sum pack(const std::uint32_t* values) {
    return static_cast<Sum>(values[2] << 10) << 32 | (values[1] << 21 | values[0]);
  }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) {
    constexpr std::uint32_t mask = (1U << bits) - 1;
    const auto low = static_cast<std::uint32_t>(sum);
    const auto high = static_cast<std::uint32_t>(sum >> 32);
    sums[0] = low & mask;
    sums[1] = __funnelshift_r(low, high, 21) & mask;
    sums[2] = high >> 10;
  }
};

/// Packs the low bytes of all channels' means, the first channel lowest.
template <int Channels>
__device__ std::uint32_t low_bytes(const std::uint32_t (&means)[Channels]) {
  if constexpr (Channels == 1) return means[0];
  std::uint32_t bytes = __byte_perm(means[0], means[1 % Channels], 0x0040);
  if constexpr (Channels == 3) bytes = __byte_perm(bytes, means[2 % Channels], 0x0410);
  return bytes;
}

/// Returns a & b | c by one instruction, even if b and c are constants.
__device__ inline std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

/// Unpacks the sums, each below 2^23, as floats sum + 2^23, whose bits are those of the sum and a constant.
template <int Channels>
__device__ void raise_sums(typename PackedSums<Channels>::Sum packed, float (&raised)[Channels]) {
  constexpr std::uint32_t bits = FloatInteger::whole_bits;
  const auto low = static_cast<std::uint32_t>(packed);
  if constexpr (Channels == 3) {
    constexpr int width = PackedSums<3>::bits;
    constexpr std::uint32_t mask = (1U << width) - 1;
    const auto high = static_cast<std::uint32_t>(packed >> 32);
    raised[0] = __uint_as_float(and_or(low, mask, bits));
    raised[1] = __uint_as_float(and_or(__funnelshift_r(low, high, width), mask, bits));
    raised[2] = __uint_as_float((high >> (2 * width - 32)) + bits);
  } else {
    raised[0] = __uint_as_float(low + bits);
    if constexpr (Channels == 2) raised[1] = __uint_as_float(static_cast<std::uint32_t>(packed >> 32) + bits);
  }
}

/// Division of packed sums by the size of a whole box, below 2^14. After adding floor(divisor / 2) + 1/2, a
/// sum is at least 1/2 from any multiple of the divisor, and its quotient, below 2^8, at least 2^-15 from any
/// integer: a reciprocal with relative error 2^-23 is near enough.
struct WholeDivision {
  float inverse = 0;
  float offset = 0;  ///< floor(divisor / 2) + 1/2 - 2^23

  WholeDivision() = default;
  __device__ explicit WholeDivision(std::uint32_t divisor)
      : inverse(rough_reciprocal(static_cast<float>(divisor))),
        offset(static_cast<float>(divisor / 2) + (0.5F - FloatInteger::whole)) {}

  /// Returns a word whose low byte is the mean. `raised` is the sum plus 2^23.
  [[nodiscard]] __device__ std::uint32_t operator()(float raised) const {
    return __float_as_uint(__fmaf_rd(__fadd_rn(raised, offset), inverse, FloatInteger::middle));
  }

  template <int Channels>
  [[nodiscard]] __device__ std::uint32_t means(typename PackedSums<Channels>::Sum packed) const {
    float sums[Channels];
    raise_sums<Channels>(packed, sums);
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = (*this)(sums[c]);
    return low_bytes<Channels>(means);
  }
};

/// The quotient of a weighted sum by the covered area of a box, in 2^-16 pixel, from 2^16 to below 2^30. The
/// estimate is too small by less than 1: by 2^Shift / 2^16 for the bits shifted out, and by less than 2^-20
/// of itself for the conversion and the reciprocal. Its floor is that of the quotient or one less, and the
/// remainder fits 32 bits.
template <int Shift>
class AreaQuotient {
 public:
  __device__ explicit AreaQuotient(std::uint32_t area) : area_(area) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(area)), (1U << Shift) * too_small);
  }

  /// Returns floor(total / area).
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t total) const {
    const std::uint32_t shifted = static_cast<std::uint32_t>(total >> Shift);
    const float estimate = __fmaf_rd(__uint2float_rz(shifted), inverse_, FloatInteger::whole);
    const std::uint32_t quotient = __float_as_uint(estimate) - FloatInteger::whole_bits;
    const std::uint32_t remainder = static_cast<std::uint32_t>(total) - quotient * area_;
    return quotient + (remainder >= area_ ? 1U : 0U);
  }

  [[nodiscard]] __device__ std::uint32_t half() const { return area_ / 2; }

 private:
  std::uint32_t area_;
  float inverse_ = 0;  ///< at most 2^Shift / area
};

/// Division of packed sums by the covered area of a box with fractional radius. Means are below 2^8.
///
/// With weights i + o = 256 of the inner and outer window, sums I and O over the inner and the outer whole
/// box, X over the two boxes that are inner along one axis and outer along the other, and C over the outer
/// box's four corners: X = I + O - C, so the covered sum i i I + i o X + o o O is 256 (i I + o O) - i o C.
class CoveredDivision {
 public:
  __device__ CoveredDivision(std::uint32_t area, std::uint32_t inner, std::uint32_t outer)
      : quotient_(area), inner_(inner), outer_(outer) {}

  template <int Channels, class Sum>
  [[nodiscard]] __device__ std::uint32_t means(Sum inner, Sum outer, Sum mixed) const {
    std::uint32_t inner_sums[Channels];
    std::uint32_t outer_sums[Channels];
    std::uint32_t corners[Channels];
    PackedSums<Channels>::unpack(inner, inner_sums);
    PackedSums<Channels>::unpack(outer, outer_sums);
    PackedSums<Channels>::unpack(inner + outer - mixed, corners);
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const std::uint32_t covered = inner_ * inner_sums[c] + outer_ * outer_sums[c];
      means[c] = quotient_((static_cast<std::uint64_t>(covered) << 8) + quotient_.half() -
                           static_cast<std::uint64_t>(inner_ * outer_) * corners[c]);
    }
    return low_bytes<Channels>(means);
  }

 private:
  AreaQuotient<8> quotient_;
  std::uint32_t inner_;
  std::uint32_t outer_;
};

// --- Values ---

inline constexpr int table_lane_pixels = 8;
inline constexpr int table_columns = warp_size * table_lane_pixels;  ///< columns of a tile's table

template <int Channels>
using TableRows =
    LaneRows<std::uint8_t, Channels, std::conditional_t<Channels == 1, std::uint64_t, std::uint32_t>>;

/// Returns where vector i of a staged row is stored, of which each lane has `LaneVectors`. Neither lanes that
/// store the same one of their vectors nor neighbouring vectors conflict in a bank.
template <int LaneVectors>
__device__ int staged_index(int i) {
  const int lane = i / LaneVectors;
  return lane * LaneVectors + (i ^ lane * LaneVectors / 8) % LaneVectors;
}

template <int Channels>
class StoredBytes {
 public:
  using Packed = PackedSums<Channels>;
  using Sum = typename Packed::Sum;
  using Words = typename TableRows<Channels>::Words;
  using Vectors = Vector<Sum, 16 / sizeof(Sum)>;
  static constexpr int channels = Channels;
  static constexpr int batch_rows = 8;  ///< rows that the warps of a block hand over at once
  static constexpr int ring_step = 8;   ///< divisor of the number of rows of the ring

  /// The entries of a row that a thread adds at once.
  using Unit = Vectors;
  static constexpr int units = table_columns / Unit::count;

  __host__ __device__ static std::size_t bytes(int reach) {
    return static_cast<std::size_t>((reach + 2) / 2 * 2) * sizeof(WholeDivision);  // a multiple of 16
  }
  __device__ explicit StoredBytes(void* memory) : divisions_(static_cast<WholeDivision*>(memory)) {}

  /// All threads of a block call this together; a barrier must follow.
  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    for (int i = thread; i <= arguments.job.reach; i += threads)
      divisions_[i] = WholeDivision(static_cast<std::uint32_t>((2 * i + 1) * (2 * i + 1)));
  }

  /// A lane's share of a scanned row.
  class LaneSums {
   public:
    __device__ LaneSums(const StoredBytes& /*values*/, const Words& loaded) {
#pragma unroll
      for (int p = 0; p < table_lane_pixels; ++p) {
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          const int byte = p * Channels + c;
          sums_[c] = __dp4a(loaded.words[byte / 4], 1U << byte % 4 * 8, p == 0 ? 0 : sums_[c]);
        }
        prefix_[p] = Packed::pack(sums_);
      }
    }

    /// Sums the lanes before this one, two channels at once: sums of a row of the tile fit 16 bits.
    __device__ void scan() {
      static_assert(table_columns * 0xFF < 1 << 16);
#pragma unroll
      for (int c = 0; c < Channels; c += 2) {
        const bool pair = c + 1 < Channels;
        const std::uint32_t own = pair ? sums_[c + (pair ? 1 : 0)] << 16 | sums_[c] : sums_[c];
        std::uint32_t scanned[1] = {own};
        inclusive_scans(scanned);
        const std::uint32_t both = scanned[0] - own;
        before_ |= static_cast<Sum>(both & (pair ? 0xFFFFU : ~0U)) << c * Packed::bits;
        if (pair) before_ |= static_cast<Sum>(both >> 16) << (c + 1) * Packed::bits;
      }
    }

    __device__ void stage(Sum* row) {
      constexpr int lane_vectors = table_lane_pixels / Vectors::count;
      const Sum before = used_from_here(before_);
#pragma unroll
      for (int i = 0; i < lane_vectors; ++i) {
        Vectors vector;
#pragma unroll
        for (int p = 0; p < Vectors::count; ++p) vector.of[p] = before + prefix_[i * Vectors::count + p];
        reinterpret_cast<Vectors*>(row)[staged_index<lane_vectors>(lane_index() * lane_vectors + i)] = vector;
      }
    }

   private:
    Sum prefix_[table_lane_pixels];
    std::uint32_t sums_[Channels];
    Sum before_ = 0;
  };

  __device__ static Unit staged(const Sum* row, int unit) {
    constexpr int lane_vectors = table_lane_pixels / Vectors::count;
    return reinterpret_cast<const Vectors*>(row)[staged_index<lane_vectors>(unit)];
  }
  __device__ static void store(const Unit& sums, Sum* row, int unit) {
#pragma unroll
    for (int p = 0; p < Unit::count; ++p) row[unit * Unit::count + p] = sums.of[p];
  }

  /// Returns the means of an unclipped whole box.
  [[nodiscard]] __device__ std::uint32_t whole_means(Sum sum, int reach) const {
    return divisions_[reach].template means<Channels>(sum);
  }
  /// Returns the means of a box of `count` pixels.
  [[nodiscard]] __device__ std::uint32_t clipped_means(Sum sum, std::uint32_t count) const {
    return WholeDivision(count).means<Channels>(sum);
  }
  /// Returns the means of a fractional box. `mixed`: sum over the boxes that are inner along one axis only.
  [[nodiscard]] __device__ std::uint32_t covered_means(std::uint32_t area, std::uint32_t inner,
                                                       std::uint32_t outer, Sum inner_sum, Sum outer_sum,
                                                       Sum mixed) const {
    return CoveredDivision(area, inner, outer).means<Channels>(inner_sum, outer_sum, mixed);
  }

 private:
  WholeDivision* divisions_;  ///< [reach + 1]: divisions for unclipped whole boxes
};

/// Linear light of 16 bits. Sums of whole boxes fit a word, as they have less than 2^14 pixels.
template <int Channels>
class LinearBytes {
 public:
  using Sum = Vector<std::uint32_t, Channels>;
  using Words = typename TableRows<Channels>::Words;
  static constexpr int channels = Channels;
  static constexpr int batch_rows = 4;  ///< larger entries leave less room
  /// A multiple of 32 rows keeps the banks of a row across the ring's end: UHD RGB, random radii to 24, 0.184
  /// instead of 0.193 ms.
  static constexpr int ring_step = 32;

  using Unit = Sum;
  static constexpr int units = table_columns;

  __host__ __device__ static std::size_t bytes(int /*reach*/) { return ByteLight::bytes; }
  __device__ explicit LinearBytes(void* memory) : light_(memory) {}

  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    light_.fill(arguments.transfer, thread, threads);
  }

  /// A lane's share of a scanned row, staged channel by channel.
  class LaneSums {
   public:
    __device__ LaneSums(const LinearBytes& values, const Words& loaded) {
#pragma unroll
      for (int p = 0; p < table_lane_pixels; ++p)
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
      for (int c = 0; c < Channels; ++c) before_[c] = prefix_[c][table_lane_pixels - 1];
      inclusive_scans(before_);
#pragma unroll
      for (int c = 0; c < Channels; ++c) before_[c] -= prefix_[c][table_lane_pixels - 1];
    }

    __device__ void stage(Sum* row) {
      using Quad = Vector<std::uint32_t, 4>;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const std::uint32_t before = used_from_here(before_[c]);
        auto* const to = reinterpret_cast<Quad*>(reinterpret_cast<std::uint32_t*>(row) + c * table_columns);
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
    std::uint32_t prefix_[Channels][table_lane_pixels];
    std::uint32_t before_[Channels];
  };

  __device__ static Unit staged(const Sum* row, int unit) {
    const int index = staged_index<lane_quads>(unit / 4) * 4 + unit % 4;
    Unit sums;
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums.of[c] = reinterpret_cast<const std::uint32_t*>(row)[c * table_columns + index];
    return sums;
  }
  __device__ static void store(const Unit& sums, Sum* row, int unit) { row[unit] = sums; }

  [[nodiscard]] __device__ std::uint32_t whole_means(const Sum& sum, int reach) const {
    return clipped_means(sum, static_cast<std::uint32_t>((2 * reach + 1) * (2 * reach + 1)));
  }
  [[nodiscard]] __device__ std::uint32_t clipped_means(const Sum& sum, std::uint32_t count) const {
    return means(AreaQuotient<14>(count << 16),
                 [&](int c) { return static_cast<std::uint64_t>(sum.of[c]) << 16; });
  }
  [[nodiscard]] __device__ std::uint32_t covered_means(std::uint32_t area, std::uint32_t inner,
                                                       std::uint32_t outer, const Sum& inner_sum,
                                                       const Sum& outer_sum, const Sum& mixed) const {
    return means(AreaQuotient<14>(area), [&](int c) {
      return static_cast<std::uint64_t>(inner * inner) * inner_sum.of[c] +
             static_cast<std::uint64_t>(inner * outer) * mixed.of[c] +
             static_cast<std::uint64_t>(outer * outer) * outer_sum.of[c];
    });
  }

 private:
  static constexpr int lane_quads = table_lane_pixels / 4;

  template <class Total>
  [[nodiscard]] __device__ std::uint32_t means(const AreaQuotient<14>& quotient, const Total& total) const {
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = light_.encoded(quotient(total(c) + quotient.half()));
    return low_bytes<Channels>(means);
  }

  ByteLight light_;
};

}  // namespace satin::kernels
