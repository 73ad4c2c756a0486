#pragma once
// Means of bytes by a radius map, gathered from a table in memory (Crow 1984): a thread a pixel, or a few
// below each other. The warps of a block lie side by side, so that neighbours share the sectors at their
// ends.
//
// The table has a row and a column of zeros before it, so that clipped windows need no question. Rows are
// done from the last to the first: the last that were written are still in the L2.
//
// Bytes moved per pixel: the map, the output and four entries of the table, from the L2 but for once (radii
// that are smooth and windows whose rows of the table fit it) to twice. A box with a fractional radius takes
// eight entries and four pixels of the picture, as CoveredDivision explains.

#include <cstdint>

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/means/byte_quotient.cuh"
#include "kernels/means/clipped_boxes.cuh"
#include "kernels/means/map_gather.h"
#include "kernels/means/strip_means.cuh"
#include "means/box_mean.h"

namespace satin::kernels {

template <int Channels>
class MapGather {
 public:
  static constexpr int rows = tuning::map_gather_rows;
  using TableEntry = Entry<Channels, std::uint32_t>;

  __device__ MapGather(const MapGatherArguments& arguments, int x, int y)
      : arguments_(arguments), x_(x), y_(y) {}

  /// By all lanes of a warp.
  __device__ void run() const {
    Radius256 radii[rows];
    bool present[rows];
    load_radii(radii, present);
    bool fractional = false;
#pragma unroll
    for (int k = 0; k < rows; ++k) fractional = fractional || (present[k] && radii[k] % radius_one != 0);
    std::uint32_t means[rows];
    if (__any_sync(whole_warp, static_cast<int>(fractional)) != 0) {
      covered_means(radii, means);
    } else {
      whole_means(radii, means);
    }
#pragma unroll
    for (int k = 0; k < rows; ++k) store(row_of(k), present[k] && counts(row_of(k), radii[k]), means[k]);
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

  [[nodiscard]] __device__ int row_of(int k) const { return y_ + k; }

  /// Lanes and rows that are not there get the radius of one that is.
  __device__ void load_radii(Radius256 (&radii)[rows], bool (&present)[rows]) const {
    const int x = min(x_, arguments_.width - 1);
#pragma unroll
    for (int k = 0; k < rows; ++k) {
      const int y = row_of(k);
      present[k] = x_ < arguments_.width && y < arguments_.height;
      radii[k] = radius_at(
          arguments_.radius_map.data + min(y, arguments_.height - 1) * arguments_.radius_map.row, x);
    }
  }

  [[nodiscard]] __device__ Radius256 radius_at(const std::byte* row, int x) const {
    const RadiusField& field = arguments_.radius;
    if (field.map_type == Type::u8)
      return __ldg(arguments_.radii_of_codes + __ldg(reinterpret_cast<const std::uint8_t*>(row) + x));
    if (field.map_type == Type::u16)
      return radius_from_map(__ldg(reinterpret_cast<const std::uint16_t*>(row) + x), 0xFFFFU, field.low,
                             field.high);
    return radius_from_map(__ldg(reinterpret_cast<const float*>(row) + x), field.low, field.high);
  }

  /// False for a box that leaves the picture and is not to be clipped.
  [[nodiscard]] __device__ bool counts(int y, Radius256 radius) const {
    const int reach = (radius + radius_one - 1) / radius_one;
    return arguments_.clipped ||
           (x_ >= reach && x_ + reach < arguments_.width && y >= reach && y + reach < arguments_.height);
  }

  [[nodiscard]] __device__ Box box_of(int y, int reach) const {
    const int x = min(x_, arguments_.width - 1);
    const int inside_y = min(y, arguments_.height - 1);
    return {max(x - reach, 0) - 1, min(x + reach, arguments_.width - 1), max(inside_y - reach, 0) - 1,
            min(inside_y + reach, arguments_.height - 1)};
  }

  [[nodiscard]] __device__ TableEntry entry(int x, int y) const {
    const std::byte* row = reinterpret_cast<const std::byte*>(arguments_.table) + y * arguments_.table_row;
    return *reinterpret_cast<const TableEntry*>(row + x * static_cast<std::int64_t>(sizeof(TableEntry)));
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

  __device__ void whole_means(const Radius256 (&radii)[rows], std::uint32_t (&means)[rows]) const {
    TableEntry sums[rows];
    std::uint32_t counts[rows];
#pragma unroll
    for (int k = 0; k < rows; ++k) {
      const Box box = box_of(row_of(k), radii[k] / radius_one);
      counts[k] = box.width() * box.height();
      sums[k] = sums_over(box);
    }
#pragma unroll
    for (int k = 0; k < rows; ++k) {
      const ByteQuotient quotient(counts[k]);
      std::uint32_t values[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) values[c] = quotient(sums[k].sums[c]);
      means[k] = low_bytes<Channels>(values);
    }
  }

  __device__ void covered_means(const Radius256 (&radii)[rows], std::uint32_t (&means)[rows]) const {
#pragma unroll
    for (int k = 0; k < rows; ++k) means[k] = covered_mean(row_of(k), radii[k]);
  }

  [[nodiscard]] __device__ std::uint32_t covered_mean(int y, Radius256 radius) const {
    const int reach = radius / radius_one;
    const std::uint32_t outer = static_cast<std::uint32_t>(radius) % radius_one;
    const std::uint32_t inner = radius_one - outer;
    const Box inner_box = box_of(y, reach);
    const Box outer_box = box_of(y, reach + 1);
    const TableEntry inner_sums = sums_over(inner_box);
    const TableEntry outer_sums = sums_over(outer_box);
    std::uint32_t corners[Channels] = {};
    add_pixel(x_ - reach - 1, y - reach - 1, corners);
    add_pixel(x_ + reach + 1, y - reach - 1, corners);
    add_pixel(x_ - reach - 1, y + reach + 1, corners);
    add_pixel(x_ + reach + 1, y + reach + 1, corners);
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
    if (x < 0 || y < 0 || x >= arguments_.width || y >= arguments_.height) return;
    const auto* pixel =
        reinterpret_cast<const std::uint8_t*>(arguments_.source.data + y * arguments_.source.row) +
        x * Channels;
#pragma unroll
    for (int c = 0; c < Channels; ++c) sums[c] += __ldg(pixel + c);
  }

  /// A warp of three channels stores words: of four neighbouring lanes the first three, 12 bytes together.
  __device__ void store(int y, bool stored, std::uint32_t means) const {
    std::byte* row = arguments_.output.data + y * arguments_.output.row;
    if constexpr (Channels == 3) {
      std::byte* to = row + (x_ - lane_index()) * Channels;
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

  const MapGatherArguments& arguments_;
  int x_;
  int y_;
};

template <int Channels>
__global__ void __launch_bounds__(warp_size* tuning::map_gather_warps,
                                  tuning::map_gather_blocks_per_multiprocessor)
    gather_map_means(const __grid_constant__ MapGatherArguments arguments) {
  const auto x = static_cast<int>(blockIdx.x * warp_size * tuning::map_gather_warps + threadIdx.x);
  const auto y = static_cast<int>((gridDim.y - 1 - blockIdx.y) * tuning::map_gather_rows);
  if (x - lane_index() >= arguments.width) return;
  MapGather<Channels>(arguments, x, y).run();
}

}  // namespace satin::kernels
