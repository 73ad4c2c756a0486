#include "guided/local_linear.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/maths/window.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr int most_guide_bits = 24;    // of floats
constexpr int most_float_bits = 27;    // of a float picture that has another guide
constexpr int most_product_bits = 31;  // of 16-bit colours times alpha
constexpr int steepest = 13;           // slopes reach 2^steepest times the ratio of picture and guide

bool cuts(const LinearRead& read) { return read.type == Type::u16 && read.weighted; }

int bits_of_largest(const LinearRead& read) {
  return read.type == Type::f32 ? read.float_bits
                                : static_cast<int>(std::bit_width(largest_linear_value(read)));
}

/// Cuts what can be cut to at most these many bits.
void limit_bits(LinearRead& read, int bits) {
  if (read.type == Type::f32) read.float_bits = bits;
  if (cuts(read)) read.cut = 32 - bits;
}

[[noreturn]] void refuse(std::uint64_t area) {
  throw Error(ErrorKind::usage, "A window of " + std::to_string(area) +
                                    " pixels is too large for exact sums of products: reduce the radius.");
}

}  // namespace

std::uint64_t largest_fit(const LocalLinearJob& job) {
  const auto along = [&](std::int64_t reach, std::int64_t size) {
    const std::int64_t whole = 2 * reach + 1;
    return static_cast<std::uint64_t>(job.border == Border::shrink ? std::min(whole, size) : whole);
  };
  return along(job.reach_x, job.width) * along(job.reach_y, job.height);
}

std::uint64_t largest_linear_value(const LinearRead& read) {
  if (read.type == Type::f32) return std::uint64_t{1} << read.float_bits;
  const std::uint64_t stored = read.type == Type::u8 ? 0xFF : 0xFFFF;
  if (!read.weighted) return stored;
  return read.cut == 0 ? stored * stored
                       : (stored * stored + (std::uint64_t{1} << (read.cut - 1))) >> read.cut;
}

void choose_linear_bits(LocalLinearJob& job) {
  const std::uint64_t area = largest_fit(job);
  const int area_bits = static_cast<int>(std::bit_width(area - 1));  // area <= 2^area_bits
  if (area_bits > 31) refuse(area);
  limit_bits(job.guide, cuts(job.guide) ? 16 : std::min(most_guide_bits, (62 - area_bits) / 2));
  const int guide = bits_of_largest(job.guide);
  if (job.layout.shared) {
    job.picture.float_bits = job.guide.float_bits;
  } else {
    const int most = cuts(job.picture) ? most_product_bits : most_float_bits;
    limit_bits(job.picture, std::min({most, 47 - area_bits, 62 - area_bits - guide}));
  }
  const int picture = bits_of_largest(job.picture);

  const std::uint64_t values = std::max(largest_linear_value(job.guide), largest_linear_value(job.picture));
  const std::uint64_t product = values * largest_linear_value(job.guide);
  const std::uint64_t limit = (~std::uint64_t{0} >> 1) / area;
  const int offset_range = picture + steepest + 2;
  job.format.slope_range = picture - guide + steepest;
  job.format.slope_fraction = std::min(50, 62 - area_bits) - job.format.slope_range;
  job.format.offset_fraction = std::min(51, 62 - area_bits) - offset_range;
  if (product > limit || job.format.offset_fraction < 0) refuse(area);
  job.narrow = job.guide.type != Type::f32 && job.picture.type != Type::f32 && product <= 0xFFFFFFFFU / area;
}

}  // namespace satin
