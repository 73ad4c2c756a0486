// Copies between pictures of any strides. Rows that are contiguous in both are copied as the widest words
// that the alignment of both allows.

#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"

namespace satin::kernels {
namespace {

template <class Element>
__global__ void __launch_bounds__(tuning::copy_threads)
    copy_elements(const __grid_constant__ CopyArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (x >= arguments.width) return;
  const std::byte* source =
      arguments.source + x * arguments.source_pixel + blockIdx.z * arguments.source_channel;
  std::byte* target = arguments.target + x * arguments.target_pixel + blockIdx.z * arguments.target_channel;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * tuning::copy_rows_per_block;
       first < arguments.height;
       first += static_cast<std::int64_t>(gridDim.y) * tuning::copy_rows_per_block) {
    Element values[tuning::copy_rows_per_block];
#pragma unroll
    for (int r = 0; r < tuning::copy_rows_per_block; ++r)
      if (first + r < arguments.height)
        values[r] = *reinterpret_cast<const Element*>(source + (first + r) * arguments.source_row);
#pragma unroll
    for (int r = 0; r < tuning::copy_rows_per_block; ++r)
      if (first + r < arguments.height)
        *reinterpret_cast<Element*>(target + (first + r) * arguments.target_row) = values[r];
  }
}

template <class Element>
void launch(const CopyArguments& arguments, StreamHandle stream) {
  constexpr std::int64_t most_rows = 65535;
  const std::int64_t columns = (arguments.width + tuning::copy_threads - 1) / tuning::copy_threads;
  const std::int64_t rows =
      (arguments.height + tuning::copy_rows_per_block - 1) / tuning::copy_rows_per_block;
  const dim3 blocks(static_cast<unsigned>(columns),
                    static_cast<unsigned>(rows < most_rows ? rows : most_rows),
                    static_cast<unsigned>(arguments.channels));
  copy_elements<Element><<<blocks, tuning::copy_threads, 0, stream>>>(arguments);
}

bool contiguous(const CopyArguments& a) {
  const std::int64_t pixel = std::int64_t{a.element_size} * a.channels;
  const bool channels =
      a.channels == 1 || (a.source_channel == a.element_size && a.target_channel == a.element_size);
  return channels && a.source_pixel == pixel && a.target_pixel == pixel;
}

/// Describes this copy of contiguous rows by elements of `size` bytes.
CopyArguments by_elements_of(int size, std::int64_t row_bytes, const CopyArguments& arguments) {
  CopyArguments result = arguments;
  result.element_size = size;
  result.channels = 1;
  result.width = row_bytes / size;
  result.source_pixel = result.target_pixel = size;
  return result;
}

CopyArguments with_widest_elements(const CopyArguments& arguments) {
  if (!contiguous(arguments)) return arguments;
  const std::int64_t row_bytes = arguments.width * arguments.channels * arguments.element_size;
  const auto bits = static_cast<std::uint64_t>(row_bytes) | static_cast<std::uint64_t>(arguments.source_row) |
                    static_cast<std::uint64_t>(arguments.target_row) |
                    reinterpret_cast<std::uint64_t>(arguments.source) |
                    reinterpret_cast<std::uint64_t>(arguments.target);
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

}  // namespace satin::kernels
