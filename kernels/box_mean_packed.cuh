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

/// Sums of the rows of each group of the band, for all warps.
template <int Channels>
__device__ void sum_packed_groups(const PackedMeanArguments& arguments, const PackedPart& part, int first_row,
                                  const typename PackedShape<Channels>::Rows* readers, std::uint32_t* groups,
                                  int warp) {
  using Shape = PackedShape<Channels>;
  const int end_row = part.band_end + arguments.job.reach_y;
#pragma unroll 1
  for (int g = warp; g < arguments.tiles.groups; g += packed_warps) {
    const int first = first_row + g * arguments.tiles.rows;
    const int end = min(first + arguments.tiles.rows, end_row);
#pragma unroll
    for (int s = 0; s < Shape::segments; ++s) {
      PackedColumns<Channels> columns;
      columns.clear();
      columns.add_rows(readers[s], arguments.rows, first, end);
      store_words(groups + g * Shape::row_words + (s * warp_size + lane_index()) * Shape::pairs,
                  columns.sums);
    }
  }
}

template <int Channels, int Shift>
__global__ void __launch_bounds__(packed_threads, tuning::packed_blocks_per_multiprocessor)
    average_packed(const __grid_constant__ PackedMeanArguments arguments) {
  using Shape = PackedShape<Channels>;
  using Columns = PackedColumns<Channels>;
  extern __shared__ uint4 memory[];
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  const PackedMeanJob& job = arguments.job;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const PackedPart part = packed_part(arguments, Shape::pixels, warp);

  const auto reader_of = [&](int segment) {
    const int x = part.origin + (segment * warp_size + lane_index()) * Shape::pixels;
    return typename Shape::Rows(arguments.source, x, part.last_x - 1 + job.reach_x, job.width, job.clipped,
                                arguments.columns);
  };
  typename Shape::Rows readers[Shape::segments] = {reader_of(0), reader_of(1)};
  const int band_row = part.band_y - 1 - job.reach_y;  // the window before that of the band's first row
  sum_packed_groups<Channels>(arguments, part, band_row, readers, words, warp);
  __syncthreads();

  // The warp starts from the windows one row above its first.
  const int whole_groups = (2 * job.reach_y + 1) / arguments.tiles.rows;
  Columns columns[Shape::segments];
#pragma unroll
  for (int s = 0; s < Shape::segments; ++s) {
    columns[s].clear();
    columns[s].add_groups(words + warp * Shape::row_words + (s * warp_size + lane_index()) * Shape::pairs,
                          whole_groups);
    const int first = part.first_y - 1 - job.reach_y;
    columns[s].add_rows(readers[s], arguments.rows, first + whole_groups * arguments.tiles.rows,
                        part.first_y + job.reach_y);
  }
  __syncthreads();

  PackedMeans<Channels, Shift> means(arguments, part, words + warp * Shape::warp_words(job.reach_x));
  typename Shape::Rows::Words enters;
  typename Shape::Rows::Words leaves;
  const auto fetch = [&](int s, int y) {
    readers[s].load(__ldg(arguments.rows + y + job.reach_y), enters);
    readers[s].load(__ldg(arguments.rows + y - job.reach_y - 1), leaves);
  };
  if (part.first_y < part.last_y) fetch(0, part.first_y);
#pragma unroll 1
  for (int y = part.first_y; y < part.last_y; ++y) {
    means.start_row(y);
#pragma unroll
    for (int s = 0; s < Shape::segments; ++s) {
      columns[s].advance(enters, leaves);
      if (s + 1 < Shape::segments) {
        fetch(s + 1, y);
      } else if (y + 1 < part.last_y) {
        fetch(0, y + 1);
      }
      means.write(s, columns[s].sums);
    }
  }
}

}  // namespace satin::kernels
