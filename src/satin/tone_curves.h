#pragma once
// The tone curves of a file: what linear light means for pixels that are not sRGB-encoded. The cICP chunk of
// a PNG file decides before the ICC profile, that before the sRGB chunk, and that before gAMA (PNG, third
// edition, 4.3).

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "satin/image.h"
#include "satin/metadata.h"

namespace [[gnu::visibility("default")]] satin {

/// What a file says about linear light.
enum class Tone {
  srgb,    ///< the sRGB curve, to 0.001 of linear light; or nothing
  curves,  ///< other curves, of a matrix or grey profile or of a transfer function
  unknown  ///< a table of colours, a damaged profile, an odd transfer, or a build without Little CMS
};

/// Codes of u8 or u16 to linear light in f32 and back. Every code survives the way there and back, as long as
/// the curve rises by more than the precision of a float; between codes the nearest in encoded values is
/// taken.
class ToneCurves {
 public:
  /// Nothing unless the file describes pixels of this shape, u8 or u16, by curves that are not sRGB's.
  [[nodiscard]] static std::optional<ToneCurves> of(const Metadata& metadata, const Shape& shape);
  /// Those of sRGB (IEC 61966-2-1) for u8 or u16.
  [[nodiscard]] static ToneCurves srgb(Type type);

  /// A dense host picture in f32, in memory of the allocator; alpha is value / maximum.
  [[nodiscard]] Image decoded(const ImageView& picture, const Allocator& allocator = {}) const;
  /// The way back from the f32 picture of the same channels.
  [[nodiscard]] Image encoded(const ImageView& linear) const;
  /// The type of the codes.
  [[nodiscard]] Type type() const noexcept { return type_; }

 private:
  /// Makes the curves from linear(channel, code / largest code).
  template <class Linear>
  void set(const Linear& linear);

  Type type_ = Type::u8;
  std::array<std::vector<float>, 3> linear_;      ///< of every code
  std::array<std::vector<float>, 3> thresholds_;  ///< smallest linear value of every code but the first
};

/// What the file of a picture of this shape says about linear light.
[[nodiscard]] Tone tone_of(const Metadata& metadata, const Shape& shape);

}  // namespace satin
