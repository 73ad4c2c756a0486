#pragma once
// Random pictures, the same for a seed on every machine.

#include <array>
#include <cstdint>

#include "satin/border.h"
#include "satin/image.h"

namespace satin::test {

inline constexpr std::array every_border = {Border::shrink, Border::clamp, Border::reflect,
                                            Border::mirror, Border::wrap,  Border::constant};

/// Width and height.
using Size = std::array<int, 2>;

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// 0 <= result < count
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

/// Returns noise with many pixels at 0 and at the maximum. Floats are from -4 to 16, or from 0 to 1 where
/// alpha requires it. With straight or premultiplied alpha a third of the columns is fully transparent but
/// has colours.
Image random_picture(const Shape& shape, std::uint64_t seed);

/// Returns `background` (a fraction of the type's maximum) with one pixel in `rarity` of random channels from
/// 0 to the maximum, so that the maximum of a large window varies.
Image sparse_picture(const Shape& shape, double background, std::uint64_t rarity, std::uint64_t seed);

/// Returns a map or mask of one channel, u8, u16 or f32 (0 to 1). A quarter of the pixels is 0 and a quarter
/// at the maximum.
Image random_map(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed);

/// Returns a picture of one value: `fraction` of the type's maximum (floats: itself).
Image constant_picture(const Shape& shape, double fraction);

/// Stores `fraction` of the type's maximum (floats: itself) in one element.
void set_fraction(const MutableImageView& view, std::int64_t x, std::int64_t y, int channel, double fraction);

}  // namespace satin::test
