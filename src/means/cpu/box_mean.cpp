#include "means/box_mean.h"

#include <algorithm>

#include "core/cpu/backend.h"
#include "means/cpu/box_mean_ways.h"

namespace satin::cpu {

bool narrow_sums(const BoxMeanJob& job) {
  return job.read.maximum <= 0x7FFFFFFF / largest_box(job.width, job.height, job.radius, job.border);
}

bool divides_words(const BoxMeanJob& job) {
  const std::uint64_t box = largest_box(job.width, job.height, job.radius, job.border);
  const std::uint64_t divisor = job.write.working ? box : box << job.read.fraction;
  const int more_bits = std::max(0, job.write.fraction - job.read.fraction);
  return (box * job.read.maximum << more_bits) + divisor / 2 < word_divide_limit;
}

std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CpuBackend& cpu = as_cpu(backend);
  if (auto chain = backend.prepare(BoxChainJob{std::span(&job, 1)})) return chain;
  if (auto ring = prepare_box_mean_ring(cpu, job)) return ring;
  return prepare_box_mean_map(cpu, job);
}

}  // namespace satin::cpu
