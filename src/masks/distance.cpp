#include "masks/distance.h"

#include <string>

#include "satin/error.h"

namespace satin {

std::uint32_t whole_root(std::uint32_t n) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = 1U << 15; bit != 0; bit /= 2)
    if (std::uint64_t{root + bit} * (root + bit) <= n) root += bit;
  return root;
}

std::int32_t reach_of(const DistanceJob& job) {
  constexpr std::uint32_t limit = (largest_distance_reach + 1) * (largest_distance_reach + 1);
  if (job.most < 1 || job.most > limit)
    throw Error(ErrorKind::usage, "Squared distances up to " + std::to_string(job.most) +
                                      " pixels: the limit is from 1 to " + std::to_string(limit) + ".");
  return static_cast<std::int32_t>(whole_root(job.most - 1));
}

}  // namespace satin
