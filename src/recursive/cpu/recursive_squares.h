#pragma once
// The working values of a picture between two passes of recursive smoothing.

#include <cstddef>
#include <cstdint>

#include "core/cpu/backend.h"
#include "recursive/recursive.h"

namespace satin::cpu {

/// Squares of `side` x `side` pixels, one of each channel at every place; `side` is the number of lines in a
/// bundle. A pass takes a square as rows of positions, each with the values of the lines, so that a bundle is
/// read as it lies. It leaves the square as the next pass takes it. No two bundles of a pass share a square.
template <class Real, std::int64_t side>
class RecursiveSquares {
 public:
  RecursiveSquares() = default;
  RecursiveSquares(CpuBackend& backend, std::int64_t width, std::int64_t height, int channels)
      : across_((width + side - 1) / side),
        down_((height + side - 1) / side),
        values_(backend.allocate(static_cast<std::size_t>(across_ * down_ * channels) * bytes_each)) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return values_.size; }

  /// The square that has pixel (x, y). Squares side by side follow each other in memory.
  [[nodiscard]] Real* at(int channel, std::int64_t x, std::int64_t y) const {
    const std::int64_t index = (channel * down_ + y / side) * across_ + x / side;
    return reinterpret_cast<Real*>(values_.get()) + index * side * side;
  }

 private:
  static constexpr std::size_t bytes_each = static_cast<std::size_t>(side * side) * sizeof(Real);

  std::int64_t across_ = 0;
  std::int64_t down_ = 0;
  Buffer values_;
};

}  // namespace satin::cpu
