#include "means/cuda/box_mean.h"

#include "means/box_mean.h"

#include <vector>

namespace satin::cuda {

std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (job.excludes) return prepare_box_mean_table(cuda, job);
  if (job.radius.from_map) {
    if (auto strip = prepare_box_mean_strip(cuda, job)) return strip;
  } else {
    if (auto packed = prepare_box_mean_packed(cuda, job)) return packed;
    if (auto running = prepare_box_mean_running(cuda, job)) return running;
  }
  return prepare_box_mean_table(cuda, job);
}

Buffer upload_positions(CudaBackend& backend, std::int64_t size, int margin, Border border) {
  std::vector<int> sources;
  for (std::int64_t position = -margin; position < size + margin; ++position)
    sources.push_back(static_cast<int>(satin::source_of(position, size, border)));
  return backend.uploaded(sources);
}

}  // namespace satin::cuda
