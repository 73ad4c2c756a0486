// Means over lobes: one thread a pixel of a level, two entries of two rows of the table for each band and
// reach. Neighbouring threads read neighbouring entries of the same rows.

#include "core/maths/gather.h"
#include "kernels/lobe_mean.h"
#include "kernels/plane.cuh"
#include "kernels/read.cuh"

namespace satin::kernels {
namespace {

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    weigh_pixels(const __grid_constant__ LobeMeanArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const ReadRule rule{arguments.read.weighted, false, arguments.rule.transfer.decode,
                      exponents_of(arguments.read, false, arguments.measured)};
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    std::uint64_t values[Channels];
    read_working<Channels>(
        reinterpret_cast<const T*>(arguments.source.data + y * arguments.source.row) + x * Channels, rule,
        values);
    std::uint64_t* weighed = arguments.weighed + (y * arguments.width + x) * Channels;
#pragma unroll
    for (int c = 0; c < Channels; ++c) weighed[c] = values[c] * arguments.row_weights[y];
  }
}

/// Sum over one band's rows of all columns up to `column`, which may lie up to one turn outside the map.
template <int Channels>
__device__ void sum_to_column(const TableView<std::uint64_t>& table, const LobeBand& band,
                              std::int64_t column, std::uint64_t sign, std::uint64_t* sums) {
  const std::int64_t turns = column < 0 ? -1 : column >= table.width ? 1 : 0;
  const std::uint64_t* below = table.data + band.last_row * table.row;
  const std::uint64_t* above = below - (band.last_row + 1 - band.first_row) * table.row;
  const std::int64_t at = (column - turns * table.width) * Channels;
  const std::int64_t last = (table.width - 1) * Channels;
  for (int c = 0; c < Channels; ++c) {
    std::uint64_t sum = below[at + c] + static_cast<std::uint64_t>(turns) * below[last + c];
    if (band.first_row > 0) sum -= above[at + c] + static_cast<std::uint64_t>(turns) * above[last + c];
    sums[c] += sign * sum;
  }
}

/// Adds what a band holds around column x: inner, then outer. Sums of bands are below 2^63 in magnitude.
template <int Channels>
__device__ void add_band(const TableView<std::uint64_t>& table, const LobeBand& band, std::int64_t x,
                         WideSum* totals) {
  constexpr auto minus = ~std::uint64_t{0};
  for (int outer = 0; outer < (band.outer == 0 ? 1 : 2); ++outer) {
    std::uint64_t sums[Channels] = {};
    if (band.reach == LobeBand::whole_circle) {
      sum_to_column<Channels>(table, band, table.width - 1, 1, sums);
    } else {
      sum_to_column<Channels>(table, band, x + band.reach + outer, 1, sums);
      sum_to_column<Channels>(table, band, x - band.reach - outer - 1, minus, sums);
    }
    for (int c = 0; c < Channels; ++c)
      add_weighted(totals[c], outer == 0 ? band.inner : band.outer, sums[c], true);
  }
}

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    mean_pixels(const __grid_constant__ LobeMeanArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const TableView<std::uint64_t> table{arguments.table, arguments.width * Channels, arguments.width,
                                       arguments.height};
  for (std::int64_t y = blockIdx.y; y < arguments.result_rows; y += gridDim.y) {
    const T* original =
        reinterpret_cast<const T*>(arguments.source.data + y % arguments.height * arguments.source.row) +
        x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + x * Channels;
    const LobeRow row = arguments.rows[y];
    if (row.bands == 0) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) out[c] = original[c];
      continue;
    }
    WideSum totals[Channels];
    for (std::uint32_t band = 0; band < row.bands; ++band)
      add_band<Channels>(table, arguments.bands[row.first_band + band], x, totals);
    if constexpr (std::is_same_v<T, float>) {
      const FixedExponents exponents = exponents_of(arguments.read, false, arguments.measured);
      store_float_mean<Channels>(totals, row.weight, original, 0, arguments.rule, exponents, out);
    } else {
      store_integer_mean<Channels>(totals, row.weight, original, 0, arguments.rule, out);
    }
  }
}

/// Calls launch.template operator()<T, Channels>() for the stored type and the channels.
template <class Launch>
void with_pixels(const LobeMeanArguments& arguments, const Launch& launch) {
  with_plane_type(arguments.read.type, [&](auto type) {
    using T = decltype(type);
    switch (arguments.read.channels) {
      case 1:
        return launch.template operator()<T, 1>();
      case 2:
        return launch.template operator()<T, 2>();
      case 3:
        return launch.template operator()<T, 3>();
      default:
        return launch.template operator()<T, 4>();
    }
  });
}

}  // namespace

void weigh_rows(const LobeMeanArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.height);
  with_pixels(arguments, [&]<class T, int Channels>() {
    weigh_pixels<T, Channels><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

void lobe_mean(const LobeMeanArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.result_rows);
  with_pixels(arguments, [&]<class T, int Channels>() {
    mean_pixels<T, Channels><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
