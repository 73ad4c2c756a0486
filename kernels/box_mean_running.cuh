#pragma once
// Box mean of integers with one radius, without a table: a block marches down a strip of columns with running
// sums of every column in registers (a row enters, a row leaves), scans them along the row into shared
// memory, and every mean is a difference of two prefixes over a divisor.
//
// One barrier a row: between two of them a warp finishes the prefixes of row y, advances its columns to row
// y + 1 and scans them, and writes the means of row y - 1. Prefixes and warps' totals have two buffers each,
// by the row's parity, so that none is written between the barriers that its readers stand in.
//
// The prefixes of a row lie in four planes, element e in plane e % 4. Lanes that take four elements each, at
// whatever distance, then read consecutive words: no two of one bank.
//
// A fractional radius weights the rows of a window when they enter and leave its column sums, and mixes two
// differences of prefixes along the row. Sums are modulo 2^32 or 2^64 and the sums over one box fit.
//
// Bytes moved per pixel: the output, and each pixel of the source about 2 + 2 reach / (rows of a band) times,
// all but the first from the L2.

#include <cstdint>

#include "kernels/row_groups.cuh"
#include "kernels/running_columns.cuh"
#include "kernels/running_means.cuh"

namespace satin::kernels {

/// Shared memory of a block.
template <class Sum>
struct RunningShared {
  Sum* totals;    ///< [2][warps][4]
  Sum* prefixes;  ///< [2][4][plane]
  std::uint32_t* decode;
  int plane;

  __device__ RunningShared(void* memory, int warps, int elements)
      : totals(static_cast<Sum*>(memory)),
        prefixes(totals + 2 * 4 * warps),
        decode(reinterpret_cast<std::uint32_t*>(prefixes + 2 * warps * warp_size * elements)),
        plane(warps * warp_size * elements / 4) {}
};

template <class Sum>
constexpr std::size_t running_shared_bytes(int warps, int elements, bool decoded) {
  return static_cast<std::size_t>(2 * warps) * (4 + static_cast<std::size_t>(warp_size * elements)) *
             sizeof(Sum) +
         (decoded ? Decoder::shared_bytes : 0);
}

template <class T, int Channels, class Sum>
__global__ void __launch_bounds__(tuning::running_most_warps* warp_size)
    average_running(const __grid_constant__ RunningMeanArguments arguments) {
  using Columns = RunningColumns<T, Channels, Sum>;
  using Rows = typename Columns::Rows;
  extern __shared__ uint4 memory[];
  const auto thread = static_cast<int>(threadIdx.x);
  const auto warps = static_cast<int>(blockDim.x) / warp_size;
  const int warp = thread / warp_size;
  const RunningShared<Sum> shared(memory, warps, Rows::elements);
  const Decoder decoder(arguments.transfer.decode, shared.decode);
  if (sizeof(T) == 1 && decoder.used()) {
    Decoder::fill(arguments.transfer.decode, shared.decode);
    __syncthreads();
  }

  const RunningPart part = running_part(arguments, Rows::pixels);
  const int x = part.origin + thread * Rows::pixels;
  const Rows reader(arguments.source, x, part.last_needed, arguments.job.width, arguments.job.clipped,
                    arguments.columns);
  Columns columns(arguments, reader, decoder);
  RowScan<Rows::elements, Channels, Sum> row;
  RunningOutput<T, Channels, Sum> output(arguments, part, shared.plane);

  columns.start(part.first_y);
  if (part.first_y + 1 < part.last_y) columns.fetch(part.first_y + 1);
  row.scan(columns.sums, shared.totals, warp);
  __syncthreads();
  for (int y = part.first_y; y <= part.last_y; ++y) {
    const int parity = (y - part.first_y) & 1;
    Sum* current = shared.prefixes + parity * 4 * shared.plane;
    const Sum* above = shared.prefixes + (1 - parity) * 4 * shared.plane;
    if (y < part.last_y) row.publish(shared.totals + parity * 4 * warps, warp, current, shared.plane);
    if (y + 1 < part.last_y) {
      columns.advance(y + 1);
      if (y + 2 < part.last_y) columns.fetch(y + 2);
      row.scan(columns.sums, shared.totals + (1 - parity) * 4 * warps, warp);
    }
    if (y > part.first_y) output.write(y - 1, above);
    __syncthreads();
  }
}

// --- Launching ---

/// Calls action(kernel, build_groups) for the job's channels and accumulator.
template <class T, class Action>
auto with_running_kernel(const RunningMeanJob& job, const Action& action) {
  const bool wide = job.accumulator == Accumulator::u64;
  switch (job.channels) {
    case 1:
      return wide ? action(average_running<T, 1, std::uint64_t>, build_row_groups<T, 1, std::uint64_t>)
                  : action(average_running<T, 1, std::uint32_t>, build_row_groups<T, 1, std::uint32_t>);
    case 2:
      return wide ? action(average_running<T, 2, std::uint64_t>, build_row_groups<T, 2, std::uint64_t>)
                  : action(average_running<T, 2, std::uint32_t>, build_row_groups<T, 2, std::uint32_t>);
    case 3:
      return wide ? action(average_running<T, 3, std::uint64_t>, build_row_groups<T, 3, std::uint64_t>)
                  : action(average_running<T, 3, std::uint32_t>, build_row_groups<T, 3, std::uint32_t>);
    default:
      return wide ? action(average_running<T, 4, std::uint64_t>, build_row_groups<T, 4, std::uint64_t>)
                  : action(average_running<T, 4, std::uint32_t>, build_row_groups<T, 4, std::uint32_t>);
  }
}

template <class T>
int prepare_running_mean_of(const RunningMeanArguments& arguments) {
  return with_running_kernel<T>(arguments.job, [&](auto* kernel, auto*) {
    return static_cast<int>(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(arguments.tiles.shared_bytes)));
  });
}

/// For pictures of type T; instantiated in box_mean_running_*.cu.
template <class T>
void running_mean_of(const RunningMeanArguments& arguments, StreamHandle stream) {
  with_running_kernel<T>(arguments.job, [&](auto* kernel, auto* build_groups) {
    const RunningTiles& tiles = arguments.tiles;
    if (tiles.groups) build_groups(arguments, stream);
    const dim3 blocks(static_cast<unsigned>(tiles.strips), static_cast<unsigned>(tiles.bands));
    const auto threads = static_cast<unsigned>(tiles.warps * warp_size);
    kernel<<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
