#pragma once
// Sums of every column over the rows that the windows around two neighbouring rows share, marching down the
// picture: with the row that enters they are those of the outer window, without the one that leaves those of
// the inner one.

#include <cstdint>

#include "kernels/running_rows.cuh"
#include "kernels/wide_values.cuh"

namespace satin::kernels {

/// Rows are loaded one step before they are needed.
template <class T, int Channels>
class WideColumns {
 public:
  using Values = WideValues<T, Channels>;
  using Column = typename Values::Column;
  using Rows = typename Values::Rows;
  using Words = typename Rows::Words;
  static constexpr int elements = running_elements;

  __device__ WideColumns(const RunningMeanArguments& arguments, const Rows& rows)
      : job_(arguments.job), rows_(arguments, rows), values_(arguments) {}

  /// Before row y.
  __device__ void start(int y) {
#pragma unroll
    for (Column& sum : shared_) sum = 0;
    int first = y - job_.y.reach - 1;
    int end = y + job_.y.outer_reach();
    if (job_.clipped) {
      first = max(first, 0);
      end = min(end, job_.height);
    }
    constexpr int batch = sizeof(T) == 8 ? 1 : 2;
    Words next[batch];
    load_batch(first, end, next);
    for (int row = first; row < end; row += batch) {
      Words words[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) words[i] = next[i];
      load_batch(row + batch, end, next);
#pragma unroll
      for (int i = 0; i < batch; ++i)
#pragma unroll
        for (int e = 0; e < elements; ++e) shared_[e] += values_.value(words[i], e);
    }
  }

  /// Looks up which rows fetch() will load for row y.
  __device__ void look_up(int y) {
    enters_at_ = rows_.at(y + job_.y.outer_reach());
    leaves_at_ = rows_.at(y - job_.y.reach - 1);
  }
  __device__ void fetch() {
    enters_ = rows_.load(enters_at_);
    leaves_ = rows_.load(leaves_at_);
  }

  /// To the next row, with what was fetched.
  __device__ void advance() {
#pragma unroll
    for (int e = 0; e < elements; ++e) shared_[e] = whole(e);
  }

  [[nodiscard]] __device__ Column shared(int e) const { return shared_[e]; }
  /// Over the window of a whole radius, and over the two of a fractional one.
  [[nodiscard]] __device__ Column whole(int e) const { return shared_[e] + (entering(e) - leaving(e)); }
  [[nodiscard]] __device__ Column inner(int e) const { return shared_[e] - leaving(e); }
  [[nodiscard]] __device__ Column outer(int e) const { return shared_[e] + entering(e); }

 private:
  [[nodiscard]] __device__ Column entering(int e) const { return values_.value(enters_, e); }
  [[nodiscard]] __device__ Column leaving(int e) const { return values_.value(leaves_, e); }

  template <int Count>
  __device__ void load_batch(int first, int end, Words (&words)[Count]) const {
    int rows[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i) rows[i] = first + i < end ? rows_.start_at(first + i) : -1;
#pragma unroll
    for (int i = 0; i < Count; ++i) words[i] = rows_.load(rows[i]);
  }

  const RunningMeanJob& job_;
  RunningRows<Rows> rows_;
  Values values_;
  Column shared_[elements];
  int enters_at_;
  int leaves_at_;
  Words enters_;
  Words leaves_;
};

}  // namespace satin::kernels
