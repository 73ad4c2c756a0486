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

/// Returns a cudaError_t: 0 if the current device can run the kernels of this build.
[[nodiscard]] int probe();

/// A copy between views of any strides, which are in bytes.
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
  std::uint8_t* active = nullptr;  ///< 1 or 0 for each tile, row by row
};

void find_active_tiles(const ActiveTilesArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
