#pragma once
// Types of the single-pass table (kernels/tables/table_single_pass.cuh): pixels, the shape of a tile, the
// workspace, and the shared memory through which the warps of a block exchange sums.
//
// A row is a sequence of elements, the channels of a pixel one after the other. A lane holds one word of a
// row, four elements of 8 bits or two of 16 bits, so that its sums of 32 or 64 bits fill one store. The
// phase of a word is the channel of its first element.

#include <cstdint>
#include <numeric>

#include "kernels/device/published.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/byte_rows.cuh"

namespace satin::kernels::single_pass {

inline constexpr int leftward_totals = warp_size - 1;  ///< one per lane; the last lane reads the corners
inline constexpr int tile_height = tuning::single_pass_tile_height;
inline constexpr int lane_rows = 4;  ///< rows per lane where one warp covers all rows of a tile

/// Adds four bytes of two rows to sums of 16 bits, even and odd bytes apart.
__device__ inline void add_bytes(std::uint32_t upper, std::uint32_t lower, std::uint32_t& even,
                                 std::uint32_t& odd) {
  even += (upper & 0xFF00FF) + (lower & 0xFF00FF);
  odd += (upper >> 8 & 0xFF00FF) + (lower >> 8 & 0xFF00FF);
}

template <class T, int Channels, class SumType>
struct Pixels {
  using Element = T;
  using Sum = SumType;
  using Word = std::uint32_t;
  static constexpr int channels = Channels;
  static constexpr int elements = sizeof(T) == 1 && sizeof(Sum) == 4 ? 4 : 2;  ///< elements of a lane
  static constexpr int lane_bytes = elements * static_cast<int>(sizeof(T));
  static constexpr std::uint32_t largest = (1U << 8 * sizeof(T)) - 1;
  /// Whether the sums of two rows of a warp fit one register.
  static constexpr bool pairs_rows = largest * warp_size * elements / Channels <= 0xFFFF;

  static constexpr int step = std::gcd(elements, Channels);  ///< difference of neighbouring phases
  static constexpr int phases = Channels / step;
  static constexpr int kinds = elements < Channels ? elements : Channels;  ///< number of channels in one word

  __device__ static std::uint32_t from_stored(std::uint32_t word) {
    return elements == 4 || sizeof(T) == 2 ? word : __byte_perm(word, 0, 0x4140);
  }

  __device__ static std::uint32_t weighted(std::uint32_t word, std::uint32_t weights, std::uint32_t sum) {
    if constexpr (elements == 4) return __dp4a(word, weights, sum);
    return __dp2a_lo(word, weights, sum);
  }

  /// Returns weights of 1 for the elements up to `last` of the same channel.
  __device__ static std::uint32_t weights_up_to(int last) {
    std::uint32_t weights = 0;
#pragma unroll
    for (int i = 0; i < elements; ++i)
      if (i <= last && (last - i) % Channels == 0) weights |= 1U << 8 * i;
    return weights;
  }

  /// Sums of columns: four of 16 bits in two registers, or two of 32 bits.
  using ColumnSums = Vector<std::uint32_t, 2>;
  __device__ static void add_to_columns(std::uint32_t upper, std::uint32_t lower, ColumnSums& sums) {
    if constexpr (elements == 4) {
      add_bytes(upper, lower, sums.of[0], sums.of[1]);
    } else {
      sums.of[0] += (upper & 0xFFFF) + (lower & 0xFFFF);
      sums.of[1] += (upper >> 16) + (lower >> 16);
    }
  }
  __device__ static Vector<std::uint32_t, elements> of_columns(const ColumnSums& sums) {
    if constexpr (elements == 4) {
      return {{sums.of[0] & 0xFFFF, sums.of[1] & 0xFFFF, sums.of[0] >> 16, sums.of[1] >> 16}};
    } else {
      return {{sums.of[0], sums.of[1]}};
    }
  }

  /// Turns the sums of the row above into those of this row: adds the word and, for each channel, the pixels
  /// before it in the warp (`before`) and to the left of the warp (`left`).
  template <class Before, class Left>
  __device__ static void add_row(std::uint32_t word, const Before& before, const Left& left,
                                 Vector<Sum, elements>& sums) {
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      const int k = i % channels;
      if constexpr (sizeof(Sum) == 4) {
        sums.of[i] += weighted(word, weights_up_to(i), before.of[k] + left.of[k]);
      } else {
        sums.of[i] += left.of[k] + weighted(word, weights_up_to(i), before.of[k]);
      }
    }
  }

  class Phase {
   public:
    __device__ explicit Phase(int lane_across)
        : phase_(phases == 1 ? 0 : lane_across * elements % Channels) {}

    [[nodiscard]] __device__ int number() const { return phase_ / step; }
    [[nodiscard]] __device__ bool is_of(int channel, int element) const {
      if constexpr (phases == 1) return element % Channels == channel;
      return phase_ == (channel + Channels - element % Channels) % Channels;
    }
    [[nodiscard]] __device__ std::uint32_t weights_of(int channel) const {
      std::uint32_t weights = 0;
#pragma unroll
      for (int i = 0; i < elements; ++i) weights |= is_of(channel, i) ? 1U << 8 * i : 0U;
      return weights;
    }
    template <class Value>
    [[nodiscard]] __device__ Value sum_of(int channel, const Vector<Value, elements>& values) const {
      Value sum = 0;
#pragma unroll
      for (int i = 0; i < elements; ++i) sum += is_of(channel, i) ? values.of[i] : Value{0};
      return sum;
    }
    /// Spreads a value for each channel over the word's first `kinds` elements.
    template <class Value>
    [[nodiscard]] __device__ Vector<Value, kinds> of_word(const Value (&of_channels)[Channels]) const {
      Vector<Value, kinds> values;
#pragma unroll
      for (int k = 0; k < kinds; ++k) {
        values.of[k] = of_channels[k];
#pragma unroll
        for (int phase = step; phase < Channels; phase += step)
          if (phase_ == phase) values.of[k] = of_channels[(phase + k) % Channels];
      }
      return values;
    }

   private:
    int phase_;
  };
};

/// A tile of WarpColumns x WarpRows warps, each one word per lane wide and `Rows` rows high. `Blocks` per
/// multiprocessor bound the registers. A tile looks `Upward` and `Leftward` tiles back.
template <int WarpColumns, int WarpRows, int Rows, int Blocks, int Upward, int Leftward>
struct TileShape {
  static constexpr int warp_columns = WarpColumns;
  static constexpr int warp_rows = WarpRows;
  static constexpr int rows = Rows;
  static constexpr int blocks = Blocks;
  static constexpr int upward = Upward;
  static constexpr int leftward = Leftward;
};

struct TileSizes {
  int channels;
  int width;  ///< elements
  int upward;
  int leftward;
  int sum_words;     ///< words of an inclusive sum
  int corner_words;  ///< words of a corner
};

template <class PixelsType, class Shape>
struct Tiling {
  using Pixels = PixelsType;
  using Sum = typename Pixels::Sum;
  using Phase = typename Pixels::Phase;
  static constexpr int elements = Pixels::elements;
  static constexpr int channels = Pixels::channels;
  static constexpr int sum_words = word_count_of<Sum>;
  static constexpr int warp_columns = Shape::warp_columns;
  static constexpr int warp_rows = Shape::warp_rows;
  static constexpr int rows = Shape::rows;
  static constexpr int blocks = Shape::blocks;
  static constexpr int upward = Shape::upward;
  static constexpr int leftward = Shape::leftward;
  static constexpr int warps = warp_columns * warp_rows;
  static constexpr int threads = warps * warp_size;
  static constexpr int lanes_across = warp_columns * warp_size;
  static constexpr int warp_elements = warp_size * elements;
  static constexpr int width = lanes_across * elements;
  /// Number of warps of one column that look upward, and of warps that look left for one channel. Warps left
  /// over look nowhere.
  static constexpr int upward_groups = warp_rows < upward + sum_words ? warp_rows : upward + sum_words;
  static constexpr int leftward_groups = warps / channels;
  static constexpr int corner_words = static_cast<int>(sizeof(Sum)) / 4;
  static constexpr bool pairs_columns = elements != 2;
  static constexpr TileSizes sizes = {channels, width, upward, leftward, sum_words, corner_words};

  static_assert(warp_rows * rows == tile_height && tile_height == warp_size * lane_rows);
  static_assert(rows % lane_rows == 0 && rows <= warp_size);
  static_assert(width % channels == 0 && warps >= channels);
  static_assert(warps <= warp_size && upward_groups * warp_columns <= warp_size);
  static_assert(3 * corner_words <= upward, "each row of totals has one word of a corner");
  static_assert(lanes_across <= threads - channels * warp_size, "the last warps publish rows");

  // Published sums, and sums that share a register, must fit.
  static constexpr std::uint64_t largest_of_row = std::uint64_t{Pixels::largest} * width / channels;
  static constexpr std::uint64_t largest_of_column = std::uint64_t{Pixels::largest} * tile_height;
  static_assert(largest_of_row <= largest_value && largest_of_column <= largest_value);
  static_assert(largest_of_row * tile_height <= 0xFFFFFFFF, "total of the tile");
  static_assert(!pairs_columns || largest_of_column <= 0xFFFF, "two columns in a register");
  static_assert(leftward * largest_of_row <= 0xFFFFFFFF && upward * largest_of_column <= 0xFFFFFFFF);
};

/// Workspace in device memory, indexed in 32 bits. Plane 0 of each array holds the sums of tiles; the planes
/// after it hold the words of corners or of inclusive sums.
struct Workspace {
  unsigned* counter;           ///< counts the blocks that have run
  std::uint64_t* totals;       ///< [1 + corner_words][channels][tiles]
  std::uint32_t* column_sums;  ///< [1 + sum_words][tile rows][padded width]
  std::uint32_t* row_sums;     ///< [1 + sum_words][tiles][channels][tile height]
};

struct Job {
  ByteRows picture;
  std::byte* table;
  std::int64_t table_row;
  int width;  ///< elements
  int tile_columns;
  int tile_rows;
  int run_bits;   ///< a run advances the counter by 2^run_bits, at least the number of tiles
  int looks;      ///< attempts after which a block stops waiting and works alone
  bool reversed;  ///< the first blocks do the last tiles
  Workspace workspace;
};

struct Tile {
  int number;
  int row;
  int column;
  std::uint32_t tag;
};

template <class Tiling>
struct Exchange {
  using Sum = typename Tiling::Sum;
  using Pixels = typename Tiling::Pixels;
  static constexpr int carries = Pixels::kinds == 3 ? 4 : Pixels::kinds;

  Vector<Sum, Tiling::elements> columns_above[Tiling::upward_groups]
                                             [Tiling::lanes_across];  ///< terms of the sums above
  Vector<Sum, lane_rows> rows_left[Tiling::warps][warp_size];         ///< terms of the sums to the left
  Vector<Sum, carries> row_carries[Tiling::warps][Pixels::phases][Tiling::rows];  ///< by phase
  typename Pixels::ColumnSums column_sums[Tiling::warp_rows]
                                         [Tiling::lanes_across];  ///< packed by Pixels::add_to_columns()
  alignas(16) std::uint32_t row_sums[Tiling::channels][Tiling::warp_columns][tile_height];
  Sum columns_above_of_warp[Tiling::channels][Tiling::upward_groups * Tiling::warp_columns];
  Sum rows_left_of_warp[Tiling::warps][Tiling::warp_rows];
  Sum corner[Tiling::warps];
  std::uint32_t tag;
};

/// Position of the calling warp in the tile.
template <class Tiling>
struct WarpPosition {
  int warp;
  int column;  ///< column of warps
  int row;
  int lane_across;

  __device__ WarpPosition()
      : warp(__shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / warp_size,
                         0)),  // lets the compiler know that it is uniform
        column(warp % Tiling::warp_columns),
        row(warp / Tiling::warp_columns),
        lane_across(column * warp_size + lane_index()) {}
};

/// Sums over the warp. Every lane gets the sum.
template <class Sum>
__device__ Sum warp_sum(Sum value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Sum) == 4) return __reduce_add_sync(whole_warp, value);
#endif
  return sum_over<warp_size>(value);
}

// --- Indices into the workspace ---

/// Returns the index of the totals, or of a word of the corners, of one channel.
template <class Tiling>
__device__ int index_of_totals(const Job& job, int plane, int channel) {
  return (plane * Tiling::channels + channel) * job.tile_rows * job.tile_columns;
}

template <class Tiling>
__device__ int padded_width(const Job& job) {
  return job.tile_columns * Tiling::width;
}
template <class Tiling>
__device__ int index_of_columns(const Job& job, const Tile& tile, int lane_across) {
  return tile.row * padded_width<Tiling>(job) + tile.column * Tiling::width + lane_across * Tiling::elements;
}
template <class Tiling>
__device__ int column_plane(const Job& job) {
  return job.tile_rows * padded_width<Tiling>(job);
}

template <class Tiling>
__device__ int index_of_row(const Tile& tile, int channel, int row) {
  return (tile.number * Tiling::channels + channel) * tile_height + row;
}
template <class Tiling>
__device__ int row_plane(const Job& job) {
  return job.tile_rows * job.tile_columns * Tiling::channels * tile_height;
}

}  // namespace satin::kernels::single_pass
