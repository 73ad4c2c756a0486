#include "statistics/box_stats.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/maths/window.h"
#include "satin/error.h"
#include "statistics/maths/in_floats.h"

namespace satin {
int float_bits_for_squares(Type type, std::uint64_t area) {
  constexpr int most_bits = 30;
  constexpr int fewest_bits = 8;
  const int bits = std::min(most_bits, (62 - static_cast<int>(std::bit_width(area))) / 2);  // area < 2^width
  const int area_bits = static_cast<int>(std::bit_width(area - 1));  // area <= 2^area_bits
  const bool fits =
      type == Type::f32 ? bits >= fewest_bits : area_bits + 2 * (type == Type::u8 ? 8 : 16) <= 64;
  if (!fits)
    throw Error(ErrorKind::usage, "A window of " + std::to_string(area) +
                                      " pixels is too large for exact sums of squares: use a smaller one.");
  return type == Type::f32 ? bits : 0;
}

QuickNumber quick_number(const BoxStatsJob& job, double largest) {
  return job.result == LocalResult::deviation ? quick_deviation(largest)
                                              : quick_normalised(job.normalise, largest);
}

std::uint64_t largest_window_of(const BoxStatsJob& job) {
  const auto extent = [&](std::int64_t reach, std::int64_t size) {
    return static_cast<std::uint64_t>(counted(window_around(size / 2, reach), size, job.border));
  };
  return extent(job.reach_x, job.width) * extent(job.reach_y, job.height);
}

}  // namespace satin
