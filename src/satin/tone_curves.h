#pragma once
// Tone curves of files whose pixels are not sRGB-encoded. In PNG the cICP chunk takes precedence over the ICC
// profile, the profile over the sRGB chunk, and sRGB over gAMA (PNG, third edition, 4.3).

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "satin/image.h"
#include "satin/metadata.h"

namespace [[gnu::visibility("default")]] satin {

/// Tone curve that a file declares.
enum class Tone {
  srgb,    ///< sRGB to within 0.001 of linear light, or no declaration
  curves,  ///< other curves, from a matrix or grey profile or a transfer function
  unknown  ///< a table of colours, a damaged profile, an unsupported transfer function, or a build without
           ///< Little CMS
};

/// Converts codes of u8 or u16 to linear light in f32 and back. Every code survives the round trip if the
/// curve rises by more than the precision of a float. Values between codes become the nearest code in encoded
/// values.
class ToneCurves {
 public:
  /// Returns the curves of a file with pixels of this shape, u8 or u16, or nothing if they are sRGB's or
  /// unknown.
  [[nodiscard]] static std::optional<ToneCurves> of(const Metadata& metadata, const Shape& shape);
  /// Returns the curves of sRGB (IEC 61966-2-1) for u8 or u16.
  [[nodiscard]] static ToneCurves srgb(Type type);

  /// Decodes to a dense host picture in f32, in memory of the allocator. Alpha becomes value / maximum.
  [[nodiscard]] Image decoded(const ImageView& picture, const Allocator& allocator = {}) const;
  /// Encodes an f32 picture with the same channels.
  [[nodiscard]] Image encoded(const ImageView& linear) const;
  /// The type of the codes.
  [[nodiscard]] Type type() const noexcept { return type_; }

 private:
  /// Makes the curves from linear(channel, code / largest code).
  template <class Linear>
  void set(const Linear& linear);

  Type type_ = Type::u8;
  std::array<std::vector<float>, 3> linear_;      ///< linear light of every code
  std::array<std::vector<float>, 3> thresholds_;  ///< smallest linear value of every code but the first
};

/// Returns the tone curve that a file declares for a picture of this shape.
[[nodiscard]] Tone tone_of(const Metadata& metadata, const Shape& shape);

}  // namespace satin
