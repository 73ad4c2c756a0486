#pragma once
// The rank of a window's pixels, found in the wavelet matrix bit by bit: if at least so many of the window's
// elements have a 0, the bit of the wanted key is 0 and these remain, otherwise the others.

#include "kernels/order/rank_plane.cuh"
#include "kernels/order/wavelet_matrix.cuh"

namespace satin::kernels {

inline constexpr int query_rows = 4;  ///< of a block, a warp each

/// The tables of one level and order.
struct LevelTables {
  const RankWord* ranks;
  const std::uint32_t* below;
  const DigitPlanes* planes;

  __device__ LevelTables(const WaveletMatrix& matrix, int level, int order)
      : ranks(matrix.ranks + matrix.word_of(level, order)),
        below(matrix.below + matrix.word_of(level, order) * digits),
        planes(matrix.planes + matrix.word_of(level, order)) {}

  /// The zeros of the level before a place.
  __device__ std::uint32_t zeros_before(std::uint32_t place) const {
    const uint2 word = __ldg(reinterpret_cast<const uint2*>(ranks) + place / element_group);
    return RankWord{word.x, word.y}.zeros_before(place % element_group);
  }
};

/// A digit that elements of some order are compared with.
struct Edge {
  std::uint32_t digit;
  DigitBound bound;

  __device__ explicit Edge(std::uint32_t of_digit) : digit(of_digit), bound(of_digit) {}
};

/// A place among the zeros of a level.
class ZeroPlace {
 public:
  __device__ ZeroPlace(const LevelTables& tables, std::uint32_t place)
      : below_(tables.below + static_cast<std::size_t>(place / element_group) * digits),
        before_((1U << place % element_group) - 1) {
    const auto* words = reinterpret_cast<const uint4*>(tables.planes + place / element_group);
    low_ = __ldg(words);
    high_ = __ldg(reinterpret_cast<const uint2*>(words + 1));
  }

  /// Elements before this place whose digit is smaller.
  __device__ std::uint32_t smaller(const Edge& edge) const {
    const std::uint32_t(&bound)[digit_bits] = edge.bound.of_bit;
    std::uint32_t less = ~low_.x & bound[0];
    less = less_with_bit(less, low_.y, bound[1]);
    less = less_with_bit(less, low_.z, bound[2]);
    less = less_with_bit(less, low_.w, bound[3]);
    less = less_with_bit(less, high_.x, bound[4]);
    less = less_with_bit(less, high_.y, bound[5]);
    return __ldg(below_ + edge.digit) + __popc(less & before_);
  }

 private:
  const std::uint32_t* below_;
  std::uint32_t before_;
  uint4 low_;
  uint2 high_;
};

/// The rows of a window as a range of a level: in raster order, or of one block.
struct PlaceRange {
  std::uint32_t low;
  std::uint32_t high;

  __device__ PlaceRange zeros(const LevelTables& tables) const {
    return {tables.zeros_before(low), tables.zeros_before(high)};
  }
  __device__ PlaceRange ones(const PlaceRange& zeros, std::uint32_t all_zeros) const {
    return {all_zeros + low - zeros.low, all_zeros + high - zeros.high};
  }
};

/// The zeros of a range, smaller than one edge and not than the other.
__device__ inline std::uint32_t zeros_between(const LevelTables& tables, const PlaceRange& range,
                                              const Edge& low, const Edge& high) {
  const ZeroPlace first(tables, range.low);
  const ZeroPlace end(tables, range.high);
  return end.smaller(high) - end.smaller(low) - first.smaller(high) + first.smaller(low);
}
__device__ inline std::uint32_t zeros_below(const LevelTables& tables, const PlaceRange& range,
                                            const Edge& edge) {
  return ZeroPlace(tables, range.high).smaller(edge) - ZeroPlace(tables, range.low).smaller(edge);
}

/// A window of the part, from its first column and row to behind its last ones.
struct PartWindow {
  std::uint32_t left, right, top, bottom;
};

/// What remains of a window from level to level.
class WindowRanges {
 public:
  __device__ WindowRanges(const PartWindow& window, const WaveletPart& part)
      : left_block_(window.left / digits),
        right_block_(window.right / digits),
        left_column_(window.left % digits),
        right_column_(window.right % digits),
        rows_{window.top * part.columns, window.bottom * part.columns},
        left_(block_range(window, part, window.left / digits)),
        // Behind the last block there is no column that would count.
        right_(
            block_range(window, part,
                        min(window.right / digits, static_cast<std::uint32_t>(part.columns) / digits - 1))) {}

  /// The number of zeros, which `zeros` gets.
  __device__ std::uint32_t count_zeros(const WaveletMatrix& matrix, int level, PlaceRange (&zeros)[3]) const {
    const LevelTables raster(matrix, level, raster_order);
    const LevelTables blocks(matrix, level, block_order);
    zeros[0] = rows_.zeros(raster);
    zeros[1] = left_.zeros(blocks);
    zeros[2] = right_.zeros(blocks);
    return zeros_between(raster, zeros[0], left_block_, right_block_) -
           zeros_below(blocks, zeros[1], left_column_) + zeros_below(blocks, zeros[2], right_column_);
  }
  __device__ void take_zeros(const PlaceRange (&zeros)[3]) {
    rows_ = zeros[0];
    left_ = zeros[1];
    right_ = zeros[2];
  }
  __device__ void take_ones(const PlaceRange (&zeros)[3], std::uint32_t all_zeros) {
    rows_ = rows_.ones(zeros[0], all_zeros);
    left_ = left_.ones(zeros[1], all_zeros);
    right_ = right_.ones(zeros[2], all_zeros);
  }

 private:
  static __device__ PlaceRange block_range(const PartWindow& window, const WaveletPart& part,
                                           std::uint32_t block) {
    const std::uint32_t first = block * part.rows;
    return {(first + window.top) * digits, (first + window.bottom) * digits};
  }

  Edge left_block_, right_block_, left_column_, right_column_;
  PlaceRange rows_, left_, right_;
};

/// The radius along each axis of the window around a pixel.
__device__ inline int2 reach_at(const RankArguments& run, int x, int y) {
  const ReachField& field = run.job.reach;
  if (!field.from_map) return {field.x, field.y};
  int reach = 0;
  if (field.map_type == Type::u8)
    reach = reach_from_map(row_of<std::uint8_t>(run.radius_map, y)[x], 0xFF, field.low, field.high);
  else if (field.map_type == Type::u16)
    reach = reach_from_map(row_of<std::uint16_t>(run.radius_map, y)[x], 0xFFFF, field.low, field.high);
  else
    reach = reach_from_map(row_of<float>(run.radius_map, y)[x], field.low, field.high);
  return {reach, reach};
}

/// The window around a pixel of the picture, in the part.
__device__ inline PartWindow window_of(const WaveletArguments& run, int x, int y) {
  const RankJob& job = run.job;
  const int2 reach = reach_at(run, x, y);
  int left = x - reach.x;
  int right = x + reach.x;
  int top = y - reach.y;
  int bottom = y + reach.y;
  if (job.border == Border::shrink) {
    left = max(left, 0);
    right = min(right, static_cast<int>(job.width) - 1);
    top = max(top, 0);
    bottom = min(bottom, static_cast<int>(job.height) - 1);
  }
  const WaveletPart& part = run.part;
  return {static_cast<std::uint32_t>(left - part.from_x), static_cast<std::uint32_t>(right + 1 - part.from_x),
          static_cast<std::uint32_t>(top - part.from_y),
          static_cast<std::uint32_t>(bottom + 1 - part.from_y)};
}

/// The bits of the wanted key; the first level may be that of hidden elements. False if none counts.
__device__ inline bool find_rank(const WaveletArguments& run, const WaveletMatrix& matrix,
                                 const PartWindow& window, std::uint32_t& bits) {
  WindowRanges ranges(window, run.part);
  PlaceRange zeros[3];
  std::uint32_t count = (window.right - window.left) * (window.bottom - window.top);
  int level = 0;
  if (hides(run.job)) {
    count = ranges.count_zeros(matrix, level++, zeros);
    if (count == 0) return false;
    ranges.take_zeros(zeros);
  }
  std::uint32_t rank = rank_of(run.job.percent, count);
  bits = 0;
  for (; level < matrix.levels; ++level) {
    const std::uint32_t in_zeros = ranges.count_zeros(matrix, level, zeros);
    const bool one = rank > in_zeros;
    bits = 2 * bits + (one ? 1 : 0);
    if (one) {
      rank -= in_zeros;
      ranges.take_ones(zeros, __ldg(matrix.zeros + level));
    } else {
      ranges.take_zeros(zeros);
    }
  }
  return true;
}

template <class Key>
__global__ void __launch_bounds__(query_rows* warp_size)
    query_windows(const __grid_constant__ WaveletArguments run,
                  const __grid_constant__ WaveletMatrix matrix) {
  const int column = static_cast<int>(blockIdx.x) * warp_size + lane_index();
  const int row = static_cast<int>(blockIdx.y) * query_rows + static_cast<int>(threadIdx.x) / warp_size;
  if (column >= run.part.width || row >= run.part.height) return;
  const int x = run.part.x + column;
  const int y = run.part.y + row;
  std::uint32_t bits = 0;
  const bool found = find_rank(run, matrix, window_of(run, x, y), bits);
  store_key(run, x, y, found ? key_of_bits<Key>(bits) : key_at<Key>(run, x, y));
}

}  // namespace satin::kernels
