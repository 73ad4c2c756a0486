#pragma once
// Pictures whose profile has tone curves other than sRGB's, for filters that work in linear light.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "satin/io.h"
#include "satin/pipeline.h"
#include "satin/tone_curves.h"

namespace satin::batch {

/// Tone curves that the picture is taken through, so that the pipeline works in its linear light.
struct LightOfPicture {
  std::optional<ToneCurves> curves{};  ///< absent: the picture goes through the pipeline as it is stored
  std::string warning{};               ///< empty if there is nothing to say
};

/// Filters decode integers by the sRGB curve. Where the profile says otherwise and every step of the pipeline
/// works in linear light, the picture goes through it as f32 in the linear light of its own curves; where
/// only some steps do, or the profile has no curves, they use sRGB's, and a warning says so.
[[nodiscard]] inline LightOfPicture light_of(const Metadata& metadata, const Shape& picture,
                                             const Pipeline& pipeline) {
  const auto steps = std::ranges::count_if(pipeline, [](const PipelineStep& step) {
    return step.parameters.get(ParameterRole::space) == "linear";
  });
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

/// A picture in memory in the linear light that light_of() tells.
class LinearLight {
 public:
  /// `source` must outlive the object; what is made of it lies in memory of the allocator.
  LinearLight(const Picture& source, const Pipeline& pipeline, const Allocator& allocator)
      : source_(source), light_(light_of(source.metadata, source.image.shape(), pipeline)) {
    if (light_.curves) linear_ = light_.curves->decoded(source.image, allocator);
  }

  /// What the pipeline takes.
  [[nodiscard]] const Image& picture() const noexcept { return light_.curves ? linear_ : source_.image; }
  /// The shape of what is written for a result of this shape, and that itself.
  [[nodiscard]] Shape encoded(Shape result) const {
    if (light_.curves) result.type = light_.curves->type();
    return result;
  }
  [[nodiscard]] Image encoded(Image result) const {
    return light_.curves ? light_.curves->encoded(result) : std::move(result);
  }
  /// Empty if there is nothing to say.
  [[nodiscard]] const std::string& warning() const noexcept { return light_.warning; }

 private:
  const Picture& source_;
  LightOfPicture light_;
  Image linear_;
};

}  // namespace satin::batch
