#pragma once
// Windows along one axis, as kernels that slide them have them.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/maths/window.h"
#include "kernels/means/launch.h"

namespace satin::cuda {

/// The weights of the inner and the outer window without their common factor: the mean is the same, and the
/// sums are smaller.
[[nodiscard]] inline kernels::RunningWindow window_of(Radius256 radius) {
  const auto fraction = static_cast<std::uint32_t>(radius) % radius_one;
  kernels::RunningWindow window;
  window.reach = radius / radius_one;
  if (fraction == 0) return window;
  const std::uint32_t common = std::gcd(fraction, std::uint32_t{radius_one});
  window.inner = (radius_one - fraction) / common;
  window.outer = fraction / common;
  return window;
}

/// Largest weighted number of pixels of a window.
[[nodiscard]] inline std::uint64_t largest_size(const kernels::RunningWindow& window, std::int64_t size,
                                                bool clipped) {
  const auto count = [&](std::int64_t reach) {
    return static_cast<std::uint64_t>(clipped ? std::min(2 * reach + 1, size) : 2 * reach + 1);
  };
  return window.inner * count(window.reach) + window.outer * count(window.reach + 1);
}

}  // namespace satin::cuda
