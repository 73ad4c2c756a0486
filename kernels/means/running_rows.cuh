#pragma once
// The rows of the picture as a window that slides down a tile meets them.

#include <cstddef>

#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"

namespace satin::kernels {

/// first + y * stride in one instruction: the compiler else multiplies 64-bit strides.
__device__ inline const std::byte* row_at(const std::byte* first, int y, int stride) {
  const std::byte* at = nullptr;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(at) : "r"(y), "r"(stride), "l"(first));
  return at;
}

/// Rows: a LaneRows. `Plain`: it is known that all_plain().
template <class Rows, bool Plain = false>
class RunningRows {
 public:
  using Words = typename Rows::Words;

  /// All lanes of a warp call this together.
  __device__ RunningRows(const RunningMeanArguments& arguments, const Rows& rows)
      : arguments_(arguments),
        rows_(rows),
        exist_(rows.place != Rows::Place::nowhere),
        plain_(Plain || all_plain(arguments, rows)),
        first_(rows.data + rows.offset),
        stride_(static_cast<int>(rows.row)) {}

  /// Every lane of the warp has all its pixels inside of the picture, or none that counts. All lanes call
  /// this together.
  [[nodiscard]] __device__ static bool all_plain(const RunningMeanArguments& arguments, const Rows& rows) {
    const bool near = rows.row == static_cast<int>(rows.row);
    const bool exists = rows.place != Rows::Place::nowhere;
    return __all_sync(whole_warp, near && (!exists || is_plain(arguments, rows)));
  }

  /// The row of the picture at a position, or -1.
  [[nodiscard]] __device__ int at(int position) const { return __ldg(arguments_.rows + position); }

  /// The row that the start of a tile adds at a position; clipped jobs never ask for one outside of the
  /// picture.
  [[nodiscard]] __device__ int start_at(int position) const {
    return arguments_.job.clipped ? position : at(position);
  }

  /// Some of the lane's pixels count.
  [[nodiscard]] __device__ bool exist() const { return exist_; }

  /// Looks up which rows load_next() for the window around row y will load.
  __device__ void look_up(int y, int outer_reach) {
    enters_at_ = at(y + outer_reach);
    leaves_at_ = at(y - arguments_.job.y.reach - 1);
  }
  /// Loads the rows that enter the window and leave it, after look_up().
  __device__ void load_next() {
    enters_ = load(enters_at_);
    leaves_ = load(leaves_at_);
  }
  [[nodiscard]] __device__ const Words& enters() const { return enters_; }
  [[nodiscard]] __device__ const Words& leaves() const { return leaves_; }

  /// Calls use(words of `Batch` rows) for rows [first, end) of the start of a tile, zeros from the end on.
  /// Those of one batch are loaded while those of the one before are used.
  template <int Batch, class Use>
  __device__ void for_batches(int first, int end, const Use& use) const {
    Words next[Batch];
    load_batch(first, end, next);
    for (int y = first; y < end; y += Batch) {
      Words words[Batch];
#pragma unroll
      for (int i = 0; i < Batch; ++i) words[i] = next[i];
      load_batch(y + Batch, end, next);
      use(words);
    }
  }

  /// Zeros if y is negative.
  [[nodiscard]] __device__ Words load(int y) const {
    if constexpr (!Plain) {
      if (!plain_) return load_anywhere(rows_, y);
    }
    Words loaded{};
    if (!exist_ || y < 0) return loaded;
    const std::byte* from = row_at(first_, y, stride_);
    if (!whole_words || rows_.aligned) {
      load_by<Rows::access>(from, loaded);
    } else {
      load_by<4>(from, loaded);
    }
    return loaded;
  }

 private:
  static constexpr bool whole_words = Rows::pixel_bytes % 4 == 0 && Rows::bytes / Rows::elements >= 4;

  [[nodiscard]] __device__ static bool is_plain(const RunningMeanArguments& arguments, const Rows& rows) {
    if constexpr (whole_words)
      return rows.offset >= 0 && rows.offset + Rows::bytes <= arguments.job.width * Rows::pixel_bytes;
    return rows.place == Rows::Place::inside && rows.aligned;
  }

  template <int Access>
  __device__ static void load_by(const std::byte* from, Words& loaded) {
#pragma unroll
    for (int i = 0; i < Rows::bytes; i += Access) fetch<Access>(loaded.words, i, from + i);
  }

  template <int Count>
  __device__ void load_batch(int first, int end, Words (&words)[Count]) const {
    int rows[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i) rows[i] = first + i < end ? start_at(first + i) : -1;
#pragma unroll
    for (int i = 0; i < Count; ++i) words[i] = load(rows[i]);
  }

  [[nodiscard]] __noinline__ __device__ static Words load_anywhere(const Rows& rows, int y) {
    Words loaded;
    rows.load(y, loaded);
    return loaded;
  }

  const RunningMeanArguments& arguments_;
  const Rows& rows_;
  bool exist_;
  bool plain_;
  const std::byte* first_;
  int stride_;
  int enters_at_;
  int leaves_at_;
  Words enters_;
  Words leaves_;
};

/// sums += rows [first, end) of the start of a tile, with up to twice `Batch` of them in flight.
template <int Batch, class Rows, bool Plain, class Values, class Column>
__device__ void add_rows(const RunningRows<Rows, Plain>& rows, const Values& values, int first, int end,
                         Column (&sums)[Rows::elements]) {
  using Words = typename Rows::Words;
  rows.template for_batches<Batch>(first, end, [&](const Words(&words)[Batch]) {
#pragma unroll
    for (int i = 0; i < Batch; i += 2)
      values.template add<1>(words[i], i + 1 < Batch ? words[i + 1] : Words{}, sums);
  });
}

}  // namespace satin::kernels
