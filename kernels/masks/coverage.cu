// Boxes and masks as weights: one thread a pixel of the mask, then a block for each box.

#include "kernels/masks/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {
namespace {

constexpr std::uint8_t covered = 0xFF;

__device__ bool is_inside(const CoverageArguments& arguments, std::int64_t x, std::int64_t y) {
  if (arguments.mask.data == nullptr) return false;
  const std::byte* row = arguments.mask.data + y * arguments.mask.row;
  return arguments.mask_type == Type::u8 ? reinterpret_cast<const std::uint8_t*>(row)[x] != 0
                                         : reinterpret_cast<const std::uint16_t*>(row)[x] != 0;
}

__global__ void __launch_bounds__(plane_threads)
    cover_mask(const __grid_constant__ CoverageArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    auto* row = reinterpret_cast<std::uint8_t*>(arguments.weights.data + y * arguments.weights.row);
    row[x] = is_inside(arguments, x, y) ? covered : 0;
  }
}

/// Boxes may overlap: what is written is the same.
__global__ void __launch_bounds__(plane_threads)
    cover_boxes(const __grid_constant__ CoverageArguments arguments) {
  for (std::int64_t i = blockIdx.x; i < arguments.box_count; i += gridDim.x) {
    const PixelBox box = arguments.boxes[i];
    for (std::int64_t y = box.y + blockIdx.y; y < box.y + box.height; y += gridDim.y) {
      auto* row = reinterpret_cast<std::uint8_t*>(arguments.weights.data + y * arguments.weights.row);
      for (std::int64_t x = box.x + threadIdx.x; x < box.x + box.width; x += plane_threads) row[x] = covered;
    }
  }
}

}  // namespace

void coverage(const CoverageArguments& arguments, StreamHandle stream) {
  cover_mask<<<plane_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
  if (arguments.box_count == 0) return;
  constexpr std::int64_t most_boxes = 65535;
  constexpr unsigned rows_at_once = 64;
  const auto boxes =
      static_cast<unsigned>(arguments.box_count < most_boxes ? arguments.box_count : most_boxes);
  cover_boxes<<<dim3(boxes, rows_at_once), plane_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
