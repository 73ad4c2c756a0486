#pragma once
// The ways to a box mean. Those that are not for every job return null where they are not for this one.

#include <memory>

#include "core/cuda/backend.h"
#include "means/box_mean.h"

namespace satin::cuda {

std::unique_ptr<BoxMeanOperation> prepare_box_mean_packed(CudaBackend& backend, const BoxMeanJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean_running(CudaBackend& backend, const BoxMeanJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean_strip(CudaBackend& backend, const BoxMeanJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean_table(CudaBackend& backend, const BoxMeanJob& job);

/// Integers of 8 or 16 bits, stored and read alike, without alpha and mask.
[[nodiscard]] inline bool is_plain(const BoxMeanJob& job) {
  return (job.read.type == Type::u8 || job.read.type == Type::u16) && job.write.type == job.read.type &&
         !job.read.weighted && job.read.fraction == 0 && job.write.fraction == 0 && job.mask_maximum == 0 &&
         (job.read.transfer == job.write.transfer);
}

/// The same of 8 bits, whose last channel is alpha.
[[nodiscard]] inline bool is_plain_with_alpha(const BoxMeanJob& job) {
  BoxMeanJob without = job;
  without.read.weighted = false;
  return job.read.type == Type::u8 && is_plain(without);
}

/// The pixel of the picture, or -1, for every position from -before to size + behind - 1 of a line that is
/// extended by its border: 32-bit integers.
Buffer upload_positions(CudaBackend& backend, std::int64_t size, int before, int behind, Border border);

}  // namespace satin::cuda
