#pragma once
// Pictures whose profile has tone curves other than sRGB's, for filters that work in linear light.

#include <optional>
#include <string>

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
[[nodiscard]] LightOfPicture light_of(const Metadata& metadata, const Shape& picture,
                                      const Pipeline& pipeline);

/// A picture in memory in the linear light that light_of() tells.
class LinearLight {
 public:
  /// `source` must outlive the object; what is made of it lies in memory of the allocator.
  LinearLight(const Picture& source, const Pipeline& pipeline, const Allocator& allocator);

  /// What the pipeline takes.
  [[nodiscard]] const Image& picture() const noexcept { return light_.curves ? linear_ : source_.image; }
  /// The shape of what is written for a result of this shape, and that itself.
  [[nodiscard]] Shape encoded(Shape result) const;
  [[nodiscard]] Image encoded(Image result) const;
  /// Empty if there is nothing to say.
  [[nodiscard]] const std::string& warning() const noexcept { return light_.warning; }

 private:
  const Picture& source_;
  LightOfPicture light_;
  Image linear_;
};

}  // namespace satin::batch
