#include "means/box_mean.h"

#include <algorithm>

namespace satin {

std::uint64_t largest_box(std::int64_t width, std::int64_t height, const RadiusField& radius, Border border) {
  const auto extent = [border](Radius256 r, std::int64_t size) {
    const std::int64_t reach = (static_cast<std::int64_t>(r) + radius_one - 1) / radius_one;
    const std::int64_t window = 2 * reach + 1;
    return static_cast<std::uint64_t>(border == Border::shrink ? std::min(window, size) : window);
  };
  const Radius256 largest = std::max(radius.low, radius.high);
  return extent(radius.from_map ? largest : radius.x, width) *
         extent(radius.from_map ? largest : radius.y, height);
}

MeanRule mean_rule(const BoxMeanJob& job, const TransferView& transfer) {
  MeanRule rule;
  rule.weighted = job.read.weighted;
  rule.fixed_point = job.read.fixed_point;
  rule.read_fraction = job.read.fraction;
  rule.working = job.write.working;
  rule.write_shift = std::max(0, job.write.fraction - job.read.fraction);
  rule.mask_maximum = job.mask_maximum;
  rule.transfer = transfer;
  std::copy(job.border_value.begin(), job.border_value.end(), rule.border_value);
  return rule;
}

}  // namespace satin
