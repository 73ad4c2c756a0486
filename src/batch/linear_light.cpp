#include "batch/linear_light.h"

#include <algorithm>
#include <utility>

namespace satin::batch {
namespace {

bool is_linear(const PipelineStep& step) { return step.parameters.get(ParameterRole::space) == "linear"; }

}  // namespace

LinearLight::LinearLight(const Picture& source, const Pipeline& pipeline, const Allocator& allocator)
    : source_(source) {
  const auto steps = std::count_if(pipeline.begin(), pipeline.end(), is_linear);
  const Shape& shape = source.image.shape();
  if (steps == 0 || shape.type == Type::f32) return;
  const Tone tone = tone_of(source.metadata, shape);
  if (tone == Tone::srgb) return;
  if (tone == Tone::unknown) {
    warning_ =
        "the profile (or cICP, gAMA) has no tone curves that Satin reads; linear light is that of sRGB.";
  } else if (steps != static_cast<std::ptrdiff_t>(pipeline.size())) {
    warning_ =
        "the tone curves of the profile (or cICP, gAMA) are used where every step works in linear light; "
        "here it is that of sRGB.";
  } else if ((curves_ = ToneCurves::of(source.metadata, shape))) {
    linear_ = curves_->decoded(source.image, allocator);
  }
}

Shape LinearLight::encoded(Shape result) const {
  if (curves_) result.type = curves_->type();
  return result;
}

Image LinearLight::encoded(Image result) const {
  return curves_ ? curves_->encoded(result) : std::move(result);
}

}  // namespace satin::batch
