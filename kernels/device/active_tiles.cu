// The tiles of a mask in which it is not 0.

#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"

namespace satin::kernels {
namespace {

constexpr std::int64_t most_blocks_along_y = 65535;

unsigned blocks_along_y(std::int64_t rows) {
  return static_cast<unsigned>(rows < most_blocks_along_y ? rows : most_blocks_along_y);
}

/// Whether the thread's words of a tile hold anything: rows of `bytes` bytes, `Word`s one after the other.
template <class Word>
__device__ bool holds_anything(const std::byte* tile, std::int64_t row, int bytes, int rows) {
  const int words = bytes / static_cast<int>(sizeof(Word));
  unsigned found = 0;
  for (int i = static_cast<int>(threadIdx.x); i < words * rows; i += static_cast<int>(blockDim.x)) {
    const int y = i / words;
    const Word word = reinterpret_cast<const Word*>(tile + y * row)[i - y * words];
    if constexpr (sizeof(Word) == 16) {
      found |= word.x | word.y | word.z | word.w;
    } else {
      found |= word;
    }
  }
  return found != 0;
}

/// One block a tile.
__global__ void __launch_bounds__(tuning::active_tile_threads)
    find_active(const __grid_constant__ ActiveTilesArguments arguments) {
  const ActiveTilesJob& job = arguments.job;
  const std::int64_t tile_rows = (job.height + job.tile - 1) / job.tile;
  const std::int64_t left = static_cast<std::int64_t>(blockIdx.x) * job.tile;
  const std::int64_t right = left + job.tile < job.width ? left + job.tile : job.width;
  const int size = job.type == Type::u8 ? 1 : 2;
  const auto bytes = static_cast<int>(right - left) * size;
  for (std::int64_t tile_row = blockIdx.y; tile_row < tile_rows; tile_row += gridDim.y) {
    const std::int64_t top = tile_row * job.tile;
    const auto rows = static_cast<int>(top + job.tile < job.height ? job.tile : job.height - top);
    const std::byte* tile = arguments.mask.data + top * arguments.mask.row + left * size;
    const auto alignment =
        reinterpret_cast<std::uint64_t>(tile) | static_cast<std::uint64_t>(arguments.mask.row) | bytes;
    const bool found = alignment % 16 == 0
                           ? holds_anything<uint4>(tile, arguments.mask.row, bytes, rows)
                           : holds_anything<std::uint8_t>(tile, arguments.mask.row, bytes, rows);
    const int active = __syncthreads_or(found ? 1 : 0);
    if (threadIdx.x == 0) arguments.active[tile_row * gridDim.x + blockIdx.x] = active != 0 ? 1 : 0;
  }
}

}  // namespace

void find_active_tiles(const ActiveTilesArguments& arguments, StreamHandle stream) {
  const ActiveTilesJob& job = arguments.job;
  const dim3 blocks(static_cast<unsigned>((job.width + job.tile - 1) / job.tile),
                    blocks_along_y((job.height + job.tile - 1) / job.tile));
  find_active<<<blocks, tuning::active_tile_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
