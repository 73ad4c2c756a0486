#pragma once
// The ways to a box mean. Those that are not for every job return null where they are not for this one.

#include <memory>
#include <utility>

#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/means/launch.h"
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

/// The pixel of the picture, or -1, for every position from -margin to size + margin - 1 of a line that is
/// extended by its border: 32-bit integers.
Buffer upload_positions(CudaBackend& backend, std::int64_t size, int margin, Border border);

/// A box mean without a table in device memory, by the kernels for `Arguments`, whose positions it makes.
template <class Arguments>
class TiledBoxMean final : public BoxMeanOperation {
 public:
  /// `memory`: what the arguments point to.
  TiledBoxMean(CudaBackend& backend, const BoxMeanJob& job, const Arguments& arguments, int margin,
               Buffer memory = {})
      : backend_(backend),
        arguments_(arguments),
        rows_(upload_positions(backend, job.height, margin, job.border)),
        columns_(upload_positions(backend, job.width, margin, job.border)),
        memory_(std::move(memory)) {
    arguments_.rows = reinterpret_cast<const int*>(rows_.get()) + margin;
    arguments_.columns = reinterpret_cast<const int*>(columns_.get()) + margin;
    check(static_cast<cudaError_t>(kernels::prepare_mean(arguments_)), "asking for shared memory");
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rows_.size + columns_.size + memory_.size;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    Arguments arguments = arguments_;
    arguments.source = source_of(images.source);
    arguments.output = target_of(images.output);
    if constexpr (requires { arguments.radius_map; }) arguments.radius_map = source_of(images.radius_map);
    if constexpr (requires { arguments.measured; }) arguments.measured = images.measured;
    kernels::launch_mean(arguments, backend_.stream_of(stream));
    check_launch("averaging over boxes");
  }

 private:
  CudaBackend& backend_;
  Arguments arguments_;
  Buffer rows_;
  Buffer columns_;
  Buffer memory_;
};

}  // namespace satin::cuda
