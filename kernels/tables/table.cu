// The parts of the summed-area table that do not depend on the picture's type: the choice between one pass
// and two readings (table.cuh), the scan of the carries between tiles, and the conversion of fixed-point sums
// to doubles.

#include <algorithm>
#include <type_traits>

#include "core/with_type.h"
#include "kernels/pixels/lane.cuh"
#include "kernels/tables/launch.h"
#include "kernels/tables/table.cuh"
#include "pixels/pixels.h"

namespace satin::kernels {
namespace {

constexpr int columns_per_block = warp_size;

template <class Sum>
struct Matrix {
  Sum* data;
  std::int64_t rows;
  std::int64_t columns;
};

template <class Sum>
struct Matrices {
  static constexpr int count = 4;
  Matrix<Sum> matrix[count];
};

template <class Sum>
__host__ __device__ std::int64_t blocks_of(const Matrix<Sum>& matrix) {
  return (matrix.columns + columns_per_block - 1) / columns_per_block;
}

/// Scans columns exclusively, in place. A thread sums one segment of a column, adds the sums of the segments
/// above, and scans its segment onto that.
template <class Sum>
__global__ void __launch_bounds__(columns_per_block* tuning::carry_segments)
    scan_columns(const __grid_constant__ Matrices<Sum> matrices) {
  constexpr int segments = tuning::carry_segments;
  constexpr int batch = tuning::carry_loads_in_flight;
  __shared__ Sum segment_sums[segments][columns_per_block];
  Matrix<Sum> matrix = matrices.matrix[0];
  auto block = static_cast<std::int64_t>(blockIdx.x);
#pragma unroll
  for (int i = 1; i < Matrices<Sum>::count; ++i) {
    if (block < blocks_of(matrix)) break;
    block -= blocks_of(matrix);
    matrix = matrices.matrix[i];
  }

  const std::int64_t column = block * columns_per_block + threadIdx.x;
  const auto segment = static_cast<int>(threadIdx.y);
  const std::int64_t length = (matrix.rows + segments - 1) / segments;
  const std::int64_t begin = min(segment * length, matrix.rows);
  const std::int64_t end = column < matrix.columns ? min(begin + length, matrix.rows) : begin;
  Sum* first = matrix.data + column;

  Sum sum = 0;
#pragma unroll 4
  for (std::int64_t row = begin; row < end; ++row) sum += first[row * matrix.columns];
  segment_sums[segment][threadIdx.x] = sum;
  __syncthreads();
  Sum running = 0;
  for (int i = 0; i < segment; ++i) running += segment_sums[i][threadIdx.x];

  for (std::int64_t row = begin; row < end; row += batch) {
    Sum values[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) values[i] = row + i < end ? first[(row + i) * matrix.columns] : 0;
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (row + i < end) first[(row + i) * matrix.columns] = running;
      running += values[i];
    }
  }
}

__global__ void __launch_bounds__(tuning::to_double_threads)
    convert_sums(const __grid_constant__ ToDoubleArguments arguments) {
  const FixedExponents exponents =
      exponents_of(arguments.job.read, arguments.job.squared, arguments.measured);
  const double scale = power_of_two(-exponents.colour);
  const std::int64_t elements = arguments.job.width * arguments.job.read.channels;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  for (std::int64_t y = blockIdx.y; y < arguments.job.height; y += gridDim.y) {
    std::byte* entry =
        arguments.table.data + y * arguments.table.row + i * static_cast<std::int64_t>(sizeof(double));
    const double sum = static_cast<double>(*reinterpret_cast<const std::int64_t*>(entry));
    *reinterpret_cast<double*>(entry) = sum * scale;
  }
}

}  // namespace

template <class Sum>
void scan_carries(const TableArguments& arguments, const Carries<Sum>& carries, StreamHandle stream) {
  const TableTiles& tiles = arguments.tiles;
  const Matrices<Sum> matrices{{{carries.columns, tiles.tile_rows, tiles.width * tiles.channels},
                                {carries.rows, tiles.tile_columns, tiles.height * tiles.channels},
                                {carries.totals, tiles.tile_rows, tiles.tile_columns * tiles.channels},
                                {carries.fine_totals, tiles.tile_rows, tiles.tile_columns * tiles.channels}}};
  std::int64_t blocks = 0;
  for (const Matrix<Sum>& matrix : matrices.matrix) blocks += blocks_of(matrix);
  const dim3 threads(columns_per_block, tuning::carry_segments);
  scan_columns<Sum><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(matrices);
}

template void scan_carries(const TableArguments&, const Carries<std::uint32_t>&, StreamHandle);
template void scan_carries(const TableArguments&, const Carries<std::uint64_t>&, StreamHandle);

TableTiles table_tiles(const TableJob& job, int multiprocessors) {
  if (const auto tiles = single_pass_tiles(job)) return *tiles;
  constexpr int step = tuning::table_most_rows_in_flight;
  TableTiles tiles;
  tiles.width = job.width;
  tiles.height = job.height;
  tiles.channels = job.read.channels;
  tiles.accumulator = job.accumulator;
  tiles.tile_width = warp_size * pixels_per_lane(tiles.channels, job.accumulator == Accumulator::u32 ? 4 : 8);
  tiles.tile_columns = (job.width + tiles.tile_width - 1) / tiles.tile_width;
  const std::int64_t warps = std::int64_t{multiprocessors} * tuning::table_warps_per_multiprocessor;
  const std::int64_t filling = job.height * tiles.tile_columns / warps / step * step;
  tiles.tile_height = static_cast<int>(
      std::clamp<std::int64_t>(filling, tuning::table_fewest_tile_rows, tuning::table_most_tile_rows));
  tiles.tile_rows = (job.height + tiles.tile_height - 1) / tiles.tile_height;
  return tiles;
}

std::size_t light_entry_bytes(int channels) {
  return with_channels(channels, [&]<int Channels>() { return sizeof(LightEntry<Channels>); });
}

std::size_t table_workspace_bytes(const TableTiles& tiles) {
  if (tiles.single_pass_variant != TableTiles::two_readings) return single_pass_workspace_bytes(tiles);
  const std::int64_t sums = tiles.tile_rows * tiles.width + tiles.tile_columns * tiles.height +
                            2 * tiles.tile_rows * tiles.tile_columns;
  return static_cast<std::size_t>(sums * tiles.channels * (tiles.accumulator == Accumulator::u32 ? 4 : 8));
}

extern template void build_table_of<std::uint8_t>(const TableArguments&, StreamHandle);
extern template void build_table_of<std::uint16_t>(const TableArguments&, StreamHandle);
extern template void build_table_of<std::uint32_t>(const TableArguments&, StreamHandle);
extern template void build_table_of<std::uint64_t>(const TableArguments&, StreamHandle);
extern template void build_table_of<float>(const TableArguments&, StreamHandle);

void build_table(const TableArguments& arguments, StreamHandle stream) {
  if (arguments.tiles.single_pass_variant != TableTiles::two_readings)
    return build_table_in_one_pass(arguments, stream);
  with_type(arguments.job.read.type, [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::int32_t> && !std::is_same_v<T, double>)  // types of pixels
      build_table_of<T>(arguments, stream);
  });
}

void to_double(const ToDoubleArguments& arguments, StreamHandle stream) {
  const std::int64_t elements = arguments.job.width * arguments.job.read.channels;
  const dim3 blocks(block_count(elements, tuning::to_double_threads), blocks_down(arguments.job.height));
  convert_sums<<<blocks, tuning::to_double_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
