// Second differences to sums and colours, by tiles of 32 x 32 pixels: sums of tiles, scans of these, and then
// every tile alone. Tiles where nothing lies and nothing comes in from are not read.

#include "core/maths/composite.h"
#include "core/operations/with_type.h"
#include "kernels/deposit_tile.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = warp_size * deposit_warps;

/// columns = sums of the tile's columns, rows = sums of its rows, of one plane.
__global__ void __launch_bounds__(threads) sum_tiles(const __grid_constant__ DepositArguments a) {
  const Tile tile(a, std::int64_t{blockIdx.x} * deposit_warps + threadIdx.x / warp_size);
  if (!tile.exists) return;
  const auto plane = static_cast<int>(blockIdx.y);
  const std::int32_t x = tile.column * deposit_tile + lane_index();
  const std::int32_t top = tile.row * deposit_tile;
  std::uint64_t column = 0;
  std::uint64_t row = 0;
  if (a.sums.spread[tile.index] != 0) {
    std::uint64_t values[deposit_tile];
    const std::uint64_t* deltas = a.sums.deltas + plane * delta_plane(a);
#pragma unroll
    for (int i = 0; i < deposit_tile; ++i)
      values[i] = x < a.width && top + i < a.height ? deltas[std::int64_t{top + i} * a.width + x] : 0;
#pragma unroll
    for (int i = 0; i < deposit_tile; ++i) column += values[i];
    row = sum_rows(values);
  }
  if (x < a.width) a.sums.columns[plane * column_plane(a) + std::int64_t{tile.row} * a.width + x] = column;
  const std::int32_t y = top + lane_index();
  if (y < a.height) a.sums.rows[plane * row_plane(a) + std::int64_t{y} * a.tile_columns + tile.column] = row;
}

/// Exclusive sums down the columns, one thread each. The first row of a tile gets what comes from above the
/// tile's columns.
__global__ void __launch_bounds__(threads) scan_columns(const __grid_constant__ DepositArguments a) {
  constexpr int at_once = 8;  // loads in flight
  const std::int32_t x =
      static_cast<std::int32_t>(blockIdx.x) * threads + static_cast<std::int32_t>(threadIdx.x);
  const std::int32_t tile_column = x / deposit_tile;
  if (tile_column >= a.tile_columns) return;
  std::uint64_t* column = a.sums.columns + blockIdx.y * column_plane(a) + x;
  std::uint64_t* rows = a.sums.rows + blockIdx.y * row_plane(a) + tile_column;
  std::uint64_t above = 0;
  for (std::int32_t first = 0; first < a.tile_rows; first += at_once) {
    std::uint64_t sums[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      sums[i] = x < a.width && first + i < a.tile_rows ? column[std::int64_t{first + i} * a.width] : 0;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const std::uint64_t own = sums[i];
      sums[i] = above;
      if (x < a.width && first + i < a.tile_rows) column[std::int64_t{first + i} * a.width] = above;
      above += own;
    }
    const std::uint64_t total = sum_rows(sums);
    const std::int32_t row = first + lane_index();
    if (lane_index() < at_once && row < a.tile_rows)
      rows[std::int64_t{row} * deposit_tile * a.tile_columns] += total;
  }
}

/// Exclusive sums along the rows of tiles, one warp a row of pixels.
__global__ void __launch_bounds__(threads) scan_rows(const __grid_constant__ DepositArguments a) {
  const std::int64_t y = std::int64_t{blockIdx.x} * deposit_warps + threadIdx.x / warp_size;
  if (y >= a.height) return;
  std::uint64_t* row = a.sums.rows + blockIdx.y * row_plane(a) + y * a.tile_columns;
  std::uint64_t before = 0;
  for (std::int32_t first = 0; first < a.tile_columns; first += warp_size) {
    const std::int32_t column = first + lane_index();
    const std::uint64_t own = column < a.tile_columns ? row[column] : 0;
    const std::uint64_t sum = inclusive_scan(own);
    if (column < a.tile_columns) row[column] = before + sum - own;
    before += __shfl_sync(whole_warp, sum, warp_size - 1);
  }
}

constexpr int rows_of_warp = deposit_tile / deposit_warps;  ///< of the tile that a block composites

/// The sums of one warp's rows of a tile.
template <int Channels>
class TileRows {
 public:
  __device__ TileRows(const DepositArguments& a, const Tile& tile)
      : a_(a),
        first_(static_cast<int>(threadIdx.x) / warp_size * rows_of_warp),
        x_(tile.column * deposit_tile + lane_index()),
        y_(tile.row * deposit_tile + first_) {
    const std::int32_t row = tile.row * deposit_tile + lane_index();
#pragma unroll
    for (int c = 0; c <= Channels; ++c) {
      column_[c] =
          x_ < a.width ? a.sums.columns[c * column_plane(a) + std::int64_t{tile.row} * a.width + x_] : 0;
      row_[c] = row < a.height
                    ? a.sums.rows[c * row_plane(a) + std::int64_t{row} * a.tile_columns + tile.column]
                    : 0;
#pragma unroll
      for (int i = 0; i < rows_of_warp; ++i) deltas_[i][c] = 0;
    }
  }

  /// Neither the columns above nor the rows before the tile have a weight.
  [[nodiscard]] __device__ bool nothing_comes_in() const {
    return __any_sync(whole_warp, row_[Channels] != 0 || column_[Channels] != 0) == 0;
  }

  /// Reads the deltas and takes them away.
  __device__ void fetch() {
    if (x_ >= a_.width) return;
#pragma unroll
    for (int c = 0; c <= Channels; ++c)
#pragma unroll
      for (int i = 0; i < rows_of_warp; ++i)
        if (y_ + i < a_.height) deltas_[i][c] = *delta(i, c);
#pragma unroll
    for (int c = 0; c <= Channels; ++c)
#pragma unroll
      for (int i = 0; i < rows_of_warp; ++i)
        if (y_ + i < a_.height) *delta(i, c) = 0;
  }

  /// Adds what the rows of the warps above have in the columns; of all warps of the block.
  __device__ void add_rows_above(std::uint64_t (&sums)[deposit_warps][Channels + 1][warp_size]) {
    const int warp = first_ / rows_of_warp;
#pragma unroll
    for (int c = 0; c <= Channels; ++c) {
      std::uint64_t own = 0;
#pragma unroll
      for (int i = 0; i < rows_of_warp; ++i) own += deltas_[i][c];
      sums[warp][c][lane_index()] = own;
    }
    __syncthreads();
    for (int above = 0; above < warp; ++above)
#pragma unroll
      for (int c = 0; c <= Channels; ++c) column_[c] += sums[above][c][lane_index()];
  }

  /// From here on lane i has what comes in from the left of all rows to row i.
  __device__ void sum_what_comes_in() {
#pragma unroll
    for (int c = 0; c <= Channels; ++c) row_[c] = inclusive_scan(row_[c]);
  }

  /// Sums of the pixel of this lane in row i of the warp, the next one.
  __device__ void next(int i, std::uint64_t (&sums)[Channels + 1]) {
#pragma unroll
    for (int c = 0; c <= Channels; ++c) {
      column_[c] += deltas_[i][c];
      sums[c] = __shfl_sync(whole_warp, row_[c], first_ + i) + inclusive_scan(column_[c]);
    }
  }

  [[nodiscard]] __device__ std::int32_t x() const { return x_; }
  [[nodiscard]] __device__ std::int32_t y() const { return y_; }

 private:
  [[nodiscard]] __device__ std::uint64_t* delta(int i, int c) const {
    return a_.sums.deltas + c * delta_plane(a_) + std::int64_t{y_ + i} * a_.width + x_;
  }

  const DepositArguments& a_;
  int first_;
  std::int32_t x_;
  std::int32_t y_;
  std::uint64_t column_[Channels + 1];
  std::uint64_t row_[Channels + 1];
  std::uint64_t deltas_[rows_of_warp][Channels + 1];
};

/// Adds the sample that stays on this pixel.
template <int Channels>
__device__ void add_focused(const DepositArguments& a, std::int64_t x, std::int64_t y,
                            std::uint64_t (&sums)[Channels + 1]) {
  const std::uint32_t* colour = row_at<std::uint32_t>(a.colours, y) + x * Channels;
  const std::uint32_t weight =
      sample_weight(1U << a.kernels.weight_bits, row_at<std::uint16_t>(a.weights, y)[x]);
#pragma unroll
  for (int c = 0; c < Channels; ++c) sums[c] += std::uint64_t{colour[c]} * weight;
  sums[Channels] += weight;
}

template <class Real, int Channels>
__device__ Composite<Real, Channels>* state_at(const DepositArguments& a, std::int64_t x, std::int64_t y) {
  return static_cast<Composite<Real, Channels>*>(a.state) + y * a.width + x;
}

/// Writes what the lanes have for one row of a tile, word after word.
template <int Channels>
__device__ void store_row(const DepositArguments& a, const Tile& tile, std::int64_t y,
                          const std::uint32_t (&colour)[Channels]) {
  const std::int64_t left = std::int64_t{tile.column} * deposit_tile;
  const std::int64_t pixels = min(std::int64_t{deposit_tile}, a.width - left);
  auto* out = reinterpret_cast<std::uint32_t*>(a.output.data + y * a.output.row) + left * Channels;
#pragma unroll
  for (int i = 0; i < Channels; ++i) {
    const int word = i * warp_size + lane_index();
    std::uint32_t value = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const std::uint32_t of_channel = __shfl_sync(whole_warp, colour[c], word / Channels);
      if (word % Channels == c) value = of_channel;
    }
    if (word < pixels * Channels) out[word] = value;
  }
}

/// One row of a tile, laid behind the groups before; the last group's is stored, and the state cleared.
template <class Real, int Channels, bool Last>
__device__ void composite_row(const DepositArguments& a, const Tile& tile, std::int64_t x, std::int64_t y,
                              const std::uint64_t (&sums)[Channels + 1], Real unit,
                              Composite<Real, Channels>& composite) {
  const bool inside = x < a.width;
  const bool arrived = inside && sums[Channels] != 0;
  if (!Last && !arrived) return;
  std::uint32_t colour[Channels] = {};
  if (inside) {
    if (arrived) composite.add(sums, unit);
    if (Last) {
      const std::uint32_t* source = row_at<std::uint32_t>(a.source, y) + x * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) colour[c] = composite.empty() ? source[c] : composite.result(c);
      composite.clear();
    }
    *state_at<Real, Channels>(a, x, y) = composite;
  }
  if (Last) store_row<Channels>(a, tile, y, colour);
}

/// A block composites a tile, each of its warps some rows. All that it reads it asks for at once: a group has
/// few tiles, and a warp alone would wait for its rows one after the other.
template <class Real, int Channels, bool Last>
__global__ void __launch_bounds__(threads) composite_tiles(const __grid_constant__ DepositArguments a) {
  __shared__ std::uint64_t column_sums[deposit_warps][Channels + 1][warp_size];
  const Tile tile(a, blockIdx.x);
  TileRows<Channels> rows(a, tile);
  const bool spread = a.sums.spread[tile.index] != 0;
  const bool focused = a.sums.focused[tile.index] != 0;
  if (!Last && !spread && !focused && rows.nothing_comes_in()) return;
  if (spread) rows.fetch();
  const std::int64_t x = rows.x();
  Composite<Real, Channels> composites[rows_of_warp];
#pragma unroll
  for (int i = 0; i < rows_of_warp; ++i) {
    composites[i].clear();  // what the first group finds
    if (a.group > 0 && x < a.width && rows.y() + i < a.height)
      composites[i] = *state_at<Real, Channels>(a, x, rows.y() + i);
  }
  if (spread) rows.add_rows_above(column_sums);
  rows.sum_what_comes_in();
  const Real unit = static_cast<Real>(1) / static_cast<Real>(std::uint64_t{1} << a.kernels.weight_bits);
#pragma unroll
  for (int i = 0; i < rows_of_warp; ++i) {
    const std::int32_t y = rows.y() + i;
    if (y >= a.height) break;
    std::uint64_t sums[Channels + 1];
    rows.next(i, sums);
    if (focused && x < a.width && focused_here(a, x, y)) add_focused<Channels>(a, x, y, sums);
    composite_row<Real, Channels, Last>(a, tile, x, y, sums, unit, composites[i]);
  }
}

/// Calls launch.operator()<Real, Channels>().
template <class Launch>
void with_composite(const DepositArguments& a, const Launch& launch) {
  with_channels(a.channels, [&]<int Channels>() {
    a.single ? launch.template operator()<float, Channels>() : launch.template operator()<double, Channels>();
  });
}

unsigned blocks_for(std::int64_t count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

std::int64_t tile_count(const DepositArguments& a) { return std::int64_t{a.tile_columns} * a.tile_rows; }

}  // namespace

void deposit_carries(const DepositArguments& a, StreamHandle stream) {
  const auto planes = static_cast<unsigned>(a.channels + 1);
  sum_tiles<<<dim3(blocks_for(tile_count(a), deposit_warps), planes), threads, 0, stream>>>(a);
  scan_columns<<<dim3(blocks_for(a.width, threads), planes), threads, 0, stream>>>(a);
  scan_rows<<<dim3(blocks_for(a.height, deposit_warps), planes), threads, 0, stream>>>(a);
}

void deposit_composite(const DepositArguments& a, StreamHandle stream) {
  with_composite(a, [&]<class Real, int Channels>() {
    const unsigned blocks = blocks_for(tile_count(a), 1);
    if (a.group == a.last_group)
      composite_tiles<Real, Channels, true><<<blocks, threads, 0, stream>>>(a);
    else
      composite_tiles<Real, Channels, false><<<blocks, threads, 0, stream>>>(a);
  });
}

}  // namespace satin::kernels
