#pragma once
// The sums of a tile in shared memory.
//
// A sum has two words, as additions of 32 bits are the memory's own: of 64 bits, with a carry between them,
// or short ones of 19 bits and 32 that need none. The low part of a short summand is balanced, -2^18 to 2^18
// - 1, so that 2^13 - 1 of them may meet in one word; the high words, and so all sums, are right modulo 2^51.

#include <bit>
#include <type_traits>

#include "kernels/lens/splat_tile.cuh"

namespace satin::kernels {

inline constexpr int tile_threads = 256;
inline constexpr int tile_words = splat_tile_pixels;
/// Halves of odd rows are exchanged: two rows of samples side by side share no banks.
inline constexpr int exchanged = 16;

/// Tiles begin at a multiple of it.
inline constexpr std::uint32_t row_bytes = splat_tile_width * 4;
static_assert(std::has_single_bit(row_bytes));

inline constexpr int low_bits = 19;
static_assert(low_bits + 32 == splat_short_bits);
/// So many low parts may meet in one word.
inline constexpr int most_low_parts = (1 << (32 - low_bits)) - 1;

__device__ inline void add_to_shared(std::uint32_t address, std::uint32_t value) {
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(value));
}
__device__ inline std::uint32_t fetch_and_add_to_shared(std::uint32_t address, std::uint32_t value) {
  std::uint32_t before;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"(address), "r"(value));
  return before;
}

/// The sums of `Planes` planes of a tile, by all threads of a block.
template <int Planes, bool Short>
class TileSums {
 public:
  /// Type of a colour times a weight: short sums are made of colours of 21 bits at most, merged ones of 23.
  using Factor = std::conditional_t<Short, std::uint32_t, std::uint64_t>;

  struct Summand {
    std::uint32_t low[Planes];
    std::uint32_t high[Planes];

    [[nodiscard]] __device__ Summand negative() const {
      Summand result;
#pragma unroll
      for (int plane = 0; plane < Planes; ++plane) {
        result.low[plane] = 0 - low[plane];
        result.high[plane] = 0 - high[plane] - (!Short && low[plane] != 0 ? 1 : 0);
      }
      return result;
    }
    __device__ void set(int plane, std::uint64_t value) {
      if constexpr (Short) {
        const std::uint64_t raised = value + low_half;
        low[plane] = (static_cast<std::uint32_t>(raised) & low_mask) - low_half;
        high[plane] = static_cast<std::uint32_t>(raised >> low_bits);
      } else {
        low[plane] = static_cast<std::uint32_t>(value);
        high[plane] = static_cast<std::uint32_t>(value >> 32);
      }
    }
  };

  __device__ TileSums(std::uint32_t* words, std::int32_t left, std::int32_t top)
      : words_(words), base_(shared_address(words)), left_(left), top_(top) {}

  __device__ void begin_with_nothing() {
    for (int i = static_cast<int>(threadIdx.x); i < 2 * Planes * tile_words / 4; i += tile_threads)
      reinterpret_cast<uint4*>(words_)[i] = make_uint4(0, 0, 0, 0);
  }

  /// Begins with second differences that are there already, of the tile's planes from `first` on.
  __device__ void begin_with(const SplatArguments& a, const std::uint64_t* direct, int first) {
    const auto thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < splat_tile_pixels; i += tile_threads) {
      const int column = i % splat_tile_width;
      Summand value;
#pragma unroll
      for (int plane = 0; plane < Planes; ++plane) {
        value.set(plane, direct[direct_place(a, i, first + plane)]);
        std::uint32_t* word = words_ + 2 * plane * tile_words + word_of(i / splat_tile_width, column);
        word[0] = value.low[plane];
        word[tile_words] = value.high[plane];
      }
    }
  }

  /// A corner of the box around this one may lie in the tile. What lies above or before the picture counts on
  /// its border.
  [[nodiscard]] __device__ bool meets(std::int32_t first_x, std::int32_t last_x, std::int32_t first_y,
                                      std::int32_t last_y) const {
    return last_x >= left_ && first_x < left_ + splat_tile_width && last_y >= top_ &&
           first_y < top_ + splat_tile_height;
  }

  /// Adds the corners of a staircase that lie in the tile.
  __device__ void add(const NearStaircase& stairs, std::int32_t x, std::int32_t y, std::int32_t more,
                      const Summand& value) const {
    const Summand taken = value.negative();
    std::uint32_t before[2];
#pragma unroll
    for (int k = 0; k < NearStaircase::most_boxes; ++k) {
      if (k >= stairs.boxes) break;
      const std::uint32_t rows[2] = {row_place(y - stairs.high[k]), row_place(y + stairs.high[k] + more)};
      const std::uint32_t columns[2] = {column_place(x - stairs.wide[k]),
                                        column_place(x + stairs.wide[k] + more)};
      if (k > 0) add_box(before, rows, taken, value);
      add_box(columns, rows, value, taken);
      before[0] = columns[0];
      before[1] = columns[1];
    }
  }

  /// Makes every word one low part again; the block waits before and after it.
  __device__ void settle() {
    for (int i = static_cast<int>(threadIdx.x); i < Planes * tile_words / 4; i += tile_threads) {
      const int plane = i / (tile_words / 4);
      uint4* words = reinterpret_cast<uint4*>(words_) + (plane * tile_words / 4 + i);
      uint4 low = words[0];
      uint4 high = words[tile_words / 4];
      settle(low.x, high.x);
      settle(low.y, high.y);
      settle(low.z, high.z);
      settle(low.w, high.w);
      words[0] = low;
      words[tile_words / 4] = high;
    }
  }

  /// The second difference at column 2 * lane + odd.
  [[nodiscard]] __device__ std::uint64_t sum(int plane, int row, int odd) const {
    const std::uint32_t* word = words_ + 2 * plane * tile_words + word_of(row, 2 * lane_index() + odd);
    const std::uint32_t low = word[0];
    const std::uint32_t high = word[tile_words];
    if constexpr (Short)
      return (std::uint64_t{high} << low_bits) +
             static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
    else
      return std::uint64_t{high} << 32 | low;
  }

 private:
  static constexpr std::uint32_t low_half = 1U << (low_bits - 1);
  static constexpr std::uint32_t low_mask = (1U << low_bits) - 1;
  static constexpr std::uint32_t word_bytes = 4;
  /// The place of a row or of a column outside the tile has this bit.
  static constexpr std::uint32_t outside_row = 1U << 31;
  static constexpr std::uint32_t outside_column = 1U << 30;

  [[nodiscard]] static __device__ int word_of(int row, int column) {
    return row * splat_tile_width + (column ^ (row & 1) * exchanged);
  }

  /// This address is equal in all lanes. It is taken from lane 0: otherwise the compiler computes it for
  /// every corner.
  [[nodiscard]] static __device__ std::uint32_t shared_address(const std::uint32_t* words) {
    return __shfl_sync(whole_warp, static_cast<std::uint32_t>(__cvta_generic_to_shared(words)), 0);
  }

  static __device__ void settle(std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t raised = low + low_half;
    high += static_cast<std::uint32_t>(static_cast<std::int32_t>(raised) >> low_bits);
    low = (raised & low_mask) - low_half;
  }

  [[nodiscard]] __device__ std::int32_t row_of(std::int32_t y) const { return max(y - top_, -top_); }
  [[nodiscard]] __device__ std::int32_t column_of(std::int32_t x) const { return max(x - left_, -left_); }
  /// Rows and columns of a corner are joined by an exclusive or.
  [[nodiscard]] __device__ std::uint32_t row_place(std::int32_t y) const {
    const auto row = static_cast<std::uint32_t>(row_of(y));
    return row < splat_tile_height ? base_ + row * row_bytes + (row & 1) * (exchanged * word_bytes)
                                   : outside_row;
  }
  [[nodiscard]] __device__ std::uint32_t column_place(std::int32_t x) const {
    const auto column = static_cast<std::uint32_t>(column_of(x));
    return column < splat_tile_width ? column * word_bytes : outside_column;
  }

  __device__ void add_box(const std::uint32_t (&columns)[2], const std::uint32_t (&rows)[2],
                          const Summand& value, const Summand& taken) const {
    add_corner(columns[0] ^ rows[0], value);
    add_corner(columns[1] ^ rows[0], taken);
    add_corner(columns[0] ^ rows[1], taken);
    add_corner(columns[1] ^ rows[1], value);
  }

  __device__ void add_corner(std::uint32_t address, const Summand& value) const {
    if (address >= outside_column) return;
#pragma unroll
    for (int plane = 0; plane < Planes; ++plane, address += 2 * tile_words * word_bytes) {
      const std::uint32_t high_address = address + tile_words * word_bytes;
      if constexpr (Short) {
        add_to_shared(address, value.low[plane]);
        // Weights, which are the last plane, have no high part where shapes are large
        if (plane + 1 < Planes || value.high[plane] != 0) add_to_shared(high_address, value.high[plane]);
      } else {
        const std::uint32_t before = fetch_and_add_to_shared(address, value.low[plane]);
        const bool carry = before + value.low[plane] < before;
        add_to_shared(high_address, value.high[plane] + (carry ? 1 : 0));
      }
    }
  }

  std::uint32_t* words_;
  std::uint32_t base_;  ///< in shared memory
  std::int32_t left_;
  std::int32_t top_;
};

}  // namespace satin::kernels
