#pragma once
// The depth that the last lens of a pipeline reads, in the unit of its focus.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <utility>

#include "satin/image.h"
#include "satin/lens_focus.h"
#include "satin/pipeline.h"
#include "view/open_picture.h"

namespace satin::view {

class DepthMap {
 public:
  /// Returns the depth of the last step that reads one, or nothing. `found` are the findings of the last run,
  /// among them the focus at an end of the depth. Throws like the filters.
  [[nodiscard]] static std::optional<DepthMap> of(const Pipeline& steps, const Sides& sides,
                                                  const OpenPicture& picture,
                                                  std::span<const FoundValue> found = {});

  /// Returns the index of the step that reads the depth.
  [[nodiscard]] std::size_t step() const noexcept { return step_; }
  /// Whether both have the same values.
  [[nodiscard]] bool equals(const DepthMap& other) const;

  /// Returns the value at a position in the picture, or nothing where it is unknown.
  [[nodiscard]] std::optional<double> at(double x, double y) const { return value(column(x), row(y)); }
  /// Returns the value that is sharp, or nothing if it is unknown.
  [[nodiscard]] std::optional<double> focus() const;
  /// Returns the point that is the focus; for a focus by value the point of that depth nearest to the middle.
  [[nodiscard]] Point focus_place() const;
  /// Returns the signed blur radius at a value, positive in front of the focus.
  [[nodiscard]] std::optional<double> radius(double value, double strength) const;

  /// Returns the range of the values and their counts as the page reads them, or null if none is known.
  [[nodiscard]] nlohmann::json histogram() const;
  /// Returns a picture of this size: near is white, far is black, unknown depth is violet.
  [[nodiscard]] Image grey(const Shape& size) const;

 private:
  DepthMap(std::size_t step, const LensFocus& lens, std::shared_ptr<const Image> image, const Shape& picture);
  [[nodiscard]] std::optional<double> value(std::int64_t x, std::int64_t y) const;
  [[nodiscard]] double disparity(double value) const;
  /// Returns the value on a scale whose equal steps change the blur equally.
  [[nodiscard]] double on_axis(double value) const { return has_inverse_axis() ? -1 / value : value; }
  [[nodiscard]] bool has_inverse_axis() const { return holds_distances() && turned_ == 0; }
  [[nodiscard]] bool holds_distances() const { return lens_.depth_kind == DepthKind::depth; }
  [[nodiscard]] bool near_is_high() const { return holds_distances() == (turned_ != 0); }
  [[nodiscard]] std::pair<double, double> range() const;
  [[nodiscard]] std::int64_t column(double x) const;
  [[nodiscard]] std::int64_t row(double y) const;

  std::size_t step_;
  LensFocus lens_;
  std::shared_ptr<const Image> image_;
  ImageView view_;
  Shape picture_;
  double gain_ = 1, offset_ = 0;  ///< value = offset + gain * stored
  double turned_ = 0;             ///< inverted depth: the lens uses turned - value
  int channel_ = 0;
};

}  // namespace satin::view
