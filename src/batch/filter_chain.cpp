#include "batch/filter_chain.h"

#include <algorithm>
#include <optional>

#include "batch/side_inputs.h"
#include "satin/error.h"

namespace satin::batch {

FilterChain::FilterChain(const Device& device, const Batch& work)
    : device_(device),
      work_(work),
      stream_(device.new_stream()),
      between_(std::max<std::size_t>(work.pipeline.size(), 1) - 1) {
  for (std::size_t i = 0; i < work.pipeline.size(); ++i)
    steps_.emplace_back(device, work.pipeline[i].parameters,
                        i + 1 < work.pipeline.size() ? &work.pipeline[i + 1].parameters : nullptr,
                        work.side_images[i]);
}

void FilterChain::check_parameters() const {
  std::optional<Error> refusal;
  for (const int channels : {3, 1, 4}) {
    try {
      return try_shape(usual_shape(channels));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::input) return;  // it depends on the picture
      if (error.kind() != ErrorKind::usage) throw;
      if (!refusal) refusal = error;
    }
  }
  throw Error(*refusal);
}

const Shape& FilterChain::plan(const std::filesystem::path& input, const Shape& picture,
                               std::span<const std::vector<Image>> own_images) {
  plans_.clear();
  const Shape* shape = &picture;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].take_own_images(own_images.empty() ? std::span<const Image>() : own_images[i]);
    check_sizes(work_.pipeline[i], steps_[i].sides(), input, *shape);
    FilterStep::StepPlan& planned = steps_[i].plan_for(*shape);
    plans_.push_back(&planned.plan);
    shape = &planned.plan.output_shape();
    if (!planned.with_next) continue;
    plans_.push_back(nullptr);
    ++i;
  }
  return *shape;
}

std::vector<std::string> FilterChain::run(const ImageView& picture, const MutableImageView& output) {
  std::vector<std::string> warnings;
  ImageView source = picture;
  for (std::size_t i = 0; i < steps_.size();) {
    const std::size_t next = i + 1 < steps_.size() && plans_[i + 1] == nullptr ? i + 2 : i + 1;
    const MutableImageView target = next == steps_.size() ? output : between(i);
    std::vector<std::string> told = steps_[i].run(*plans_[i], source, target, stream_.get());
    warnings.insert(warnings.end(), told.begin(), told.end());
    source = target;
    i = next;
  }
  return warnings;
}

void FilterChain::forget_plans() {
  plans_.clear();
  for (FilterStep& step : steps_) step.forget_plans();
  for (Image& image : between_) image = Image();
}

std::size_t FilterChain::held_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const FilterStep& step : steps_) bytes += step.held_bytes();
  return bytes;
}

bool FilterChain::in_windows() const noexcept {
  return std::any_of(plans_.begin(), plans_.end(),
                     [](const Plan* plan) { return plan != nullptr && plan->in_windows(); });
}

/// Room for the result of a step that is not the last.
MutableImageView FilterChain::between(std::size_t step) {
  const Shape& shape = plans_[step]->output_shape();
  if (between_[step].empty() || between_[step].shape() != shape) {
    between_[step] = Image();  // before its successor takes memory
    between_[step] = room_for(shape);
  }
  return between_[step].view();
}

/// In the device's memory; what does not fit there is in the host's, and filters take it in parts.
Image FilterChain::room_for(const Shape& shape) const {
  try {
    return device_.allocate(shape);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment || !device_.is_cuda()) throw;
    return Image(shape);
  }
}

void FilterChain::try_shape(Shape shape) const {
  for (const FilterStep& step : steps_) shape = step.make_plan(shape).output_shape();
}

Shape FilterChain::usual_shape(int channels) const {
  Shape shape{256, 256, channels};
  for (const FilterStep& step : steps_) {
    for (const ImageView& side : step.sides()) {
      if (side.empty()) continue;
      shape.width = side.shape.width;
      shape.height = side.shape.height;
    }
  }
  return shape;
}

}  // namespace satin::batch
