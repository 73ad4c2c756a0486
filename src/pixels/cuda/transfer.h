#pragma once
// The sRGB transfer tables of pixels/transfer.h in device memory.

#include <cstdint>

#include "core/cuda/backend.h"
#include "pixels/maths/pixel.h"

namespace satin::cuda {

/// Returns the tables for u8 or u16 with srgb; null pointers otherwise. Uploads them when they are first
/// needed.
[[nodiscard]] TransferView device_transfer(CudaBackend& backend, Type type, bool srgb);

/// Returns cells_of() of pixels/light_tables.h for the codes of u8.
[[nodiscard]] const std::uint32_t* device_cells8(CudaBackend& backend);

/// Returns, for every 16-bit code, its linear light minus that of rough_quarter_light()
/// (pixels/light_tables.h).
[[nodiscard]] const std::int16_t* device_more_than_rough16(CudaBackend& backend);

}  // namespace satin::cuda
