#pragma once
// The interface between host side and kernels: plain functions that put work into a stream. None of them
// waits, allocates or throws; errors of a launch stay in cudaGetLastError().
//
// All pointers point to device memory. Rows are distances in bytes, of any sign, and multiples of the
// element's size. Pixels are interleaved unless strides say otherwise.

#include <cstddef>
#include <cstdint>

#include "core/plan_operations.h"

struct CUstream_st;

namespace satin::kernels {

using StreamHandle = CUstream_st*;

/// Interleaved pixels to read (Source) and to write (Target). Data is null where a job has no such picture.
struct Source {
  const std::byte* data = nullptr;
  std::int64_t row = 0;
};
struct Target {
  std::byte* data = nullptr;
  std::int64_t row = 0;
};

/// Returns the number of blocks that `count` elements fill, `size` in each.
inline unsigned block_count(std::int64_t count, std::int64_t size) {
  return static_cast<unsigned>((count + size - 1) / size);
}

/// Returns the size along y of a grid whose threads loop over rows of blocks beyond the largest grid.
inline unsigned blocks_down(std::int64_t rows) {
  constexpr std::int64_t most = 65535;
  return static_cast<unsigned>(rows < most ? rows : most);
}

/// Returns a cudaError_t: 0 if the current device can run the kernels of this build.
[[nodiscard]] int probe();

/// A copy between views of one shape, one frame, and any strides.
struct CopyArguments {
  ImageView source;
  MutableImageView target;
  int element_size = 1;  ///< bytes of an element: 1, 2, 4, 8, 16
};

void copy(const CopyArguments& arguments, StreamHandle stream);

struct ActiveTilesArguments {
  ActiveTilesJob job;
  Source mask;
  std::uint8_t* active = nullptr;  ///< 1 or 0 for each tile, row by row
};

void find_active_tiles(const ActiveTilesArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
