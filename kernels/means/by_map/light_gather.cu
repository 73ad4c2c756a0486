// Box means of bytes in linear light from a table in device memory (Crow 1984): for radius maps with windows
// too large for the table in shared memory (tiled_table.cu), and where only some pixels count.
//
// The table has 32-bit sums, a plane per channel, in blocks as large as a line of the L1, so that the
// corners of a warp's boxes lie in few lines. Upper bits of large boxes come from a coarse table
// (tables/upper_bits.cuh). A thread loads all corners of all channels of its box at once.
//
// Bytes moved per pixel: the map and the output; per channel, from the L1, 4 words for a whole box and 16 for
// a fractional one, and 4 words of upper bits for boxes above 2^16 pixels.

#include "core/with_type.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/tables/blocks.cuh"

namespace satin::kernels {
namespace {

constexpr int codes = 256;                 // values of an 8-bit map
constexpr int largest_narrow_reach = 127;  // 255 * 255 * 65535 < 2^32
static_assert(upper_bits_say(2 * LightGatherArguments::largest_reach + 1));
constexpr int rows_at_once = tuning::light_gather_rows;
constexpr int threads = warp_size * rows_at_once;
// A warp covers as many columns and rows of pixels as a block of the table has of entries.
constexpr int warp_columns = TableBlocks::columns;
constexpr int warp_rows = TableBlocks::rows;
constexpr int warps_across = warp_size / warp_columns;

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

/// Sums of a pixel's box: over the pixels inside, over those that its sides cover partly, and over the four
/// corners. Differences of entries modulo 2^32 are exact for sides, corners and boxes up to 2^16 pixels.
struct BoxSums {
  std::uint64_t inside;
  std::uint32_t sides;
  std::uint32_t corners;

  /// Returns the sum over the covered area, times 2^16: sides weigh outer / 256, corners its square.
  [[nodiscard]] __device__ std::uint64_t covered(std::uint32_t outer) const {
    return (inside << 16) + static_cast<std::uint64_t>(outer * radius_one) * sides +
           static_cast<std::uint64_t>(outer * outer) * corners;
  }
};

/// The corners of a pixel's boxes in a table: strips of their rows, and offsets of their columns in a strip.
struct BoxCorners {
  int before_y, last_y, outer_before_y, outer_last_y;
  int before_x, last_x, outer_before_x, outer_last_x;

  template <class StripOf, class OffsetOf>
  __device__ BoxCorners(const Windows& x, const Windows& y, const StripOf& strip_of,
                        const OffsetOf& offset_of)
      : before_y(strip_of(y.before)),
        last_y(strip_of(y.last)),
        outer_before_y(strip_of(y.outer_before)),
        outer_last_y(strip_of(y.outer_last)),
        before_x(offset_of(x.before)),
        last_x(offset_of(x.last)),
        outer_before_x(offset_of(x.outer_before)),
        outer_last_x(offset_of(x.outer_last)) {}
};

__device__ const std::uint32_t* strip(const Source& table, int number) {
  return reinterpret_cast<const std::uint32_t*>(table.data + number * table.row);
}

/// Returns the sum over the inner box. A row of `table` is a strip.
__device__ std::uint32_t inside_of(const Source& table, const BoxCorners& at) {
  const auto* before = strip(table, at.before_y);
  const auto* last = strip(table, at.last_y);
  return (__ldg(last + at.last_x) - __ldg(last + at.before_x)) -
         (__ldg(before + at.last_x) - __ldg(before + at.before_x));
}

__device__ BoxSums box_sums(const Source& table, const BoxCorners& at) {
  struct Line {
    std::uint32_t inner, outer;
  };
  const auto line = [&](int number) {
    const auto* entries = strip(table, number);
    return Line{__ldg(entries + at.last_x) - __ldg(entries + at.before_x),
                __ldg(entries + at.outer_last_x) - __ldg(entries + at.outer_before_x)};
  };
  const Line before = line(at.before_y);
  const Line last = line(at.last_y);
  const Line outer_before = line(at.outer_before_y);
  const Line outer_last = line(at.outer_last_y);
  const std::uint32_t inside = last.inner - before.inner;
  const std::uint32_t beside = (last.outer - before.outer) - inside;
  const std::uint32_t above_and_below = (outer_last.inner - outer_before.inner) - inside;
  const std::uint32_t outer = outer_last.outer - outer_before.outer;
  return {inside, beside + above_and_below, outer - inside - beside - above_and_below};
}

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
__device__ void gather_pixel(const LightGatherArguments& arguments, const TableBlocks& table,
                             const ByteLight& light, Radius256 radius, int x, int y) {
  const int reach = radius / radius_one;
  const auto outer = static_cast<std::uint32_t>(radius % radius_one);
  const Windows columns(x, reach, arguments.width);
  const Windows rows(y, reach, arguments.height);
  const bool counts = Masked && arguments.counts.data != nullptr;
  const BoxCorners at(
      columns, rows, [&](int row) { return strip_of_row(table, row); }, place_of_column);
  const bool wide = reach > largest_narrow_reach;
  UpperSums upper;
  if (wide)
    upper = UpperSums(table.upper, columns.before + 1, columns.last + 1, rows.before + 1, rows.last + 1);
  BoxSums sums[Channels];
  BoxSums counted{};
  // The loads of all planes lie between two branches, so that none waits for another.
  const auto sum_planes = [&](const auto& sums_of) {
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums[c] = sums_of(Source{table.data + c * table.plane, TableBlocks::strip_bytes}, at);
    if (counts) {
      const auto same = [](int index) { return index; };
      counted = sums_of(arguments.counts, BoxCorners(columns, rows, same, same));
    }
  };
  if (outer == 0) {
    sum_planes([&](const Source& plane, const BoxCorners& corners) {
      return BoxSums{inside_of(plane, corners), 0, 0};
    });
  } else {
    sum_planes(box_sums);
  }
  if (wide) {
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums[c].inside = upper.of(c, static_cast<std::uint32_t>(sums[c].inside));
  }
  const AreaDivision division(counts
                                  ? counted.covered(outer)
                                  : static_cast<std::uint64_t>(columns.length(outer)) * rows.length(outer));
  std::uint8_t* out = row_of<std::uint8_t>(arguments.output, y) + x * Channels;
  const std::uint32_t weight = Masked ? weight_at(arguments, x, y) : 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    std::uint32_t mean = division(sums[c].covered(outer));
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
  const int warp = thread / warp_size;
  const int x = static_cast<int>(blockIdx.x) * warp_size + warp % warps_across * warp_columns +
                lane_index() % warp_columns;
  const int row = warp / warps_across * warp_rows + lane_index() / warp_columns;
  if (x >= arguments.width) return;
  const int begin = static_cast<int>(blockIdx.y) * arguments.block_rows;
  const int end = min(begin + arguments.block_rows, arguments.height);
  for (int y = begin + row; y < end; y += rows_at_once)
    gather_pixel<Channels, Masked>(arguments, arguments.table, light, radius_at(arguments, radii, x, y), x,
                                   y);
}

}  // namespace

void gather_light(const LightGatherArguments& arguments, StreamHandle stream) {
  LightGatherArguments cut = arguments;
  const auto ceiling = [](int value, int divisor) { return (value + divisor - 1) / divisor; };
  cut.block_rows = ceiling(arguments.height, tuning::light_gather_parts * rows_at_once) * rows_at_once;
  const dim3 blocks(static_cast<unsigned>(ceiling(arguments.width, warp_size)),
                    static_cast<unsigned>(ceiling(arguments.height, cut.block_rows)));
  with_channels(arguments.channels, [&]<int Channels>() {
    const auto kernel =
        arguments.mask.data == nullptr ? gather_means<Channels, false> : gather_means<Channels, true>;
    kernel<<<blocks, threads, 0, stream>>>(cut);
  });
}

}  // namespace satin::kernels
