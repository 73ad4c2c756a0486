#pragma once
// The windows of local statistics: sums of columns that march down the picture, their prefixes along a row,
// and the differences of those. See box_stats_running.cuh.

#include <cstddef>
#include <cstdint>

#include "core/maths/local_statistics.h"
#include "kernels/box_stats_running.h"
#include "kernels/lane_rows.cuh"
#include "kernels/running_values.cuh"

namespace satin::kernels {

/// Eight columns a lane of a plane of u8, u16 or u32.
template <class T>
using StatsRows = LaneRows<T, 1, std::uint64_t>;

inline constexpr int stats_pixels = 8;
static_assert(StatsRows<std::uint8_t>::pixels == stats_pixels &&
              StatsRows<std::uint16_t>::pixels == stats_pixels &&
              StatsRows<std::uint32_t>::pixels == stats_pixels);

/// A sum and a sum of squares.
template <class Sum>
struct alignas(2 * sizeof(Sum)) SumPair {
  Sum sum = 0;
  Sum squares = 0;
};

/// The rectangle of results that a block writes, and the first column that it sums.
struct StatsPart {
  int first_x, last_x;  ///< columns [first_x, last_x)
  int first_y, last_y;
  int origin;       ///< position of the first column of the first lane, a multiple of eight
  int last_needed;  ///< position of the last column that counts
};

__device__ inline StatsPart stats_part(const RunningStatsArguments& arguments) {
  const RunningStatsJob& job = arguments.running;
  const RunningStatsTiles& tiles = arguments.tiles;
  StatsPart part{};
  part.first_x = static_cast<int>(blockIdx.x) * tiles.strip_width;
  part.last_x = min(part.first_x + tiles.strip_width, job.width);
  const auto band = static_cast<std::int64_t>(blockIdx.y);
  part.first_y = static_cast<int>(band * job.height / tiles.bands);
  part.last_y = static_cast<int>((band + 1) * job.height / tiles.bands);
  const int before = part.first_x - job.reach_x - 1;
  part.origin = before - (before % stats_pixels + stats_pixels) % stats_pixels;
  part.last_needed = part.last_x - 1 + job.reach_x;
  return part;
}

/// A row at eight columns, which may lie anywhere and not be aligned. Out of line, because it is rare.
template <class T>
__device__ __noinline__ typename StatsRows<T>::Words load_anyhow(const RunningStatsArguments& arguments,
                                                                 int x, int last_needed, bool clipped,
                                                                 int row) {
  const StatsRows<T> rows(arguments.plane, x, last_needed, arguments.running.width, clipped,
                          arguments.columns);
  typename StatsRows<T>::Words loaded;
  rows.load(row, loaded);
  return loaded;
}

/// Rows of a plane at one lane's eight columns.
template <class T>
class StatsReader {
 public:
  using Rows = StatsRows<T>;
  using Words = typename Rows::Words;

  __device__ StatsReader(const RunningStatsArguments& arguments, int x, int last_needed, bool clipped)
      : arguments_(arguments), x_(x), last_needed_(last_needed), clipped_(clipped) {
    const Rows rows(arguments.plane, x, last_needed, arguments.running.width, clipped, arguments.columns);
    if (rows.place == Rows::Place::inside && rows.aligned) base_ = rows.data + rows.offset;
  }

  /// Zeros if the row is negative.
  __device__ void load(int row, Words& loaded) const {
    loaded = {};
    if (row < 0) return;
    if (base_ == nullptr) {
      loaded = load_anyhow<T>(arguments_, x_, last_needed_, clipped_, row);
      return;
    }
    const std::byte* from = base_ + row * arguments_.plane.row;
#pragma unroll
    for (int i = 0; i < Rows::bytes; i += Rows::access) fetch<Rows::access>(loaded.words, i, from + i);
  }

 private:
  const RunningStatsArguments& arguments_;
  const std::byte* base_ = nullptr;  ///< null where rows are not all inside of the picture and aligned
  int x_;
  int last_needed_;
  bool clipped_;
};

/// Sums of a lane's columns over the window of rows.
template <class T, class Sum>
class StatsColumns {
 public:
  using Rows = StatsRows<T>;
  using Words = typename Rows::Words;

  SumPair<Sum> sums[stats_pixels];

  __device__ StatsColumns(const RunningStatsArguments& arguments, const StatsPart& part)
      : arguments_(arguments),
        reader_(arguments, part.origin + static_cast<int>(threadIdx.x) * stats_pixels, part.last_needed,
                arguments.running.clipped) {}

  /// The window around row y.
  __device__ void start(int y) {
    const RunningStatsJob& job = arguments_.running;
    int first = y - job.reach_y;
    int end = y + job.reach_y + 1;
    if (job.clipped) {
      first = max(first, 0);
      end = min(end, job.height);
    }
#pragma unroll 1
    for (int row = first; row < end; row += 4) {
      Words words[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) reader_.load(row + k < end ? row_at(row + k) : -1, words[k]);
      add_four(words);
    }
  }

  /// Loads what advance() to the window around row y will need.
  __device__ void fetch(int y) {
    reader_.load(row_at(y + arguments_.running.reach_y), enters_);
    reader_.load(row_at(y - arguments_.running.reach_y - 1), leaves_);
  }

  /// From the window around row y - 1 to the one around row y: a^2 - b^2 = (a - b) (a + b).
  __device__ void advance() {
    if constexpr (sizeof(T) == 1) {
      constexpr std::uint32_t plus = 0x00010001;
      constexpr std::uint32_t minus = 0xFFFF0001;
#pragma unroll
      for (int i = 0; i < Rows::word_count; ++i) {
        const std::uint32_t lower = __byte_perm(enters_.words[i], leaves_.words[i], 0x5140);  // e0 l0 e1 l1
        const std::uint32_t upper = __byte_perm(enters_.words[i], leaves_.words[i], 0x7362);
        step(add_weighted_low(minus, lower, 0), add_weighted_low(plus, lower, 0), sums[4 * i]);
        step(add_weighted_high(minus, lower, 0), add_weighted_high(plus, lower, 0), sums[4 * i + 1]);
        step(add_weighted_low(minus, upper, 0), add_weighted_low(plus, upper, 0), sums[4 * i + 2]);
        step(add_weighted_high(minus, upper, 0), add_weighted_high(plus, upper, 0), sums[4 * i + 3]);
      }
    } else {
#pragma unroll
      for (int e = 0; e < stats_pixels; ++e) {
        const auto in = static_cast<std::int64_t>(element<T>(enters_.words, e));
        const auto out = static_cast<std::int64_t>(element<T>(leaves_.words, e));
        sums[e].sum += static_cast<Sum>(in - out);
        sums[e].squares += static_cast<Sum>((in - out) * (in + out));
      }
    }
  }

 private:
  /// The row of the picture at a position, -1 where there is none: looked up outside of the picture alone.
  [[nodiscard]] __device__ int row_at(int position) const {
    if (static_cast<unsigned>(position) < static_cast<unsigned>(arguments_.running.height)) return position;
    return arguments_.running.clipped ? -1 : __ldg(arguments_.rows + position);
  }

  __device__ static void step(int difference, int sum, SumPair<Sum>& to) {
    to.sum += static_cast<Sum>(static_cast<std::int64_t>(difference));
    to.squares += static_cast<Sum>(static_cast<std::int64_t>(difference * sum));
  }

  __device__ void add_four(const Words (&rows)[4]) {
    if constexpr (sizeof(T) == 1) {
#pragma unroll
      for (int i = 0; i < Rows::word_count; ++i) {
        const std::uint32_t ab_low = __byte_perm(rows[0].words[i], rows[1].words[i], 0x5140);  // a0 b0 a1 b1
        const std::uint32_t ab_high = __byte_perm(rows[0].words[i], rows[1].words[i], 0x7362);
        const std::uint32_t cd_low = __byte_perm(rows[2].words[i], rows[3].words[i], 0x5140);
        const std::uint32_t cd_high = __byte_perm(rows[2].words[i], rows[3].words[i], 0x7362);
        add_column(__byte_perm(ab_low, cd_low, 0x5410), sums[4 * i]);
        add_column(__byte_perm(ab_low, cd_low, 0x7632), sums[4 * i + 1]);
        add_column(__byte_perm(ab_high, cd_high, 0x5410), sums[4 * i + 2]);
        add_column(__byte_perm(ab_high, cd_high, 0x7632), sums[4 * i + 3]);
      }
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int e = 0; e < stats_pixels; ++e) {
          const Sum value = element<T>(rows[k].words, e);
          sums[e].sum += value;
          sums[e].squares += value * value;
        }
    }
  }

  /// Four pixels of one column.
  __device__ static void add_column(std::uint32_t bytes, SumPair<Sum>& to) {
    to.sum += static_cast<Sum>(__dp4a(bytes, 0x01010101U, 0U));
    to.squares += static_cast<Sum>(__dp4a(bytes, bytes, 0U));
  }

  const RunningStatsArguments& arguments_;
  StatsReader<T> reader_;
  Words enters_{};
  Words leaves_{};
};

/// The prefixes of one row, in shared memory.
template <class Sum>
class StatsPrefixes {
 public:
  using Pair = SumPair<Sum>;

  __device__ explicit StatsPrefixes(void* memory)
      : totals_(static_cast<Pair*>(memory)), prefixes_(totals_ + warps()) {}

  [[nodiscard]] static constexpr std::size_t bytes(int warps) {
    return static_cast<std::size_t>(warps) * (1 + warp_size * stats_pixels) * sizeof(Pair);
  }

  /// To be called by all threads of the block, and a barrier later the prefixes can be read.
  __device__ void publish(const Pair (&sums)[stats_pixels]) {
    Pair own;
#pragma unroll
    for (int e = 0; e < stats_pixels; ++e) {
      own.sum += sums[e].sum;
      own.squares += sums[e].squares;
    }
    Pair before{inclusive_scan(own.sum), inclusive_scan(own.squares)};
    const auto warp = static_cast<int>(threadIdx.x) / warp_size;
    if (lane_index() == warp_size - 1) totals_[warp] = before;
    __syncthreads();  // and all have read the row before
    before.sum -= own.sum;
    before.squares -= own.squares;
#pragma unroll 1
    for (int w = 0; w < warp; ++w) {
      before.sum += totals_[w].sum;
      before.squares += totals_[w].squares;
    }
    Pair* to = prefixes_ + threadIdx.x;
#pragma unroll
    for (int e = 0; e < stats_pixels; ++e) {
      before.sum += sums[e].sum;
      before.squares += sums[e].squares;
      to[e * static_cast<int>(blockDim.x)] = before;
    }
  }

  /// Where the prefix of column `first` + 8 thread stands.
  [[nodiscard]] __device__ static int place_of(int first) {
    return (first & 7) * static_cast<int>(blockDim.x) + (first >> 3) + static_cast<int>(threadIdx.x);
  }
  [[nodiscard]] __device__ Pair at(int place) const { return prefixes_[place]; }

 private:
  [[nodiscard]] __device__ static int warps() { return static_cast<int>(blockDim.x) / warp_size; }

  Pair* totals_;
  Pair* prefixes_;
};

/// The windows of a thread's eight results of one row.
template <class Sum>
class StatsWindows {
 public:
  __device__ StatsWindows(const RunningStatsArguments& arguments, const StatsPart& part,
                          const StatsPrefixes<Sum>& prefixes)
      : job_(arguments.running),
        prefixes_(prefixes),
        first_x_(part.first_x + static_cast<int>(threadIdx.x) * stats_pixels),
        high_(part.first_x + job_.reach_x - part.origin),
        low_(high_ - 2 * job_.reach_x - 1),
        count_(max(0, min(stats_pixels, part.last_x - first_x_))),
        whole_(!job_.clipped ||
               (first_x_ >= job_.reach_x && first_x_ + stats_pixels + job_.reach_x <= job_.width)) {}

  [[nodiscard]] __device__ int x() const { return first_x_; }
  [[nodiscard]] __device__ int count() const { return count_; }  ///< results: 0 to 8
  /// All eight windows are as wide as can be.
  [[nodiscard]] __device__ bool whole() const { return whole_; }

  [[nodiscard]] __device__ SumPair<Sum> sums(int i) const { return between(high_place(i), low_place(i)); }
  /// Of the pixels between two places of prefixes.
  [[nodiscard]] __device__ SumPair<Sum> between(int high_place, int low_place) const {
    const SumPair<Sum> high = prefixes_.at(high_place);
    const SumPair<Sum> low = prefixes_.at(low_place);
    return {high.sum - low.sum, high.squares - low.squares};
  }
  [[nodiscard]] __device__ int high_place(int i) const { return prefixes_.place_of(high_ + i); }
  [[nodiscard]] __device__ int low_place(int i) const { return prefixes_.place_of(low_ + i); }

  /// Pixels of a window.
  [[nodiscard]] __device__ std::uint32_t area(int i, int y) const {
    const int columns =
        whole_ ? 2 * job_.reach_x + 1
               : min(first_x_ + i + job_.reach_x, job_.width - 1) - max(first_x_ + i - job_.reach_x, 0) + 1;
    const int rows = !job_.clipped ? 2 * job_.reach_y + 1
                                   : min(y + job_.reach_y, job_.height - 1) - max(y - job_.reach_y, 0) + 1;
    return static_cast<std::uint32_t>(columns) * static_cast<std::uint32_t>(rows);
  }

  [[nodiscard]] __device__ LocalStatistics statistics(int i, int y, const Quantised& quantised) const {
    const SumPair<Sum> found = sums(i);
    return local_statistics({area(i, y), found.sum, found.squares}, quantised);
  }

 private:
  const RunningStatsJob& job_;
  const StatsPrefixes<Sum>& prefixes_;
  int first_x_;
  int high_;  ///< columns of the prefixes of the first thread's first window
  int low_;
  int count_;
  bool whole_;
};

}  // namespace satin::kernels
