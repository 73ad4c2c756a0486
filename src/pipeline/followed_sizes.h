#pragma once
// Side inputs belong to the picture that a pipeline reads. Where a step changes the size of that picture, the
// side inputs of later steps are cut and reduced like it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry.h"
#include "satin/pipeline.h"

namespace satin {

/// A change of the size of a picture or of a side input: its pixels of `box` become a result of this size.
struct SizeChange {
  Rectangle box;
  std::int64_t width = 0;
  std::int64_t height = 0;

  [[nodiscard]] bool scales() const noexcept { return box.x.size() != width || box.y.size() != height; }
  /// Returns the shape of the result for a picture of this shape.
  [[nodiscard]] Shape of(Shape shape) const noexcept;
};

/// Sizes of the picture on its way to a step of a pipeline.
class FollowedSizes {
 public:
  explicit FollowedSizes(const Shape& read) : pictures_{read} {}

  [[nodiscard]] bool changed() const noexcept { return !changes_.empty(); }

  /// Adds the change of a step, whose description and result these are. Most steps change nothing.
  void add(const Device& device, const PipelineStep& step, std::span<const Shape> inputs,
           const Shape& result);
  void add(const Geometry& geometry, const Shape& result);

  /// Returns the changes that bring a side input to the step; none if it belongs to the step's picture.
  ///
  /// Side inputs of the picture's size follow by its boxes, and are averaged by area. Maps of another size
  /// are cut in their own scale, to the nearest of their pixels, and averaged only where the aspect changes.
  /// Depth is never averaged, since values between two surfaces are wrong: a filter scales it itself.
  [[nodiscard]] std::vector<SizeChange> changes(const InputRecord& input, Shape side) const;

 private:
  std::vector<Shape> pictures_;      ///< the picture that was read, and the result of each change
  std::vector<SizeChange> changes_;  ///< changes_[i] turns pictures_[i] into pictures_[i + 1]
};

/// Returns the parameters of the filters that cut out the box of a change, and that resize it.
[[nodiscard]] Parameters cut_of(const SizeChange& change);
[[nodiscard]] Parameters resize_of(const InputRecord& input, const SizeChange& change);

/// A side input that follows the picture to a step.
class FollowingSide {
 public:
  FollowingSide(const Device& device, const InputRecord& input, const Shape& side,
                std::span<const SizeChange> changes);

  /// Shape at the step.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Returns the side input at the step, as a view of `side` where it is only cut.
  ImageView run(ImageView side, Stream stream);
  void check(std::vector<std::string>& warnings, Stream stream);

 private:
  struct Change {
    Rectangle box;
    std::optional<Plan> resize;
    Image result;
  };
  Shape shape_;
  std::vector<Change> changes_;
};

}  // namespace satin
