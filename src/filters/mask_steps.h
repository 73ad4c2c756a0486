#pragma once
// What the filter `mask` is composed of: steps that make one mask from another one.

#include <cstdint>
#include <memory>
#include <span>

#include "core/backend.h"
#include "extremes/sliding_extreme.h"
#include "masks/distance.h"

namespace satin {

/// Masks are u8 with one channel, 0 and 255, in the backend's memory.
struct MaskStep {
  MaskStep() = default;
  MaskStep(const MaskStep&) = delete;
  MaskStep& operator=(const MaskStep&) = delete;
  virtual ~MaskStep() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void run(const ImageView& mask, const MutableImageView& output, Stream stream) = 0;
};

/// Smallest or largest value in a square of 2 reach + 1 pixels.
[[nodiscard]] std::unique_ptr<MaskStep> box_step(Backend& backend, const Shape& shape, Extreme extreme,
                                                 std::int64_t reach);
[[nodiscard]] std::unique_ptr<MaskStep> distance_step(Backend& backend, const DistanceJob& job);
[[nodiscard]] std::unique_ptr<MaskStep> invert_step(Backend& backend, const Shape& shape);

/// Components of up to `most_area` pixels change sides; those of zeros only if they do not touch the border.
struct ComponentRule {
  bool zeros = false;  ///< components of what is outside
  int connectivity = 8;
  std::uint32_t most_area = 0;
};

/// One rule after the other.
[[nodiscard]] std::unique_ptr<MaskStep> component_step(Backend& backend, const Shape& shape,
                                                       std::span<const ComponentRule> rules);

}  // namespace satin
