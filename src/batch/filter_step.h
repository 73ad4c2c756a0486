#pragma once
// One filter with its side inputs and the plans for the shapes that were met last.

#include <span>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/filter.h"
#include "satin/image.h"
#include "satin/plan.h"

namespace satin::batch {

class FilterStep {
 public:
  /// Parameters and side images must outlive the step; on a CUDA device the images are copied there once.
  /// `next` are those of the step behind it, null for the last.
  FilterStep(const Device& device, const Parameters& parameters, const Parameters* next,
             std::span<const Image> side_images);

  /// A plan, and the shapes that it is for.
  struct StepPlan {
    std::vector<Shape> shapes;
    Plan plan;
    bool with_next = false;  ///< it stands for the next step, too: see plan_with_next()
  };

  /// Side images of the next picture alone, in the order of the record: where one is not empty it stands in
  /// for the image that all pictures share. They must live until it is done; none ends that.
  void take_own_images(std::span<const Image> images);

  /// The plan for pictures of this shape with the present side images; valid until the next call.
  [[nodiscard]] StepPlan& plan_for(const Shape& picture);
  [[nodiscard]] Plan make_plan(const Shape& picture) const;

  /// Runs a plan of plan_for() and waits for it; returns its warnings.
  std::vector<std::string> run(Plan& plan, const ImageView& picture, const MutableImageView& output,
                               Stream stream);

  void forget_plans() { plans_.clear(); }
  /// Bytes of the device that the plans hold.
  [[nodiscard]] std::size_t held_bytes() const noexcept;

  /// Side inputs in the order of the record, empty where none is given.
  [[nodiscard]] std::span<const ImageView> sides() const noexcept { return sides_; }

 private:
  void keep_on_device(const Image& image);
  [[nodiscard]] std::vector<Shape> shapes_with(const Shape& picture) const;

  Device device_;
  const Parameters& parameters_;
  const Parameters* next_;
  std::vector<Image> device_images_;
  std::vector<ImageView> shared_sides_;
  std::vector<ImageView> sides_;
  std::vector<StepPlan> plans_;  ///< the last used one first
};

}  // namespace satin::batch
