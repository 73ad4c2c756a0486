#pragma once
// Arithmetic of minima, maxima and ranks of stored pixels. Values are compared as integer keys, so that the
// result does not depend on the order of comparisons: 8- and 16-bit values are their own keys, floats have
// their bits in the order of the numbers, with -0 below 0.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"

namespace satin {

enum class Extreme : std::uint8_t { minimum, maximum };

/// Type of the keys of floats.
using FloatKey = std::int32_t;

/// Turns stored bits into a key, and a key into stored bits.
template <class Key>
SATIN_HD Key turn_key(Key key) {
  if constexpr (std::is_same_v<Key, FloatKey>) {
    return key ^ ((key >> 31) & 0x7FFFFFFF);
  } else {
    return key;
  }
}

SATIN_HD FloatKey key_of(float value) {
  FloatKey bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return turn_key(bits);
}

SATIN_HD float float_of(FloatKey key) {
  const FloatKey bits = turn_key(key);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Returns the key that loses against every other one.
template <class Key>
SATIN_HD Key neutral_key(Extreme extreme) {
  if constexpr (std::is_same_v<Key, FloatKey>) {
    return extreme == Extreme::minimum ? 0x7FFFFFFF : -0x7FFFFFFF - 1;
  } else {
    return extreme == Extreme::minimum ? static_cast<Key>(~Key{0}) : Key{0};
  }
}

/// Whether the window of this reach around x goes beyond a line of `size` pixels.
SATIN_HD bool leaves(std::int64_t x, std::int64_t reach, std::int64_t size) {
  return x < reach || x >= size - reach;
}

/// Returns the next size of windows that are joined from at most four, maybe overlapping windows of `size`
/// pixels.
SATIN_HD std::int64_t joined_size(std::int64_t size, std::int64_t wanted) {
  return wanted < 4 * size ? wanted : 4 * size;
}

/// Replaces the colours of a fully transparent pixel by neutral keys.
template <class Key>
SATIN_HD void hide_colours(Key* pixel, int channels, Extreme extreme) {
  if (pixel[channels - 1] > 0) return;
  for (int c = 0; c < channels - 1; ++c) pixel[c] = neutral_key<Key>(extreme);
}

struct ExtremeStore {
  int channels = 1;
  bool weighted = false;           ///< the last channel is straight alpha
  std::uint32_t mask_maximum = 0;  ///< 0: no mask
};

namespace detail {

/// Blends one channel: the picture's own value with weight `rest`, the extreme with weight `weight`.
template <class Key>
SATIN_HD Key blend_keys(Key own, Key extreme, std::uint64_t rest, std::uint64_t weight) {
  if constexpr (std::is_same_v<Key, FloatKey>) {
    const double sum = static_cast<double>(float_of(own)) * static_cast<double>(rest) +
                       static_cast<double>(float_of(extreme)) * static_cast<double>(weight);
    return key_of(static_cast<float>(sum / static_cast<double>(rest + weight)));
  } else {
    return static_cast<Key>(blend(own, extreme, weight, rest + weight));
  }
}

/// Blends a colour under alpha: both values are weighted by their alpha, too.
template <class Key>
SATIN_HD Key blend_colours(Key own, Key own_alpha, Key extreme, Key extreme_alpha, std::uint64_t rest,
                           std::uint64_t weight) {
  if constexpr (std::is_same_v<Key, FloatKey>) {
    const double own_weight = static_cast<double>(float_of(own_alpha)) * static_cast<double>(rest);
    const double extreme_weight = static_cast<double>(float_of(extreme_alpha)) * static_cast<double>(weight);
    const double sum = static_cast<double>(float_of(own)) * own_weight +
                       static_cast<double>(float_of(extreme)) * extreme_weight;
    return key_of(static_cast<float>(sum / (own_weight + extreme_weight)));
  } else {
    const std::uint64_t own_weight = own_alpha * rest;
    const std::uint64_t extreme_weight = extreme_alpha * weight;
    const std::uint64_t total = own_weight + extreme_weight;
    return static_cast<Key>((own * own_weight + extreme * extreme_weight + total / 2) / total);
  }
}

}  // namespace detail

/// Turns the keys of one pixel's extremes into the pixel to store. The stored pixel `original` stays where
/// the mask is 0, and its colours stay where the result is fully transparent.
template <class Key>
SATIN_HD void store_extreme(const ExtremeStore& store, const Key* original, std::uint32_t mask, Key* pixel) {
  const std::uint64_t weight = store.mask_maximum == 0 ? 1 : mask;
  const std::uint64_t rest = store.mask_maximum == 0 ? 0 : store.mask_maximum - mask;
  const int last = store.channels - 1;
  if (weight == 0) {
    for (int c = 0; c <= last; ++c) pixel[c] = original[c];
    return;
  }
  const Key own_alpha = turn_key(original[last]);
  const Key alpha = pixel[last];
  const Key blended = rest == 0 ? alpha : detail::blend_keys(own_alpha, alpha, rest, weight);
  const bool visible = !store.weighted || blended > 0;
  for (int c = 0; c < last; ++c) {
    if (!visible) {
      pixel[c] = original[c];
      continue;
    }
    Key value = pixel[c];
    if (rest != 0) {
      const Key own = turn_key(original[c]);
      if (!store.weighted) {
        value = detail::blend_keys(own, value, rest, weight);
      } else if (!(alpha > 0)) {
        value = own;
      } else if (own_alpha > 0) {
        value = detail::blend_colours(own, own_alpha, value, alpha, rest, weight);
      }
    }
    pixel[c] = turn_key(value);
  }
  pixel[last] = turn_key(blended);
}

}  // namespace satin
