#pragma once
// Sums over the bands of a lobe: two entries of two rows of the table for each band and reach. Neighbouring
// threads read neighbouring entries of the same rows.

#include <cstdint>

#include "kernels/lobes/launch.h"
#include "kernels/pixels/plane.cuh"
#include "lobes/maths/lobe.h"
#include "means/maths/mean.h"

namespace satin::kernels {

/// The columns up to `right` without those up to `left`, both inside a row, and the whole circle once more if
/// the band goes over the seam. No band is wider than the circle, so that it does so once at most.
struct BandColumns {
  std::int64_t left;
  std::int64_t right;
  bool over_seam;
};

__device__ inline BandColumns band_columns(const LobeBand& band, int outer, std::int64_t x,
                                           std::int64_t width) {
  const bool circle = band.reach == LobeBand::whole_circle;
  std::int64_t left = circle ? -1 : x - band.reach - outer - 1;
  std::int64_t right = circle ? width - 1 : x + band.reach + outer;
  const bool over_seam = left < 0 || right >= width;
  if (left < 0) left += width;
  if (right >= width) right -= width;
  return {left, right, over_seam};
}

/// Adds what the bands hold around column x of channels `channel` to `channel` + Count - 1, for each inner,
/// then outer. Sums of bands are below 2^63 in magnitude.
template <int Channels, int Count>
__device__ void add_bands(const LobeMeanArguments& arguments, const LobeRow& row, std::int64_t x, int channel,
                          WideSum* totals) {
  const std::int64_t pitch = arguments.cells_wide * Channels;
  const auto add = [&](const LobeBand& band, int outer, std::uint32_t weight) {
    const std::uint64_t* below = arguments.table + band.last_row * pitch + channel;
    const std::uint64_t* above = below - (band.last_row + 1 - band.first_row) * pitch;
    const BandColumns columns = band_columns(band, outer, x, arguments.cells_wide);
    const std::int64_t left = columns.left * Channels;
    const std::int64_t right = columns.right * Channels;
    const std::int64_t last = pitch - Channels;
#pragma unroll
    for (int c = 0; c < Count; ++c) {
      std::uint64_t sum = below[right + c] - below[left + c];
      if (columns.over_seam) sum += below[last + c];
      if (band.first_row > 0) {
        sum -= above[right + c] - above[left + c];
        if (columns.over_seam) sum -= above[last + c];
      }
      add_weighted(totals[c], weight, sum, true);
    }
  };
#pragma unroll 4  // entries of several bands are in flight
  for (std::uint32_t i = 0; i < row.bands; ++i) {
    const LobeBand band = arguments.bands[row.first_band + i];
    add(band, 0, band.inner);
    if (band.outer != 0) add(band, 1, band.outer);
  }
}

/// Calls launch.template operator()<T, Channels>() for the stored type and the channels.
template <class Launch>
void with_lobe_pixels(const LobeMeanArguments& arguments, const Launch& launch) {
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

}  // namespace satin::kernels
