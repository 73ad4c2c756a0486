#pragma once
// The sRGB transfer tables of pixels/transfer.h in device memory.

#include <cstdint>

#include "core/cuda/backend.h"
#include "pixels/maths/pixel.h"

namespace satin::cuda {

/// Tables for u8 and u16; null pointers otherwise, and without srgb. Those of a type are uploaded when they
/// are first asked for.
[[nodiscard]] TransferView device_transfer(CudaBackend& backend, Type type, bool srgb);

/// The words of pixels/root_cells.h.
[[nodiscard]] const std::uint32_t* device_cells8(CudaBackend& backend);

/// Of every 16-bit code the linear light without that of pixels/maths/rough_light.h.
[[nodiscard]] const std::int16_t* device_more_than_rough16(CudaBackend& backend);

}  // namespace satin::cuda
