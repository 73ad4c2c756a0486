#pragma once
// The tone curves of an ICC profile: what linear light means for pixels that are not sRGB-encoded.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "satin/image.h"

namespace [[gnu::visibility("default")]] satin {

/// What a profile says about linear light.
enum class Tone {
  srgb,    ///< the sRGB curve, to 0.001 of linear light; or no profile
  curves,  ///< other curves, of a matrix or grey profile
  unknown  ///< a table of colours, a damaged profile, or a build without Little CMS
};

/// Codes of u8 or u16 to linear light in f32 and back. Every code survives the way there and back, as long as
/// the curve rises by more than the precision of a float; between codes the nearest in encoded values is
/// taken.
class ToneCurves {
 public:
  /// Nothing unless the profile describes pixels of this shape, u8 or u16, by curves that are not sRGB's.
  [[nodiscard]] static std::optional<ToneCurves> from_profile(std::span<const std::byte> icc,
                                                              const Shape& shape);
  /// Those of sRGB (IEC 61966-2-1) for u8 or u16.
  [[nodiscard]] static ToneCurves srgb(Type type);

  /// A dense host picture in f32, in memory of the allocator; alpha is value / maximum.
  [[nodiscard]] Image decoded(const ImageView& picture, const Allocator& allocator = {}) const;
  /// The way back from the f32 picture of the same channels.
  [[nodiscard]] Image encoded(const ImageView& linear) const;
  /// The type of the codes.
  [[nodiscard]] Type type() const noexcept { return type_; }

 private:
  /// By linear(channel, code / largest code).
  template <class Linear>
  void set(const Linear& linear);

  Type type_ = Type::u8;
  std::array<std::vector<float>, 3> linear_;      ///< of every code
  std::array<std::vector<float>, 3> thresholds_;  ///< smallest linear value of every code but the first
};

/// What the profile of a picture of this shape says about linear light.
[[nodiscard]] Tone tone_of(std::span<const std::byte> icc, const Shape& shape);

}  // namespace satin
