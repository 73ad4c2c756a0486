// Means over lobes (lobes/lobe_mean.h). A box of a lobe needs two entries of two rows of the table for each
// of its reaches; neighbouring threads read neighbouring entries of the same rows. Where lobes are wide, one
// kernel sums cells for the table, the second finds the means of cells, and the third interpolates between
// them.

#include <cstdint>

#include "core/with_type.h"
#include "kernels/lobes/launch.h"
#include "kernels/pixels/lane.cuh"
#include "kernels/pixels/plane.cuh"
#include "lobes/maths/lobe_cells.h"

namespace satin::kernels {
namespace {

/// Columns of a box: those up to `right` without those up to `left`, both inside a row, plus the whole circle
/// if the box crosses the seam. No box is wider than the circle, so it crosses the seam once at most.
struct BoxColumns {
  std::int64_t left;
  std::int64_t right;
  bool over_seam;
};

__device__ BoxColumns box_columns(const LobeBox& box, int outer, std::int64_t x, std::int64_t width) {
  const bool circle = box.reach == LobeBox::whole_circle;
  std::int64_t left = circle ? -1 : x - box.reach - outer - 1;
  std::int64_t right = circle ? width - 1 : x + box.reach + outer;
  const bool over_seam = left < 0 || right >= width;
  if (left < 0) left += width;
  if (right >= width) right -= width;
  return {left, right, over_seam};
}

/// Adds the boxes around column x to the totals of channels `channel` to `channel` + Count - 1, inner before
/// outer. Sums of boxes are below 2^63 in magnitude.
template <int Channels, int Count>
__device__ void add_boxes(const LobeMeanArguments& arguments, const LobeRow& row, std::int64_t x, int channel,
                          WideSum* totals) {
  const std::int64_t pitch = arguments.cells_wide * Channels;
  const auto add = [&](const LobeBox& box, int outer, std::uint32_t weight) {
    const std::uint64_t* below = arguments.table + box.last_row * pitch + channel;
    const std::uint64_t* above = below - (box.last_row + 1 - box.first_row) * pitch;
    const BoxColumns columns = box_columns(box, outer, x, arguments.cells_wide);
    const std::int64_t left = columns.left * Channels;
    const std::int64_t right = columns.right * Channels;
    const std::int64_t last = pitch - Channels;
#pragma unroll
    for (int c = 0; c < Count; ++c) {
      std::uint64_t sum = below[right + c] - below[left + c];
      if (columns.over_seam) sum += below[last + c];
      if (box.first_row > 0) {
        sum -= above[right + c] - above[left + c];
        if (columns.over_seam) sum -= above[last + c];
      }
      add_weighted(totals[c], weight, sum, true);
    }
  };
#pragma unroll 4  // entries of several boxes are in flight
  for (std::uint32_t i = 0; i < row.boxes; ++i) {
    const LobeBox box = arguments.boxes[row.first_box + i];
    add(box, 0, box.inner);
    if (box.outer != 0) add(box, 1, box.outer);
  }
}

template <class Launch>
void with_lobe_pixels(const LobeMeanArguments& arguments, const Launch& launch) {
  with_pixel_type(arguments.read.type, [&]<class T>() {
    with_channels(arguments.read.channels,
                  [&]<int Channels>() { launch.template operator()<T, Channels>(); });
  });
}

/// Writes the results where cells are pixels: one thread per pixel.
template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    mean_pixels(const __grid_constant__ LobeMeanArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const T* original =
        reinterpret_cast<const T*>(arguments.source.data + y * arguments.source.row) + x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + x * Channels;
    const LobeRow row = arguments.rows[y];
    if (row.boxes == 0) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) out[c] = original[c];
      continue;
    }
    WideSum totals[Channels];
    add_boxes<Channels, Channels>(arguments, row, x, 0, totals);
    if constexpr (std::is_same_v<T, float>) {
      const FixedExponents exponents = exponents_of(arguments.read, false, arguments.measured);
      store_float_mean<Channels>(totals, row.weight, original, 0, arguments.rule, exponents, out);
    } else {
      store_integer_mean<Channels>(totals, row.weight, original, 0, arguments.rule, out);
    }
  }
}

constexpr int cell_threads = 64;

/// Sums cells: one thread per column of pixels in a row of cells. A cell's columns are neighbouring lanes.
template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    sum_pixels(const __grid_constant__ LobeMeanArguments arguments) {
  static_assert(32 % largest_cell == 0);
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  const int cell = 1 << arguments.cell_bits;
  const ReadRule rule{arguments.read.weighted, false, arguments.rule.transfer.decode,
                      exponents_of(arguments.read, false, arguments.measured)};
  for (std::int64_t row = blockIdx.y; row < arguments.cells_high; row += gridDim.y) {
    std::uint64_t sums[Channels] = {};
    if (x < arguments.width) {
#pragma unroll 4
      for (int j = 0; j < cell; ++j) {
        const std::int64_t y = (row << arguments.cell_bits) + j;
        std::uint64_t values[Channels];
        read_working<Channels>(
            reinterpret_cast<const T*>(arguments.source.data + y * arguments.source.row) + x * Channels, rule,
            values);
#pragma unroll
        for (int c = 0; c < Channels; ++c) sums[c] += values[c] * arguments.row_weights[y];
      }
    }
    for (int lanes = cell / 2; lanes > 0; lanes /= 2) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) sums[c] += __shfl_down_sync(~0U, sums[c], lanes);
    }
    if (x >= arguments.width || (x & (cell - 1)) != 0) continue;
    std::uint64_t* out =
        arguments.cells + (row * arguments.cells_wide + (x >> arguments.cell_bits)) * Channels;
#pragma unroll
    for (int c = 0; c < Channels; ++c) out[c] = sums[c];
  }
}

/// Finds the means of cells: one thread per channel of a cell, as there are few cells.
template <int Channels>
__global__ void __launch_bounds__(cell_threads)
    mean_entries(const __grid_constant__ LobeMeanArguments arguments) {
  const std::int64_t entry = static_cast<std::int64_t>(blockIdx.x) * cell_threads + threadIdx.x;
  const std::int64_t entries = arguments.cells_wide * Channels;
  if (entry >= entries) return;
  const std::int64_t x = entry / Channels;
  const int channel = static_cast<int>(entry - x * Channels);
  for (std::int64_t y = blockIdx.y; y < arguments.cells_high; y += gridDim.y) {
    const LobeRow row = arguments.rows[y];
    WideSum total;
    add_boxes<Channels, 1>(arguments, row, x, channel, &total);
    arguments.cells[y * entries + entry] = cell_mean(total, row.weight, arguments.rule.fixed_point);
  }
}

__device__ inline std::uint64_t cell_value(std::uint64_t stored, std::uint64_t /*type*/) { return stored; }
__device__ inline double cell_value(std::uint64_t stored, double /*type*/) { return double_of(stored); }

/// Interpolates column x of pixels between the cells of one row.
template <int Channels, class Value>
__device__ void expand_column(const LobeMeanArguments& arguments, std::int64_t row, std::int64_t x,
                              Value* values) {
  const CellRow of = cell_row(row, arguments.cells_high);
  if (of.behind_pole) x += x < arguments.width / 2 ? arguments.width / 2 : -(arguments.width / 2);
  const CellPosition place = cell_position(x, arguments.cell_bits);
  const std::uint64_t* cells = arguments.cells + of.row * arguments.cells_wide * Channels;
  const std::uint64_t* left =
      cells + (place.next == 0 ? arguments.cells_wide - 1 : place.next - 1) * Channels;
  const std::uint64_t* right = cells + (place.next == arguments.cells_wide ? 0 : place.next) * Channels;
#pragma unroll
  for (int c = 0; c < Channels; ++c)
    values[c] = between(cell_value(left[c], Value{}), cell_value(right[c], Value{}), place.weight,
                        arguments.cell_bits);
}

/// Writes the results between cells: one thread per column of pixels between two rows of cells, which it
/// interpolates along the row once.
template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    store_pixels(const __grid_constant__ LobeMeanArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const CellRule rule{arguments.rule, arguments.cell_bits,
                      exponents_of(arguments.read, false, arguments.measured)};
  const std::int64_t cell = std::int64_t{1} << arguments.cell_bits;
  for (std::int64_t next = blockIdx.y; next <= arguments.cells_high; next += gridDim.y) {
    BetweenCells<T> above[Channels];
    BetweenCells<T> below[Channels];
    expand_column<Channels>(arguments, next - 1, x, above);
    expand_column<Channels>(arguments, next, x, below);
    const std::int64_t first = next == 0 ? 0 : next * cell - cell / 2;
    const std::int64_t last = next == arguments.cells_high ? arguments.height : next * cell + cell / 2;
    std::uint32_t weight = cell_position(first, arguments.cell_bits).weight;
    for (std::int64_t y = first; y < last; ++y, weight += 2) {
      BetweenCells<T> values[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) values[c] = between(above[c], below[c], weight, arguments.cell_bits);
      store_between<Channels>(
          values, reinterpret_cast<const T*>(arguments.source.data + y * arguments.source.row) + x * Channels,
          rule, reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + x * Channels);
    }
  }
}

}  // namespace

void lobe_mean(const LobeMeanArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.height);
  with_lobe_pixels(arguments, [&]<class T, int Channels>() {
    mean_pixels<T, Channels><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

void sum_cells(const LobeMeanArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.cells_high);
  with_lobe_pixels(arguments, [&]<class T, int Channels>() {
    sum_pixels<T, Channels><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

void mean_cells(const LobeMeanArguments& arguments, StreamHandle stream) {
  dim3 grid = plane_grid(1, arguments.cells_high);
  grid.x = static_cast<unsigned>((arguments.cells_wide * arguments.read.channels + cell_threads - 1) /
                                 cell_threads);
  with_channels(arguments.read.channels, [&]<int Channels>() {
    mean_entries<Channels><<<grid, cell_threads, 0, stream>>>(arguments);
  });
}

void enlarge_cells(const LobeMeanArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.cells_high + 1);
  with_lobe_pixels(arguments, [&]<class T, int Channels>() {
    store_pixels<T, Channels><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
