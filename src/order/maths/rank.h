#pragma once
// Arithmetic of order statistics: the wanted rank, radii from a map, the pixels that count, and what is
// stored. Values are compared as the integer keys of extremes/maths/extreme.h.

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "extremes/maths/extreme.h"

namespace satin {

/// A percentage in 1/10000 percent.
using Percent = std::uint32_t;
inline constexpr Percent percent_whole = 1'000'000;
inline constexpr int largest_rank_reach = 512;

/// Rounds a percentage from 0 to 100 to 1/10000 percent, ties up.
inline Percent percent_of(double percent) {
  return static_cast<Percent>(percent * (percent_whole / 100.0) + 0.5);
}

/// Returns the rank of a percentile P among `count` >= 1 values, counted from 1 at the smallest:
/// ceil(P count / 100), at least 1. So 50 % of an even count is the lower of the two values in the middle.
SATIN_HD std::uint32_t rank_of(Percent percent, std::uint32_t count) {
  const std::uint64_t scaled = static_cast<std::uint64_t>(percent) * count;
  const auto rank = static_cast<std::uint32_t>((scaled + percent_whole - 1) / percent_whole);
  return rank == 0 ? 1 : rank;
}

/// Returns the whole radius for a map value: low + (high - low) * value / maximum, to nearest, ties up.
SATIN_HD std::int32_t reach_from_map(std::uint32_t value, std::uint32_t maximum, Radius256 low,
                                     Radius256 high) {
  const auto weighted =
      static_cast<std::int64_t>(low) * (maximum - value) + static_cast<std::int64_t>(high) * value;
  const auto pixel = static_cast<std::int64_t>(maximum) * radius_one;
  return static_cast<std::int32_t>((2 * weighted + pixel) / (2 * pixel));
}

/// Returns the whole radius for a value of a float map, whose maximum is 1. NaN and values outside 0..1,
/// which filters refuse, are clamped.
SATIN_HD std::int32_t reach_from_map(float value, Radius256 low, Radius256 high) {
  const double fraction = !(value > 0.0F) ? 0.0 : value > 1.0F ? 1.0 : static_cast<double>(value);
  const double radius = static_cast<double>(low) + static_cast<double>(high - low) * fraction;
  return static_cast<std::int32_t>(radius / radius_one + 0.5);
}

/// Whether a pixel counts in windows. `alpha` is the key of its straight alpha (any positive value for
/// pictures without), `mask` its weight if the mask excludes pixels (otherwise any value but 0). Alpha does
/// not hide the alpha channel itself.
template <class Key>
SATIN_HD bool counts(Key alpha, std::uint32_t mask, bool is_alpha) {
  return mask != 0 && (is_alpha || alpha > 0);
}

struct RankStore {
  ExtremeStore blend;
  double threshold = 0;  ///< largest difference, in stored values, that keeps a channel; 0: nothing is kept
};

namespace detail {

template <class Key>
SATIN_HD bool differs(Key own, Key ranked, double threshold) {
  double difference = 0;
  if constexpr (std::is_same_v<Key, FloatKey>) {
    difference = static_cast<double>(float_of(own)) - static_cast<double>(float_of(ranked));
  } else {
    difference = static_cast<double>(own) - static_cast<double>(ranked);
  }
  return (difference < 0 ? -difference : difference) > threshold;
}

}  // namespace detail

/// Turns the keys of one pixel's ranks into the pixel to store. A channel within the threshold of the stored
/// pixel `original` keeps its value, unless it is a colour that alpha hides. Then store_extreme() blends.
template <class Key>
SATIN_HD void store_rank(const RankStore& store, const Key* original, std::uint32_t mask, Key* pixel) {
  if (store.threshold > 0) {
    const int last = store.blend.channels - 1;
    const bool hidden = store.blend.weighted && !(turn_key(original[last]) > 0);
    for (int c = 0; c <= last; ++c) {
      const Key own = turn_key(original[c]);
      const bool shown = !hidden || c == last;
      if (shown && !detail::differs(own, pixel[c], store.threshold)) pixel[c] = own;
    }
  }
  store_extreme(store.blend, original, mask, pixel);
}

}  // namespace satin
