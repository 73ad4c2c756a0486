#pragma once
// Sums of every column over a window of rows that marches down the picture: a row enters, a row leaves.

#include <cstdint>

#include "kernels/row_groups.cuh"
#include "kernels/running_values.cuh"

namespace satin::kernels {

/// Rows are loaded one step before they are needed.
template <class T, int Channels, class Column, bool Weighted>
class RunningColumns {
 public:
  using Values = RunningValues<T, Channels, Column, Weighted>;
  using Rows = typename Values::Rows;
  using Words = typename Rows::Words;

  Column sums[running_elements];

  __device__ RunningColumns(const RunningMeanArguments& arguments, const Rows& rows)
      : arguments_(arguments), window_(arguments.job.y), rows_(rows), values_(arguments.transfer.decode) {
    const bool counts = rows.place != Rows::Place::nowhere;
    const bool near = rows.row == static_cast<int>(rows.row);
    plain_ = __all_sync(whole_warp, near && (!counts || (rows.place == Rows::Place::inside && rows.aligned)));
    exists_ = counts;
    first_ = rows.data + rows.offset;
    stride_ = static_cast<int>(rows.row);
  }

  /// The window around row y.
  __device__ void start(int y) {
#pragma unroll
    for (Column& sum : sums) sum = 0;
    int first = y - window_.reach;
    int end = y + window_.reach + 1;
    if (arguments_.job.clipped) {
      first = max(first, 0);
      end = min(end, arguments_.job.height);
    }
    if (arguments_.tiles.groups) {
      add_by_groups(first, end);
    } else {
      add_rows(first, end, 1);
    }
    if (window_.outer == 0) return;
#pragma unroll
    for (Column& sum : sums) sum *= window_.inner + window_.outer;
    const auto outer = static_cast<int>(window_.outer);
    values_.add(load(row_at(y - window_.reach - 1)), outer, load(row_at(y + window_.reach + 1)), outer, sums);
  }

  /// Looks up which rows fetch() for the window around row y will load.
  __device__ void look_up(int y) {
    enters_at_ = row_at(y + window_.outer_reach());
    leaves_at_ = row_at(y - window_.reach - 1);
  }

  /// Loads what advance() will need, after look_up().
  __device__ void fetch() {
    enters_ = load(enters_at_);
    leaves_ = load(leaves_at_);
  }

  /// From the window around row y - 1 to the one around row y, with what was fetched. Of a fractional radius
  /// a row enters and leaves in two steps: into the outer window, and a row later into the inner one, for
  /// which it is read from the L1 again.
  __device__ void advance(int y) {
    if (window_.outer == 0) return values_.template add<-1>(enters_, leaves_, sums);
    const auto inner = static_cast<int>(window_.inner);
    const auto outer = static_cast<int>(window_.outer);
    const Words entered = load(row_at(y + window_.reach));
    const Words left = load(row_at(y - window_.reach - 2));
    values_.add(entered, inner, leaves_, -inner, sums);
    values_.add(enters_, outer, left, -outer, sums);
  }

 private:
  [[nodiscard]] __device__ int row_at(int position) const { return __ldg(arguments_.rows + position); }

  /// The same for the start of a band, which leaves out what is not in the picture.
  [[nodiscard]] __device__ int start_row(int position) const {
    return arguments_.job.clipped ? position : row_at(position);
  }

  [[nodiscard]] __device__ Words load(int y) const {
    if (!plain_) return load_anywhere(rows_, y);
    Words loaded{};
    if (exists_ && y >= 0) {
      const std::byte* from = first_ + static_cast<std::int64_t>(y) * stride_;
#pragma unroll
      for (int i = 0; i < Rows::bytes; i += Rows::access)
        satin::kernels::fetch<Rows::access>(loaded.words, i, from + i);
    }
    return loaded;
  }

  [[nodiscard]] __noinline__ __device__ static Words load_anywhere(const Rows& rows, int y) {
    Words loaded;
    rows.load(y, loaded);
    return loaded;
  }

  /// From the groups that begin nearest to either end, with the rows that they lack and without those that
  /// they have more.
  __device__ void add_by_groups(int first, int end) {
    const GroupLayout layout = GroupLayout::of(arguments_.job);
    const int first_group = layout.nearest(first);
    const int end_group = layout.nearest(end);
    add_groups(layout, first_group, end_group);
    const int begins = layout.begin_of(first_group);
    add_rows(min(first, begins), max(first, begins), first < begins ? 1 : -1);
    const int ends = min(layout.begin_of(end_group), layout.end);
    add_rows(min(end, ends), max(end, ends), ends < end ? 1 : -1);
  }

  /// `sign` times rows [first, end). Those of one batch are loaded while those of the one before are added.
  __device__ void add_rows(int first, int end, int sign) {
    constexpr int batch = 4;
    Words next[batch];
    load_batch(first, end, next);
    for (int y = first; y < end; y += batch) {
      Words words[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) words[i] = next[i];
      load_batch(y + batch, end, next);
#pragma unroll
      for (int i = 0; i < batch; i += 2) values_.add(words[i], sign, words[i + 1], sign, sums);
    }
  }

  template <int Count>
  __device__ void load_batch(int first, int end, Words (&words)[Count]) const {
    int rows[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i) rows[i] = first + i < end ? start_row(first + i) : -1;
#pragma unroll
    for (int i = 0; i < Count; ++i) words[i] = load(rows[i]);
  }

  __device__ void add_groups(const GroupLayout& layout, int first, int end) {
    if (!exists_) return;
    const std::int64_t row = static_cast<std::int64_t>(layout.lanes) * running_elements;
    const Column* groups = static_cast<const Column*>(arguments_.groups);
#pragma unroll
    for (int p = 0; p < Rows::pixels; ++p) {
      const int column = __ldg(rows_.columns + p);
      if (column < 0) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const Column* entry = groups + static_cast<std::int64_t>(column) * Channels + c;
        sums[p * Channels + c] += __ldg(entry + end * row) - __ldg(entry + first * row);
      }
    }
  }

  const RunningMeanArguments& arguments_;
  const RunningWindow& window_;
  const Rows& rows_;
  Values values_;
  bool plain_;  ///< every lane has all its pixels inside of the picture, or none that counts
  bool exists_;
  const std::byte* first_;
  int stride_;
  int enters_at_;
  int leaves_at_;
  Words enters_;
  Words leaves_;
};

}  // namespace satin::kernels
