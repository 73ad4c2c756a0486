#pragma once
// Sums of every column over the rows that the windows around two neighbouring rows share, sliding down the
// picture: with the row that enters they are those of the outer window, without the one that leaves those of
// the inner one.

#include <cstdint>

#include "kernels/means/running_rows.cuh"
#include "kernels/means/wide_values.cuh"

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
    rows_.template for_batches<batch>(first, end, [&](const Words(&words)[batch]) {
#pragma unroll
      for (int i = 0; i < batch; ++i)
#pragma unroll
        for (int e = 0; e < elements; ++e) shared_[e] += values_.value(words[i], e);
    });
  }

  /// Looks up which rows fetch() will load for row y.
  __device__ void look_up(int y) { rows_.look_up(y); }
  __device__ void fetch() { rows_.load_next(); }

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
  [[nodiscard]] __device__ Column entering(int e) const { return values_.value(rows_.enters(), e); }
  [[nodiscard]] __device__ Column leaving(int e) const { return values_.value(rows_.leaves(), e); }

  const RunningMeanJob& job_;
  RunningRows<Rows> rows_;
  Values values_;
  Column shared_[elements];
};

}  // namespace satin::kernels
