// Bounds of the jobs of masks.

#include <string>

#include "masks/distance.h"
#include "masks/label.h"
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

void check_label_size(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t word = 32;
  constexpr std::int64_t limit = (std::int64_t{1} << 32) / word;
  if (width < 1 || height < 1 || (width - 1) / word + 1 > (limit - 1) / height)
    throw Error(ErrorKind::usage, "A mask of " + std::to_string(width) + " x " + std::to_string(height) +
                                      " has no labels: from 1 to fewer than 2^32 pixels are possible, where "
                                      "rows count as multiples of 32.");
}

}  // namespace satin
