#pragma once
// One pass of recursive smoothing, forward and backward along one axis (recursive/maths/recursive.h).
//
// A warp has 32 lines, a lane one of them; it scans one block of 32 pixels of each in registers. Three
// kernels read the values, with a short one between them that takes the carries from block to block:
//
//   ends_forward    what is left of every block by itself
//   ends_backward   forward again, with carries; what is left of the blocks of that result, from their ends
//   apply           forward and backward, with carries; writes
//
// so that a pass reads a plane three times and writes it once: 16 bytes per value of type float, beside
// 3/8 byte of carries for each kernel. Columns are read as they lie; rows through shared memory, where a tile
// is turned.

#include <cstdint>
#include <type_traits>

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/recursive/launch.h"

namespace satin::kernels {

static_assert(recursive_block == warp_size, "a tile is square");

enum class ScanStage { ends_forward, ends_backward, apply };

/// What blocks tell each other: arrays of [channel][block][line].
template <class Real>
struct Carries {
  Real* ends;      ///< the last result of the block by itself, in the direction of the scan
  Real* products;  ///< of its coefficients; [block][line]
  Real* forward;   ///< the block's first value, then the difference c - r that it gets
  Real* backward;  ///< the same backward
  std::int64_t blocks;
  std::int64_t lines;

  [[nodiscard]] SATIN_HD std::int64_t at(int channel, std::int64_t block, std::int64_t line) const {
    return (channel * blocks + block) * lines + line;
  }
};

template <class Real>
SATIN_HD Carries<Real> carries_of(const RecursiveScan<Real>& scan) {
  const bool rows = scan.axis == Axis::x;
  const std::int64_t lines = rows ? scan.height : scan.width;
  const std::int64_t length = rows ? scan.width : scan.height;
  const std::int64_t blocks = (length + recursive_block - 1) / recursive_block;
  const std::int64_t size = scan.channels * blocks * lines;
  return {scan.carries, scan.carries + 3 * size, scan.carries + size, scan.carries + 2 * size, blocks, lines};
}

/// One block of the 32 lines from `first_line` on; `line` is the lane's own. `whole`: all 32 lines exist, and
/// all 32 positions.
template <Axis axis, bool whole>
struct Tile {
  std::int64_t width, height;
  std::int64_t first_line, first;
  std::int64_t line;
  int positions;
  bool exists;  ///< the lane's line

  [[nodiscard]] __device__ std::int64_t length() const { return axis == Axis::x ? width : height; }
  [[nodiscard]] __device__ std::int64_t lines() const { return axis == Axis::x ? height : width; }
  [[nodiscard]] __device__ bool has(int position) const { return whole || position < positions; }
  [[nodiscard]] __device__ bool is_last(int position) const {
    return position == (whole ? warp_size : positions) - 1;
  }
  [[nodiscard]] __device__ bool has_line(int index) const { return whole || first_line + index < lines(); }

  /// The lane's values, 0 where there are none. `turned` is shared memory of the warp for rows.
  template <class Value>
  __device__ void load(const Value* plane, Value (*turned)[warp_size + 1], Value (&values)[warp_size]) const {
    if constexpr (axis == Axis::y) {
      const Value* from = plane + first * width + line;
#pragma unroll
      for (int i = 0; i < warp_size; ++i, from += width)
        values[i] = whole || (exists && has(i)) ? *from : Value{0};
    } else {
      const int lane = lane_index();
      const Value* from = plane + first_line * width + first + lane;
#pragma unroll
      for (int r = 0; r < warp_size; ++r, from += width)
        turned[r][lane] = has(lane) && has_line(r) ? *from : Value{0};
      __syncwarp();
#pragma unroll
      for (int i = 0; i < warp_size; ++i) values[i] = turned[lane][i];
      __syncwarp();
    }
  }

  template <class Value>
  __device__ void store(Value* plane, Value (*turned)[warp_size + 1],
                        const Value (&values)[warp_size]) const {
    if constexpr (axis == Axis::y) {
      Value* to = plane + first * width + line;
#pragma unroll
      for (int i = 0; i < warp_size; ++i, to += width)
        if (whole || (exists && has(i))) *to = values[i];
    } else {
      const int lane = lane_index();
#pragma unroll
      for (int i = 0; i < warp_size; ++i) turned[lane][i] = values[i];
      __syncwarp();
      Value* to = plane + first_line * width + first + lane;
#pragma unroll
      for (int r = 0; r < warp_size; ++r, to += width)
        if (has(lane) && has_line(r)) *to = turned[r][lane];
      __syncwarp();
    }
  }

  /// The value behind the lane's block, `otherwise` at the line's end.
  __device__ float behind(const float* plane, float otherwise) const {
    const std::int64_t position = first + warp_size;
    if (!exists || position >= length()) return otherwise;
    return axis == Axis::x ? plane[line * width + position] : plane[position * width + line];
  }
};

/// Coefficients between each pixel of a block and the one before it, and behind the block.
template <class Real, bool guided>
struct Coefficients {
  Real values[guided ? warp_size + 1 : 1];

  __device__ Real operator[](int i) const { return values[guided ? i : 0]; }
};

template <class Real, bool guided, Axis axis, bool whole>
__device__ Coefficients<Real, guided> coefficients_of(const RecursiveScan<Real>& scan,
                                                      const Tile<axis, whole>& tile,
                                                      float (*turned)[warp_size + 1]) {
  Coefficients<Real, guided> result;
  if constexpr (!guided) {
    result.values[0] = scan.constants.feedback;
  } else {
    float distances[warp_size];
    tile.load(scan.distances, turned, distances);
#pragma unroll
    for (int i = 0; i < warp_size; ++i)
      result.values[i] = tile.has(i) ? decay(scan.constants.rate * static_cast<Real>(distances[i]))
                                     : scan.constants.feedback;
    const float distance = tile.behind(scan.distances, -1.0F);
    result.values[warp_size] =
        distance < 0 ? scan.constants.feedback : decay(scan.constants.rate * static_cast<Real>(distance));
  }
  return result;
}

/// What is left of a block at its end.
template <class Real>
struct BlockEnd {
  Real alone;
  Real product;
  Real reference;
};

/// Scans the block in place, with `difference` = c - r. `first`: the line's first block in this direction.
template <bool backward, class Real, bool guided, Axis axis, bool whole>
__device__ BlockEnd<Real> scan_values(const Tile<axis, whole>& tile, Real (&values)[warp_size],
                                      const Coefficients<Real, guided>& coefficients, bool first,
                                      Real difference) {
  BlockEnd<Real> end{0, 1, 0};
#pragma unroll
  for (int step = 0; step < warp_size; ++step) {
    const int i = backward ? warp_size - 1 - step : step;
    if (!tile.has(i)) continue;
    const bool start = backward ? tile.is_last(i) : i == 0;
    const Real a = coefficients[backward ? i + 1 : i];
    if (start) end.alone = end.reference = values[i];
    end.alone = follow(values[i], a, end.alone);
    if (!start || !first) end.product = kept_product(end.product * a);
    values[i] = with_carry(end.alone, end.product, difference);
  }
  return end;
}

template <ScanStage stage, bool guided, class Real, Axis axis, bool whole>
__device__ void scan_tile(const RecursiveScan<Real>& scan, const Carries<Real>& carries,
                          const Tile<axis, whole>& tile, std::int64_t block, Real (*turned)[warp_size + 1]) {
  const bool first_block = block == 0;
  const bool last_block = block + 1 == carries.blocks;
  const auto coefficients =
      coefficients_of<Real, guided>(scan, tile, reinterpret_cast<float(*)[warp_size + 1]>(turned));

  for (int channel = 0; channel < scan.channels; ++channel) {
    Real* plane = scan.planes + channel * scan.width * scan.height;
    const std::int64_t own = tile.exists ? carries.at(channel, block, tile.line) : 0;
    Real values[warp_size];
    tile.load(plane, turned, values);
    Real last_value = 0;
#pragma unroll
    for (int i = 0; i < warp_size; ++i)
      if (tile.is_last(i)) last_value = values[i];

    const Real before = stage == ScanStage::ends_forward ? Real{0} : carries.forward[own];
    BlockEnd<Real> end = scan_values<false>(tile, values, coefficients, first_block, before);
    if constexpr (stage == ScanStage::ends_forward) {
      if (!tile.exists) continue;
      carries.ends[own] = end.alone;
      carries.forward[own] = first_block ? Real{0} : end.reference;
      if (channel == 0) carries.products[own] = end.product;
      continue;
    }
    const Real forward_end = with_carry(end.alone, end.product, before);
    const Real behind = stage == ScanStage::ends_backward ? Real{0} : carries.backward[own];
    end = scan_values<true>(tile, values, coefficients, last_block, behind);
    if constexpr (stage == ScanStage::ends_backward) {
      if (!tile.exists) continue;
      carries.ends[own] = end.alone;
      carries.backward[own] =
          last_block ? end_difference(last_value, forward_end, scan.constants.end_share) : end.reference;
      if (channel == 0) carries.products[own] = end.product;
    } else {
      tile.store(plane, turned, values);
    }
  }
}

/// Blocks of a multiprocessor, at least: bounds the registers, of which values and coefficients take most.
/// H200, three UHD planes of floats: 0.289 ms along rows and 0.216 down columns with 4, 0.295 and 0.226
/// without a bound; guided 0.364 and 0.300 with 2, 0.365 and 0.296 without.
template <class Real, bool guided>
inline constexpr int least_scan_blocks = sizeof(Real) == 4 ? (guided ? 2 : 4) : 2;

template <class Real, Axis axis, bool guided, ScanStage stage>
__global__ void __launch_bounds__(warp_size* tuning::recursive_warps, least_scan_blocks<Real, guided>)
    scan_blocks(const __grid_constant__ RecursiveScan<Real> scan) {
  __shared__ Real all_turned[axis == Axis::x ? tuning::recursive_warps : 1][warp_size][warp_size + 1];
  Real(*turned)[warp_size + 1] = all_turned[axis == Axis::x ? threadIdx.y : 0];
  const Carries<Real> carries = carries_of(scan);
  const std::int64_t groups = (carries.lines + warp_size - 1) / warp_size;
  const std::int64_t tile_index = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const std::int64_t block = tile_index / groups;
  if (block >= carries.blocks) return;

  const std::int64_t first_line = (tile_index - block * groups) * warp_size;
  const std::int64_t first = block * recursive_block;
  const std::int64_t line = first_line + lane_index();
  const std::int64_t left = (axis == Axis::x ? scan.width : scan.height) - first;
  const int positions = left < recursive_block ? static_cast<int>(left) : recursive_block;
  const bool exists = line < carries.lines;
  const auto scan_as = [&](auto whole) {
    const Tile<axis, decltype(whole)::value> tile{scan.width, scan.height, first_line, first,
                                                  line,       positions,   exists};
    scan_tile<stage, guided>(scan, carries, tile, block, turned);
  };
  if (positions == recursive_block && first_line + warp_size <= carries.lines)
    return scan_as(std::true_type{});
  scan_as(std::false_type{});
}

/// Takes carries along the blocks of every line: first values become differences c - r. The line's first
/// block in this direction has its difference already. What a batch of blocks needs is asked for at once.
template <class Real, bool backward>
__global__ void __launch_bounds__(tuning::recursive_carry_threads)
    pass_carries(const __grid_constant__ RecursiveScan<Real> scan) {
  const Carries<Real> carries = carries_of(scan);
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= scan.channels * carries.lines) return;
  const int channel = static_cast<int>(index / carries.lines);
  const std::int64_t line = index - channel * carries.lines;
  Real* differences = backward ? carries.backward : carries.forward;
  const auto block_at = [&](std::int64_t step) { return backward ? carries.blocks - 1 - step : step; };
  constexpr int batch = tuning::recursive_carry_batch;
  Real carry = 0;
  for (std::int64_t first = 0; first < carries.blocks; first += batch) {
    Real ends[batch];
    Real products[batch];
    Real given[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (first + i >= carries.blocks) break;
      const std::int64_t own = carries.at(channel, block_at(first + i), line);
      ends[i] = carries.ends[own];
      products[i] = carries.products[carries.at(0, block_at(first + i), line)];
      given[i] = differences[own];
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (first + i >= carries.blocks) break;
      const Real difference = first + i == 0 ? given[i] : carried_difference(carry, given[i]);
      differences[carries.at(channel, block_at(first + i), line)] = difference;
      carry = with_carry(ends[i], products[i], difference);
    }
  }
}

template <class Real, Axis axis, bool guided>
void scan_along(const RecursiveScan<Real>& scan, StreamHandle stream) {
  const Carries<Real> carries = carries_of(scan);
  const std::int64_t tiles = (carries.lines + warp_size - 1) / warp_size * carries.blocks;
  const auto blocks = static_cast<unsigned>((tiles + tuning::recursive_warps - 1) / tuning::recursive_warps);
  const dim3 threads(warp_size, tuning::recursive_warps);
  const std::int64_t chains = scan.channels * carries.lines;
  const auto chain_blocks =
      static_cast<unsigned>((chains + tuning::recursive_carry_threads - 1) / tuning::recursive_carry_threads);
  scan_blocks<Real, axis, guided, ScanStage::ends_forward><<<blocks, threads, 0, stream>>>(scan);
  pass_carries<Real, false><<<chain_blocks, tuning::recursive_carry_threads, 0, stream>>>(scan);
  scan_blocks<Real, axis, guided, ScanStage::ends_backward><<<blocks, threads, 0, stream>>>(scan);
  pass_carries<Real, true><<<chain_blocks, tuning::recursive_carry_threads, 0, stream>>>(scan);
  scan_blocks<Real, axis, guided, ScanStage::apply><<<blocks, threads, 0, stream>>>(scan);
}

template <class Real>
void scan_along_axis(const RecursiveScan<Real>& scan, StreamHandle stream) {
  const bool guided = scan.distances != nullptr;
  if (scan.axis == Axis::x) {
    if (guided) return scan_along<Real, Axis::x, true>(scan, stream);
    return scan_along<Real, Axis::x, false>(scan, stream);
  }
  if (guided) return scan_along<Real, Axis::y, true>(scan, stream);
  scan_along<Real, Axis::y, false>(scan, stream);
}

}  // namespace satin::kernels
