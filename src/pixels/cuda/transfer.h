#pragma once
// The sRGB transfer tables of pixels/transfer.h in device memory.

#include "core/cuda/backend.h"
#include "pixels/maths/pixel.h"

namespace satin::cuda {

/// Tables for u8 and u16; null pointers otherwise, and without srgb. Those of a type are uploaded when they
/// are first asked for.
[[nodiscard]] TransferView device_transfer(CudaBackend& backend, Type type, bool srgb);

}  // namespace satin::cuda
