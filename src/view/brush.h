#pragma once
// Masks from the strokes of a brush.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "satin/image.h"

namespace satin::view {

struct StrokePoint {
  double x = 0;  ///< in pixels of the picture
  double y = 0;

  bool operator==(const StrokePoint&) const = default;
};

/// The path of a round brush.
struct Stroke {
  std::vector<StrokePoint> points;
  double radius = 16;   ///< radius of the brush in pixels
  double hardness = 1;  ///< fraction of the radius with full cover, which then falls to 0 at the edge
  bool erase = false;

  bool operator==(const Stroke&) const = default;
};

/// Paints on a mask. It remembers the mask before the last stroke, so that a stroke that grows and a new one
/// cost the same, however many were painted before.
class MaskCanvas {
 public:
  /// `start` is the mask without strokes: one channel of 8 bits.
  explicit MaskCanvas(Image start) : start_(std::move(start)), base_(start_.clone()) {}

  /// Returns the mask of the strokes, one channel of 8 bits. The cover of a pixel depends on the distance of
  /// its centre to the nearest segment: 1 up to hardness times radius, then falling linearly to 0 at the
  /// radius, over at least one pixel. A stroke with cover a changes a mask m to m + a (1 - m), an erasing one
  /// to m (1 - a). Throws Error(cancelled) soon after `ended` returns true.
  [[nodiscard]] Image paint(const std::vector<Stroke>& strokes, const std::function<bool()>& ended);

  [[nodiscard]] const Shape& shape() const { return base_.shape(); }

 private:
  Image start_;
  std::vector<Stroke> painted_;  ///< strokes in `base_`
  Image base_;
};

}  // namespace satin::view
