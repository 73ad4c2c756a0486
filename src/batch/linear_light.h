#pragma once
// Linear light of pictures whose profile has other tone curves than sRGB's.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "satin/io.h"
#include "satin/pipeline.h"
#include "satin/tone_curves.h"

namespace satin::batch {

/// Tone curves that are applied to the picture, so that the pipeline works in its linear light.
struct LightOfPicture {
  std::optional<ToneCurves> curves{};  ///< empty: the pipeline gets the picture as stored
  std::string warning{};               ///< empty if there is none
};

/// Decides in which light a picture is filtered. Filters decode integers by the sRGB curve. If the profile
/// has other curves and every step works in linear light, the picture becomes f32 in the linear light of its
/// own curves. If only some steps do, or the profile has no curves, all of them use sRGB's, and a warning
/// says so.
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

/// A picture in memory in the linear light that light_of() chooses.
class LinearLight {
 public:
  /// `source` must outlive the object. The allocator provides memory for the converted picture.
  LinearLight(const Picture& source, const Pipeline& pipeline, const Allocator& allocator)
      : source_(source), light_(light_of(source.metadata, source.image.shape(), pipeline)) {
    if (light_.curves) linear_ = light_.curves->decoded(source.image, allocator);
  }

  /// Returns the input of the pipeline.
  [[nodiscard]] const Image& picture() const noexcept { return light_.curves ? linear_ : source_.image; }
  /// Return the shape, and the picture, to be written for a result of the pipeline.
  [[nodiscard]] Shape encoded(Shape result) const {
    if (light_.curves) result.type = light_.curves->type();
    return result;
  }
  [[nodiscard]] Image encoded(Image result) const {
    return light_.curves ? light_.curves->encoded(result) : std::move(result);
  }
  /// Returns the view of an encoded picture for functions that read sRGB or linear light. `linear` holds its
  /// pixels if they have other curves.
  [[nodiscard]] ImageView decoded(const Image& encoded, Image& linear) const {
    if (light_.curves) linear = light_.curves->decoded(encoded);
    return light_.curves ? linear.view() : encoded.view();
  }
  /// Returns a warning, or an empty text.
  [[nodiscard]] const std::string& warning() const noexcept { return light_.warning; }

 private:
  const Picture& source_;
  LightOfPicture light_;
  Image linear_;
};

}  // namespace satin::batch
