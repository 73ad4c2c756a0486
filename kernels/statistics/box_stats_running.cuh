#pragma once
// Kernel of local mean and deviation, without a table.
//
// A block slides a window down a tile. The sums of each column and of its squares over the window's rows are
// in registers: a row enters, a row leaves. For each row of results the block writes their prefix sums along
// the row to shared memory, and the sums over a window are the differences of two of them. They are modulo
// 2^32 or 2^64; the sums over one window fit. A sink (box_stats_sinks.cuh, box_stats_numbers.cu) turns them
// into results.
//
// A lane sums a few neighbouring pixels of a plane, or of a picture with all its channels interleaved, and
// computes as many results.
//
// Bytes moved per value: the output, and the plane or picture three times, two of them from the L2 cache; in
// addition, the rows of one window for every tile.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/lane.cuh"
#include "kernels/statistics/launch.h"
#include "statistics/maths/local_statistics.h"

namespace satin::kernels {

template <class Sum>
struct alignas(2 * sizeof(Sum)) SumPair {
  Sum sum = 0;
  Sum squares = 0;
};

constexpr std::size_t stats_prefixes(int warps, int channels, int elements) {
  return static_cast<std::size_t>(warps) * (channels + warp_size * (elements + 1));
}

/// Prefix sums of one row in shared memory, in the order of the row's elements. A free entry follows each
/// lane's elements, so that lanes that read the same element of their own use different banks.
template <class Sum, class Rows>
class StatsPrefixes {
 public:
  using Pair = SumPair<Sum>;
  static constexpr int elements = Rows::elements;
  static constexpr int channels = elements / Rows::pixels;
  static_assert(elements % 2 == 0);

  __device__ explicit StatsPrefixes(void* memory)
      : prefixes_(static_cast<Pair*>(memory)), totals_(prefixes_ + (elements + 1) * blockDim.x) {}

  /// All threads of the block call this together; one barrier later the prefixes can be read.
  __device__ void publish(const Pair (&sums)[elements]) {
    Pair own[channels];
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      own[e % channels].sum += sums[e].sum;
      own[e % channels].squares += sums[e].squares;
    }
    Sum scanned[2 * channels];
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      scanned[2 * c] = own[c].sum;
      scanned[2 * c + 1] = own[c].squares;
    }
    inclusive_scans(scanned);
    Pair before[channels];
#pragma unroll
    for (int c = 0; c < channels; ++c) before[c] = {scanned[2 * c], scanned[2 * c + 1]};
    const auto warp = static_cast<int>(threadIdx.x) / warp_size;
    if (lane_index() == warp_size - 1) {
#pragma unroll
      for (int c = 0; c < channels; ++c) totals_[warp * channels + c] = before[c];
    }
    __syncthreads();  // all threads have read the previous row
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      before[c].sum -= own[c].sum;
      before[c].squares -= own[c].squares;
    }
    add_totals(warp, before);
    Pair* to = prefixes_ + static_cast<int>(threadIdx.x) * (elements + 1);
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      before[e % channels].sum += sums[e].sum;
      before[e % channels].squares += sums[e].squares;
      to[e] = before[e % channels];
    }
  }

  [[nodiscard]] __device__ Pair at(int index) const { return prefixes_[index]; }

 private:
  /// Adds this row's sums of all warps to the left.
  __device__ void add_totals(int warp, Pair (&to)[channels]) const {
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      const Pair total = lane_index() < warp ? totals_[lane_index() * channels + c] : Pair{};
      to[c].sum += sum_of_lanes(total.sum);
      to[c].squares += sum_of_lanes(total.squares);
    }
  }

  Pair* prefixes_;
  Pair* totals_;
};

/// The columns of a lane in rows of u8, u16 or u32: 24 elements of RGB, otherwise 16, with 32-bit sums, and
/// half as many with 64-bit sums.
template <class T, int Channels, class Sum>
using StatsRows = LaneRows<T, Channels, Sum>;

/// The rectangle of results [first_x, last_x) x [first_y, last_y) of a block, and the columns that it sums.
struct StatsTile : TileRect {
  int origin;       ///< position of the first lane's first column
  int last_needed;  ///< position of the last column of any window
};

/// Returns the tile of this block. Its origin is a multiple of `pixels`, the columns of a lane.
__device__ inline StatsTile stats_tile(const RunningStatsArguments& arguments, int pixels) {
  const RunningStatsJob& job = arguments.running;
  StatsTile tile{tile_rect(arguments.tiles, job.width, job.height, static_cast<int>(blockIdx.x),
                           static_cast<int>(blockIdx.y))};
  const int before = tile.first_x - job.reach_x - 1;
  tile.origin = before - (before % pixels + pixels) % pixels;
  tile.last_needed = tile.last_x - 1 + job.reach_x;
  return tile;
}

/// Returns the row of the picture at a position, or -1 where there is none. Reads the table of rows only
/// outside the picture.
[[nodiscard]] __device__ inline int row_at(const RunningStatsArguments& arguments, int position) {
  if (static_cast<unsigned>(position) < static_cast<unsigned>(arguments.running.height)) return position;
  return arguments.running.clipped ? -1 : __ldg(arguments.rows + position);
}

/// Loads a lane's pixels that are partly outside the picture or not aligned. Out of line because it is rare.
template <class Rows>
__device__ __noinline__ typename Rows::Words load_unaligned(const RunningStatsArguments& arguments, int x,
                                                            int last_needed, bool clipped, int row) {
  const Rows rows(arguments.plane, x, last_needed, arguments.running.width, clipped, arguments.columns);
  typename Rows::Words loaded;
  rows.load(row, loaded);
  return loaded;
}

/// Loads rows of a plane at one lane's columns.
template <class Rows>
class StatsReader {
 public:
  using Words = typename Rows::Words;

  __device__ StatsReader(const RunningStatsArguments& arguments, int x, int last_needed, bool clipped)
      : arguments_(arguments), x_(x), last_needed_(last_needed), clipped_(clipped) {
    const Rows rows(arguments.plane, x, last_needed, arguments.running.width, clipped, arguments.columns);
    if (rows.place == Rows::Place::inside && rows.aligned) base_ = rows.data + rows.offset;
    unaligned_ = base_ == nullptr && rows.place != Rows::Place::nowhere;
  }

  /// Whether the lane's pixels are partly outside the picture or not aligned.
  [[nodiscard]] __device__ bool unaligned() const { return unaligned_; }

  /// Returns the lane's pixels in a row of the picture; null if there are none or they are unaligned().
  [[nodiscard]] __device__ const std::byte* pixels_of(int row) const {
    return base_ == nullptr ? nullptr : base_ + row * arguments_.plane.row;
  }
  __device__ static void load_from(const std::byte* pixels, Words& loaded) {
#pragma unroll
    for (int i = 0; i < Rows::bytes; i += Rows::access) fetch<Rows::access>(loaded.words, i, pixels + i);
  }

  /// Loads the pixels of a row, or zeros for row -1.
  __device__ void load(int row, Words& loaded) const {
    loaded = {};
    if (row < 0) return;
    if (base_ != nullptr) load_from(pixels_of(row), loaded);
    if (unaligned_) loaded = load_unaligned<Rows>(arguments_, x_, last_needed_, clipped_, row);
  }

 private:
  const RunningStatsArguments& arguments_;
  const std::byte* base_ = nullptr;  ///< pixels of row 0; null if there are none or they are unaligned
  int x_;
  int last_needed_;
  bool clipped_;
  bool unaligned_;
};

/// Sums of each element of a lane's columns over the window's rows.
template <class Rows, class T, class Sum>
class StatsColumns {
 public:
  using Words = typename Rows::Words;
  static constexpr int elements = Rows::elements;

  SumPair<Sum> sums[elements];

  __device__ StatsColumns(const RunningStatsArguments& arguments, const StatsTile& tile)
      : arguments_(arguments),
        reader_(arguments, tile.origin + static_cast<int>(threadIdx.x) * Rows::pixels, tile.last_needed,
                arguments.running.clipped) {}

  /// Sums the window around row y.
  __device__ void start(int y) {
    const RunningStatsJob& job = arguments_.running;
    next_ = reader_.pixels_of(y + 1 + job.reach_y);
    rows_between_ = opaque((2 * job.reach_y + 1) * arguments_.plane.row);
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
      for (int k = 0; k < 4; ++k) reader_.load(row + k < end ? row_at(arguments_, row + k) : -1, words[k]);
      add_four(words);
    }
  }

  /// Loads the rows that advance() to the window around row y needs. Calls are for consecutive rows, from the
  /// one after that of start().
  __device__ void fetch(int y) {
    const int enters = y + arguments_.running.reach_y;
    const int leaves = y - arguments_.running.reach_y - 1;
    if (leaves >= 0 && enters < arguments_.running.height && !reader_.unaligned()) {
      if (next_ == nullptr) return;
      reader_.load_from(next_, enters_);
      reader_.load_from(next_ - rows_between_, leaves_);
    } else {
      reader_.load(row_at(arguments_, enters), enters_);
      reader_.load(row_at(arguments_, leaves), leaves_);
      if (next_ == nullptr) return;
    }
    next_ += arguments_.plane.row;
  }

  /// Moves the window from row y - 1 to row y: a^2 - b^2 = (a - b) (a + b).
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
      for (int e = 0; e < elements; ++e) {
        const auto in = static_cast<std::int64_t>(element<T>(enters_.words, e));
        const auto out = static_cast<std::int64_t>(element<T>(leaves_.words, e));
        sums[e].sum += static_cast<Sum>(in - out);
        sums[e].squares += static_cast<Sum>((in - out) * (in + out));
      }
    }
  }

 private:
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
        for (int e = 0; e < elements; ++e) {
          const Sum value = element<T>(rows[k].words, e);
          sums[e].sum += value;
          sums[e].squares += value * value;
        }
    }
  }

  /// Adds four pixels of one column.
  __device__ static void add_column(std::uint32_t bytes, SumPair<Sum>& to) {
    to.sum += static_cast<Sum>(__dp4a(bytes, 0x01010101U, 0U));
    to.squares += static_cast<Sum>(__dp4a(bytes, bytes, 0U));
  }

  const RunningStatsArguments& arguments_;
  StatsReader<Rows> reader_;
  const std::byte* next_ = nullptr;  ///< the lane's pixels in the next row to enter; null: use the reader
  std::int64_t rows_between_ = 0;    ///< bytes between the rows that leave and enter
  Words enters_{};
  Words leaves_{};
};

/// The windows of a thread's results in one row, one for each element of its pixels. Shift is reach_x modulo
/// `pixels` as a constant, or -1 to compute it, which makes indices of prefixes more expensive.
template <class Sum, class Rows, int Shift>
class StatsWindows {
 public:
  using Prefixes = StatsPrefixes<Sum, Rows>;
  static constexpr int pixels = Rows::pixels;
  static constexpr int elements = Rows::elements;
  static constexpr int channels = elements / pixels;

  /// All lanes of a warp call this together.
  __device__ StatsWindows(const RunningStatsArguments& arguments, const StatsTile& tile,
                          const Prefixes& prefixes)
      : job_(arguments.running),
        prefixes_(prefixes),
        first_x_(tile.first_x + static_cast<int>(threadIdx.x) * pixels),
        high_(index_of(tile.first_x + job_.reach_x - tile.origin)),
        low_(index_of(tile.first_x - job_.reach_x - 1 - tile.origin)),
        count_(max(0, min(pixels, tile.last_x - first_x_))) {
    const bool full =
        !job_.clipped || (first_x_ >= job_.reach_x && first_x_ + pixels + job_.reach_x <= job_.width);
    full_width_ = __all_sync(whole_warp, count_ == 0 || full) != 0;
  }

  [[nodiscard]] __device__ int x() const { return first_x_; }
  /// Returns the number of the thread's pixels with results, 0 to `pixels`.
  [[nodiscard]] __device__ int count() const { return count_; }
  /// Whether all windows of the warp have full width.
  [[nodiscard]] __device__ bool full_width() const { return full_width_; }

  /// Returns the sums over the window of element i. Because tiles and summed columns begin with a lane, the
  /// window's last column is element shift + i of a lane or of the next, and the column before its first is
  /// element elements - channels - shift + i.
  [[nodiscard]] __device__ SumPair<Sum> sums(int i) const {
    const int shift = (Shift >= 0 ? Shift : opaque(job_.reach_x % pixels)) * channels;
    const SumPair<Sum> high = prefixes_.at(high_ + i + (shift + i >= elements ? 1 : 0));
    const SumPair<Sum> low = prefixes_.at(low_ + i + (i >= shift + channels ? 1 : 0));
    return {high.sum - low.sum, high.squares - low.squares};
  }

  /// Returns the number of pixels in the window of element i, which has `rows` rows.
  [[nodiscard]] __device__ std::uint32_t area(int i, std::uint32_t rows) const {
    return full_width_ ? full_area(rows) : clipped_area(i, rows);
  }
  [[nodiscard]] __device__ std::uint32_t full_area(std::uint32_t rows) const {
    return static_cast<std::uint32_t>(2 * job_.reach_x + 1) * rows;
  }
  [[nodiscard]] __device__ std::uint32_t clipped_area(int i, std::uint32_t rows) const {
    const int x = first_x_ + i / channels;
    const int columns = min(x + job_.reach_x, job_.width - 1) - max(x - job_.reach_x, 0) + 1;
    return static_cast<std::uint32_t>(columns) * rows;
  }
  [[nodiscard]] __device__ std::uint32_t rows(int y) const {
    const int last = job_.height - 1 - job_.reach_y;
    const int missing = job_.clipped ? max(job_.reach_y - y, 0) + max(y - last, 0) : 0;
    return static_cast<std::uint32_t>(2 * job_.reach_y + 1 - missing);
  }

  [[nodiscard]] __device__ LocalStatistics statistics(int i, int y, const Quantised& quantised) const {
    const SumPair<Sum> found = sums(i);
    return local_statistics({area(i, rows(y)), found.sum, found.squares}, quantised);
  }

 private:
  /// Returns the index of the prefix at the first element of a column, relative to this thread's columns.
  [[nodiscard]] __device__ static int index_of(int column) {
    const int element = column * channels;
    return element + element / elements + static_cast<int>(threadIdx.x) * (elements + 1);
  }

  const RunningStatsJob& job_;
  const Prefixes& prefixes_;
  int first_x_;
  int high_;  ///< index of the last prefix of the first window
  int low_;   ///< index of the prefix before the first window
  int count_;
  bool full_width_;
};

/// T is the type of the quantised plane, or of the picture if it has several Channels; Stored is the
/// picture's type.
template <class T, class Stored, class Sum, template <class, class, class, class> class Sink, int Shift,
          int Channels = 1>
__global__ void __launch_bounds__(tuning::running_stats_most_warps* warp_size)
    running_statistics(const __grid_constant__ RunningStatsArguments arguments) {
  using Rows = StatsRows<T, Channels, Sum>;
  using Windows = StatsWindows<Sum, Rows, Shift>;
  extern __shared__ uint4 memory[];
  const StatsTile tile = stats_tile(arguments, Rows::pixels);
  StatsPrefixes<Sum, Rows> prefixes(memory);
  StatsColumns<Rows, T, Sum> columns(arguments, tile);
  const Windows windows(arguments, tile, prefixes);
  Sink<T, Stored, Sum, Windows> sink(arguments, tile, windows);
  columns.start(tile.first_y);
  for (int y = tile.first_y; y < tile.last_y; ++y) {
    const bool goes_on = y + 1 < tile.last_y;
    sink.fetch(y);
    if (goes_on) columns.fetch(y + 1);
    prefixes.publish(columns.sums);
    __syncthreads();
    sink.write(y);
    if (goes_on) columns.advance();
  }
  sink.finish();
}

template <class Kernel>
void launch_running_statistics(Kernel* kernel, const RunningStatsArguments& arguments, StreamHandle stream) {
  const SlidingTiles& tiles = arguments.tiles;
  const dim3 blocks(static_cast<unsigned>(tiles.columns), static_cast<unsigned>(tiles.rows));
  kernel<<<blocks, static_cast<unsigned>(tiles.spans * warp_size), tiles.shared_bytes, stream>>>(arguments);
}

/// Calls action(std::integral_constant) with the Shift of StatsWindows, which is -1 for 64-bit sums.
template <class Rows, class Sum, class Action>
int with_shift(const RunningStatsJob& job, const Action& action) {
  if constexpr (sizeof(Sum) == 8) {
    return action(std::integral_constant<int, -1>{});
  } else {
    return [&]<int... Shift>(std::integer_sequence<int, Shift...>) {
      int result = 0;
      static_cast<void>(((Shift == job.reach_x % Rows::pixels &&
                          (result = action(std::integral_constant<int, Shift>{}), true)) ||
                         ...));
      return result;
    }
    (std::make_integer_sequence<int, Rows::pixels>{});
  }
}

// Deviations and normalised values in single precision: box_stats_numbers.cu.
[[nodiscard]] int prepare_running_numbers(const RunningStatsArguments& arguments);
void running_numbers(const RunningStatsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
