#pragma once
// A helper that box means share with other operations whose windows slide.

#include "core/cuda/backend.h"
#include "core/maths/window.h"

namespace satin::cuda {

/// Returns, in device memory, the pixel of the picture, or -1, for every position from -margin to size +
/// margin - 1 of a line that is extended by its border: 32-bit integers.
Buffer upload_positions(CudaBackend& backend, std::int64_t size, int margin, Border border);

}  // namespace satin::cuda
