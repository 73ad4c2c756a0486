#include "batch/linear_light.h"

#include <algorithm>
#include <utility>

namespace satin::batch {
namespace {

bool is_linear(const PipelineStep& step) { return step.parameters.get(ParameterRole::space) == "linear"; }

}  // namespace

LightOfPicture light_of(const Metadata& metadata, const Shape& picture, const Pipeline& pipeline) {
  const auto steps = std::count_if(pipeline.begin(), pipeline.end(), is_linear);
  if (steps == 0 || picture.type == Type::f32) return {};
  const Tone tone = tone_of(metadata, picture);
  if (tone == Tone::srgb) return {};
  if (tone == Tone::unknown)
    return {{},
            "the profile (or cICP, gAMA) has no tone curves that Satin reads; linear light is that of sRGB."};
  if (steps != static_cast<std::ptrdiff_t>(pipeline.size()))
    return {{},
            "the tone curves of the profile (or cICP, gAMA) are used where every step works in linear light; "
            "here it is that of sRGB."};
  return {ToneCurves::of(metadata, picture), {}};
}

LinearLight::LinearLight(const Picture& source, const Pipeline& pipeline, const Allocator& allocator)
    : source_(source), light_(light_of(source.metadata, source.image.shape(), pipeline)) {
  if (light_.curves) linear_ = light_.curves->decoded(source.image, allocator);
}

Shape LinearLight::encoded(Shape result) const {
  if (light_.curves) result.type = light_.curves->type();
  return result;
}

Image LinearLight::encoded(Image result) const {
  return light_.curves ? light_.curves->encoded(result) : std::move(result);
}

}  // namespace satin::batch
