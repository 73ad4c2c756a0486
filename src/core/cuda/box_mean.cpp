#include "core/cuda/box_mean.h"

namespace satin::cuda {

std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (!job.radius.from_map) {
    if (auto running = prepare_box_mean_running(cuda, job)) return running;
  }
  return prepare_box_mean_table(cuda, job);
}

}  // namespace satin::cuda
