#pragma once
// Float sums over the channels of a pixel.

#include "core/maths/hd.h"

namespace satin {

/// The sum of one to four terms, in an order that makes it equal to the bit for RGB and BGR.
SATIN_HD float sum_of_channels(const float* terms, int count) {
  if (count < 3) return count == 2 ? terms[0] + terms[1] : terms[0];
  const float colours = (terms[0] + terms[2]) + terms[1];
  return count == 4 ? colours + terms[3] : colours;
}

/// The sum of the first `count` terms of a pixel, which are all of them or all but the last.
template <int Channels>
SATIN_HD float sum_of_colours(const float* terms, int count) {
  if constexpr (Channels > 1) {
    if (count < Channels) return sum_of_channels(terms, Channels - 1);
  }
  return sum_of_channels(terms, Channels);
}

}  // namespace satin
