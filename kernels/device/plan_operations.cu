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
// allow. Three channels change their layout four pixels at a time, if words of four elements are aligned.

namespace {

enum class Interleaving : std::uint8_t {
  none,    ///< words of four elements are not aligned, or the layout is another one
  packed,  ///< pixels of three elements
  padded,  ///< pixels of four elements, the last one unused
  planar   ///< a plane for each channel
};

template <class T>
struct alignas(2 * sizeof(T)) TwoElements {
  T of[2];
};
template <class T>
struct alignas(4 * sizeof(T)) FourElements {
  T of[4];
};

/// Four neighbouring pixels of three channels.
template <class T>
struct FourPixels {
  T values[4][3];

  template <Interleaving Layout>
  __device__ void load(const std::byte* from, std::ptrdiff_t channel) {
    using Four = FourElements<T>;
#pragma unroll
    for (int i = 0; i < (Layout == Interleaving::padded ? 4 : 3); ++i) {
      const Four four = *reinterpret_cast<const Four*>(
          from + i * (Layout == Interleaving::planar ? channel : std::ptrdiff_t{sizeof(Four)}));
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if constexpr (Layout == Interleaving::packed) values[(4 * i + k) / 3][(4 * i + k) % 3] = four.of[k];
        if constexpr (Layout == Interleaving::planar) values[k][i % 3] = four.of[k];
        if constexpr (Layout == Interleaving::padded)
          if (k < 3) values[i][k % 3] = four.of[k];
      }
    }
  }

  /// Stores the pixels. Unused elements are not written, as they may be another thread's.
  template <Interleaving Layout>
  __device__ void store(std::byte* to, std::ptrdiff_t channel) const {
    if constexpr (Layout == Interleaving::padded) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        std::byte* pixel = to + i * sizeof(FourElements<T>);
        *reinterpret_cast<TwoElements<T>*>(pixel) = {values[i][0], values[i][1]};
        reinterpret_cast<T*>(pixel)[2] = values[i][2];
      }
    } else {
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        FourElements<T> four;
#pragma unroll
        for (int k = 0; k < 4; ++k)
          four.of[k] =
              Layout == Interleaving::packed ? values[(4 * i + k) / 3][(4 * i + k) % 3] : values[k][i];
        const std::ptrdiff_t step = Layout == Interleaving::planar ? channel : std::ptrdiff_t{sizeof four};
        *reinterpret_cast<FourElements<T>*>(to + i * step) = four;
      }
    }
  }
};

template <class T>
__device__ void copy_pixel(const CopyArguments& arguments, std::int64_t x, std::int64_t y) {
  const Strides& from = arguments.source.strides;
  const Strides& to = arguments.target.strides;
#pragma unroll
  for (int c = 0; c < 3; ++c)
    *reinterpret_cast<T*>(arguments.target.data + y * to.row + x * to.pixel + c * to.channel) =
        *reinterpret_cast<const T*>(arguments.source.data + y * from.row + x * from.pixel + c * from.channel);
}

/// Copies three channels from one layout to another. A thread has four pixels of some rows.
template <class T, Interleaving From, Interleaving To>
__global__ void __launch_bounds__(tuning::copy_threads)
    copy_four_pixels(const __grid_constant__ CopyArguments arguments) {
  const std::int64_t x = 4 * (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  const Strides& from = arguments.source.strides;
  const Strides& to = arguments.target.strides;
  const Shape& shape = arguments.source.shape;
  if (x >= shape.width) return;
  // The unused element behind the last pixel of a row may be outside the user's memory.
  const bool whole = x + 4 + (From == Interleaving::padded ? 1 : 0) <= shape.width;
  for (std::int64_t y = blockIdx.y; y < shape.height; y += gridDim.y) {
    if (whole) {
      FourPixels<T> pixels;
      pixels.template load<From>(arguments.source.data + y * from.row + x * from.pixel, from.channel);
      pixels.template store<To>(arguments.target.data + y * to.row + x * to.pixel, to.channel);
    } else {
      for (std::int64_t u = x; u < shape.width; ++u) copy_pixel<T>(arguments, u, y);
    }
  }
}

Interleaving interleaving_of(const CopyArguments& arguments, const std::byte* data, const Strides& strides) {
  const std::ptrdiff_t size = arguments.element_size;
  const std::ptrdiff_t word = 4 * size;
  const bool planar = strides.pixel == size;
  const auto address = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(data));
  if (arguments.source.shape.channels != 3 || size > 4 || address % word != 0 || strides.row % word != 0)
    return Interleaving::none;
  if (planar) return strides.channel % word == 0 ? Interleaving::planar : Interleaving::none;
  if (strides.channel != size) return Interleaving::none;
  return strides.pixel == 3 * size   ? Interleaving::packed
         : strides.pixel == 4 * size ? Interleaving::padded
                                     : Interleaving::none;
}

template <class T, Interleaving From, Interleaving To>
void launch_four_pixels(const CopyArguments& arguments, StreamHandle stream) {
  const Shape& shape = arguments.source.shape;
  const dim3 blocks(block_count((shape.width + 3) / 4, tuning::copy_threads), blocks_down(shape.height));
  copy_four_pixels<T, From, To><<<blocks, tuning::copy_threads, 0, stream>>>(arguments);
}

/// Copies between a packed view and one of another layout. Returns whether it did.
template <class T>
bool copy_layouts(const CopyArguments& arguments, StreamHandle stream) {
  using enum Interleaving;
  const Interleaving from = interleaving_of(arguments, arguments.source.data, arguments.source.strides);
  const Interleaving to = interleaving_of(arguments, arguments.target.data, arguments.target.strides);
  if (from == padded && to == packed) return launch_four_pixels<T, padded, packed>(arguments, stream), true;
  if (from == packed && to == padded) return launch_four_pixels<T, packed, padded>(arguments, stream), true;
  if (from == planar && to == packed) return launch_four_pixels<T, planar, packed>(arguments, stream), true;
  if (from == packed && to == planar) return launch_four_pixels<T, packed, planar>(arguments, stream), true;
  return false;
}

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
  const bool copied = arguments.element_size == 1   ? copy_layouts<std::uint8_t>(arguments, stream)
                      : arguments.element_size == 2 ? copy_layouts<std::uint16_t>(arguments, stream)
                                                    : copy_layouts<std::uint32_t>(arguments, stream);
  if (copied) return;
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
