// The kernels of core/plan_operations.h: the active tiles of a mask, and copies between views of any strides.
// The last function probes whether the current device can run this build's kernels.

#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"

namespace satin::kernels {
namespace {

// --- Active tiles ---

/// Whether any of the thread's words of a tile is not 0. A row of the tile has `bytes` bytes.
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
  const dim3 blocks(block_count(job.width, job.tile), blocks_down(block_count(job.height, job.tile)));
  find_active<<<blocks, tuning::active_tile_threads, 0, stream>>>(arguments);
}

// --- Copies. Rows that are contiguous in both views are copied in the widest words that both alignments
// allow.

namespace {

template <class Element>
__global__ void __launch_bounds__(tuning::copy_threads)
    copy_elements(const __grid_constant__ CopyArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Strides& from = arguments.source.strides;
  const Strides& to = arguments.target.strides;
  const std::int64_t height = arguments.source.shape.height;
  if (x >= arguments.source.shape.width) return;
  const std::byte* source = arguments.source.data + x * from.pixel + blockIdx.z * from.channel;
  std::byte* target = arguments.target.data + x * to.pixel + blockIdx.z * to.channel;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * tuning::copy_rows_per_block;
       first < height; first += static_cast<std::int64_t>(gridDim.y) * tuning::copy_rows_per_block) {
    Element values[tuning::copy_rows_per_block];
#pragma unroll
    for (int r = 0; r < tuning::copy_rows_per_block; ++r)
      if (first + r < height) values[r] = *reinterpret_cast<const Element*>(source + (first + r) * from.row);
#pragma unroll
    for (int r = 0; r < tuning::copy_rows_per_block; ++r)
      if (first + r < height) *reinterpret_cast<Element*>(target + (first + r) * to.row) = values[r];
  }
}

template <class Element>
void launch(const CopyArguments& arguments, StreamHandle stream) {
  const Shape& shape = arguments.source.shape;
  const dim3 blocks(block_count(shape.width, tuning::copy_threads),
                    blocks_down(block_count(shape.height, tuning::copy_rows_per_block)),
                    static_cast<unsigned>(shape.channels));
  copy_elements<Element><<<blocks, tuning::copy_threads, 0, stream>>>(arguments);
}

bool contiguous(const CopyArguments& arguments, const Strides& strides) {
  const int channels = arguments.source.shape.channels;
  const bool adjacent = channels == 1 || strides.channel == arguments.element_size;
  return adjacent && strides.pixel == std::ptrdiff_t{arguments.element_size} * channels;
}

/// Describes a copy of contiguous rows by elements of `size` bytes.
CopyArguments by_elements_of(int size, std::int64_t row_bytes, const CopyArguments& arguments) {
  CopyArguments result = arguments;
  result.element_size = size;
  result.source.shape.channels = 1;
  result.source.shape.width = row_bytes / size;
  result.source.strides.pixel = result.target.strides.pixel = size;
  return result;
}

CopyArguments with_widest_elements(const CopyArguments& arguments) {
  const ImageView& source = arguments.source;
  const MutableImageView& target = arguments.target;
  if (!contiguous(arguments, source.strides) || !contiguous(arguments, target.strides)) return arguments;
  const std::int64_t row_bytes = source.shape.width * source.shape.channels * arguments.element_size;
  const auto bits = static_cast<std::uint64_t>(row_bytes) | static_cast<std::uint64_t>(source.strides.row) |
                    static_cast<std::uint64_t>(target.strides.row) |
                    reinterpret_cast<std::uint64_t>(source.data) |
                    reinterpret_cast<std::uint64_t>(target.data);
  int size = 16;
  while (bits % static_cast<std::uint64_t>(size) != 0) size /= 2;
  return by_elements_of(size, row_bytes, arguments);
}

}  // namespace

void copy(const CopyArguments& arguments, StreamHandle stream) {
  const CopyArguments widest = with_widest_elements(arguments);
  switch (widest.element_size) {
    case 1:
      return launch<std::uint8_t>(widest, stream);
    case 2:
      return launch<std::uint16_t>(widest, stream);
    case 4:
      return launch<std::uint32_t>(widest, stream);
    case 8:
      return launch<std::uint64_t>(widest, stream);
    default:
      return launch<uint4>(widest, stream);
  }
}

// --- Probe ---

namespace {
__global__ void nothing() {}
}  // namespace

int probe() {
  cudaFuncAttributes attributes{};
  return static_cast<int>(cudaFuncGetAttributes(&attributes, nothing));
}

}  // namespace satin::kernels
