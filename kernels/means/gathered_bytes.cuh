#pragma once
// Means of bytes by a radius map, gathered from a table in memory (Crow 1984): the integer path of
// box_mean.cuh, one thread a pixel. The warps of a block lie side by side, so that neighbours share the
// sectors at their ends.
//
// The table has a row and a column of zeros before it, so that clipped windows need no question. Rows are
// done from the last to the first: the last that were written are still in the L2.
//
// Bytes moved per pixel: the map, the output and four entries of the table, from the L2 but for once (radii
// that are smooth and windows whose rows of the table fit it) to twice. A box with a fractional radius takes
// eight entries and four pixels of the picture, as CoveredDivision explains.

#include <cstdint>

#include "kernels/device/registers.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/means/clipped_boxes.cuh"
#include "kernels/means/launch.h"
#include "kernels/means/maps.cuh"
#include "kernels/means/strip_means.cuh"

namespace satin::kernels {

/// round(sum / divisor), ties up, of byte-sized means of any channels; sum + divisor / 2 is below 2^32, and
/// the divisor below 2^24. The estimate errs to the low side alone, by less than 2^8 * 2^-20.
class ByteQuotient {
 public:
  __device__ explicit ByteQuotient(std::uint32_t divisor)
      : divisor_(divisor), negative_(opaque(0U - divisor)), half_(divisor / 2) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(divisor)), too_small);
  }

  /// The mean is in the low byte.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t sum) const {
    const std::uint32_t total = sum + half_;
    const float estimate = __fmaf_rd(__uint2float_rz(total), inverse_, ByteDivision::whole);
    std::uint32_t quotient = __float_as_uint(estimate);
    const std::uint32_t remainder = total + (quotient - ByteDivision::whole_bits) * negative_;
    asm("{ .reg .pred less; setp.ge.u32 less, %1, %2; @less add.u32 %0, %0, 1; }"
        : "+r"(quotient)
        : "r"(remainder), "r"(divisor_));
    return quotient;
  }

 private:
  std::uint32_t divisor_;
  std::uint32_t negative_;
  std::uint32_t half_;
  float inverse_ = 0;
};

/// One pixel. Lanes right of the picture do what the last pixel of the row does, and store nothing.
template <int Channels>
class GatheredBytes {
 public:
  using TableEntry = Entry<Channels, std::uint32_t>;

  __device__ GatheredBytes(const BoxMeanArguments& arguments, int x, int y)
      : arguments_(arguments),
        width_(static_cast<int>(arguments.width)),
        height_(static_cast<int>(arguments.height)),
        lane_x_(x),
        x_(min(x, width_ - 1)),
        y_(y) {}

  /// By all lanes of a warp.
  __device__ void run() const {
    const Radius256 radius = radii_at(arguments_, x_, y_).x;
    const bool fractional = radius % radius_one != 0;
    const std::uint32_t means = __any_sync(whole_warp, static_cast<int>(fractional)) != 0
                                    ? covered_mean(radius)
                                    : whole_mean(radius / radius_one);
    store(lane_x_ < width_ && counts(radius), means);
  }

 private:
  /// Windows along both axes: pixels before + 1 to last, and how many.
  struct Box {
    int before_x, last_x;
    int before_y, last_y;
    [[nodiscard]] __device__ std::uint32_t width() const {
      return static_cast<std::uint32_t>(last_x - before_x);
    }
    [[nodiscard]] __device__ std::uint32_t height() const {
      return static_cast<std::uint32_t>(last_y - before_y);
    }
  };

  /// False for a box that leaves the picture and is not to be clipped: average_frame() does it.
  [[nodiscard]] __device__ bool counts(Radius256 radius) const {
    const int reach = (radius + radius_one - 1) / radius_one;
    return arguments_.border == Border::shrink ||
           (x_ >= reach && x_ + reach < width_ && y_ >= reach && y_ + reach < height_);
  }

  [[nodiscard]] __device__ Box box_of(int reach) const {
    return {max(x_ - reach, 0) - 1, min(x_ + reach, width_ - 1), max(y_ - reach, 0) - 1,
            min(y_ + reach, height_ - 1)};
  }

  /// Rows and columns from -1 on; a row of the table is below 2^31 bytes.
  [[nodiscard]] __device__ TableEntry entry(int x, int y) const {
    const std::int64_t row = static_cast<std::int64_t>(y) * static_cast<int>(arguments_.table_row);
    const auto* entries = static_cast<const std::byte*>(arguments_.table) + row;
    return *reinterpret_cast<const TableEntry*>(entries + x * static_cast<std::int64_t>(sizeof(TableEntry)));
  }

  [[nodiscard]] __device__ TableEntry sums_over(const Box& box) const {
    const TableEntry a = entry(box.before_x, box.before_y);
    const TableEntry b = entry(box.last_x, box.before_y);
    const TableEntry c = entry(box.before_x, box.last_y);
    const TableEntry d = entry(box.last_x, box.last_y);
    TableEntry result;
#pragma unroll
    for (int i = 0; i < Channels; ++i) result.sums[i] = (d.sums[i] - c.sums[i]) - (b.sums[i] - a.sums[i]);
    return result;
  }

  [[nodiscard]] __device__ std::uint32_t whole_mean(int reach) const {
    const Box box = box_of(reach);
    const TableEntry sums = sums_over(box);
    const ByteQuotient quotient(box.width() * box.height());
    std::uint32_t values[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) values[c] = quotient(sums.sums[c]);
    return low_bytes<Channels>(values);
  }

  [[nodiscard]] __device__ std::uint32_t covered_mean(Radius256 radius) const {
    const int reach = radius / radius_one;
    const std::uint32_t outer = static_cast<std::uint32_t>(radius) % radius_one;
    const std::uint32_t inner = radius_one - outer;
    const Box inner_box = box_of(reach);
    const Box outer_box = box_of(reach + 1);
    const TableEntry inner_sums = sums_over(inner_box);
    const TableEntry outer_sums = sums_over(outer_box);
    std::uint32_t corners[Channels] = {};
    add_pixel(x_ - reach - 1, y_ - reach - 1, corners);
    add_pixel(x_ + reach + 1, y_ - reach - 1, corners);
    add_pixel(x_ - reach - 1, y_ + reach + 1, corners);
    add_pixel(x_ + reach + 1, y_ + reach + 1, corners);
    const std::uint64_t area =
        static_cast<std::uint64_t>(inner * inner_box.width() + outer * outer_box.width()) *
        (inner * inner_box.height() + outer * outer_box.height());
    const float inverse = rough_reciprocal(static_cast<float>(area));
    std::uint32_t values[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const std::uint64_t mixed = static_cast<std::uint64_t>(inner) * inner_sums.sums[c] +
                                  static_cast<std::uint64_t>(outer) * outer_sums.sums[c];
      values[c] = divide_near(mixed * radius_one - static_cast<std::uint64_t>(inner * outer) * corners[c],
                              area, inverse);
    }
    return low_bytes<Channels>(values);
  }

  /// What lies outside of the picture is 0.
  __device__ void add_pixel(int x, int y, std::uint32_t (&sums)[Channels]) const {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    const std::uint8_t* pixel = pixel_of<std::uint8_t>(arguments_.source, x, y, Channels);
#pragma unroll
    for (int c = 0; c < Channels; ++c) sums[c] += __ldg(pixel + c);
  }

  /// A warp of three channels stores words: of four neighbouring lanes the first three, 12 bytes together.
  __device__ void store(bool stored, std::uint32_t means) const {
    std::byte* row = arguments_.output.data + y_ * arguments_.output.row;
    if constexpr (Channels == 3) {
      std::byte* to = row + (lane_x_ - lane_index()) * Channels;
      const bool joined = stored && reinterpret_cast<std::uintptr_t>(to) % 4 == 0;
      if (__all_sync(whole_warp, static_cast<int>(joined)) != 0) {
        const int place = lane_index() % 4;
        const std::uint32_t right = __shfl_down_sync(whole_warp, means, 1);
        const unsigned bytes = place == 0 ? 0x4210U : place == 1 ? 0x5421U : 0x6542U;
        const std::uint32_t word = __byte_perm(means, right, bytes);
        if (place < 3) __stcs(reinterpret_cast<std::uint32_t*>(to) + lane_index() / 4 * 3 + place, word);
        return;
      }
    }
    if (!stored) return;
#pragma unroll
    for (int c = 0; c < Channels; ++c) row[x_ * Channels + c] = static_cast<std::byte>(means >> (8 * c));
  }

  const BoxMeanArguments& arguments_;
  int width_;
  int height_;
  int lane_x_;
  int x_;
  int y_;
};

template <int Channels>
__global__ void __launch_bounds__(warp_size* tuning::gathered_bytes_warps,
                                  tuning::gathered_bytes_blocks_per_multiprocessor)
    gather_bytes(const __grid_constant__ BoxMeanArguments arguments) {
  const auto x = static_cast<int>(blockIdx.x * warp_size * tuning::gathered_bytes_warps + threadIdx.x);
  const auto y = static_cast<int>(gridDim.y - 1 - blockIdx.y);
  if (x - lane_index() >= arguments.width) return;
  GatheredBytes<Channels>(arguments, x, y).run();
}

template <int Channels>
void gather_bytes_of(const BoxMeanArguments& arguments, StreamHandle stream) {
  constexpr int columns = warp_size * tuning::gathered_bytes_warps;
  const dim3 blocks(static_cast<unsigned>((arguments.width + columns - 1) / columns),
                    static_cast<unsigned>(arguments.height));
  gather_bytes<Channels><<<blocks, columns, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
