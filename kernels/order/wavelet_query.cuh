#pragma once
// The rank of a window's pixels, found in the wavelet matrix bit by bit: if at least so many of the window's
// elements have a 0, the bit of the wanted key is 0 and these remain, otherwise the others.

#include "kernels/order/rank_plane.cuh"
#include "kernels/order/wavelet_matrix.cuh"

namespace satin::kernels {

inline constexpr int query_rows = 4;  ///< of a block, a warp each

/// The tables of one level and order.
struct LevelTables {
  const ElementGroup* groups;
  const std::uint32_t* below;

  __device__ LevelTables(const WaveletMatrix& matrix, int level, int order)
      : groups(matrix.element_groups + matrix.group_of(level, order)),
        below(matrix.below + matrix.group_of(level, order) * digits) {}

  /// The zeros of the level before a place.
  __device__ std::uint32_t zeros_before(std::uint32_t place) const {
    const uint2 group = __ldg(reinterpret_cast<const uint2*>(groups + place / element_group));
    return group.y + __popc(group.x & ((1U << place % element_group) - 1));
  }
};

/// A digit that elements are compared with.
struct Edge {
  std::uint32_t digit;
  DigitBound bound;

  __device__ explicit Edge(std::uint32_t of_digit) : digit(of_digit), bound(of_digit) {}
};

/// A place of a level.
class Place {
 public:
  __device__ Place(const LevelTables& tables, std::uint32_t place)
      : below_(tables.below + static_cast<std::size_t>(place / element_group) * digits) {
    const auto* words = reinterpret_cast<const uint4*>(tables.groups + place / element_group);
    low_ = __ldg(words);
    high_ = __ldg(words + 1);
    zeros_here_ = low_.x & ((1U << place % element_group) - 1);
  }

  __device__ std::uint32_t zeros() const { return low_.y + __popc(zeros_here_); }

  /// Zeros before this place whose digit is smaller.
  __device__ std::uint32_t smaller(const Edge& edge) const {
    const std::uint32_t(&bound)[digit_bits] = edge.bound.of_bit;
    std::uint32_t less = ~low_.z & bound[0];
    less = less_with_bit(less, low_.w, bound[1]);
    less = less_with_bit(less, high_.x, bound[2]);
    less = less_with_bit(less, high_.y, bound[3]);
    less = less_with_bit(less, high_.z, bound[4]);
    less = less_with_bit(less, high_.w, bound[5]);
    return __ldg(below_ + edge.digit) + __popc(less & zeros_here_);
  }

 private:
  const std::uint32_t* below_;
  uint4 low_;
  uint4 high_;
  std::uint32_t zeros_here_;
};

/// The rows of a window as a range of a level: of one block, or in raster order.
struct PlaceRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  [[nodiscard]] __device__ std::uint32_t size() const { return high - low; }
  [[nodiscard]] __device__ PlaceRange ones(const PlaceRange& zeros, std::uint32_t all_zeros) const {
    return {all_zeros + low - zeros.low, all_zeros + high - zeros.high};
  }
};

/// The zeros of a range, which become a range of the next level; those left of an edge.
__device__ inline std::uint32_t zeros_left_of(const LevelTables& tables, const PlaceRange& range,
                                              const Edge& edge, PlaceRange& zeros) {
  const Place low(tables, range.low);
  const Place high(tables, range.high);
  zeros = {low.zeros(), high.zeros()};
  return high.smaller(edge) - low.smaller(edge);
}

/// A window of the part, from its first column and row to behind its last ones.
struct PartWindow {
  std::uint32_t left, right, top, bottom;
};

/// The elements of a window that are left from level to level.
template <bool Wide>
class WindowRanges {
 public:
  __device__ WindowRanges(const PartWindow& window, const WaveletPart& part)
      : left_edge_(window.left % digits),
        right_edge_(window.right % digits),
        left_block_(Wide ? window.left / digits : 0),
        right_block_(Wide ? window.right / digits : 0) {
    const std::uint32_t left = window.left / digits;
    const std::uint32_t right = window.right / digits;
    const auto rows_of = [&](std::uint32_t block) {
      const std::uint32_t first = block * part.rows;
      return PlaceRange{(first + window.top) * digits, (first + window.bottom) * digits};
    };
    left_ = rows_of(left);
    // Behind the last block there is no column that would count.
    right_ = rows_of(min(right, static_cast<std::uint32_t>(part.columns) / digits - 1));
    several_ = left != right;
    if constexpr (Wide)
      middle_ = {window.top * part.columns, window.bottom * part.columns};
    else if (right - left > 1)
      middle_ = rows_of(left + 1);
  }

  struct Zeros {
    PlaceRange left, middle, right;
  };

  /// The number of zeros, which `zeros` gets.
  __device__ std::uint32_t count_zeros(const WaveletMatrix& matrix, int level, Zeros& zeros) const {
    const LevelTables blocks(matrix, level, block_order);
    std::uint32_t count = zeros_left_of(blocks, right_, right_edge_, zeros.right);
    count -= zeros_left_of(blocks, left_, left_edge_, zeros.left);
    if constexpr (Wide) {
      const LevelTables raster(matrix, level, raster_order);
      const Place low(raster, middle_.low);
      const Place high(raster, middle_.high);
      zeros.middle = {low.zeros(), high.zeros()};
      count += high.smaller(right_block_) - high.smaller(left_block_);
      count -= low.smaller(right_block_) - low.smaller(left_block_);
    } else {
      zeros.middle = {blocks.zeros_before(middle_.low), blocks.zeros_before(middle_.high)};
      count += zeros.middle.size() + (several_ ? zeros.left.size() : 0);
    }
    return count;
  }
  __device__ void take_zeros(const Zeros& zeros) {
    left_ = zeros.left;
    middle_ = zeros.middle;
    right_ = zeros.right;
  }
  __device__ void take_ones(const Zeros& zeros, std::uint32_t all_zeros) {
    left_ = left_.ones(zeros.left, all_zeros);
    middle_ = middle_.ones(zeros.middle, all_zeros);
    right_ = right_.ones(zeros.right, all_zeros);
  }

 private:
  Edge left_edge_, right_edge_, left_block_, right_block_;
  PlaceRange left_, middle_, right_;
  bool several_;
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
template <bool Wide>
__device__ inline bool find_rank(const WaveletArguments& run, const WaveletMatrix& matrix,
                                 const PartWindow& window, std::uint32_t& bits) {
  WindowRanges<Wide> ranges(window, run.part);
  typename WindowRanges<Wide>::Zeros zeros;
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

template <class Key, bool Wide>
__global__ void __launch_bounds__(query_rows* warp_size)
    query_windows(const __grid_constant__ WaveletArguments run,
                  const __grid_constant__ WaveletMatrix matrix) {
  const int column = static_cast<int>(blockIdx.x) * warp_size + lane_index();
  const int row = static_cast<int>(blockIdx.y) * query_rows + static_cast<int>(threadIdx.x) / warp_size;
  if (column >= run.part.width || row >= run.part.height) return;
  const int x = run.part.x + column;
  const int y = run.part.y + row;
  std::uint32_t bits = 0;
  const bool found = find_rank<Wide>(run, matrix, window_of(run, x, y), bits);
  store_key(run, x, y, found ? key_of_bits<Key>(bits) : key_at<Key>(run, x, y));
}

}  // namespace satin::kernels
