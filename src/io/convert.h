#pragma once
// Pictures for formats that do not hold their type, pixels of a profile as a screen for sRGB shows them, and
// inks to RGB.

#include <optional>

#include "io/codec.h"

namespace satin::io {

/// The shape in which the codec takes a picture that it does not hold as it is: u16 or u8 for u16 and f32;
/// otherwise f32, with premultiplied alpha, for u8 and u16.
/// The shape itself if the codec holds it, or if nothing helps.
[[nodiscard]] Shape shape_for(const Codec& codec, const Shape& shape);

/// A dense, interleaved host picture in the type and the alpha of `target`, which shape_for() gave.
///
/// u8, u16 -> f32: linear light of 0 to 1 by the curves of the profile `icc`, sRGB's if there is none.
/// u16 -> u8: round(v * 255 / 65535). f32: linear light, 0 to 1 and clipped to that, becomes the nearest sRGB
/// code (IEC 61966-2-1; alpha linearly); premultiplied colours are divided by their alpha. With `dither`, 8
/// bits are made of 16 by floor(v * 255 / 65535 + (b + 1/2) / 256), b the 16 x 16 matrix of Bayer 1973: the
/// mean over such a square keeps the 16-bit value to 1/512 of an 8-bit step, and 8-bit codes stay exactly
/// what they are. Throws Error(input) for NaN.
[[nodiscard]] Image converted(const ImageView& image, const Shape& target, bool dither,
                              const Metadata& metadata);

/// The picture converted from its profile to sRGB: relative colorimetric with black point compensation, by
/// Little CMS. The picture has 3 or 4 channels of 8 bits, alpha stays. Nothing where the pixels may stay as
/// they are: for an empty profile, one of other than RGB, one that is sRGB's but for rounding, and in builds
/// without Little CMS.
[[nodiscard]] std::optional<Image> in_srgb(const ImageView& picture, Bytes profile);

/// Colour management, by Little CMS where it is built in. Inks (cyan, magenta, yellow, black) of u8 or u16
/// samples to sRGB of the same type.
class InkConversion {
 public:
  /// `profile` is the ICC profile of the file, or empty. `reflectance`: the largest value is paper, as Adobe
  /// stores JPEG; otherwise it is full ink.
  InkConversion(Bytes profile, Type type, bool reflectance);
  ~InkConversion();
  InkConversion(const InkConversion&) = delete;
  InkConversion& operator=(const InkConversion&) = delete;

  /// `count` pixels of four samples to three.
  void convert(const std::byte* inks, std::byte* rgb, std::size_t count) const;
  /// Empty if the profile was used, otherwise what was done instead.
  [[nodiscard]] std::string warning() const;

 private:
  template <class Value>
  void convert_plainly(const Value* inks, Value* rgb, std::size_t count) const;

  Type type_;
  bool reflectance_;
  bool has_profile_;
  void* context_ = nullptr;
  void* transform_ = nullptr;
};

}  // namespace satin::io
