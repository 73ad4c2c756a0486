#pragma once
// Box mean of bytes with one whole radius up to 90 or so, without a table: column sums of 16 bits, two a
// word.
//
// A block's warps stand above each other in a band of rows of one strip of columns. They first share the sums
// over groups of rows that their windows start from, then go their own ways without a barrier: each marches
// down its rows, adds the row that enters its windows and subtracts the one that leaves, and slides the
// window along the row. A strip is as wide as a warp's columns, less what only surrounds its windows.
//
// Bytes moved per pixel: the output, the picture once from memory, and twice or three times from the L1.
// About 9 instructions a byte, so that the issue of instructions is the limit.

#include <cstdint>

#include "kernels/packed_columns.cuh"
#include "kernels/packed_means.cuh"

namespace satin::kernels {

template <int Channels, int Shift, bool Plain>
class PackedMarch {
 public:
  using Shape = PackedShape<Channels>;
  using Rows = typename Shape::Rows;

  __device__ PackedMarch(const PackedMeanArguments& arguments, const PackedPart& part,
                         const Rows (&readers)[Shape::segments], std::uint32_t* memory, int warp)
      : arguments_(arguments), part_(part), readers_(readers), memory_(memory), warp_(warp) {}

  /// To be called by all warps of the block.
  __device__ void run() {
    sum_groups();
    __syncthreads();
    start();
    __syncthreads();
    write_rows();
  }

 private:
  /// Sums of the rows of each group of the band, for all warps. The first is that of the band's first window,
  /// one row higher.
  __device__ void sum_groups() const {
    const int first_row = part_.band_y - 1 - arguments_.job.reach_y;
    const int end_row = part_.band_end + arguments_.job.reach_y;
#pragma unroll 1
    for (int g = warp_; g < arguments_.tiles.groups; g += packed_warps) {
      const int first = first_row + g * arguments_.tiles.group_rows;
      const int end = min(first + arguments_.tiles.group_rows, end_row);
#pragma unroll
      for (int s = 0; s < Shape::segments; ++s) {
        PackedColumns<Channels> columns;
        columns.clear();
        columns.template add_rows<Plain>(readers_[s], arguments_, first, end);
        store_words(group(g, s), columns.sums);
      }
    }
  }

  /// The windows one row above the warp's first.
  __device__ void start() {
    const int first = part_.first_y - 1 - arguments_.job.reach_y;
    const int rows = arguments_.tiles.group_rows;
    const int whole = (2 * arguments_.job.reach_y + 1) / rows;
#pragma unroll
    for (int s = 0; s < Shape::segments; ++s) {
      columns_[s].clear();
      columns_[s].add_groups(group(warp_ * (arguments_.tiles.rows / rows), s), whole);
      columns_[s].template add_rows<Plain>(readers_[s], arguments_, first + whole * rows,
                                           part_.first_y + arguments_.job.reach_y);
    }
  }

  __device__ void write_rows() {
    PackedMeans<Channels, Shift> means(arguments_, part_,
                                       memory_ + warp_ * Shape::warp_words(arguments_.job.reach_x));
    if (part_.first_y < part_.last_y) fetch(0, part_.first_y);
#pragma unroll 1
    for (int y = part_.first_y; y < part_.last_y; ++y) {
      means.start_row(y);
#pragma unroll
      for (int s = 0; s < Shape::segments; ++s) {
        columns_[s].advance(enters_, leaves_);
        if (s + 1 < Shape::segments) {
          fetch(s + 1, y);
        } else if (y + 1 < part_.last_y) {
          fetch(0, y + 1);
        }
        means.write(s, columns_[s].sums);
      }
    }
  }

  /// Loads what the windows of row y have and those above do not, and the other way round.
  __device__ void fetch(int s, int y) {
    const int reach = arguments_.job.reach_y;
    load_row<Plain>(readers_[s], packed_row_at(arguments_, y + reach), enters_);
    load_row<Plain>(readers_[s], packed_row_at(arguments_, y - reach - 1), leaves_);
  }

  [[nodiscard]] __device__ std::uint32_t* group(int g, int s) const {
    return memory_ + g * Shape::row_words + (s * warp_size + lane_index()) * Shape::pairs;
  }

  const PackedMeanArguments& arguments_;
  const PackedPart& part_;
  const Rows (&readers_)[Shape::segments];
  std::uint32_t* memory_;
  int warp_;
  PackedColumns<Channels> columns_[Shape::segments];
  typename Rows::Words enters_{};
  typename Rows::Words leaves_{};
};

template <int Channels, int Shift>
__global__ void __launch_bounds__(packed_threads, tuning::packed_blocks_per_multiprocessor)
    average_packed(const __grid_constant__ PackedMeanArguments arguments) {
  using Shape = PackedShape<Channels>;
  using Rows = typename Shape::Rows;
  extern __shared__ uint4 memory[];
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const PackedPart part = packed_part(arguments, Shape::pixels, warp);
  const auto reader_of = [&](int segment) {
    const int x = part.origin + (segment * warp_size + lane_index()) * Shape::pixels;
    return Rows(arguments.source, x, part.last_x - 1 + arguments.job.reach_x, arguments.job.width,
                arguments.job.clipped, arguments.columns);
  };
  const Rows readers[Shape::segments] = {reader_of(0), reader_of(1)};
  const bool whole_lanes =
      readers[0].place != Rows::Place::scattered && readers[1].place != Rows::Place::scattered;
  const bool plain = readers[0].aligned && whole_lanes;
  if (__all_sync(whole_warp, static_cast<int>(plain)) != 0) {  // the same for every warp
    PackedMarch<Channels, Shift, true>(arguments, part, readers, words, warp).run();
  } else {
    PackedMarch<Channels, Shift, false>(arguments, part, readers, words, warp).run();
  }
}

}  // namespace satin::kernels
