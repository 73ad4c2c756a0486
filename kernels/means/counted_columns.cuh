#pragma once
// What a lane of the running means under a mask (box_mean_counted.cu) has of its columns: sums of the colours
// of pixels whose mask is not 0, and how many they are.

#include <cstdint>

#include "kernels/means/running_rows.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/means/running_values.cuh"

namespace satin::kernels {

inline constexpr int count_margin = TileMemory<std::uint32_t>::margin;

/// A tile's prefixes of counts, behind those of its colours: zeros, then one for each column.
[[nodiscard]] SATIN_HD int count_memory_bytes(int warps, int channels) {
  return (count_margin + warps * running_warp_elements / channels) * static_cast<int>(sizeof(std::uint32_t));
}

/// A 1 in each byte of a word that is not 0.
__device__ inline std::uint32_t ones_of(std::uint32_t bytes) {
  constexpr std::uint32_t low = 0x7F7F7F7FU;
  return ((((bytes & low) + low) | bytes) >> 7) & 0x01010101U;
}

/// A lane's pixels of one row with their mask, as they lie in memory.
template <int Channels>
struct CountedRow {
  static constexpr int pixels = running_elements / Channels;
  static constexpr int mask_words = pixels / 4;
  using Rows = LaneRows<std::uint8_t, Channels, std::uint32_t, running_elements>;
  using MaskRows = LaneRows<std::uint8_t, 1, std::uint32_t, pixels>;

  typename Rows::Words picture;
  typename MaskRows::Words mask;

  /// Colours become 0 where the mask is, and the mask becomes 1 elsewhere.
  __device__ void count() {
#pragma unroll
    for (int i = 0; i < mask_words; ++i) {
      const std::uint32_t ones = ones_of(mask.words[i]);
      const std::uint32_t whole = ones * 0xFFU;
      mask.words[i] = ones;
      if constexpr (Channels == 1) {
        picture.words[i] &= whole;
      } else {
        static_assert(Channels == 3 && mask_words == 1);
        picture.words[0] &= __byte_perm(whole, 0, 0x1000);
        picture.words[1] &= __byte_perm(whole, 0, 0x2211);
        picture.words[2] &= __byte_perm(whole, 0, 0x3332);
      }
    }
  }
};

/// Sums of every column over the rows of a window, sliding down the picture.
template <int Channels>
class CountedColumns {
 public:
  using Row = CountedRow<Channels>;
  static constexpr int pixels = Row::pixels;
  static_assert(2 * tuning::running_largest_direct_reach + 1 <= 0xFF, "counts of columns are bytes");

  __device__ CountedColumns(const RunningMeanArguments& arguments, const typename Row::Rows& rows,
                            const typename Row::MaskRows& mask_rows)
      : arguments_(arguments), picture_(arguments, rows), mask_(arguments, mask_rows), values_(arguments) {}

  /// Begins before row y, for which fetch() then loads.
  __device__ void start(int y) {
    const int reach = arguments_.job.y.reach;
    look_up(y);
    int first = y - reach - 1;
    int end = y + reach;
    if (arguments_.job.clipped) {
      first = max(first, 0);
      end = min(end, arguments_.job.height);
    }
    add_rows(first, end);
  }

  /// Loads what advance() will need, and looks up which rows it is next time, for row `next`.
  __device__ void fetch(int next) {
    enters_ = load(enters_at_);
    leaves_ = load(leaves_at_);
    look_up(next);
  }

  /// Moves the window to the next row, with what was fetched.
  __device__ void advance() {
    enters_.count();
    leaves_.count();
    values_.template add<-1>(enters_.picture, leaves_.picture, colours_);
#pragma unroll
    for (int i = 0; i < Row::mask_words; ++i) counts_[i] += enters_.mask.words[i] - leaves_.mask.words[i];
  }

  [[nodiscard]] __device__ Row load(int row) const { return {picture_.load(row), mask_.load(row)}; }
  [[nodiscard]] __device__ const std::uint32_t (&colours() const)[running_elements] { return colours_; }
  /// A byte for each column.
  [[nodiscard]] __device__ const std::uint32_t (&counts() const)[Row::mask_words] { return counts_; }

 private:
  static constexpr int batch = 4;  ///< rows in flight at the start of a tile

  __device__ void look_up(int y) {
    const int reach = arguments_.job.y.reach;
    enters_at_ = picture_.at(y + reach);
    leaves_at_ = picture_.at(y - reach - 1);
  }

  __device__ void load_batch(int first, int end, Row (&rows)[batch]) const {
    int at[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) at[i] = first + i < end ? picture_.start_at(first + i) : -1;
#pragma unroll
    for (int i = 0; i < batch; ++i) rows[i] = load(at[i]);
  }

  __device__ void add_rows(int first, int end) {
    Row next[batch];
    load_batch(first, end, next);
    for (int y = first; y < end; y += batch) {
      Row rows[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) rows[i] = next[i];
      load_batch(y + batch, end, next);
#pragma unroll
      for (Row& row : rows) {
        row.count();
#pragma unroll
        for (int i = 0; i < Row::mask_words; ++i) counts_[i] += row.mask.words[i];
      }
#pragma unroll
      for (int i = 0; i < batch; i += 2)
        values_.template add<1>(rows[i].picture, rows[i + 1].picture, colours_);
    }
  }

  const RunningMeanArguments& arguments_;
  RunningRows<typename Row::Rows> picture_;
  RunningRows<typename Row::MaskRows> mask_;
  RunningValues<std::uint8_t, Channels, std::uint32_t> values_;
  int enters_at_ = -1;
  int leaves_at_ = -1;
  Row enters_;
  Row leaves_;
  std::uint32_t colours_[running_elements] = {};
  std::uint32_t counts_[Row::mask_words] = {};
};

}  // namespace satin::kernels
