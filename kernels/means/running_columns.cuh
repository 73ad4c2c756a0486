#pragma once
// Sums of every column over the rows that the windows around two neighbouring rows share, sliding down the
// picture: with the row that enters they are those of the outer window, without the one that leaves those of
// the inner one, and with a whole radius, where both are done, those of the next row.

#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/means/row_groups.cuh"
#include "kernels/means/running_rows.cuh"

namespace satin::kernels {

/// Rows are loaded one step before they are needed. `Window`: as in box_mean_running.cuh; `Plain`: as
/// RunningRows has it.
template <class Window, bool Plain = false>
class RunningColumns {
 public:
  using Values = typename Window::Values;
  using Rows = typename Values::Rows;
  using Words = typename Rows::Words;
  using Column = typename Values::Sum;
  static constexpr int elements = running_elements;

  __device__ RunningColumns(const RunningMeanArguments& arguments, const Rows& rows)
      : arguments_(arguments),
        window_(arguments.job.y),
        rows_(arguments, rows),
        columns_(rows.columns),
        values_(arguments) {}

  /// Begins before row y, for which fetch() then loads.
  __device__ void start(int y) { start_share(y, 0, 1); }

  /// Begins as start(), where several warps each sum a share of the rows; more() adds the shares of the
  /// others.
  __device__ void start_share(int y, int share, int shares) {
    rows_.look_up(y, outer_reach());
#pragma unroll
    for (Column& sum : shared_) sum = 0;
    int first = y - window_.reach - 1;
    int end = y + outer_reach();
    if (arguments_.job.clipped) {
      first = max(first, 0);
      end = min(end, arguments_.job.height);
    }
    if constexpr (Window::groups) {
      if (arguments_.job.grouped()) {
        if (share == 0) add_by_groups(first, end);
        return;
      }
    }
    const int rows = max(end - first, 0);
    add_rows(first + rows * share / shares, first + rows * (share + 1) / shares);
  }

  /// Hands the sums to more() of the lane that has the same columns, by 16-byte accesses.
  __device__ void store(int to) const {
    static_assert(sizeof(Column) == 4);
#pragma unroll
    for (int e = 0; e < elements; e += 4)
      *shared_at<uint4>(to + e * 4) = make_uint4(shared_[e], shared_[e + 1], shared_[e + 2], shared_[e + 3]);
  }
  __device__ void more(int from) {
#pragma unroll
    for (int e = 0; e < elements; e += 4) {
      const uint4 sums = *shared_at<uint4>(from + e * 4);
      shared_[e] += sums.x;
      shared_[e + 1] += sums.y;
      shared_[e + 2] += sums.z;
      shared_[e + 3] += sums.w;
    }
  }

  /// Loads what advance() will need, and looks up which rows it is next time, for row `next`.
  __device__ void fetch(int next) {
    rows_.load_next();
    rows_.look_up(next, outer_reach());
  }

  /// Moves the window to the next row, with what was fetched.
  __device__ void advance() { values_.template add<-1>(rows_.enters(), rows_.leaves(), shared_); }

  /// advance(), then ask(), and then begins the scan of the row's column sums, those of a fractional radius
  /// with their weights.
  template <class Scan, class AskForRows>
  __device__ void advance(Scan& scan, const AskForRows& ask) {
    using Sum = typename Scan::Sum;
    if (!Window::fractions || window_.outer == 0) {
      advance();
      ask();
      scan.begin(shared_);
    } else {
      Sum sums[elements];
      values_.template for_each<1>(rows_.enters(), rows_.leaves(), [&](int e, Column enters, Column leaves) {
        sums[e] = static_cast<Sum>(shared_[e] - leaves) * window_.inner +
                  static_cast<Sum>(shared_[e] + enters) * window_.outer;
        shared_[e] += enters - leaves;
      });
      ask();
      scan.begin(sums);
    }
  }

  /// Begins the scan of the sums that the windows around two rows share, without some of their low bits.
  template <class Scan>
  __device__ void begin_shared(int low_bits, Scan& scan) const {
    Column sums[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) sums[e] = shared_[e] >> low_bits;
    scan.begin(sums);
  }

  /// Begins the scan of the sums over one of the next row's windows of rows, all without weights.
  template <class Scan>
  __device__ void begin_box(bool without_leaving, bool with_entering, Scan& scan) const {
    Column sums[elements];
    const auto each = [&](const auto& sum) {
      values_.template for_each<1>(rows_.enters(), rows_.leaves(), [&](int e, Column enters, Column leaves) {
        sums[e] = sum(shared_[e], enters, leaves);
      });
    };
    if (!without_leaving) {
      each([](Column shared, Column enters, Column) { return shared + enters; });
    } else if (!with_entering) {
      each([](Column shared, Column, Column leaves) { return shared - leaves; });
    } else {
      each([](Column shared, Column enters, Column leaves) { return shared + (enters - leaves); });
    }
    scan.begin(sums);
  }

 private:
  [[nodiscard]] __device__ int outer_reach() const {
    return Window::fractions || Window::by_boxes ? window_.outer_reach() : window_.reach;
  }

  /// Adds the groups that begin nearest to either end, then the rows that they lack, and takes away those
  /// that they have more.
  __device__ void add_by_groups(int first, int end) {
    const GroupLayout layout = GroupLayout::of(arguments_.job);
    const int first_group = layout.nearest(first);
    const int end_group = layout.nearest(end);
    const int begins = layout.begin_of(first_group);
    const int ends = min(layout.begin_of(end_group), layout.end);
#pragma unroll 1
    for (int lacking = 0; lacking < 2; ++lacking) {
#pragma unroll
      for (Column& sum : shared_) sum = 0 - sum;
      add_rows(lacking != 0 ? first : begins, lacking != 0 ? begins : first);
      add_rows(lacking != 0 ? ends : end, lacking != 0 ? end : ends);
    }
    add_groups(layout, first_group, end_group);
  }

  __device__ void add_rows(int first, int end) {
    kernels::add_rows<Window::start_batch>(rows_, values_, first, end, shared_);
  }

  __device__ void add_groups(const GroupLayout& layout, int first, int end) {
    if (!rows_.exist()) return;
    const std::int64_t row = static_cast<std::int64_t>(layout.lanes) * elements;
    const Column* groups = static_cast<const Column*>(arguments_.groups);
    constexpr int channels = elements / Rows::pixels;
    const int left = __ldg(columns_);
    const bool lane_of_groups =
        left >= 0 && left % Rows::pixels == 0 &&
        (Rows::pixels == 1 || __ldg(columns_ + Rows::pixels - 1) == left + Rows::pixels - 1);
    if (lane_of_groups) {
      using Group = Vector<Column, 16 / sizeof(Column)>;
      const Column* entries = groups + static_cast<std::int64_t>(left) * channels;
#pragma unroll
      for (int e = 0; e < elements; e += Group::count) {
        const Group sums = *reinterpret_cast<const Group*>(entries + end * row + e) -
                           *reinterpret_cast<const Group*>(entries + first * row + e);
#pragma unroll
        for (int k = 0; k < Group::count; ++k) shared_[e + k] += sums.of[k];
      }
      return;
    }
#pragma unroll
    for (int p = 0; p < Rows::pixels; ++p) {
      const int column = __ldg(columns_ + p);
      if (column < 0) continue;
#pragma unroll
      for (int c = 0; c < channels; ++c) {
        const Column* entry = groups + static_cast<std::int64_t>(column) * channels + c;
        shared_[p * channels + c] += __ldg(entry + end * row) - __ldg(entry + first * row);
      }
    }
  }

  const RunningMeanArguments& arguments_;
  const RunningWindow& window_;
  RunningRows<Rows, Plain> rows_;
  const int* columns_;  ///< of the picture, from that at the lane's first pixel on
  Values values_;
  Column shared_[elements];
};

}  // namespace satin::kernels
