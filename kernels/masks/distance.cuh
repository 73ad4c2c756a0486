#pragma once
// Squared distances in three parts: down the columns each tile by itself, the smallest heights of groups of
// columns, and rows. A pixel looks at its own group, then further and further away, past groups that cannot
// hold anything nearer, until no group can: as exact as a lower envelope (Meijster, Roerdink and Hesselink
// 2000), and every pixel by itself. Outlines that move by a disc are two scans along rows instead.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/masks/launch.h"

namespace satin::kernels {

__device__ inline bool counts(MaskSide side, bool inside) {
  return side == MaskSide::both || (side == MaskSide::inside) == inside;
}

/// What a pixel on one side sees of a column's distance: 0 on the other side, reach + 1 beyond the picture.
__device__ inline int height_of(int column, bool inside, int reach) {
  const int own = inside ? column : -column;
  return own > 0 ? own : column == 0 ? reach + 1 : 0;
}

/// One column of the mask.
struct MaskColumn {
  const unsigned char* top;
  std::int64_t row;
  std::int64_t height;

  [[nodiscard]] __device__ int at(std::int64_t y) const { return __ldg(top + y * row); }

  /// Rows from y to the nearest one that differs, in steps of 1 or -1; reach + 1 if there is none that near.
  [[nodiscard]] __device__ int steps_to_change(std::int64_t y, int direction, int reach) const {
    constexpr int batch = 8;
    const int own = at(y);
    for (int first = 1; first <= reach; first += batch) {
      bool differs[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const std::int64_t other = y + static_cast<std::int64_t>(direction) * (first + i);
        differs[i] = other >= 0 && other < height && at(other) != own;
      }
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (differs[i] && first + i <= reach) return first + i;
    }
    return reach + 1;
  }
};

/// Distances of the rows [first, last) of one column: down, then up.
__device__ inline void distances_of_column(const MaskColumn& mask, std::int64_t first, std::int64_t last,
                                           int reach, std::int16_t* columns, std::int64_t pitch) {
  const int none = reach + 1;
  int steps = mask.steps_to_change(first, -1, reach);
  int before = mask.at(first);
#pragma unroll 8
  for (std::int64_t y = first; y < last; ++y) {
    const int own = mask.at(y);
    if (y != first) steps = own == before ? min(steps + 1, none) : 1;
    columns[y * pitch] = static_cast<std::int16_t>(own != 0 ? steps : -steps);
    before = own;
  }
  steps = mask.steps_to_change(last - 1, 1, reach);
#pragma unroll 8
  for (std::int64_t y = last - 1; y >= first; --y) {
    const int own = mask.at(y);
    if (y != last - 1) steps = own == before ? min(steps + 1, none) : 1;
    const int nearer = min(abs(static_cast<int>(columns[y * pitch])), steps);
    columns[y * pitch] = static_cast<std::int16_t>(own != 0 ? nearer : -nearer);
    before = own;
  }
}

__device__ inline int smallest_of_warp(int value) {
#pragma unroll
  for (int apart = warp_size / 2; apart != 0; apart /= 2)
    value = min(value, __shfl_xor_sync(whole_warp, value, apart));
  return value;
}

/// The rows of the columns' distances.
struct ColumnRow {
  const std::int16_t* columns;
  const GroupHeights* groups;
  std::int64_t group_count;
  int reach;

  [[nodiscard]] __device__ int column(std::int64_t group) const {
    return __ldg(columns + group * distance_group + lane_index());
  }
  [[nodiscard]] __device__ int least(std::int64_t group, bool inside) const {
    const GroupHeights heights = groups[group];
    return inside ? heights.inside : heights.outside;
  }
};

/// The squared distances of one group of pixels, one a lane.
class GroupSearch {
 public:
  __device__ GroupSearch(const ColumnRow& row, std::int64_t group, MaskSide side, int most)
      : row_(row), group_(group), column_(row.column(group)), inside_(column_ > 0) {
    best_ = column_ != 0 && counts(side, inside_) ? most : 0;
  }

  [[nodiscard]] __device__ bool inside() const { return inside_; }

  [[nodiscard]] __device__ int run() {
    look_at(0, column_);
    const int lane = lane_index();
    // All squares are of distances below reach + 64: a lane's own best one lies within the reach.
    for (int apart = 1;; ++apart) {
      const int left = lane + 1 + distance_group * (apart - 1);
      const int right = distance_group * apart - lane;
      const bool has_left = group_ - apart >= 0;
      const bool has_right = group_ + apart < row_.group_count;
      const bool looks_left = has_left && left * left < best_;
      const bool looks_right = has_right && right * right < best_;
      if (!__any_sync(whole_warp, looks_left || looks_right)) return best_;
      if (has_left) look_beyond(-apart, left, looks_left);
      if (has_right) look_beyond(apart, right, looks_right);
    }
  }

 private:
  /// A group whose nearest pixel is `away`, if it can hold something nearer for any of the lanes.
  __device__ void look_beyond(int apart, int away, bool looks) {
    const int height = row_.least(group_ + apart, inside_);
    looks = looks && away * away + height * height < best_;
    if (__any_sync(whole_warp, looks)) look_at(apart, row_.column(group_ + apart));
  }

  __device__ void look_at(int apart, int columns) {
    const int first = distance_group * apart - lane_index();
#pragma unroll 8
    for (int i = 0; i < distance_group; ++i) {
      const int height = height_of(__shfl_sync(whole_warp, columns, i), inside_, row_.reach);
      best_ = min(best_, (first + i) * (first + i) + height * height);
    }
  }

  const ColumnRow& row_;
  std::int64_t group_;
  int column_;
  bool inside_;
  int best_;
};

/// How far the chords of a row's pixels still reach: the maximum of chord(u) - |x - u| over the pixels u on
/// one side of x, of 32 pixels at a time.
class ChordScan {
 public:
  /// From left to right; `chord` is the lane's.
  __device__ int rightward(int chord) {
    const int lane = lane_index();
    int reach = chord;
#pragma unroll
    for (int apart = 1; apart < warp_size; apart *= 2) {
      const int other = __shfl_up_sync(whole_warp, reach, apart);
      if (lane >= apart) reach = max(reach, other - apart);
    }
    reach = max(reach, carry_ - (lane + 1));
    carry_ = __shfl_sync(whole_warp, reach, warp_size - 1);
    return reach;
  }

  __device__ int leftward(int chord) {
    const int lane = lane_index();
    int reach = chord;
#pragma unroll
    for (int apart = 1; apart < warp_size; apart *= 2) {
      const int other = __shfl_down_sync(whole_warp, reach, apart);
      if (lane + apart < warp_size) reach = max(reach, other - apart);
    }
    reach = max(reach, carry_ - (warp_size - lane));
    carry_ = __shfl_sync(whole_warp, reach, 0);
    return reach;
  }

 private:
  int carry_ = 0;
};

}  // namespace satin::kernels
