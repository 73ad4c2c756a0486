#include "batch/filter_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "satin/error.h"

namespace satin::batch {
namespace {

// A camera's folder holds upright and lying pictures; more plans would hold device memory for little.
constexpr std::size_t kept_plans = 2;

}  // namespace

FilterStep::FilterStep(const Device& device, const Parameters& parameters, const Parameters* next,
                       std::span<const Image> side_images)
    : device_(device), parameters_(parameters), next_(next) {
  for (const Image& image : side_images) {
    shared_sides_.push_back(image.view());
    if (device_.is_cuda() && !image.empty()) keep_on_device(image);
  }
  sides_ = shared_sides_;
}

/// Replaces the last side input by a copy on the device, unless there is no memory for it.
void FilterStep::keep_on_device(const Image& image) {
  try {
    device_images_.push_back(device_.upload(image));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    return;
  }
  shared_sides_.back() = device_images_.back().view();
}

void FilterStep::take_own_images(std::span<const Image> images) {
  sides_ = shared_sides_;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (!images[i].empty()) sides_[i] = images[i].view();
}

std::vector<Shape> FilterStep::shapes_with(const Shape& picture) const {
  std::vector<Shape> shapes{picture};
  for (const ImageView& side : sides_) {
    shapes.push_back(side.shape);
    if (side.empty()) shapes.back().width = 0;
  }
  return shapes;
}

Plan FilterStep::make_plan(const Shape& picture) const {
  return plan(device_, parameters_, shapes_with(picture));
}

FilterStep::StepPlan& FilterStep::plan_for(const Shape& picture) {
  std::vector<Shape> shapes = shapes_with(picture);
  const auto known = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const StepPlan& entry) { return entry.shapes == shapes; });
  if (known != plans_.end()) {
    std::rotate(plans_.begin(), known, known + 1);
  } else {
    if (plans_.size() == kept_plans) plans_.pop_back();
    std::optional<Plan> joined;
    if (next_ != nullptr) joined = plan_with_next(device_, parameters_, *next_, shapes);
    const bool with_next = joined.has_value();
    Plan made = with_next ? std::move(*joined) : plan(device_, parameters_, shapes);
    plans_.insert(plans_.begin(), StepPlan{std::move(shapes), std::move(made), with_next});
  }
  return plans_.front();
}

std::vector<std::string> FilterStep::run(Plan& plan, const ImageView& picture, const MutableImageView& output,
                                         Stream stream) {
  std::vector<ImageView> inputs{picture};
  inputs.insert(inputs.end(), sides_.begin(), sides_.end());
  plan.run(inputs, output, stream);
  return plan.check(stream);
}

std::size_t FilterStep::held_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const StepPlan& entry : plans_) bytes += entry.plan.workspace_bytes();
  return bytes;
}

}  // namespace satin::batch
