#pragma once
// Pictures to filter, the same ones for the same seed on every machine.

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

/// Noise with many pixels at 0 and at the maximum. Floats lie in -4..16, in 0..1 where alpha says so. With
/// straight or premultiplied alpha a third of the columns is fully transparent, with colours all the same.
Image random_picture(const Shape& shape, std::uint64_t seed);

/// `background` (fractions of the type's maximum) with one pixel in `rarity` of random channels from 0 to the
/// maximum: what a large window finds is not always the maximum.
Image sparse_picture(const Shape& shape, double background, std::uint64_t rarity, std::uint64_t seed);

/// One channel, u8, u16 or f32 (0..1): a map or a mask. A quarter of the pixels is 0 and a quarter at the
/// maximum.
Image random_map(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed);

/// Every channel of every pixel has the same value: `fraction` of the type's maximum (floats: itself).
Image constant_picture(const Shape& shape, double fraction);

/// Stores `fraction` of the type's maximum (floats: itself) in one element.
void set_fraction(const MutableImageView& view, std::int64_t x, std::int64_t y, int channel, double fraction);

}  // namespace satin::test
