// Box means of bytes in linear light from a table in device memory (Crow 1984): for radius maps with windows
// too large for the table in shared memory (tiled_table.cu), and where only some pixels count.
//
// The table is kernels/tables/light_table.cuh: one access reads the sums of all channels, and their upper
// bits. Blocks walk over tiles in the order of rows, all together, so that the rows of the table that they
// read stay in the L2.
//
// Bytes moved per pixel: the map and the output; from the L1, 4 entries of 16 bytes for a whole box of RGB
// and 16 for a fractional one. Random radii move a sector of the L2 for each entry, or for two neighbours.

#include <algorithm>

#include "core/with_type.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/tables/light_table.cuh"

namespace satin::kernels {
namespace {

constexpr int codes = 256;  // values of an 8-bit map
constexpr std::uint64_t largest_side = 2 * LightGatherArguments::largest_reach + 1;
static_assert(largest_side * largest_side * 0xFFFF < upper_range);
constexpr int rows_at_once = tuning::light_gather_rows;
constexpr int tile_rows = tuning::light_gather_turns * rows_at_once;
constexpr int threads = warp_size * rows_at_once;

/// The inner and outer window along one axis: pixels before + 1 to last, clipped by the picture.
struct Windows {
  int before, last;
  int outer_before, outer_last;

  __device__ Windows(int centre, int reach, int size)
      : before(max(centre - reach, 0) - 1),
        last(min(centre + reach, size - 1)),
        outer_before(max(centre - reach - 1, 0) - 1),
        outer_last(min(centre + reach + 1, size - 1)) {}

  [[nodiscard]] __device__ std::uint32_t length(std::uint32_t outer) const {
    return (radius_one - outer) * static_cast<std::uint32_t>(last - before) +
           outer * static_cast<std::uint32_t>(outer_last - outer_before);
  }
};

template <int Words>
__device__ Vector<std::uint32_t, Words> entry_at(const std::byte* row, int x) {
  const std::byte* from = row + x * (4 * Words);
  if constexpr (Words == 1) {
    return {{__ldg(reinterpret_cast<const std::uint32_t*>(from))}};
  } else if constexpr (Words == 2) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    return {{v.x, v.y}};
  } else {
    Vector<std::uint32_t, Words> entry;
#pragma unroll
    for (int i = 0; i < Words; i += 4) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(from) + i / 4);
      entry.of[i] = v.x;
      entry.of[i + 1] = v.y;
      entry.of[i + 2] = v.z;
      entry.of[i + 3] = v.w;
    }
    return entry;
  }
}

/// Sums of a pixel's box, in words of entries modulo 2^32: over the pixels inside, over those that its sides
/// cover partly, and over the four corners.
template <int Words>
struct BoxSums {
  using Entry = Vector<std::uint32_t, Words>;
  Entry inside{};
  Entry sides{};
  Entry corners{};

  BoxSums() = default;
  __device__ BoxSums(const Source& table, const Windows& x, const Windows& y, bool fractional) {
    const std::byte* last = table.data + y.last * table.row;
    const std::byte* before = table.data + y.before * table.row;
    const auto box = [&](int right, int left) {
      return (entry_at<Words>(last, right) - entry_at<Words>(last, left)) -
             (entry_at<Words>(before, right) - entry_at<Words>(before, left));
    };
    if (!fractional) {
      inside = box(x.last, x.before);
      return;
    }
    Entry wider{};
    Entry taller{};
    Entry outer{};
    // A loop over the windows of rows, as the loads of all boxes at once need too many registers.
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
      inside = taller;
      wider = outer;
      taller = box(x.last, x.before);
      outer = box(x.outer_last, x.outer_before);
      last = table.data + y.outer_last * table.row;
      before = table.data + y.outer_before * table.row;
    }
    sides = (wider - inside) + (taller - inside);
    corners = (outer - inside) - sides;
  }

  /// Returns the sum over the covered area, times 2^16: sides weigh outer / 256, corners its square.
  [[nodiscard]] __device__ std::uint64_t covered(int word, std::uint64_t of_inside,
                                                 std::uint32_t outer) const {
    return (of_inside << 16) + static_cast<std::uint64_t>(outer * radius_one) * sides.of[word] +
           static_cast<std::uint64_t>(outer * outer) * corners.of[word];
  }
};

__device__ Radius256 radius_at(const LightGatherArguments& arguments, const Radius256* radii, int x, int y) {
  const RadiusField& field = arguments.radius;
  if (!field.from_map) return field.x;
  if (field.map_type == Type::u8) return radii[row_of<std::uint8_t>(arguments.radius_map, y)[x]];
  if (field.map_type == Type::u16)
    return radius_from_map(row_of<std::uint16_t>(arguments.radius_map, y)[x], 0xFFFFU, field.low, field.high);
  return radius_from_map(row_of<float>(arguments.radius_map, y)[x], field.low, field.high);
}

__device__ std::uint32_t weight_at(const LightGatherArguments& arguments, int x, int y) {
  return arguments.largest_weight.divisor == 0xFF ? row_of<std::uint8_t>(arguments.mask, y)[x]
                                                  : row_of<std::uint16_t>(arguments.mask, y)[x];
}

template <int Channels, bool Masked>
__device__ void gather_pixel(const LightGatherArguments& arguments, const ByteLight& light, Radius256 radius,
                             int x, int y) {
  const int reach = radius / radius_one;
  const auto outer = static_cast<std::uint32_t>(radius % radius_one);
  const Windows columns(x, reach, arguments.width);
  const Windows rows(y, reach, arguments.height);
  const BoxSums<LightEntry<Channels>::count> sums(arguments.table, columns, rows, outer != 0);
  std::uint64_t area = static_cast<std::uint64_t>(columns.length(outer)) * rows.length(outer);
  if (Masked && arguments.counts.data != nullptr) {
    const BoxSums<1> counted(arguments.counts, columns, rows, outer != 0);
    area = counted.covered(0, counted.inside.of[0], outer);
  }
  const AreaDivision division(area);
  std::uint8_t* out = row_of<std::uint8_t>(arguments.output, y) + x * Channels;
  const std::uint32_t weight = Masked ? weight_at(arguments, x, y) : 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    std::uint32_t mean = division(sums.covered(c, light_sum<Channels>(sums.inside, c), outer));
    if constexpr (Masked) {
      const std::uint8_t* own = row_of<std::uint8_t>(arguments.original, y) + x * Channels;
      const ScaledDivisor& largest = arguments.largest_weight;
      const std::uint32_t sum = light.decoded(own[c]) * (largest.divisor - weight) + mean * weight;
      mean = scaled_quotient(sum + largest.divisor / 2, largest);
    }
    out[c] = static_cast<std::uint8_t>(light.encoded(mean));
  }
}

template <int Channels, bool Masked>
__global__ void __launch_bounds__(threads, tuning::light_gather_blocks)
    gather_means(const __grid_constant__ LightGatherArguments arguments) {
  __shared__ Radius256 radii[codes];
  __shared__ uint4 tables[ByteLight::bytes / sizeof(uint4)];
  const ByteLight light(tables);
  const auto thread = static_cast<int>(threadIdx.x);
  const RadiusField& field = arguments.radius;
  for (int i = thread; i < codes; i += threads)
    radii[i] = radius_from_map(static_cast<std::uint32_t>(i), 0xFFU, field.low, field.high);
  light.fill(arguments.transfer, thread, threads);
  __syncthreads();
  const int tile_columns = (arguments.width + warp_size - 1) / warp_size;
  const int tiles = tile_columns * ((arguments.height + tile_rows - 1) / tile_rows);
  for (auto tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const int row = tile / tile_columns;
    const int x = (tile - row * tile_columns) * warp_size + lane_index();
    if (x >= arguments.width) continue;
    const int end = min((row + 1) * tile_rows, arguments.height);
    for (int y = row * tile_rows + thread / warp_size; y < end; y += rows_at_once)
      gather_pixel<Channels, Masked>(arguments, light, radius_at(arguments, radii, x, y), x, y);
  }
}

}  // namespace

void gather_light(const LightGatherArguments& arguments, StreamHandle stream) {
  const auto ceiling = [](int value, int divisor) { return (value + divisor - 1) / divisor; };
  const int tiles = ceiling(arguments.width, warp_size) * ceiling(arguments.height, tile_rows);
  with_channels(arguments.channels, [&]<int Channels>() {
    const auto kernel =
        arguments.mask.data == nullptr ? gather_means<Channels, false> : gather_means<Channels, true>;
    kernel<<<static_cast<unsigned>(std::min(tiles, arguments.blocks)), threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
