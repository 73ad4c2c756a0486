#pragma once
// Disparity as it comes out of matchers and files: with edges that lie wrong, soft edges, noise.

#include <cstdint>

#include "satin/image.h"

namespace lens {

enum class Damage {
  none,
  eroded,
  dilated,
  blurred_3,
  blurred_5,
  noisy,
  shifted,
  half_size,
  eight_bits,
  holes,
  phone
};
inline constexpr Damage all_damages[] = {Damage::none,      Damage::eroded,    Damage::dilated,
                                         Damage::blurred_3, Damage::blurred_5, Damage::noisy,
                                         Damage::shifted,   Damage::half_size, Damage::eight_bits,
                                         Damage::holes,     Damage::phone};
[[nodiscard]] const char* name_of(Damage damage);

/// Near areas lose or gain a pixel all around; the mean of 3 x 3 or 5 x 5; a uniform error of 0.02 of the
/// range; one pixel to the left; half as wide and high, every pixel the lower median of four; u8; unknown
/// (NaN) where a second eye to the right would not see it, up to 12 pixels left of what is nearer, and in one
/// pixel of a hundred. `phone`: one pixel off, soft over seven pixels with an overshoot, half as wide and
/// high, noisy, u8.
[[nodiscard]] satin::Image damaged(const satin::Image& disparity, Damage damage, std::uint32_t seed);

/// What is simple to make of that: f32 of the picture's size. Bilinear between pixels; what is unknown is as
/// far as the next known pixel to its left, or right.
[[nodiscard]] satin::Image plain(const satin::Image& disparity);

}  // namespace lens
