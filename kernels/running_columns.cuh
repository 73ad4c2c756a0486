#pragma once
// Sums of every column over a window of rows that marches down the picture: a row enters, a row leaves; and
// their prefixes along the row.

#include <cstdint>

#include "kernels/row_groups.cuh"

namespace satin::kernels {

template <class T, int Channels, class Sum>
class RunningColumns {
 public:
  using Rows = LaneRows<T, Channels, Sum>;
  using Words = typename Rows::Words;

  Sum sums[Rows::elements];

  __device__ RunningColumns(const RunningMeanArguments& arguments, const Rows& reader, const Decoder& decoder)
      : arguments_(arguments), window_(arguments.job.y), reader_(reader), decoder_(decoder) {}

  /// The window around row y.
  __device__ void start(int y) {
#pragma unroll
    for (int e = 0; e < Rows::elements; ++e) sums[e] = 0;
    int first = y - window_.reach;
    int end = y + window_.reach + 1;
    if (arguments_.tiles.groups) {
      const GroupLayout layout = GroupLayout::of(arguments_.job, Rows::pixels);
      const int first_group = (first - layout.first + GroupLayout::rows - 1) / GroupLayout::rows;
      const int end_group = (end - layout.first) / GroupLayout::rows;
      add_groups(layout, first_group, end_group);
      add_rows(first, layout.first + first_group * GroupLayout::rows);
      first = layout.first + end_group * GroupLayout::rows;
    } else if (arguments_.job.clipped) {
      first = max(first, 0);
      end = min(end, arguments_.job.height);
    }
    add_rows(first, end);
    if (window_.outer == 0) return;
#pragma unroll
    for (int e = 0; e < Rows::elements; ++e) sums[e] *= window_.inner + window_.outer;
    Words above;
    Words below;
    reader_.load(row_at(y - window_.reach - 1), above);
    reader_.load(row_at(y + window_.reach + 1), below);
    const auto outer = static_cast<int>(window_.outer);
    Rows::add(above, outer, below, outer, decoder_, sums);
  }

  /// Loads what advance() to the window around row y will need.
  __device__ void fetch(int y) {
    reader_.load(row_at(y + window_.outer_reach()), enters_);
    reader_.load(row_at(y - window_.reach - 1), leaves_);
  }

  /// From the window around row y - 1 to the one around row y, with the rows of fetch(y). Of a fractional
  /// radius a row enters and leaves in two steps: into the outer window, and a row later into the inner one,
  /// for which it is read from the L1 again.
  __device__ void advance(int y) {
    const auto inner = static_cast<int>(window_.inner);
    const auto outer = static_cast<int>(window_.outer);
    if (outer == 0) {
      Rows::add(enters_, 1, leaves_, -1, decoder_, sums);
      return;
    }
    Words entered;
    Words left;
    reader_.load(row_at(y + window_.reach), entered);
    reader_.load(row_at(y - window_.reach - 2), left);
    Rows::add(entered, inner, leaves_, -inner, decoder_, sums);
    Rows::add(enters_, outer, left, -outer, decoder_, sums);
  }

 private:
  [[nodiscard]] __device__ int row_at(int position) const { return __ldg(arguments_.rows + position); }

  __device__ void add_rows(int first, int end) {
    constexpr int batch = 4;
    for (int y = first; y < end; y += batch) {
      Words words[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) reader_.load(y + i < end ? row_at(y + i) : -1, words[i]);
#pragma unroll
      for (int i = 0; i < batch; i += 2) Rows::add(words[i], 1, words[i + 1], 1, decoder_, sums);
    }
  }

  __device__ void add_groups(const GroupLayout& layout, int first, int end) {
    if (reader_.place == Rows::Place::nowhere) return;
    const std::int64_t row = static_cast<std::int64_t>(layout.lanes) * Rows::elements;
    const Sum* groups = static_cast<const Sum*>(arguments_.groups);
#pragma unroll
    for (int p = 0; p < Rows::pixels; ++p) {
      const int column = __ldg(reader_.columns + p);
      if (column < 0) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const Sum* entry = groups + static_cast<std::int64_t>(column) * Channels + c;
        sums[p * Channels + c] += __ldg(entry + end * row) - __ldg(entry + first * row);
      }
    }
  }

  const RunningMeanArguments& arguments_;
  const RunningWindow& window_;
  const Rows& reader_;
  const Decoder& decoder_;
  Words enters_{};
  Words leaves_{};
};

/// Writes neighbouring sums by the widest accesses that divide them; `to` is aligned for those.
template <int Count, class Sum>
__device__ void store_neighbours(Sum* to, const Sum (&values)[Count]) {
  constexpr int bytes = Count * static_cast<int>(sizeof(Sum));
  constexpr int access = (bytes & -bytes) > 16 ? 16 : bytes & -bytes;
  constexpr int at_once = access / static_cast<int>(sizeof(Sum));
  struct alignas(access) Group {
    Sum values[at_once];
  };
#pragma unroll
  for (int i = 0; i < Count; i += at_once) {
    Group group;
#pragma unroll
    for (int k = 0; k < at_once; ++k) group.values[k] = values[i + k];
    *reinterpret_cast<Group*>(to + i) = group;
  }
}

/// A lane's part of the prefixes of one row.
template <int Elements, int Channels, class Sum>
struct RowScan {
  Sum prefix[Elements];  ///< over the lane's own pixels
  Sum before[Channels];  ///< sums of the lanes to the left of its warp

  /// Leaves the totals of the warp in shared memory.
  __device__ void scan(const Sum (&sums)[Elements], Sum* totals, int warp) {
#pragma unroll
    for (int e = 0; e < Elements; ++e) prefix[e] = sums[e] + (e < Channels ? Sum{0} : prefix[e - Channels]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const Sum own = prefix[Elements - Channels + c];
      const Sum inclusive = inclusive_scan(own);
      before[c] = inclusive - own;
      if (lane_index() == warp_size - 1) totals[4 * warp + c] = inclusive;
    }
  }

  /// Adds the totals of the warps to the left, and writes the prefixes into their planes.
  __device__ void publish(const Sum* totals, int warp, Sum* prefixes, int plane) {
#pragma unroll 1
    for (int w = 0; w < warp; ++w) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) before[c] += totals[4 * w + c];
    }
    constexpr int count = Elements / 4;
    Sum* to = prefixes + static_cast<int>(threadIdx.x) * count;
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      Sum values[count];
#pragma unroll
      for (int i = 0; i < count; ++i) values[i] = prefix[4 * i + p] + before[(4 * i + p) % Channels];
      store_neighbours<count>(to + p * plane, values);
    }
  }
};

}  // namespace satin::kernels
