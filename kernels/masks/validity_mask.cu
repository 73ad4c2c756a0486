// The pixels that a mask leaves.

#include <cstdint>

#include "kernels/device/tuning.h"
#include "kernels/masks/launch.h"

namespace satin::kernels {
namespace {

constexpr std::int64_t most_blocks_along_y = 65535;

unsigned blocks_along_y(std::int64_t rows) {
  return static_cast<unsigned>(rows < most_blocks_along_y ? rows : most_blocks_along_y);
}

/// One thread a pixel. Floats are moved as their bits.
template <class Element, class MaskValue>
__global__ void __launch_bounds__(tuning::validity_mask_threads)
    select_pixels(const __grid_constant__ ValidityMaskArguments arguments) {
  const ValidityMaskJob& job = arguments.job;
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (x >= job.width) return;
  for (std::int64_t y = blockIdx.y; y < job.height; y += gridDim.y) {
    const auto* mask = reinterpret_cast<const MaskValue*>(arguments.mask.data + y * arguments.mask.row);
    const auto* from = reinterpret_cast<const Element*>(arguments.picture.data + y * arguments.picture.row);
    auto* to = reinterpret_cast<Element*>(arguments.selected.data + y * arguments.selected.row);
    auto* included = reinterpret_cast<std::uint8_t*>(arguments.included.data + y * arguments.included.row);
    const bool in = mask[x] != 0;
    for (int c = 0; c < job.channels; ++c) {
      const std::int64_t i = x * job.channels + c;
      to[i] = in ? from[i] : Element{0};
    }
    included[x] = in ? 1 : 0;
  }
}

template <class Element>
void select_elements(const ValidityMaskArguments& arguments, StreamHandle stream) {
  const ValidityMaskJob& job = arguments.job;
  const dim3 blocks(
      static_cast<unsigned>((job.width + tuning::validity_mask_threads - 1) / tuning::validity_mask_threads),
      blocks_along_y(job.height));
  if (job.mask_type == Type::u8) {
    select_pixels<Element, std::uint8_t><<<blocks, tuning::validity_mask_threads, 0, stream>>>(arguments);
  } else {
    select_pixels<Element, std::uint16_t><<<blocks, tuning::validity_mask_threads, 0, stream>>>(arguments);
  }
}

}  // namespace

void select_included(const ValidityMaskArguments& arguments, StreamHandle stream) {
  switch (size_of(arguments.job.type)) {
    case 1:
      return select_elements<std::uint8_t>(arguments, stream);
    case 2:
      return select_elements<std::uint16_t>(arguments, stream);
    default:
      return select_elements<std::uint32_t>(arguments, stream);
  }
}

}  // namespace satin::kernels
