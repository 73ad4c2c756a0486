#pragma once
// What the host side sees of the kernels: plain functions that put work into a stream. None of them waits,
// allocates or reports; errors of a launch stay in cudaGetLastError().
//
// All pointers but those of the argument structs themselves are device memory. Rows are distances in bytes,
// of any sign, multiples of the element's size. Pixels are interleaved unless strides say otherwise.

#include <cstddef>
#include <cstdint>

#include "core/plan_operations.h"

struct CUstream_st;

namespace satin::kernels {

using StreamHandle = CUstream_st*;

/// Interleaved pixels to read, and to write. Null data where a job has no such picture.
struct Source {
  const std::byte* data = nullptr;
  std::int64_t row = 0;
};
struct Target {
  std::byte* data = nullptr;
  std::int64_t row = 0;
};

/// The code of a cudaError_t: 0 if the current device can run the kernels of this build.
[[nodiscard]] int probe();

/// A copy of pixels between any strides, all in bytes.
struct CopyArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  int element_size = 1;  ///< 1, 2, 4, 8, 16
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::int64_t source_pixel = 0, source_row = 0, source_channel = 0;
  std::int64_t target_pixel = 0, target_row = 0, target_channel = 0;
};

void copy(const CopyArguments& arguments, StreamHandle stream);

struct ActiveTilesArguments {
  ActiveTilesJob job;
  Source mask;
  std::uint8_t* active = nullptr;  ///< one value a tile, row by row: 1 or 0
};

void find_active_tiles(const ActiveTilesArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
