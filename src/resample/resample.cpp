#include "resample/resample.h"

#include "satin/error.h"

namespace satin {

ResampleSums choose_area_sums(std::uint64_t largest, std::uint64_t weights) {
  constexpr std::uint64_t exact_doubles = std::uint64_t{1} << 51;  // twice a sum and its divisor: below 2^53
  constexpr std::uint64_t all = ~std::uint64_t{0};
  if (weights > all / largest)
    throw Error(ErrorKind::usage, "A sum of weights " + std::to_string(weights) + " with values up to " +
                                      std::to_string(largest) +
                                      " does not fit 64 bits: choose kernel lanczos, or sides with a common "
                                      "divisor with those of the picture.");
  return largest * weights < exact_doubles ? ResampleSums::precise : ResampleSums::integers64;
}

ResamplePlan resample_plan(const ResampleJob& job) {
  ResamplePlan plan{axis_weights(job.kernel, job.box.x.size(), job.result_width),
                    axis_weights(job.kernel, job.box.y.size(), job.result_height),
                    ResampleSums::rounded,
                    {}};
  plan.rule.weighted = job.read.weighted;
  const bool floats = job.read.type == Type::f32;
  if (floats) plan.sums = ResampleSums::precise;
  if (job.kernel == ResampleKernel::area) {
    plan.rule.total = static_cast<std::uint64_t>(plan.x.total) * static_cast<std::uint64_t>(plan.y.total);
    if (!floats) plan.sums = choose_area_sums(job.read.maximum, plan.rule.total);
  } else if (!floats) {
    plan.rule.unit = job.read.type == Type::u8 ? 0xFF : 0xFFFF;
  }
  return plan;
}

}  // namespace satin
