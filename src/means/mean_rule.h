#pragma once
// The uniform part of a box mean, from its job: the same for every backend but for the place of the transfer
// tables.

#include "means/box_mean.h"
#include "means/maths/mean.h"

namespace satin {

/// The border values are those of the job; floats, whose scale is known at run time, use
/// fixed_border_value().
[[nodiscard]] MeanRule mean_rule(const BoxMeanJob& job, const TransferView& transfer);

/// Working value of channel c outside the picture of a float job.
SATIN_HD std::uint64_t fixed_border_value(double value, int c, int channels, bool weighted, int fraction,
                                          FixedExponents exponents) {
  if (!weighted) return static_cast<std::uint64_t>(to_fixed(value, exponents.colour)) << fraction;
  if (c == channels - 1) return static_cast<std::uint64_t>(to_fixed(value, exponents.alpha)) << fraction;
  return static_cast<std::uint64_t>(to_fixed(value * value, exponents.colour)) << fraction;
}

}  // namespace satin
