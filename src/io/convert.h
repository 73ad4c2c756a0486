#pragma once
// Conversions of pixels around a file: to a type that the format holds, from an ICC profile to sRGB, and from
// inks to RGB. Profiles are applied by Little CMS, where the build has it.

#include <memory>
#include <optional>
#include <string>

#include "io/codec.h"

namespace satin::io {

/// Returns the shape to which a picture is converted if the codec does not hold its own: u16 or u8 for u16
/// and f32, otherwise f32 with premultiplied alpha for u8 and u16. Returns `shape` itself if the codec holds
/// it, or if no conversion helps.
[[nodiscard]] Shape shape_for(const Codec& codec, const Shape& shape);

/// Converts a dense, interleaved host picture to the type and alpha of `target`, a result of shape_for().
///
/// u8, u16 -> f32: linear light of 0 to 1 by the curves of the file's profile, or of sRGB if there is none.
/// u16 -> u8: round(v * 255 / 65535). f32 -> codes: linear light, clipped to 0 to 1, becomes the nearest sRGB
/// code (IEC 61966-2-1; alpha linearly). Premultiplied colours are divided by their alpha. With `dither`, 8
/// bits are computed from 16 by floor(v * 255 / 65535 + (b + 1/2) / 256), where b is the 16 x 16 matrix of
/// Bayer 1973: the mean over 16 x 16 pixels keeps the 16-bit value to 1/512 of an 8-bit step, and values that
/// are exact in 8 bits do not change. Throws Error(input) for NaN.
[[nodiscard]] Image converted(const ImageView& image, const Shape& target, bool dither,
                              const Metadata& metadata);

/// Converts a picture of 3 or 4 channels of 8 bits from its profile to sRGB: relative colorimetric, with
/// black point compensation. Alpha stays. Returns nothing if the pixels may stay as they are: the profile is
/// empty, not RGB or equal to sRGB but for rounding, or the build has no Little CMS.
[[nodiscard]] std::optional<Image> in_srgb(const ImageView& picture, Bytes profile);

/// Conversion of inks (cyan, magenta, yellow, black) of u8 or u16 samples to sRGB of the same type.
class InkConversion {
 public:
  /// `profile` is the ICC profile of the file, or empty. With `reflectance` the largest value is paper, as
  /// Adobe stores JPEG. Otherwise it is full ink.
  InkConversion(Bytes profile, Type type, bool reflectance);

  /// Converts `count` pixels of four samples to three.
  void convert(const std::byte* inks, std::byte* rgb, std::size_t count) const;
  /// Says what was done in place of using the profile. Empty if it was used.
  [[nodiscard]] std::string warning() const;

 private:
  template <class Value>
  void convert_plainly(const Value* inks, Value* rgb, std::size_t count) const;

  Type type_;
  bool reflectance_;
  bool has_profile_;
  std::shared_ptr<void> context_;    ///< context of Little CMS, which outlives the transform
  std::shared_ptr<void> transform_;  ///< null: inks are converted plainly
};

}  // namespace satin::io
