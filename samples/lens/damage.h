#pragma once
// Disparity as it comes out of matchers and files: with edges that lie wrong, soft edges, noise.

#include <cstdint>

#include "satin/image.h"

namespace lens {

enum class Damage { none, eroded, dilated, blurred_3, blurred_5, noisy, shifted };
inline constexpr Damage all_damages[] = {Damage::none,      Damage::eroded,    Damage::dilated,
                                         Damage::blurred_3, Damage::blurred_5, Damage::noisy,
                                         Damage::shifted};
[[nodiscard]] const char* name_of(Damage damage);

/// Near areas lose or gain a pixel all around; the mean of 3 x
/// 3 or 5 x 5; a uniform error of 0.02 of the range; one pixel to the left.
[[nodiscard]] satin::Image damaged(const satin::Image& disparity, Damage damage, std::uint32_t seed);

}  // namespace lens
