#pragma once
// The march of a warp down a strip (rank_thresholds.cu).

#include "kernels/order/threshold_rows.cuh"

namespace satin::kernels::thresholds {

inline constexpr int scale = 16;  ///< of counts: the upper half of a byte

enum Band { entering_right, entering_left, leaving_right, leaving_left, bands };

/// One row of the march, which the lanes of a warp read for each other.
struct alignas(16) MarchRow {
  std::uint32_t planes[bands][value_bits];
  int added[strip_columns];  ///< to 16 (count - rank) from column to column, beside 16 g
};

/// The bits of a lane's threshold.
struct LaneThreshold {
  std::uint32_t of_bit[value_bits];

  __device__ explicit LaneThreshold(std::uint32_t threshold) {
#pragma unroll
    for (int bit = 0; bit < value_bits; ++bit) of_bit[bit] = 0U - (threshold >> bit & 1);
  }
  /// Which of 32 pixels are at most the threshold.
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

/// The counts of a strip's windows for one threshold a lane, from row to row.
class StripCounts {
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

  /// The lanes whose thresholds have counts below the rank, for the column 31 - lane.
  [[nodiscard]] __device__ std::uint32_t below_rank(const int (&added)[strip_columns]) const {
    std::uint32_t signs = 0;
    auto difference = static_cast<std::uint32_t>(left_);
#pragma unroll
    for (int x = 0; x < strip_columns; x += 4) {
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
  int left_ = 0;                         ///< 16 times the count of the window left of the strip
  std::uint32_t g_[strip_columns] = {};  ///< 16 g(x), and 32 more for each row
};

/// A warp's way down its part of a strip.
class March {
 public:
  __device__ March(const ThresholdPass& pass, int strip, MarchRow& shared)
      : pass_(pass),
        shared_(shared),
        strip_(strip),
        x_(strip * strip_columns + lane_index()),
        first_y_(static_cast<int>(blockIdx.y) * pass.part_rows),
        start_(2 * pass.job.reach.y + 1),
        steps_(start_ + min(pass.part_rows, static_cast<int>(pass.job.height) - first_y_)),
        columns_(
            static_cast<int>(counted(window_around(x_, pass.job.reach.x), pass.job.width, pass.job.border))) {
    const bool right = lane_index() / value_bits % 2 == 0;
    const int ahead = right ? 2 * pass.job.reach.x + 1 : 0;
    shift_ = static_cast<std::uint32_t>(ahead % strip_columns);
    planes_ = pass.planes + (strip + ahead / strip_columns) * value_bits + lane_index() % value_bits;
    const auto exist = [&](int x) {
      const bool exists = pass.job.border != Border::shrink || (x >= 0 && x < pass.job.width);
      return __ballot_sync(whole_warp, exists);
    };
    right_exist_ = exist(x_ + pass.job.reach.x);
    left_exist_ = exist(x_ - pass.job.reach.x - 1);
  }

  /// `outputs` gets begin(y) and end(y, below) for each row, with StripCounts::below_rank().
  template <class Outputs>
  __device__ void run(std::uint32_t threshold, Outputs& outputs) {
    const LaneThreshold bound(threshold);
    const std::uint16_t* counts = pass_.row_counts + std::int64_t{strip_} * values + threshold;
    StripCounts strip;
    rows_ = -1;
    Ahead ahead = read(0, counts);
    for (int step = 0; step < steps_; ++step) {
      reinterpret_cast<std::uint32_t*>(shared_.planes)[lane_index()] = ahead.planes;
      shared_.added[lane_index()] = added(step);
      strip.add(ahead.more - ahead.less);
      const bool enters = ahead.enters;
      const bool leaves = ahead.leaves;
      __syncwarp();
      ahead = read(step + 1, counts);
      const int y = first_y_ - start_ + step;
      if (step >= start_) outputs.begin(y);
      strip.add(BitSums(enters ? bound.at_most(shared_.planes[entering_right]) & right_exist_ : 0,
                        ~(enters ? bound.at_most(shared_.planes[entering_left]) & left_exist_ : 0),
                        ~(leaves ? bound.at_most(shared_.planes[leaving_right]) & right_exist_ : 0),
                        leaves ? bound.at_most(shared_.planes[leaving_left]) & left_exist_ : 0));
      if (step >= start_) outputs.end(y, strip.below_rank(shared_.added));
      __syncwarp();
    }
  }

 private:
  /// The row that a step needs, read one step before it.
  struct Ahead {
    std::uint32_t planes;  ///< of the lane's band and bit
    int more, less;
    bool enters, leaves;  ///< whether the rows have pixels at all
  };

  /// The first `start_` steps let rows enter alone.
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
    const std::int64_t row = std::int64_t{pass_.strips} * values;
    return {__funnelshift_r(__ldg(words), __ldg(words + value_bits), shift_), __ldg(counts + entering * row),
            __ldg(counts + leaving * row), entering <= height, leaving <= height};
  }

  /// The rank's part of MarchRow::added, and what takes 32 a row off g.
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
  int strip_;
  int x_;
  int first_y_;
  int start_;
  int steps_;
  int columns_;  ///< that the window counts
  const std::uint32_t* planes_;
  std::uint32_t shift_;
  std::uint32_t right_exist_, left_exist_;
  int rows_ = -1;  ///< that the window counted in the step before
  int of_rank_ = 0;
};

}  // namespace satin::kernels::thresholds
