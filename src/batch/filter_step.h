#pragma once
// One filter with its side inputs and the plans for the shapes that were met last.

#include <span>
#include <vector>

#include "satin/device.h"
#include "satin/filter.h"
#include "satin/image.h"
#include "satin/plan.h"

namespace satin::batch {

class FilterStep {
 public:
  /// The side images must outlive the step; on a CUDA device they are copied there once.
  FilterStep(const Device& device, const Parameters& parameters, std::span<const Image> side_images);

  /// Throws Error(usage) for parameters that fit no picture: a plan for each of a few usual shapes is tried.
  void check_parameters();

  /// The plan for pictures of this shape; valid until the next call.
  [[nodiscard]] Plan& plan_for(const Shape& picture);

  /// Runs a plan of plan_for() on host pictures; returns its warnings.
  std::vector<std::string> run(Plan& plan, const ImageView& picture, const MutableImageView& output);

 private:
  struct PlanOfShape {
    Shape shape;
    Plan plan;
  };

  [[nodiscard]] Plan make_plan(const Shape& picture) const;

  Device device_;
  const Parameters& parameters_;
  std::vector<Image> device_images_;
  std::vector<ImageView> sides_;
  std::vector<PlanOfShape> plans_;  ///< the last used one first
};

}  // namespace satin::batch
