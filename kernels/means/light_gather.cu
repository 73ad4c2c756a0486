// Means of bytes in linear light that other ways do not take, by a radius map of windows that shared memory
// does not hold, and of the pixels alone that count: gathered from a table of 32-bit sums in device memory, a
// plane a channel, as neighbouring pixels then read neighbouring words. A thread goes down a column of
// pixels.
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
constexpr int columns_of_block = 2 * warp_size;
constexpr int threads = columns_of_block * tuning::light_gather_columns;

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

/// Sums of a pixel's box: over the whole pixels inside, over those that its sides cover in part, and over the
/// four corners. Differences of entries modulo 2^32 are exact for sides, corners and boxes of 2^16 pixels.
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

/// Of one row of a table: its entries at the ends of the inner window, and their difference at the outer
/// one's.
struct Line {
  std::uint32_t before, last, outer;

  __device__ Line(const std::uint32_t* entries, const Windows& x)
      : before(__ldg(entries + x.before)),
        last(__ldg(entries + x.last)),
        outer(__ldg(entries + x.outer_last) - __ldg(entries + x.outer_before)) {}
  Line() = default;

  [[nodiscard]] __device__ std::uint32_t inner() const { return last - before; }
};

/// The sums of one channel over the boxes of a column of pixels, from the top. A box as large as the one
/// above it shares two of its four lines.
class ColumnOfBoxes {
 public:
  /// `parts`: the box covers some pixels in part. `known`: as the one before, with the same windows along x.
  __device__ BoxSums next(const Source& table, const Windows& x, const Windows& y, bool parts, bool known) {
    if (!parts) return {inside_of(table, x, y), 0, 0};
    const auto line = [&](int at) { return Line(row_of<std::uint32_t>(table, at), x); };
    const Line outer_before = known ? before_ : line(y.outer_before);
    const Line last = known ? outer_last_ : line(y.last);
    before_ = line(y.before);
    outer_last_ = line(y.outer_last);
    const std::uint32_t inside = last.inner() - before_.inner();
    const std::uint32_t beside = (last.outer - before_.outer) - inside;
    const std::uint32_t above_and_below = (outer_last_.inner() - outer_before.inner()) - inside;
    const std::uint32_t outer = outer_last_.outer - outer_before.outer;
    return {inside, beside + above_and_below, outer - inside - beside - above_and_below};
  }

 private:
  [[nodiscard]] __device__ static std::uint32_t inside_of(const Source& table, const Windows& x,
                                                          const Windows& y) {
    const auto* before = row_of<std::uint32_t>(table, y.before);
    const auto* last = row_of<std::uint32_t>(table, y.last);
    return (__ldg(last + x.last) - __ldg(last + x.before)) -
           (__ldg(before + x.last) - __ldg(before + x.before));
  }

  Line before_;      ///< next the line before the outer window
  Line outer_last_;  ///< next the last line of the inner window
};

/// The sum over the inner box, which is above 2^32, of its four quarters, which are cut behind the pixel
/// itself.
__device__ std::uint64_t sum_of_quarters(const Source& table, const Windows& x, const Windows& y) {
  struct Halves {
    std::uint32_t left, right;
  };
  const auto halves = [&](int at) {
    const auto* entries = row_of<std::uint32_t>(table, at);
    const std::uint32_t centre = __ldg(entries + x.centre);
    return Halves{centre - __ldg(entries + x.before), __ldg(entries + x.last) - centre};
  };
  const Halves above = halves(y.before);
  const Halves middle = halves(y.centre);
  const Halves below = halves(y.last);
  return static_cast<std::uint64_t>(middle.left - above.left) + (middle.right - above.right) +
         (below.left - middle.left) + (below.right - middle.right);
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

/// A column of pixels, from the top.
template <int Channels, bool Masked>
class GatheredColumn {
 public:
  __device__ GatheredColumn(const LightGatherArguments& arguments, const ByteLight& light, int x)
      : arguments_(arguments), light_(light), x_(x) {}

  __device__ void next(Radius256 radius, int y) {
    const int reach = radius / radius_one;
    const auto outer = static_cast<std::uint32_t>(radius % radius_one);
    const Windows columns(x_, reach, arguments_.width);
    const Windows rows(y, reach, arguments_.height);
    const bool known = reach == reach_;
    reach_ = outer == 0 ? -1 : reach;
    BoxSums sums[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const Source plane{arguments_.table.data + c * arguments_.table_plane, arguments_.table.row};
      sums[c] = boxes_[c].next(plane, columns, rows, outer != 0, known);
      if (reach > largest_undivided_reach) sums[c].inside = sum_of_quarters(plane, columns, rows);
    }
    std::uint64_t area = static_cast<std::uint64_t>(columns.length(outer)) * rows.length(outer);
    if (Masked && arguments_.counts.data != nullptr)
      area = counts_.next(arguments_.counts, columns, rows, outer != 0, known).covered(outer);
    const AreaDivision division(area);
    std::uint8_t* out = row_of<std::uint8_t>(arguments_.output, y) + x_ * Channels;
    const std::uint32_t weight = Masked ? weight_at(arguments_, x_, y) : 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t mean = division(sums[c].covered(outer));
      if constexpr (Masked) {
        const std::uint8_t* own = row_of<std::uint8_t>(arguments_.original, y) + x_ * Channels;
        mean = blended(light_.decoded(own[c]), static_cast<std::uint16_t>(mean), weight, arguments_.whole);
      }
      out[c] = static_cast<std::uint8_t>(light_.encoded(mean));
    }
  }

 private:
  const LightGatherArguments& arguments_;
  const ByteLight& light_;
  int x_;
  int reach_ = -1;  ///< of the last pixel's inner box, if its lines are known
  ColumnOfBoxes boxes_[Channels];
  ColumnOfBoxes counts_;
};

template <int Channels, bool Masked>
__global__ void __launch_bounds__(threads, tuning::light_gather_blocks)
    gather_means(const __grid_constant__ LightGatherArguments arguments) {
  __shared__ Radius256 radii[codes];
  __shared__ uint4 tables[ByteLight::bytes / sizeof(uint4)];
  const ByteLight light(tables);
  const auto thread = static_cast<int>(threadIdx.y * columns_of_block + threadIdx.x);
  const RadiusField& field = arguments.radius;
  for (int i = thread; i < codes; i += threads)
    radii[i] = radius_from_map(static_cast<std::uint32_t>(i), 0xFFU, field.low, field.high);
  light.fill(arguments.transfer, thread, threads);
  __syncthreads();
  const int x = static_cast<int>(blockIdx.x * columns_of_block + threadIdx.x);
  if (x >= arguments.width) return;
  GatheredColumn<Channels, Masked> column(arguments, light, x);
  const int begin = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) * arguments.column_rows;
  const int end = min(begin + arguments.column_rows, arguments.height);
  for (int y = begin; y < end; ++y) column.next(radius_at(arguments, radii, x, y), y);
}

}  // namespace

void gather_light(const LightGatherArguments& arguments, StreamHandle stream) {
  LightGatherArguments cut = arguments;
  const auto ceiling = [](int value, int divisor) { return (value + divisor - 1) / divisor; };
  cut.column_rows = ceiling(arguments.height, tuning::light_gather_parts);
  const dim3 blocks(
      static_cast<unsigned>(ceiling(arguments.width, columns_of_block)),
      static_cast<unsigned>(ceiling(arguments.height, cut.column_rows * tuning::light_gather_columns)));
  const dim3 block(columns_of_block, tuning::light_gather_columns);
  with_channels(arguments.channels, [&]<int Channels>() {
    const auto kernel =
        arguments.mask.data == nullptr ? gather_means<Channels, false> : gather_means<Channels, true>;
    kernel<<<blocks, block, 0, stream>>>(cut);
  });
}

}  // namespace satin::kernels
