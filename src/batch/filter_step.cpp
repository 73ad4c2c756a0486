#include "batch/filter_step.h"

#include <algorithm>

namespace satin::batch {
namespace {

// A camera's folder holds upright and lying pictures; more plans would hold device memory for little.
constexpr std::size_t kept_plans = 2;

}  // namespace

FilterStep::FilterStep(const Device& device, const Parameters& parameters, std::span<const Image> side_images)
    : device_(device), parameters_(parameters) {
  for (const Image& image : side_images) {
    if (device_.is_cuda() && !image.empty()) {
      device_images_.push_back(device_.upload(image));
      sides_.push_back(device_images_.back().view());
    } else {
      sides_.push_back(image.view());
    }
  }
}

Plan FilterStep::make_plan(const Shape& picture) const {
  std::vector<Shape> shapes{picture};
  for (const ImageView& side : sides_) {
    shapes.push_back(side.shape);
    if (side.empty()) shapes.back().width = 0;
  }
  return plan(device_, parameters_, shapes);
}

Plan& FilterStep::plan_for(const Shape& picture) {
  const auto known = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const PlanOfShape& entry) { return entry.shape == picture; });
  if (known != plans_.end()) {
    std::rotate(plans_.begin(), known, known + 1);
  } else {
    if (plans_.size() == kept_plans) plans_.pop_back();
    plans_.insert(plans_.begin(), PlanOfShape{picture, make_plan(picture)});
  }
  return plans_.front().plan;
}

std::vector<std::string> FilterStep::run(Plan& plan, const ImageView& picture,
                                         const MutableImageView& output) {
  std::vector<ImageView> inputs{picture};
  inputs.insert(inputs.end(), sides_.begin(), sides_.end());
  plan.run(inputs, output);
  return plan.check();
}

}  // namespace satin::batch
