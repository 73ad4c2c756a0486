// Ranks of bytes in windows of one size, by all 256 thresholds side by side: the wanted value is the number
// of thresholds t for which fewer than `rank` pixels of the window are <= t.
//
// A block marches down a strip of 32 columns of outputs, a warp has 32 thresholds, a lane one of them for all
// columns. With c(x) the pixels <= t of column x in the window's rows, the count of a window is that of its
// left neighbour + g(x), where g(x) = c(x + reach) - c(x - reach - 1). A row of the march changes g(x) by
// four pixels, so the cost does not depend on the radius:
// - 32 pixels are compared with a lane's threshold at once, in bit planes;
// - the four comparisons are added bit by bit, which gives g's change + 2, from 0 to 4;
// - these sums lie in half bytes, of which a dot product adds one to 16 g(x);
// - counts run along the row, and the signs of count - rank are shifted together;
// - the 32 x 32 signs of a warp are transposed, and each column's are counted.
// The count left of the strip comes from counts of whole rows, which another kernel made.

#include <climits>
#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels {
namespace {

constexpr int strip_columns = warp_size;
constexpr int values = 256;
constexpr int march_warps = values / warp_size;
constexpr int march_rows = march_warps;  // that are read ahead at once, one by each warp
constexpr int march_blocks = 3;          // of a multiprocessor, at least: bounds the registers
constexpr int row_warps = 4;
constexpr int low_bits = 5;  // that differ between the thresholds of a warp
constexpr int scale = 16;    // of counts: the upper half of a byte

struct ThresholdPass : RankArguments {
  const std::uint16_t* row_counts = nullptr;  ///< of each row, strip and threshold
  int strips = 0;
  int rows_a_block = 0;
};

/// The pixel of the extended picture: 0 to 255, or -1 where there is none.
__device__ int byte_at(const RankArguments& run, int from_x, int from_y) {
  if (from_x < 0 || from_y < 0) return run.job.border == Border::constant ? run.outside : -1;
  return key_at<std::uint8_t>(run, from_x, from_y);
}
__device__ int column_of(const RankArguments& run, int x) {
  return place_of(x, run.job.width, run.job.border);
}

SATIN_HD std::int64_t counted_rows(const RankJob& job) { return job.height + 2; }

/// Adds a pixel to the counts of values.
__device__ void tally(std::uint32_t* tallies, int value, std::uint32_t amount) {
  if (value >= 0) atomicAdd(tallies + value, amount);
}

/// Writes how many pixels are <= each value.
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

/// For each row of the picture, one of nothing but border, and one of nothing at all: the counts of what a
/// window sees of it, for windows one pixel left of each strip. A warp has a row.
__global__ void __launch_bounds__(row_warps* warp_size)
    count_rows(const __grid_constant__ ThresholdPass pass, std::uint16_t* counts) {
  __shared__ alignas(16) std::uint32_t tallies_of_warps[row_warps][values];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_index();
  const int row = static_cast<int>(blockIdx.x) * row_warps + warp;
  if (row >= counted_rows(pass.job)) return;
  const bool none = row > pass.job.height;
  const int from_y = row < pass.job.height ? row : -1;
  const int reach = pass.job.reach.x;
  const auto pixel = [&](int x) { return none ? -1 : byte_at(pass, column_of(pass, x), from_y); };
  std::uint32_t* tallies = tallies_of_warps[warp];
  for (int i = lane; i < values; i += warp_size) tallies[i] = 0;
  __syncwarp();
  for (int x = lane - 1 - reach; x < reach; x += warp_size) tally(tallies, pixel(x), 1);
  counts += static_cast<std::size_t>(row) * pass.strips * values;
  int entering = pixel(lane + reach);
  int leaving = pixel(lane - reach - 1);
  for (int strip = 0; strip < pass.strips; ++strip, counts += values) {
    const int next = (strip + 1) * strip_columns + lane;
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

/// 32 pixels as bit planes, compared with the upper bits of each warp's thresholds already.
struct alignas(16) Band {
  std::uint32_t low_planes[low_bits - 1];
  struct alignas(16) OfWarp {
    std::uint32_t last_plane;  ///< the highest of the lower bits
    std::uint32_t smaller;     ///< pixels whose upper bits are smaller than the warp's
    std::uint32_t same;
  } of_warp[march_warps];
};

/// Written by a whole warp, whose lanes have the pixels; -1 is larger than every threshold.
__device__ void store_band(Band& band, int value) {
  const int lane = lane_index();
  std::uint32_t planes[8];
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) planes[bit] = __ballot_sync(whole_warp, (value >> bit & 1) != 0);
  std::uint32_t same = __ballot_sync(whole_warp, value >= 0);
  std::uint32_t smaller = 0;
#pragma unroll
  for (int bit = 7; bit >= low_bits; --bit) {
    const std::uint32_t bound = 0U - (static_cast<std::uint32_t>(lane) >> (bit - low_bits) & 1);
    smaller |= same & bound & ~planes[bit];
    same &= ~(bound ^ planes[bit]);
  }
  if (lane < march_warps) band.of_warp[lane] = {planes[low_bits - 1], smaller, same};
  if (lane == march_warps)
    *reinterpret_cast<uint4*>(band.low_planes) = {planes[0], planes[1], planes[2], planes[3]};
}

/// The bits of a lane's threshold below its warp's.
struct LaneThreshold {
  std::uint32_t of_bit[low_bits];

  __device__ LaneThreshold() {
#pragma unroll
    for (int bit = 0; bit < low_bits; ++bit)
      of_bit[bit] = 0U - (static_cast<std::uint32_t>(lane_index()) >> bit & 1);
  }
  /// Which of a band's pixels are at most the threshold.
  __device__ std::uint32_t at_most(const Band& band, int warp) const {
    const uint4 low = *reinterpret_cast<const uint4*>(band.low_planes);
    const uint4 own = *reinterpret_cast<const uint4*>(&band.of_warp[warp]);
    const auto next = [](std::uint32_t fits, std::uint32_t plane, std::uint32_t bound) {
      return (fits & ~plane) | (fits & bound) | (~plane & bound);
    };
    std::uint32_t fits = ~low.x | of_bit[0];
    fits = next(fits, low.y, of_bit[1]);
    fits = next(fits, low.z, of_bit[2]);
    fits = next(fits, low.w, of_bit[3]);
    fits = next(fits, own.x, of_bit[4]);
    return own.y | (own.z & fits);
  }
};

enum BandPlace { entering_right, entering_left, leaving_right, leaving_left, band_places };

/// What a block knows of the next rows of its march.
struct MarchRows {
  Band bands[march_rows][band_places];
  int added[march_rows][strip_columns];  ///< to 16 (count - rank) from column to column, beside 16 g
  std::uint32_t entering[march_rows];    ///< where the counts of the rows begin
  std::uint32_t leaving[march_rows];
  int change[march_rows];  ///< to 16 (count - rank) from the row before, at most
  std::uint8_t counts[march_rows][strip_columns][march_warps];  ///< of thresholds that are too small
};

/// Four bits for each column, added into 3 bits.
struct BitSums {
  std::uint32_t ones, twos, fours;

  __device__ BitSums(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t sum = a ^ b ^ c;
    const std::uint32_t carry = (a & b) | (a & c) | (b & c);
    ones = sum ^ d;
    twos = carry ^ (sum & d);
    fours = carry & sum & d;
  }
  /// The sums of the columns 4 i + j, in half bytes.
  __device__ std::uint32_t half_bytes(int j) const {
    const std::uint32_t first = __funnelshift_r(ones, ones, j);
    const std::uint32_t second = __funnelshift_r(twos, twos, j + 31);   // j - 1
    const std::uint32_t third = __funnelshift_r(fours, fours, j + 30);  // j - 2
    const std::uint32_t two_bits = (first & 0x11111111U) | (second & ~0x11111111U);
    return (two_bits & 0x33333333U) | (third & ~0x33333333U);
  }
};

/// The changes of 16 g(x), + 32 each.
__device__ inline void add_changes(const BitSums& sums, int (&g)[strip_columns]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const std::uint32_t halves = sums.half_bytes(j);
    const std::uint32_t low = halves & 0x07070707U;
    const std::uint32_t high = halves & 0x70707070U;
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) {
      const std::uint32_t one = 1U << 8 * byte;
      g[8 * byte + j] =
          static_cast<int>(__dp4a(low, scale * one, static_cast<std::uint32_t>(g[8 * byte + j])));
      g[8 * byte + 4 + j] =
          static_cast<int>(__dp4a(high, one, static_cast<std::uint32_t>(g[8 * byte + 4 + j])));
    }
  }
}

/// Transposes 32 x 32 bits: bit b of lane l becomes bit l of lane b. Halves of words are exchanged between
/// lanes that are half a warp apart, then quarters, and so on.
__device__ inline std::uint32_t transposed(std::uint32_t bits) {
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

/// A block's march: `start` rows that only enter, then a row of outputs each.
class March {
 public:
  __device__ explicit March(const ThresholdPass& pass)
      : pass_(pass),
        x_(static_cast<int>(blockIdx.x) * strip_columns + lane_index()),
        first_y_(static_cast<int>(blockIdx.y) * pass.rows_a_block),
        start_(2 * pass.job.reach.y + 1),
        steps_(start_ + min(pass.rows_a_block, static_cast<int>(pass.job.height) - first_y_)),
        right_(column_of(pass, x_ + pass.job.reach.x)),
        left_(column_of(pass, x_ - pass.job.reach.x - 1)) {
    const auto windows = window_around(x_, pass.job.reach.x);
    columns_ = static_cast<int>(counted(windows, pass.job.width, pass.job.border));
    none_ = static_cast<int>(pass.job.height) + 1;
  }

  [[nodiscard]] __device__ int steps() const { return steps_; }
  [[nodiscard]] __device__ int start() const { return start_; }

  /// The four pixels of a lane in the row of a step.
  __device__ void read(int step) {
    const int y = first_y_ - start_ + step;
    const int entering = row_at(y + pass_.job.reach.y);
    const int leaving = row_at(y - pass_.job.reach.y - 1);
    pixels_[entering_right] = byte_at(pass_, right_, entering);
    pixels_[entering_left] = byte_at(pass_, left_, entering);
    const bool leaves = step >= start_;
    pixels_[leaving_right] = leaves ? byte_at(pass_, right_, leaving) : -1;
    pixels_[leaving_left] = leaves ? byte_at(pass_, left_, leaving) : -1;
    entering_ = counts_row(entering);
    leaving_ = leaves ? counts_row(leaving) : none_;
  }

  /// Prepares the step whose pixels were read.
  __device__ void store(int step, MarchRows& rows, int slot) const {
#pragma unroll
    for (int place = 0; place < band_places; ++place) store_band(rows.bands[slot][place], pixels_[place]);
    const std::int64_t y = first_y_ - start_ + step;
    const std::int64_t high =
        counted(window_around(y, pass_.job.reach.y), pass_.job.height, pass_.job.border);
    const auto rank = static_cast<int>(
        rank_of(pass_.job.percent, static_cast<std::uint32_t>(columns_ * max(high, std::int64_t{0}))));
    const int before = __shfl_up_sync(whole_warp, rank, 1);
    rows.added[slot][lane_index()] =
        -2 * scale * (step + 1) - scale * (lane_index() == 0 ? rank : rank - before);
    if (lane_index() != 0) return;
    const auto row = static_cast<std::uint32_t>(pass_.strips * values);
    rows.entering[slot] = row * entering_;
    rows.leaving[slot] = row * leaving_;
    // A row of the window enters and one leaves; where one of them does not exist, the rank may change as
    // much.
    const bool ragged =
        pass_.job.border == Border::shrink && leaves(y, pass_.job.reach.y + 1, pass_.job.height);
    rows.change[slot] = scale * (2 * pass_.job.reach.x + 1) * (ragged ? 2 : 1);
  }

  /// The sums over the warps' counts are the outputs.
  __device__ void write(int step, const MarchRows& rows, int slot) const {
    if (step < start_ || step >= steps_ || x_ >= pass_.job.width) return;
    const uint2 counts = *reinterpret_cast<const uint2*>(rows.counts[slot][lane_index()]);
    const std::uint32_t value = __dp4a(counts.x, 0x01010101U, __dp4a(counts.y, 0x01010101U, 0U));
    store_key(pass_, x_, first_y_ - start_ + step, static_cast<std::uint8_t>(value));
  }

 private:
  [[nodiscard]] __device__ int row_at(int y) const { return place_of(y, pass_.job.height, pass_.job.border); }
  [[nodiscard]] __device__ int counts_row(int from_y) const {
    if (from_y >= 0) return from_y;
    return pass_.job.border == Border::constant ? static_cast<int>(pass_.job.height) : none_;
  }

  const ThresholdPass& pass_;
  int x_;
  int first_y_;
  int start_;
  int steps_;
  int right_, left_;
  int columns_ = 0;  ///< that the window counts
  int pixels_[band_places] = {};
  int none_;  ///< the row of nothing
  std::uint32_t entering_ = 0, leaving_ = 0;
};

/// The counts of one threshold while it marches.
class Marcher {
 public:
  __device__ Marcher(const ThresholdPass& pass, int warp)
      : warp_(warp), counts_(pass.row_counts + static_cast<std::size_t>(blockIdx.x) * values + threadIdx.x) {}

  __device__ void enter(const MarchRows& rows, int slot) {
    const int more = counts_[rows.entering[slot]];
    const int less = counts_[rows.leaving[slot]];
    const Band(&bands)[band_places] = rows.bands[slot];
    add_changes(BitSums(threshold_.at_most(bands[entering_right], warp_),
                        ~threshold_.at_most(bands[entering_left], warp_),
                        ~threshold_.at_most(bands[leaving_right], warp_),
                        threshold_.at_most(bands[leaving_left], warp_)),
                g_);
    left_ += scale * (more - less);
  }

  /// The number of the warp's thresholds that are too small, for the column 31 - lane.
  __device__ std::uint32_t too_small(const MarchRows& rows, int slot) {
    quiet_ -= rows.change[slot];
    if (quiet_ >= 0) return quiet_count_;
    const std::uint32_t signs = signs_of<false>(rows.added[slot], quiet_);
    const bool none = __all_sync(whole_warp, signs == 0);
    if (!none && !__all_sync(whole_warp, ~signs == 0)) return __popc(transposed(signs));
    // All windows of the row agree, and so will those of further rows until the least distance is used up.
    int nearest = 0;
    signs_of<true>(rows.added[slot], nearest);
    quiet_ = __reduce_min_sync(whole_warp, nearest);
    quiet_count_ = none ? 0 : warp_size;
    return quiet_count_;
  }

 private:
  /// The signs of 16 (count - rank) of a row's windows, the first in the highest bit; or the least of their
  /// distances from the other sign.
  template <bool Distances>
  __device__ std::uint32_t signs_of(const int (&added)[strip_columns], int& nearest) const {
    std::uint32_t signs = 0;
    int difference = left_;
    if (Distances) nearest = INT_MAX;
#pragma unroll
    for (int x = 0; x < strip_columns; x += 4) {
      const int4 four = *reinterpret_cast<const int4*>(added + x);
      const int of_column[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        difference += g_[x + i] + of_column[i];
        if (Distances)
          nearest = min(nearest, difference < 0 ? -1 - difference : difference);
        else
          signs = __funnelshift_l(static_cast<std::uint32_t>(difference), signs, 1);
      }
    }
    return signs;
  }

  LaneThreshold threshold_;
  int warp_;
  const std::uint16_t* counts_;
  int quiet_ = -1;  ///< while this is not negative, all windows have the same answer:
  std::uint32_t quiet_count_ = 0;
  int left_ = 0;               ///< 16 times the count of the window left of the strip
  int g_[strip_columns] = {};  ///< 16 g(x), and 32 more for each step
};

__global__ void __launch_bounds__(values, march_blocks)
    march_thresholds(const __grid_constant__ ThresholdPass pass) {
  __shared__ MarchRows buffers[2];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  March march(pass);
  Marcher marcher(pass, warp);
  march.read(warp);
  int buffer = 0;
  int first = 0;
  for (; first < march.steps(); first += march_rows, buffer ^= 1) {
    march.store(first + warp, buffers[buffer], warp);
    __syncthreads();
    march.read(first + march_rows + warp);
    if (first > 0) march.write(first - march_rows + warp, buffers[buffer ^ 1], warp);
    const int end = min(march_rows, march.steps() - first);
#pragma unroll 1
    for (int slot = 0; slot < end; ++slot) {
      marcher.enter(buffers[buffer], slot);
      const int step = first + slot;
      if (step < march.start()) continue;
      const std::uint32_t count = marcher.too_small(buffers[buffer], slot);
      buffers[buffer].counts[slot][strip_columns - 1 - lane_index()][warp] = static_cast<std::uint8_t>(count);
    }
  }
  __syncthreads();
  march.write(first - march_rows + warp, buffers[buffer ^ 1], warp);
}

int strips_of(const RankJob& job) {
  return static_cast<int>((job.width + strip_columns - 1) / strip_columns);
}

/// So many rows that all multiprocessors have work at once.
int rows_of_block(const RankJob& job, int strips, int multiprocessors) {
  const int parts = std::max(march_blocks * multiprocessors / strips, 1);
  const int wished = (static_cast<int>(job.height) + parts - 1) / parts;
  return std::max(wished, march_rows);
}

}  // namespace

std::int64_t threshold_row_counts(const RankJob& job) { return counted_rows(job) * strips_of(job) * values; }

void ranks_by_thresholds(const RankArguments& arguments, const ThresholdRows& rows, StreamHandle stream) {
  ThresholdPass pass{arguments};
  pass.strips = strips_of(pass.job);
  pass.row_counts = rows.counts;
  pass.rows_a_block = rows_of_block(pass.job, pass.strips, rows.multiprocessors);
  const auto height = static_cast<int>(pass.job.height);
  count_rows<<<static_cast<unsigned>((counted_rows(pass.job) + row_warps - 1) / row_warps),
               row_warps * warp_size, 0, stream>>>(pass, rows.counts);
  const dim3 blocks(static_cast<unsigned>(pass.strips),
                    static_cast<unsigned>((height + pass.rows_a_block - 1) / pass.rows_a_block));
  march_thresholds<<<blocks, values, 0, stream>>>(pass);
}

}  // namespace satin::kernels
