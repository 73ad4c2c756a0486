// Means of bytes in linear light that other ways do not take, by a radius map of windows that shared memory
// does not hold, and of the pixels alone that count: gathered from a table of 32-bit sums in device memory, a
// plane a channel, in blocks of a line of the L1, as the corners of a warp's boxes lie in few lines then. A
// thread asks for all corners of a channel's box at once.
//
// Bytes moved per pixel: the map and the output; 4 words a channel from the L1 of a box of whole pixels, 16
// of others, and 4 words of upper bits above 2^16 pixels, of which the L2 gives those of a warp's groups of
// corners.

#include "core/with_type.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/means/blended.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/tables/blocks.cuh"

namespace satin::kernels {
namespace {

constexpr int codes = 256;                 // of an 8-bit map
constexpr int largest_narrow_reach = 127;  // 255 * 255 * 65535 < 2^32
static_assert(upper_bits_say(2 * LightGatherArguments::largest_reach + 1));
constexpr int rows_at_once = tuning::light_gather_rows;
constexpr int threads = warp_size * rows_at_once;
// A warp has as many columns and rows of pixels as a block of the table has of entries.
constexpr int warp_columns = TableBlocks::columns;
constexpr int warp_rows = TableBlocks::rows;
constexpr int warps_across = warp_size / warp_columns;

/// The covered area of a box, below 2^35, in parts of 2^-16 pixel, that sums of 16-bit light are divided by.
///
/// The estimate errs to the low side alone, by less than 2^16 * 2^-19: its floor is that of the quotient or
/// one less.
class AreaDivision {
 public:
  __device__ explicit AreaDivision(std::uint64_t area) : area_(area) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 20);
    inverse_ = __fmul_rn(rough_reciprocal(near(area)), too_small);
  }

  /// The mean round(sum / area), ties up.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t sum) const {
    const std::uint64_t total = sum + area_ / 2;
    const std::uint32_t quotient = __float2uint_rz(__fmul_rz(near(total), inverse_));
    return quotient + (total - quotient * area_ >= area_ ? 1U : 0U);
  }

 private:
  [[nodiscard]] __device__ static float near(std::uint64_t value) {
    constexpr float two_32 = 4294967296.0F;
    return __fmaf_rn(__uint2float_rn(static_cast<std::uint32_t>(value >> 32)), two_32,
                     __uint2float_rn(static_cast<std::uint32_t>(value)));
  }

  std::uint64_t area_;
  float inverse_;
};

/// The windows of a radius along one axis: before + 1 to last, of which only pixels inside the picture count.
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

/// Sums of a pixel's box: over the whole pixels inside, over those that its sides cover in part, and over the
/// four corners. Differences of entries modulo 2^32 are exact for sides, corners and boxes of 2^16 pixels.
struct BoxSums {
  std::uint64_t inside;
  std::uint32_t sides;
  std::uint32_t corners;

  /// The sum over what the box covers, in parts of 2^-16: sides count `outer` of 256, corners its square.
  [[nodiscard]] __device__ std::uint64_t covered(std::uint32_t outer) const {
    return (inside << 16) + static_cast<std::uint64_t>(outer * radius_one) * sides +
           static_cast<std::uint64_t>(outer * outer) * corners;
  }
};

/// Tells where a pixel's windows begin and end in a table: the numbers of their rows' strips, and how many
/// entries a column lies behind the start of a strip.
struct BoxPlaces {
  int before_y, last_y, outer_before_y, outer_last_y;
  int before_x, last_x, outer_before_x, outer_last_x;

  template <class StripOf, class PlaceOf>
  __device__ BoxPlaces(const Windows& x, const Windows& y, const StripOf& strip_of, const PlaceOf& place_of)
      : before_y(strip_of(y.before)),
        last_y(strip_of(y.last)),
        outer_before_y(strip_of(y.outer_before)),
        outer_last_y(strip_of(y.outer_last)),
        before_x(place_of(x.before)),
        last_x(place_of(x.last)),
        outer_before_x(place_of(x.outer_before)),
        outer_last_x(place_of(x.outer_last)) {}
};

__device__ const std::uint32_t* strip(const Source& table, int number) {
  return reinterpret_cast<const std::uint32_t*>(table.data + number * table.row);
}

/// The sum over the inner box alone. A row of the source is a strip.
__device__ std::uint32_t inside_of(const Source& table, const BoxPlaces& at) {
  const auto* before = strip(table, at.before_y);
  const auto* last = strip(table, at.last_y);
  return (__ldg(last + at.last_x) - __ldg(last + at.before_x)) -
         (__ldg(before + at.last_x) - __ldg(before + at.before_x));
}

__device__ BoxSums box_sums(const Source& table, const BoxPlaces& at) {
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
  return arguments.whole.divisor == 0xFF ? row_of<std::uint8_t>(arguments.mask, y)[x]
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
  const BoxPlaces at(
      columns, rows, [&](int row) { return strip_of_row(table, row); }, place_of_column);
  const bool wide = reach > largest_narrow_reach;
  UpperSums upper;
  if (wide)
    upper = UpperSums(table.upper, columns.before + 1, columns.last + 1, rows.before + 1, rows.last + 1);
  BoxSums sums[Channels];
  BoxSums counted{};
  // The entries of all planes are asked for between two branches, so that none waits for another.
  const auto sum_planes = [&](const auto& sums_of) {
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      sums[c] = sums_of(Source{table.data + c * table.plane, TableBlocks::strip_bytes}, at);
    if (counts) {
      const auto same = [](int place) { return place; };
      counted = sums_of(arguments.counts, BoxPlaces(columns, rows, same, same));
    }
  };
  if (outer == 0) {
    sum_planes([&](const Source& plane, const BoxPlaces& places) {
      return BoxSums{inside_of(plane, places), 0, 0};
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
      mean = blended(light.decoded(own[c]), static_cast<std::uint16_t>(mean), weight, arguments.whole);
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
