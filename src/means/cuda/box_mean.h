#pragma once
// What box means give to each other and to operations that slide windows in the same way.

#include "core/cuda/backend.h"
#include "means/box_mean.h"
#include "tables/table.h"

namespace satin::cuda {

/// A box mean without a table in device memory. Null where no kernel for that is for this job.
Prepared<BoxMeanJob> prepare_tiled_box_mean(CudaBackend& backend, const BoxMeanJob& job);

/// Box means of bytes in linear light by a table in memory. Null where the job is another, or has larger
/// windows or pictures.
Prepared<BoxMeanJob> prepare_light_gather(CudaBackend& backend, const BoxMeanJob& job);

/// The table of a job's source. Throws Error(usage) for pictures that kernels cannot count.
[[nodiscard]] TableJob table_of(const BoxMeanJob& job);
/// The table of the plane that says which pixels count.
[[nodiscard]] TableJob counts_of(const BoxMeanJob& job);

/// The pixel of the picture, or -1, for every position from -margin to size + margin - 1 of a line that is
/// extended by its border: 32-bit integers.
Buffer upload_positions(CudaBackend& backend, std::int64_t size, int margin, Border border);

}  // namespace satin::cuda
