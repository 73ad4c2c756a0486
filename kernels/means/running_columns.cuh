#pragma once
// Sums of every column over a window of rows that slides down the picture: a row enters, a row leaves.

#include <cstdint>

#include "kernels/means/row_groups.cuh"
#include "kernels/means/running_rows.cuh"
#include "kernels/means/running_values.cuh"

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
      : arguments_(arguments),
        window_(arguments.job.y),
        rows_(arguments, rows),
        columns_(rows.columns),
        values_(arguments.transfer.decode) {}

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
    if (arguments_.job.grouped()) {
      add_by_groups(first, end);
    } else {
      add_rows(first, end, 1);
    }
    if (window_.outer == 0) return;
#pragma unroll
    for (Column& sum : sums) sum *= window_.inner + window_.outer;
    const auto outer = static_cast<int>(window_.outer);
    values_.add(rows_.load(rows_.at(y - window_.reach - 1)), outer,
                rows_.load(rows_.at(y + window_.reach + 1)), outer, sums);
  }

  /// Looks up which rows fetch() for the window around row y will load.
  __device__ void look_up(int y) { rows_.look_up(y); }

  /// Loads what advance() will need, after look_up().
  __device__ void fetch() { rows_.load_next(); }

  /// From the window around row y - 1 to the one around row y, with what was fetched. Of a fractional radius
  /// a row enters and leaves in two steps: into the outer window, and a row later into the inner one, for
  /// which it is read from the L1 again.
  __device__ void advance(int y) {
    if (window_.outer == 0) return values_.template add<-1>(rows_.enters(), rows_.leaves(), sums);
    const auto inner = static_cast<int>(window_.inner);
    const auto outer = static_cast<int>(window_.outer);
    const Words entered = rows_.load(rows_.at(y + window_.reach));
    const Words left = rows_.load(rows_.at(y - window_.reach - 2));
    values_.add(entered, inner, rows_.leaves(), -inner, sums);
    values_.add(rows_.enters(), outer, left, -outer, sums);
  }

 private:
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

  /// `sign` times rows [first, end).
  __device__ void add_rows(int first, int end, int sign) {
    constexpr int batch = 4;
    rows_.template for_batches<batch>(first, end, [&](const Words(&words)[batch]) {
#pragma unroll
      for (int i = 0; i < batch; i += 2) values_.add(words[i], sign, words[i + 1], sign, sums);
    });
  }

  __device__ void add_groups(const GroupLayout& layout, int first, int end) {
    if (!rows_.exist()) return;
    const std::int64_t row = static_cast<std::int64_t>(layout.lanes) * running_elements;
    const Column* groups = static_cast<const Column*>(arguments_.groups);
#pragma unroll
    for (int p = 0; p < Rows::pixels; ++p) {
      const int column = __ldg(columns_ + p);
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
  RunningRows<Rows> rows_;
  const int* columns_;  ///< of the picture, from that at the lane's first pixel on
  Values values_;
};

}  // namespace satin::kernels
