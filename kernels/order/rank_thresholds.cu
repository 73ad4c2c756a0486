// Ranks of bytes in windows of one size, by thresholds: the wanted value is the number of thresholds t for
// which fewer than `rank` pixels of the window are <= t.
//
// A warp marches down a tile of 32 columns of outputs. Each lane has one threshold for all columns. Let c(x)
// be the number of pixels <= t of column x in the window's rows. A window has g(x) more of them than its left
// neighbour, where g(x) = c(x + reach) - c(x - reach - 1). A row of the march changes g(x) by four pixels, so
// the cost of a row does not depend on the radius:
// - 32 pixels are compared with a lane's threshold at once, in bit planes;
// - the four comparisons are added bit by bit, which gives g's change + 2, from 0 to 4;
// - these sums are held in half bytes, and a dot product adds one of them to 16 g(x);
// - counts are summed along the row, and the signs of count - rank are shifted into one word;
// - the 32 x 32 signs of a warp are transposed, and those of each column are counted.
// The count of the window left of the tile comes from counts of whole rows, which another kernel makes.
//
// The first march tests every eighth threshold. Each further march tests the seven thresholds between those
// in four of the intervals that hold values of the tile. These are few, because neighbouring windows share
// most of their pixels.

#include <algorithm>
#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels {
namespace {

// The rows that the marches read: bit planes of their pixels, and counts of the pixels that windows see.
constexpr int tile_width = warp_size;
constexpr int values = 256;
constexpr int value_bits = 8;
constexpr int plane_rows = 8;  // rows per warp of make_planes()
constexpr int row_warps = 4;   // warps per block of count_rows()
constexpr int row_tiles = 32;  // tiles per warp of count_rows()

struct ThresholdPass : RankArguments {
  std::uint32_t* planes = nullptr;      ///< indexed by row, word and bit
  std::uint16_t* row_counts = nullptr;  ///< indexed by row, tile and threshold
  int tiles = 0;                        ///< per row
  int words = 0;                        ///< per row and bit plane
  int tile_height = 0;
};

int tiles_across(const RankJob& job) { return static_cast<int>((job.width + tile_width - 1) / tile_width); }
/// Number of rows that are counted: the picture's, one of border pixels, and one without pixels.
SATIN_HD std::int64_t counted_rows(const RankJob& job) { return job.height + 2; }
/// Number of words in a row of a bit plane. Planes begin at column -reach - 1 of the extended picture; the
/// last word is padding, which is read along with the one before it.
int words_of(const RankJob& job) { return tiles_across(job) + (2 * job.reach.x + 1) / tile_width + 2; }
std::int64_t row_counts_of(const RankJob& job) { return counted_rows(job) * tiles_across(job) * values; }

/// Returns a pixel of the extended picture: 0 to 255, or -1 where there is none.
__device__ int byte_at(const RankArguments& run, int from_x, int from_y) {
  if (from_x < 0 || from_y < 0) return run.job.border == Border::constant ? run.outside[run.channel] : -1;
  return key_at<std::uint8_t>(run, from_x, from_y, run.channel);
}
__device__ int column_of(const RankArguments& run, int x) {
  return place_of(x, run.job.width, run.job.border);
}

/// Makes the bit planes of the picture's rows and of a row of border pixels. A warp makes one word of several
/// rows.
__global__ void __launch_bounds__(plane_threads) make_planes(const __grid_constant__ ThresholdPass pass) {
  const int word = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x) / warp_size;
  if (word >= pass.words) return;
  const int lane = lane_index();
  const int column = column_of(pass, word * warp_size + lane - pass.job.reach.x - 1);
  for (int y = static_cast<int>(blockIdx.y); y <= pass.job.height; y += static_cast<int>(gridDim.y)) {
    const int value = byte_at(pass, column, y < pass.job.height ? y : -1);
    std::uint32_t own = 0;
#pragma unroll
    for (int bit = 0; bit < value_bits; ++bit) {
      const std::uint32_t plane = __ballot_sync(whole_warp, (value >> bit & 1) != 0);
      if (lane == bit) own = plane;
    }
    if (lane < value_bits) pass.planes[(std::int64_t{y} * pass.words + word) * value_bits + lane] = own;
  }
}

__device__ void tally(std::uint32_t* tallies, int value, std::uint32_t amount) {
  if (value >= 0) atomicAdd(tallies + value, amount);
}

/// Writes the number of pixels <= each value.
__device__ void store_cumulative(const std::uint32_t* tallies, std::uint16_t* counts) {
  constexpr int of_lane = values / warp_size;
  const auto* own = reinterpret_cast<const uint4*>(tallies) + 2 * lane_index();
  const uint4 first = own[0];
  const uint4 second = own[1];
  std::uint32_t sums[of_lane] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
  for (int i = 1; i < of_lane; ++i) sums[i] += sums[i - 1];
  const std::uint32_t before = inclusive_scan(sums[of_lane - 1]) - sums[of_lane - 1];
  const auto pair = [&](int i) { return (sums[i] + before) | (sums[i + 1] + before) << 16; };
  reinterpret_cast<uint4*>(counts)[lane_index()] = {pair(0), pair(2), pair(4), pair(6)};
}

/// Counts the pixels of each row that a window one pixel left of each tile sees. A warp has `row_tiles`
/// tiles of one row.
__global__ void __launch_bounds__(row_warps* warp_size)
    count_rows(const __grid_constant__ ThresholdPass pass) {
  __shared__ alignas(16) std::uint32_t tallies_of_warps[row_warps][values];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_index();
  const int row = static_cast<int>(blockIdx.x) * row_warps + warp;
  if (row >= counted_rows(pass.job)) return;
  const bool none = row > pass.job.height;
  const int from_y = row < pass.job.height ? row : -1;
  const auto pixel = [&](int x) { return none ? -1 : byte_at(pass, column_of(pass, x), from_y); };
  std::uint32_t* tallies = tallies_of_warps[warp];
  for (int i = lane; i < values; i += warp_size) tallies[i] = 0;
  __syncwarp();
  const int reach = pass.job.reach.x;
  const int first = static_cast<int>(blockIdx.y) * row_tiles;
  const int end = min(first + row_tiles, pass.tiles);
  const int left = first * tile_width;
  for (int i = lane; i < 2 * reach + 1; i += warp_size) tally(tallies, pixel(left - 1 - reach + i), 1);
  std::uint16_t* counts = pass.row_counts + (std::int64_t{row} * pass.tiles + first) * values;
  int entering = pixel(left + lane + reach);
  int leaving = pixel(left + lane - reach - 1);
  for (int tile = first; tile < end; ++tile, counts += values) {
    const int next = (tile + 1) * tile_width + lane;
    const int next_entering = pixel(next + reach);
    const int next_leaving = pixel(next - reach - 1);
    __syncwarp();
    store_cumulative(tallies, counts);
    __syncwarp();
    tally(tallies, entering, 1);
    tally(tallies, leaving, 0U - 1);
    entering = next_entering;
    leaving = next_leaving;
  }
}

// The march of a warp down a tile.

constexpr int scale = 16;  ///< factor of counts: the upper half of a byte

enum PlaneSource { entering_right, entering_left, leaving_right, leaving_left, plane_sources };

struct alignas(16) MarchRow {
  std::uint32_t planes[plane_sources][value_bits];
  int added[tile_width];  ///< change of 16 (count - rank) from column to column, without 16 g
};

/// A lane's threshold as one word for each bit: all ones or all zeros.
struct LaneThreshold {
  std::uint32_t of_bit[value_bits];

  __device__ explicit LaneThreshold(std::uint32_t threshold) {
#pragma unroll
    for (int bit = 0; bit < value_bits; ++bit) of_bit[bit] = 0U - (threshold >> bit & 1);
  }
  __device__ std::uint32_t at_most(const std::uint32_t (&planes)[value_bits]) const {
    const uint4 low = *reinterpret_cast<const uint4*>(planes);
    const uint4 high = *reinterpret_cast<const uint4*>(planes + 4);
    const auto next = [](std::uint32_t fits, std::uint32_t plane, std::uint32_t bound) {
      return (fits & ~plane) | (fits & bound) | (~plane & bound);
    };
    std::uint32_t fits = ~low.x | of_bit[0];
    fits = next(fits, low.y, of_bit[1]);
    fits = next(fits, low.z, of_bit[2]);
    fits = next(fits, low.w, of_bit[3]);
    fits = next(fits, high.x, of_bit[4]);
    fits = next(fits, high.y, of_bit[5]);
    fits = next(fits, high.z, of_bit[6]);
    return next(fits, high.w, of_bit[7]);
  }
};

/// Sums of four bits per column, as three bit planes.
struct BitSums {
  std::uint32_t ones, twos, fours;

  __device__ BitSums(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t sum = a ^ b ^ c;
    const std::uint32_t carry = (a & b) | (a & c) | (b & c);
    ones = sum ^ d;
    twos = carry ^ (sum & d);
    fours = carry & sum & d;
  }
  /// Returns the sums of the columns 4 i + j in half bytes.
  __device__ std::uint32_t half_bytes(int j) const {
    const std::uint32_t first = __funnelshift_r(ones, ones, j);
    const std::uint32_t second = __funnelshift_r(twos, twos, j + 31);   // j - 1
    const std::uint32_t third = __funnelshift_r(fours, fours, j + 30);  // j - 2
    const std::uint32_t two_bits = (first & 0x11111111U) | (second & ~0x11111111U);
    return (two_bits & 0x33333333U) | (third & ~0x33333333U);
  }
};

/// Transposes 32 x 32 bits: bit b of lane l becomes bit l of lane b. Halves of words are exchanged between
/// lanes that are half a warp apart, then quarters, and so on.
__device__ std::uint32_t transposed(std::uint32_t bits) {
  const int lane = lane_index();
  const auto exchange = [&](int distance, std::uint32_t lower_bits) {
    const bool upper = (lane & distance) != 0;
    const std::uint32_t other = __shfl_xor_sync(whole_warp, bits, distance);
    const std::uint32_t moved = __funnelshift_l(other, other, upper ? warp_size - distance : distance);
    const std::uint32_t kept = upper ? ~lower_bits : lower_bits;
    bits = (bits & kept) | (moved & ~kept);
  };
  exchange(16, 0x0000FFFFU);
  exchange(8, 0x00FF00FFU);
  exchange(4, 0x0F0F0F0FU);
  exchange(2, 0x33333333U);
  exchange(1, 0x55555555U);
  return bits;
}

/// The counts of a tile's windows, each lane with its own threshold, updated from row to row.
class TileCounts {
 public:
  __device__ void add(int change) { left_ += scale * change; }

  __device__ void add(const BitSums& sums) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t halves = sums.half_bytes(j);
      const std::uint32_t low = halves & 0x07070707U;
      const std::uint32_t high = halves & 0x70707070U;
#pragma unroll
      for (int byte = 0; byte < 4; ++byte) {
        const std::uint32_t one = 1U << 8 * byte;
        g_[8 * byte + j] = __dp4a(low, scale * one, g_[8 * byte + j]);
        g_[8 * byte + 4 + j] = __dp4a(high, one, g_[8 * byte + 4 + j]);
      }
    }
  }

  /// Returns, for the column 31 - lane, which lanes have thresholds with counts below the rank.
  [[nodiscard]] __device__ std::uint32_t below_rank(const int (&added)[tile_width]) const {
    std::uint32_t signs = 0;
    auto difference = static_cast<std::uint32_t>(left_);
#pragma unroll
    for (int x = 0; x < tile_width; x += 4) {
      const int4 four = *reinterpret_cast<const int4*>(added + x);
      const int of_column[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        difference += g_[x + i] + of_column[i];
        signs = __funnelshift_l(difference, signs, 1);
      }
    }
    return transposed(signs);
  }

 private:
  int left_ = 0;                      ///< 16 times the count of the window left of the tile
  std::uint32_t g_[tile_width] = {};  ///< 16 g(x), plus 32 for each row of the march
};

/// A warp's march down a tile. The first rows only enter the window; then each row has outputs.
class March {
 public:
  __device__ March(const ThresholdPass& pass, int tile, MarchRow& shared)
      : pass_(pass),
        shared_(shared),
        tile_(tile),
        x_(tile * tile_width + lane_index()),
        first_y_(static_cast<int>(blockIdx.y) * pass.tile_height),
        start_(2 * pass.job.reach.y + 1),
        steps_(start_ + min(pass.tile_height, static_cast<int>(pass.job.height) - first_y_)),
        columns_(
            static_cast<int>(counted(window_around(x_, pass.job.reach.x), pass.job.width, pass.job.border))) {
    const bool right = lane_index() / value_bits % 2 == 0;
    const int ahead = right ? 2 * pass.job.reach.x + 1 : 0;
    shift_ = static_cast<std::uint32_t>(ahead % tile_width);
    planes_ = pass.planes + (tile + ahead / tile_width) * value_bits + lane_index() % value_bits;
    const auto exist = [&](int x) {
      const bool exists = pass.job.border != Border::shrink || (x >= 0 && x < pass.job.width);
      return __ballot_sync(whole_warp, exists);
    };
    right_exist_ = exist(x_ + pass.job.reach.x);
    left_exist_ = exist(x_ - pass.job.reach.x - 1);
  }

  /// Calls outputs.begin(y) and outputs.end(y, TileCounts::below_rank()) for each row.
  template <class Outputs>
  __device__ void run(std::uint32_t threshold, Outputs& outputs) {
    const LaneThreshold bound(threshold);
    const std::uint16_t* counts = pass_.row_counts + std::int64_t{tile_} * values + threshold;
    TileCounts tile;
    rows_ = -1;
    Ahead ahead = read(0, counts);
    for (int step = 0; step < steps_; ++step) {
      reinterpret_cast<std::uint32_t*>(shared_.planes)[lane_index()] = ahead.planes;
      shared_.added[lane_index()] = added(step);
      tile.add(ahead.more - ahead.less);
      const bool enters = ahead.enters;
      const bool leaves = ahead.leaves;
      __syncwarp();
      ahead = read(step + 1, counts);
      const int y = first_y_ - start_ + step;
      if (step >= start_) outputs.begin(y);
      tile.add(BitSums(enters ? bound.at_most(shared_.planes[entering_right]) & right_exist_ : 0,
                       ~(enters ? bound.at_most(shared_.planes[entering_left]) & left_exist_ : 0),
                       ~(leaves ? bound.at_most(shared_.planes[leaving_right]) & right_exist_ : 0),
                       leaves ? bound.at_most(shared_.planes[leaving_left]) & left_exist_ : 0));
      if (step >= start_) outputs.end(y, tile.below_rank(shared_.added));
      __syncwarp();
    }
  }

 private:
  /// The data of one step, which are read one step ahead.
  struct Ahead {
    std::uint32_t planes;  ///< 32 pixels of the lane's PlaneSource and bit
    int more, less;        ///< counts of the entering and the leaving row, left of the tile
    bool enters, leaves;   ///< whether these rows have pixels
  };

  /// Reads the rows that enter and leave in a step. No row leaves in the first `start_` steps.
  __device__ Ahead read(int step, const std::uint16_t* counts) const {
    const int y = first_y_ - start_ + step;
    const int height = static_cast<int>(pass_.job.height);
    const auto row_at = [&](int position) {
      const int row = place_of(position, height, pass_.job.border);
      return row >= 0 ? row : pass_.job.border == Border::constant ? height : height + 1;
    };
    const int entering = row_at(y + pass_.job.reach.y);
    const int leaving = step < start_ ? height + 1 : row_at(y - pass_.job.reach.y - 1);
    const int own = min(lane_index() < warp_size / 2 ? entering : leaving, height);
    const std::uint32_t* words = planes_ + std::int64_t{own} * pass_.words * value_bits;
    const std::int64_t row = std::int64_t{pass_.tiles} * values;
    return {__funnelshift_r(__ldg(words), __ldg(words + value_bits), shift_), __ldg(counts + entering * row),
            __ldg(counts + leaving * row), entering <= height, leaving <= height};
  }

  /// Returns MarchRow::added: the rank's share, and -32 for each row that g_ holds too much.
  __device__ int added(int step) {
    const std::int64_t y = first_y_ - start_ + step;
    const auto rows =
        static_cast<int>(counted(window_around(y, pass_.job.reach.y), pass_.job.height, pass_.job.border));
    if (rows != rows_) {
      rows_ = rows;
      const auto rank =
          static_cast<int>(rank_of(pass_.job.percent, static_cast<std::uint32_t>(columns_ * rows)));
      const int before = __shfl_up_sync(whole_warp, rank, 1);
      of_rank_ = scale * (lane_index() == 0 ? rank : rank - before);
    }
    return -2 * scale * (step + 1) - of_rank_;
  }

  const ThresholdPass& pass_;
  MarchRow& shared_;
  int tile_;
  int x_;
  int first_y_;
  int start_;
  int steps_;
  int columns_;  ///< number of columns that count in the window
  const std::uint32_t* planes_;
  std::uint32_t shift_;
  std::uint32_t right_exist_, left_exist_;
  int rows_ = -1;  ///< number of rows that counted in the window of the step before
  int of_rank_ = 0;
};

constexpr int march_warps = 2;   // per block
constexpr int march_blocks = 8;  // per multiprocessor, at least: bounds the registers, 6 spill
constexpr int interval = 8;      // values from one threshold of the first march to the next
constexpr int inner_thresholds = interval - 1;
constexpr int march_intervals = 4;  // intervals per further march

/// The outputs in the column 31 - lane of a tile.
class OutputColumn {
 public:
  __device__ OutputColumn(const ThresholdPass& pass, int tile)
      : data_(pass.output.data), row_(pass.output.row) {
    const int x = tile * tile_width + tile_width - 1 - lane_index();
    exists_ = x < pass.job.width;
    if (exists_) data_ += std::int64_t{x} * pass.job.channels + pass.channel;
  }
  [[nodiscard]] __device__ bool exists() const { return exists_; }
  [[nodiscard]] __device__ std::uint8_t& at(int y) const {
    return reinterpret_cast<std::uint8_t&>(data_[y * row_]);
  }

 private:
  std::byte* data_;
  std::int64_t row_;
  bool exists_;
};

/// Outputs of the first march: writes the first value of each pixel's interval.
struct Intervals {
  OutputColumn column;
  std::uint32_t present = 0;  ///< bits of the intervals that hold values

  __device__ void begin(int) {}
  __device__ void end(int y, std::uint32_t below) {
    if (!column.exists()) return;
    const int found = __popc(below);
    present |= 1U << found;
    column.at(y) = static_cast<std::uint8_t>(interval * found);
  }
};

/// Outputs of a further march: adds the offset in the interval to the pixels of up to four intervals.
struct InnerValues {
  OutputColumn column;
  std::uint32_t intervals[march_intervals] = {};
  std::uint8_t value = 0;

  /// Moves intervals out of `present`; when these run out, the last one is repeated.
  __device__ void take(std::uint32_t& present) {
#pragma unroll
    for (int i = 0; i < march_intervals; ++i) {
      intervals[i] = 31 - __clz(static_cast<int>(present));
      const std::uint32_t others = present ^ 1U << intervals[i];
      if (others != 0 || i == march_intervals - 1) present = others;
    }
  }
  [[nodiscard]] __device__ std::uint32_t threshold() const {
    const int lane = lane_index();
    std::uint32_t own = intervals[march_intervals - 1];
#pragma unroll
    for (int i = march_intervals - 2; i >= 0; --i)
      if (lane < (i + 1) * inner_thresholds) own = intervals[i];
    return interval * own + lane % inner_thresholds;
  }

  __device__ void begin(int y) {
    if (column.exists()) value = column.at(y);
  }
  __device__ void end(int y, std::uint32_t below) {
    if (!column.exists()) return;
    constexpr std::uint32_t mask = (1U << inner_thresholds) - 1;
#pragma unroll
    for (int i = 0; i < march_intervals; ++i) {
      if (value / interval != intervals[i]) continue;
      column.at(y) = static_cast<std::uint8_t>(value + __popc(below >> i * inner_thresholds & mask));
      return;
    }
  }
};

__global__ void __launch_bounds__(march_warps* warp_size, march_blocks)
    march_tiles(const __grid_constant__ ThresholdPass pass) {
  __shared__ MarchRow rows[march_warps];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  const int tile = static_cast<int>(blockIdx.x) * march_warps + warp;
  if (tile >= pass.tiles) return;
  March march(pass, tile, rows[warp]);
  Intervals coarse{OutputColumn(pass, tile)};
  march.run(interval * lane_index() + inner_thresholds, coarse);
  std::uint32_t present = __reduce_or_sync(whole_warp, coarse.present);
  while (present != 0) {
    InnerValues fine{coarse.column};
    fine.take(present);
    march.run(fine.threshold(), fine);
  }
}

/// Number of tiles that march one after the other on the registers of one warp: tiles with many values take
/// up to four times as long as others. H200, UHD, radius 12: one 0.96 ms, two 0.72, four 0.64.
constexpr int tiles_in_turn = 4;

/// Returns few enough rows that all multiprocessors are busy, but as many as a window has if possible: that
/// many rows enter before the first output.
int height_of_tiles(const RankJob& job, int tiles, int multiprocessors) {
  const int height = static_cast<int>(job.height);
  const int parts = std::max(tiles_in_turn * march_warps * march_blocks * multiprocessors / tiles, 1);
  const int fewest = std::max(std::min(2 * job.reach.y + 1, height / 4), tile_width);
  return std::max((height + parts - 1) / parts, fewest);
}

}  // namespace

std::int64_t threshold_words(const RankJob& job) {
  return (job.height + 1) * words_of(job) * value_bits + (row_counts_of(job) + 1) / 2;
}

void ranks_by_thresholds(const RankArguments& arguments, const ThresholdSpace& space, StreamHandle stream) {
  ThresholdPass pass{arguments};
  const RankJob& job = pass.job;
  pass.tiles = tiles_across(job);
  pass.words = words_of(job);
  pass.row_counts = reinterpret_cast<std::uint16_t*>(space.words);
  pass.planes = space.words + (row_counts_of(job) + 1) / 2;
  pass.tile_height = height_of_tiles(job, pass.tiles, space.multiprocessors);
  make_planes<<<plane_grid(std::int64_t{pass.words} * warp_size, block_count(job.height + 1, plane_rows)),
                plane_threads, 0, stream>>>(pass);
  const dim3 of_rows(block_count(counted_rows(job), row_warps), block_count(pass.tiles, row_tiles));
  count_rows<<<of_rows, row_warps * warp_size, 0, stream>>>(pass);
  const dim3 blocks(block_count(pass.tiles, march_warps), block_count(job.height, pass.tile_height));
  march_tiles<<<blocks, march_warps * warp_size, 0, stream>>>(pass);
}

}  // namespace satin::kernels
