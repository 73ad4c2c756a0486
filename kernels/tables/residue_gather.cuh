#pragma once
// Means of RGB bytes by a map of whole radii, from the table of kernels/tables/residue_table.h: a warp does
// some rows of 32 pixels. The sums of a row are found near those of the row above it, where all radii are
// near, so that coarse words are read for the first row alone.
//
// Bytes moved per pixel: the map, the output and four entries of 8 bytes from the L2, but for once (radii
// that are smooth and windows whose rows of the table fit it) to twice.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/means/byte_quotient.cuh"
#include "kernels/tables/residue_gather.h"

namespace satin::kernels {

/// Warps of a block beside and below each other, and rows that each of them does.
template <int Across, int Down, int Rows, int BlocksPerMultiprocessor>
struct ResidueGatherShape {
  static constexpr int across = Across;
  static constexpr int down = Down;
  static constexpr int rows = Rows;
  static constexpr int threads = Across * Down * warp_size;
  static constexpr int columns_of_block = Across * warp_size;
  static constexpr int rows_of_block = Down * Rows;
  static constexpr int blocks_per_multiprocessor = BlocksPerMultiprocessor;
};

/// Three words for the pixels of four neighbouring lanes, each of which gives its three bytes.
class JoinedPixels {
 public:
  __device__ JoinedPixels()
      : place_(kept(lane_index() % 4)),
        bytes_(kept(place_ == 0   ? 0x4210
                    : place_ == 1 ? 0x5421
                                  : 0x6542)) {}

  [[nodiscard]] __device__ int byte_of_warp() const { return lane_index() / 4 * 12 + place_ * 4; }
  __device__ void store(std::byte* to, std::uint32_t pixel) const {
    const std::uint32_t right = __shfl_down_sync(whole_warp, pixel, 1);
    const std::uint32_t word = __byte_perm(pixel, right, static_cast<unsigned>(bytes_));
    if (place_ < 3) __stcs(reinterpret_cast<std::uint32_t*>(to), word);
  }

 private:
  int place_;
  int bytes_;
};

class ResidueGather {
 public:
  static constexpr int channels = residue::channels;

  /// `first_x` of the warp.
  __device__ ResidueGather(const ResidueGatherArguments& arguments, int first_x, int y)
      : arguments_(arguments), x_(min(first_x + lane_index(), arguments.width - 1)), y_(y) {
    exists_ = first_x + lane_index() < arguments.width;
    map_ = arguments.radius_map.data + static_cast<std::int64_t>(y) * arguments.radius_map.row + x_;
    std::byte* row =
        arguments.output.data + static_cast<std::int64_t>(y) * arguments.output.row + first_x * channels;
    joins_ = first_x + warp_size <= arguments.width && reinterpret_cast<std::uintptr_t>(row) % 4 == 0 &&
             arguments.output.row % 4 == 0;
    to_ = row + kept(joins_ ? joined_.byte_of_warp() : lane_index() * channels);
  }

  /// By all lanes of a warp.
  __device__ void run(int rows) {
    const int end = min(y_ + rows, arguments_.height);
    std::uint32_t code = load_code();
    int reach = reach_of(code);
    if (y_ + 1 < end) code = load_code_below();
    int reach_above = -1 - residue::nearest_reach;
    std::uint32_t pixels_above = 0;
    std::uint32_t sums[channels] = {};
#pragma unroll 1
    for (; y_ < end; ++y_) {
      const int reach_below = reach_of(code);
      if (y_ + 2 < end) code = load_code_below();
      const auto nearness = static_cast<unsigned>(reach - reach_above + residue::nearest_reach);
      const bool near_above = __all_sync(whole_warp, nearness <= 2 * residue::nearest_reach) != 0;
      const std::uint32_t pixels = sum_box(reach, near_above, pixels_above, sums);
      store(pixels, sums);
      reach_above = reach;
      reach = reach_below;
      pixels_above = pixels;
      to_ += arguments_.output.row;
    }
  }

 private:
  [[nodiscard]] __device__ std::uint32_t load_code() const {
    std::uint32_t code = 0;
    asm("ld.global.nc.u8 %0, [%1];" : "=r"(code) : "l"(map_));
    return code;
  }
  __device__ std::uint32_t load_code_below() {
    map_ += arguments_.radius_map.row;
    return load_code();
  }
  [[nodiscard]] __device__ int reach_of(std::uint32_t code) const { return __ldg(arguments_.reaches + code); }

  template <class Value>
  [[nodiscard]] __device__ static const Value* row_at(const Value* plane, int row, int y) {
    return reinterpret_cast<const Value*>(reinterpret_cast<const std::byte*>(plane) +
                                          static_cast<std::int64_t>(y) * row);
  }

  /// Returns the number of pixels.
  __device__ std::uint32_t sum_box(int reach, bool near_above, std::uint32_t pixels_above,
                                   std::uint32_t (&sums)[channels]) const {
    const int left = max(x_ - reach, 0);
    const int right = min(x_ + reach, arguments_.width - 1);
    const int top = max(y_ - reach, 0);
    const int bottom = min(y_ + reach, arguments_.height - 1);
    const auto* above = row_at(arguments_.entries, arguments_.entries_row, top);
    const auto* below = row_at(arguments_.entries, arguments_.entries_row, bottom + 1);
    const residue::Corners<residue::Entry> entries = {above[left], above[right + 1], below[left],
                                                      below[right + 1]};
    const auto pixels = static_cast<std::uint32_t>((right + 1 - left) * (bottom + 1 - top));
    std::uint32_t residues[channels];
    if (near_above) {
      residue::residues_of_box(entries, residues);
      residue::sums_by_neighbour(residues, pixels - pixels_above, sums);
    } else {
      const int first_column = residue::coarse_column(left - 1);
      const int last_column = residue::coarse_column(right);
      const int first_row = residue::coarse_row(top - 1);
      const int last_row = residue::coarse_row(bottom);
      const auto* first = row_at(arguments_.coarse, arguments_.coarse_row, first_row);
      const auto* last = row_at(arguments_.coarse, arguments_.coarse_row, last_row);
      const auto coarse_pixels = static_cast<std::uint32_t>((last_column - first_column) *
                                                            (last_row - first_row) * residue::coarse_area);
      const residue::Corners<std::uint32_t> coarse = {first[first_column], first[last_column],
                                                      last[first_column], last[last_column]};
      residue::residues_of_box(entries, residues);
      residue::sums_by_coarse(residues, coarse, pixels, coarse_pixels, sums);
    }
    return pixels;
  }

  __device__ void store(std::uint32_t pixels, const std::uint32_t (&sums)[channels]) const {
    const ByteQuotient quotient(pixels);
    std::uint32_t means[channels];
#pragma unroll
    for (int c = 0; c < channels; ++c) means[c] = quotient(sums[c]);
    const std::uint32_t pixel = low_bytes<channels>(means);
    if (joins_) {
      joined_.store(to_, pixel);
    } else if (exists_) {
#pragma unroll
      for (int c = 0; c < channels; ++c) to_[c] = static_cast<std::byte>(pixel >> (8 * c));
    }
  }

  const ResidueGatherArguments& arguments_;
  int x_;
  int y_;
  const std::byte* map_;
  std::byte* to_;
  JoinedPixels joined_;
  bool exists_;
  bool joins_;
};

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_multiprocessor)
    gather_residue_means(const __grid_constant__ ResidueGatherArguments arguments) {
  const int warp = __shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / warp_size, 0);
  const int x = static_cast<int>(blockIdx.x) * Shape::columns_of_block + warp % Shape::across * warp_size;
  const int y = static_cast<int>(gridDim.y - 1 - blockIdx.y) * Shape::rows_of_block +
                warp / Shape::across * Shape::rows;
  if (x >= arguments.width || y >= arguments.height) return;
  ResidueGather(arguments, x, y).run(Shape::rows);
}

}  // namespace satin::kernels
