// Lamps drawn by the aperture, exactly: a warp draws one, each lane some of its rows, whose second
// differences it adds as splat_direct.cu adds those of staircases.

#include "core/with_type.h"
#include "kernels/lens/splat_direct.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 128;
constexpr unsigned blocks = 2048;

/// Calls draw(lamp) for the lamps of each warp.
template <class Draw>
__device__ void for_lamps(const SplatArguments& a, const Draw& draw) {
  const std::uint32_t count = min(*a.lamp_count, a.most_lamps);
  const std::uint32_t warps = gridDim.x * threads / warp_size;
  for (std::uint32_t i = (blockIdx.x * threads + threadIdx.x) / warp_size; i < count; i += warps)
    draw(a.lamps[i]);
}

/// The tiles around every lamp.
__global__ void __launch_bounds__(threads) mark_lamps(const __grid_constant__ SplatArguments a) {
  for_lamps(a, [&](const Lamp& lamp) {
    const LensSample& sample = lamp.sample;
    const std::int32_t reach = LampShape(a.aperture, sample).reach();
    const std::uint32_t group = min(std::uint32_t{sample.group}, a.last_group);
    const std::int32_t left = max(sample.x - reach, 0) / splat_tile_width;
    const std::int32_t right = min(sample.x + reach + 1, a.width - 1) / splat_tile_width;
    const std::int32_t top = max(sample.y - reach, 0) / splat_tile_height;
    const std::int32_t bottom = min(sample.y + reach + 1, a.height - 1) / splat_tile_height;
    const std::int32_t columns = right - left + 1;
    for (std::int32_t i = lane_index(); i < columns * (bottom - top + 1); i += warp_size)
      mark(a, group, left + i % columns, top + i / columns);
  });
}

template <int Channels, int Most>
__device__ void draw_lamp(const SplatArguments& a, const Lamp& lamp) {
  const LensSample& sample = lamp.sample;
  const LampShape shape(a.aperture, sample);
  const std::uint32_t group = min(std::uint32_t{sample.group}, a.last_group);
  LampRow<Most> above;
  LampRow<Most> own;
  for (std::int32_t row = lane_index() - shape.reach(); row <= shape.reach() + 1; row += warp_size) {
    const std::int32_t y = max(sample.y + row, 0);
    if (y >= a.height) return;
    above.load(shape, row - 1);
    own.load(shape, row);
    for_lamp_deltas(own, above, lamp.share, [&](std::int32_t column, std::int64_t difference) {
      const std::int32_t x = max(sample.x + column, 0);
      if (x >= a.width) return;
#pragma unroll
      for (int plane = 0; plane <= Channels; ++plane) {
        const std::uint64_t value = plane < Channels ? sample.colour[plane] : std::uint64_t{1};
        add_delta(a, group, x, y, plane, value * static_cast<std::uint64_t>(difference));
      }
    });
  }
}

template <int Channels>
__global__ void __launch_bounds__(threads) add_lamps(const __grid_constant__ SplatArguments a) {
  for_lamps(a, [&](const Lamp& lamp) {
    a.aperture.simple != 0 ? draw_lamp<Channels, 2>(a, lamp)
                           : draw_lamp<Channels, most_aperture_edges>(a, lamp);
  });
}

}  // namespace

void splat_mark_lamps(const SplatArguments& a, StreamHandle stream) {
  if (a.most_lamps != 0) mark_lamps<<<blocks, threads, 0, stream>>>(a);
}

void splat_add_lamps(const SplatArguments& a, StreamHandle stream) {
  if (a.most_lamps == 0) return;
  with_channels(a.channels, [&]<int Channels>() { add_lamps<Channels><<<blocks, threads, 0, stream>>>(a); });
}

}  // namespace satin::kernels
