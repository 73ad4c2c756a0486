#pragma once
// The values that a table in shared memory sums:
// - bytes as they are stored: the channels of an entry in one word,
// - their linear light: a word a channel.
// Both know how a lane sums its pixels, how rows are staged between warps, and how sums become codes.

#include <cstdint>
#include <type_traits>

#include "kernels/device/registers.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/tiled_table_means.cuh"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/lane_rows.cuh"

namespace satin::kernels {

inline constexpr int table_lane_pixels = 8;
inline constexpr int table_columns = warp_size * table_lane_pixels;  ///< of the source

template <int Channels>
using TableRows =
    LaneRows<std::uint8_t, Channels, std::conditional_t<Channels == 1, std::uint64_t, std::uint32_t>>;

/// The place of vector i of a staged row, of which a lane stores `LaneVectors`: such that neither lanes that
/// store the same one of theirs nor neighbouring vectors meet in a bank.
template <int LaneVectors>
__device__ int staged_place(int i) {
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
  static constexpr int batch_rows = 8;  ///< rows that the warps of a block hand to each other
  static constexpr int ring_step = 8;   ///< of the rows of a ring

  /// Entries of a row that a thread adds at once.
  using Unit = Vectors;
  static constexpr int units = table_columns / Unit::count;

  __host__ __device__ static std::size_t bytes(int reach) {
    return static_cast<std::size_t>((reach + 2) / 2 * 2) * sizeof(WholeDivision);  // a multiple of 16
  }
  __device__ explicit StoredBytes(void* memory) : divisions_(static_cast<WholeDivision*>(memory)) {}

  /// All threads of a block call it, with a barrier before anything else.
  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    for (int i = thread; i <= arguments.job.reach; i += threads)
      divisions_[i] = WholeDivision(static_cast<std::uint32_t>((2 * i + 1) * (2 * i + 1)));
  }

  /// A lane's part of a scanned row.
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

    /// Adds the lanes before this one. Sums of a whole row of the tile fit 16 bits, of which two are scanned
    /// at once.
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
        reinterpret_cast<Vectors*>(row)[staged_place<lane_vectors>(lane_index() * lane_vectors + i)] = vector;
      }
    }

   private:
    Sum prefix_[table_lane_pixels];
    std::uint32_t sums_[Channels];
    Sum before_ = 0;
  };

  __device__ static Unit staged(const Sum* row, int unit) {
    constexpr int lane_vectors = table_lane_pixels / Vectors::count;
    return reinterpret_cast<const Vectors*>(row)[staged_place<lane_vectors>(unit)];
  }
  __device__ static void store(const Unit& sums, Sum* row, int unit) {
#pragma unroll
    for (int p = 0; p < Unit::count; ++p) row[unit * Unit::count + p] = sums.of[p];
  }

  /// The means of a box that has `reach` pixels to every side.
  [[nodiscard]] __device__ std::uint32_t whole_means(Sum sum, int reach) const {
    return divisions_[reach].template means<Channels>(sum);
  }
  /// The means of a box of so many pixels.
  [[nodiscard]] __device__ std::uint32_t clipped_means(Sum sum, std::uint32_t count) const {
    return WholeDivision(count).means<Channels>(sum);
  }
  /// `mixed`: over both boxes that are inner along one axis and outer along the other.
  [[nodiscard]] __device__ std::uint32_t covered_means(std::uint32_t area, std::uint32_t inner,
                                                       std::uint32_t outer, Sum inner_sum, Sum outer_sum,
                                                       Sum mixed) const {
    return CoveredDivision(area, inner, outer).means<Channels>(inner_sum, outer_sum, mixed);
  }

 private:
  WholeDivision* divisions_;  ///< [reach + 1]: of unclipped whole boxes
};

/// 16 bits of linear light: sums of whole boxes fit a word, as they have less than 2^14 pixels.
template <int Channels>
class LinearBytes {
 public:
  using Sum = Vector<std::uint32_t, Channels>;
  using Words = typename TableRows<Channels>::Words;
  static constexpr int channels = Channels;
  static constexpr int batch_rows = 4;  ///< larger entries leave less room
  /// Rows of neighbouring windows lie in the same banks before and behind the ring's end: UHD RGB, random
  /// radii to 24, 0.184 instead of 0.193 ms.
  static constexpr int ring_step = 32;

  using Unit = Sum;
  static constexpr int units = table_columns;

  __host__ __device__ static std::size_t bytes(int /*reach*/) { return ByteLight::bytes; }
  __device__ explicit LinearBytes(void* memory) : light_(memory) {}

  __device__ void prepare(const TiledTableArguments& arguments, int thread, int threads) const {
    light_.fill(arguments.transfer, thread, threads);
  }

  /// A row is staged a channel after the other.
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
          to[staged_place<lane_quads>(lane_index() * lane_quads + i)] = quad;
        }
      }
    }

   private:
    std::uint32_t prefix_[Channels][table_lane_pixels];
    std::uint32_t before_[Channels];
  };

  __device__ static Unit staged(const Sum* row, int unit) {
    const int place = staged_place<lane_quads>(unit / 4) * 4 + unit % 4;
    Unit sums;
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums.of[c] = reinterpret_cast<const std::uint32_t*>(row)[c * table_columns + place];
    return sums;
  }
  __device__ static void store(const Unit& sums, Sum* row, int unit) { row[unit] = sums; }

  [[nodiscard]] __device__ std::uint32_t whole_means(const Sum& sum, int reach) const {
    return clipped_means(sum, static_cast<std::uint32_t>((2 * reach + 1) * (2 * reach + 1)));
  }
  [[nodiscard]] __device__ std::uint32_t clipped_means(const Sum& sum, std::uint32_t count) const {
    return means(LightDivision(count << 16),
                 [&](int c) { return static_cast<std::uint64_t>(sum.of[c]) << 16; });
  }
  [[nodiscard]] __device__ std::uint32_t covered_means(std::uint32_t area, std::uint32_t inner,
                                                       std::uint32_t outer, const Sum& inner_sum,
                                                       const Sum& outer_sum, const Sum& mixed) const {
    return means(LightDivision(area), [&](int c) {
      return static_cast<std::uint64_t>(inner * inner) * inner_sum.of[c] +
             static_cast<std::uint64_t>(inner * outer) * mixed.of[c] +
             static_cast<std::uint64_t>(outer * outer) * outer_sum.of[c];
    });
  }

 private:
  static constexpr int lane_quads = table_lane_pixels / 4;

  template <class Total>
  [[nodiscard]] __device__ std::uint32_t means(const LightDivision& division, const Total& total) const {
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = light_.encoded(division(total(c)));
    return low_bytes<Channels>(means);
  }

  ByteLight light_;
};

}  // namespace satin::kernels
