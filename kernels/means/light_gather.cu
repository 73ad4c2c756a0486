// Means of bytes in linear light that other ways do not take, by a radius map of windows that shared memory
// does not hold, and of the pixels alone that count: gathered from a table of 32-bit sums in device memory, a
// plane a channel, as neighbouring pixels then read neighbouring words. A thread asks for all sixteen corners
// of a channel's box at once.
//
// Bytes moved per pixel: the map and the output; 16 words a channel from the L1, 21 in boxes above 2^16
// pixels, of which the L2 gives those of a warp's groups of corners.

#include "core/with_type.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/means/blended.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {
namespace {

constexpr int codes = 256;                    // of an 8-bit map
constexpr int largest_undivided_reach = 127;  // 255 * 255 * 65535 < 2^32
constexpr int threads = warp_size * tuning::light_gather_rows;

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

  /// round(sum / area), ties up.
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
  int centre;
  int before, last;
  int outer_before, outer_last;

  __device__ Windows(int at, int reach, int size)
      : centre(at),
        before(max(centre - reach, 0) - 1),
        last(min(centre + reach, size - 1)),
        outer_before(max(centre - reach - 1, 0) - 1),
        outer_last(min(centre + reach + 1, size - 1)) {}

  [[nodiscard]] __device__ std::uint32_t length(std::uint32_t outer) const {
    return (radius_one - outer) * static_cast<std::uint32_t>(last - before) +
           outer * static_cast<std::uint32_t>(outer_last - outer_before);
  }
};

/// Sums of a pixel's box: over the whole pixels inside, over those that two sides cover in part, and over the
/// four corners.
struct BoxSums {
  std::uint64_t inside;
  std::uint32_t sides;
  std::uint32_t corners;

  /// Over what the box covers, in parts of 2^-16; sides by `outer` of 256, corners by its square.
  [[nodiscard]] __device__ std::uint64_t covered(std::uint32_t outer) const {
    return (inside << 16) + static_cast<std::uint64_t>(outer * radius_one) * sides +
           static_cast<std::uint64_t>(outer * outer) * corners;
  }
};

/// Differences of entries modulo 2^32 are exact for sides, corners and boxes of 2^16 pixels. A larger box is
/// the sum of its four quarters, which are cut behind the pixel itself.
__device__ BoxSums box_sums(const Source& table, const Windows& x, const Windows& y, bool quartered) {
  const auto row = [&](int at) { return row_of<std::uint32_t>(table, at); };
  struct Line {
    std::uint32_t before, last, outer;
    [[nodiscard]] __device__ std::uint32_t inner() const { return last - before; }
  };
  const auto line = [&](const std::uint32_t* entries) {
    return Line{__ldg(entries + x.before), __ldg(entries + x.last),
                __ldg(entries + x.outer_last) - __ldg(entries + x.outer_before)};
  };
  const Line before = line(row(y.before));
  const Line last = line(row(y.last));
  const Line outer_before = line(row(y.outer_before));
  const Line outer_last = line(row(y.outer_last));
  const std::uint32_t inside = last.inner() - before.inner();
  const std::uint32_t beside = (last.outer - before.outer) - inside;
  const std::uint32_t above_and_below = (outer_last.inner() - outer_before.inner()) - inside;
  const std::uint32_t outer = outer_last.outer - outer_before.outer;
  BoxSums sums{inside, beside + above_and_below, outer - inside - beside - above_and_below};
  if (quartered) {
    const std::uint32_t* middle = row(y.centre);
    const std::uint32_t left = __ldg(middle + x.before);
    const std::uint32_t right = __ldg(middle + x.last);
    const std::uint32_t centre = __ldg(middle + x.centre);
    const std::uint32_t top = __ldg(row(y.before) + x.centre);
    const std::uint32_t bottom = __ldg(row(y.last) + x.centre);
    sums.inside = static_cast<std::uint64_t>((centre - left) - (top - before.before)) +
                  ((right - centre) - (before.last - top)) + ((bottom - last.before) - (centre - left)) +
                  ((last.last - bottom) - (right - centre));
  }
  return sums;
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
__device__ void gather_pixel(const LightGatherArguments& arguments, const ByteLight& light, Radius256 radius,
                             int x, int y) {
  const int reach = max(radius - 1, 0) / radius_one;  // of a whole radius the outer window is the whole one
  const auto outer = static_cast<std::uint32_t>(radius - reach * radius_one);
  const Windows columns(x, reach, arguments.width);
  const Windows rows(y, reach, arguments.height);
  BoxSums sums[Channels];
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    const Source plane{arguments.table.data + c * arguments.table_plane, arguments.table.row};
    sums[c] = box_sums(plane, columns, rows, reach > largest_undivided_reach);
  }
  std::uint64_t area = static_cast<std::uint64_t>(columns.length(outer)) * rows.length(outer);
  if (Masked && arguments.counts.data != nullptr)
    area = box_sums(arguments.counts, columns, rows, false).covered(outer);
  const AreaDivision division(area);
  std::uint8_t* out = row_of<std::uint8_t>(arguments.output, y) + x * Channels;
  const std::uint32_t weight = Masked ? weight_at(arguments, x, y) : 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    std::uint32_t mean = division(sums[c].covered(outer));
    if constexpr (Masked) {
      const std::uint32_t own = light.decoded(row_of<std::uint8_t>(arguments.original, y)[x * Channels + c]);
      mean = blended(own, static_cast<std::uint16_t>(mean), weight, arguments.whole);
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
  const auto thread = static_cast<int>(threadIdx.y * warp_size + threadIdx.x);
  const RadiusField& field = arguments.radius;
  for (int i = thread; i < codes; i += threads)
    radii[i] = radius_from_map(static_cast<std::uint32_t>(i), 0xFFU, field.low, field.high);
  light.fill(arguments.transfer, thread, threads);
  __syncthreads();
  const int x = static_cast<int>(blockIdx.x * warp_size + threadIdx.x);
  if (x >= arguments.width) return;
  const int begin = static_cast<int>(blockIdx.y) * arguments.block_rows;
  const int end = min(begin + arguments.block_rows, arguments.height);
  for (int y = begin + static_cast<int>(threadIdx.y); y < end; y += tuning::light_gather_rows)
    gather_pixel<Channels, Masked>(arguments, light, radius_at(arguments, radii, x, y), x, y);
}

}  // namespace

void gather_light(const LightGatherArguments& arguments, StreamHandle stream) {
  LightGatherArguments cut = arguments;
  const auto ceiling = [](int value, int divisor) { return (value + divisor - 1) / divisor; };
  cut.block_rows = ceiling(ceiling(arguments.height, tuning::light_gather_parts), tuning::light_gather_rows) *
                   tuning::light_gather_rows;
  const dim3 blocks(static_cast<unsigned>(ceiling(arguments.width, warp_size)),
                    static_cast<unsigned>(ceiling(arguments.height, cut.block_rows)));
  with_channels(arguments.channels, [&]<int Channels>() {
    const auto kernel =
        arguments.mask.data == nullptr ? gather_means<Channels, false> : gather_means<Channels, true>;
    kernel<<<blocks, dim3(warp_size, tuning::light_gather_rows), 0, stream>>>(cut);
  });
}

}  // namespace satin::kernels
