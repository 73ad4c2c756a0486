#include "io/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "io/codec_steps.h"
#include "satin/error.h"
#include "satin/tone_curves.h"
#ifdef SATIN_IO_LCMS
#include <lcms2.h>
#endif

namespace satin::io {
namespace {

[[noreturn]] void refuse_nan(std::int64_t x, std::int64_t y) {
  throw Error(ErrorKind::input,
              "the value of pixel " + std::to_string(x) + ", " + std::to_string(y) +
                  " is undefined (NaN), which integers do not hold. Write .tiff or .exr instead.");
}

/// Converts linear light to sRGB codes, row by row. Premultiplied colours are divided by their alpha.
Image codes16(const ImageView& image) {
  static const ToneCurves srgb = ToneCurves::srgb(Type::u16);
  const int channels = image.shape.channels, last = channels - 1;
  const bool divides = image.shape.alpha == Alpha::premultiplied;
  Shape shape = image.shape;
  if (divides) shape.alpha = Alpha::straight;
  shape.height = 1;
  Image row(shape);
  shape.height = image.shape.height;
  shape.type = Type::u16;
  Image result(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    auto* pixel = row.view().row<float>(0);
    std::copy_n(image.row<float>(y), shape.width * channels, pixel);
    for (std::int64_t x = 0; x < shape.width; ++x, pixel += channels) {
      if (std::any_of(pixel, pixel + channels, [](float v) { return std::isnan(v); })) refuse_nan(x, y);
      for (int c = 0; divides && pixel[last] > 0.0F && c < last; ++c) pixel[c] /= pixel[last];
    }
    const Image codes = srgb.encoded(row);
    std::memcpy(row_of(result, y), codes.data(), byte_size(codes.shape()));
  }
  return result;
}

/// Returns the rank of (x, y) in the ordered 16 x 16 matrix: the bits of x xor y and of y, interleaved from
/// the lowest.
constexpr unsigned bayer(std::int64_t x, std::int64_t y) {
  unsigned rank = 0;
  for (int bit = 0; bit < 4; ++bit) {
    const auto xor_bit = static_cast<unsigned>((x ^ y) >> bit & 1);
    const auto y_bit = static_cast<unsigned>(y >> bit & 1);
    rank |= (xor_bit * 2 + y_bit) << (6 - 2 * bit);
  }
  return rank;
}

/// The products stay below 65535 * 255 * 512 < 2^34.
std::uint8_t rounded(std::uint32_t v) { return static_cast<std::uint8_t>((v * 255U + 32767U) / 65535U); }
std::uint8_t dithered(std::uint32_t v, unsigned rank) {
  constexpr std::uint64_t parts = 512;
  return static_cast<std::uint8_t>((std::uint64_t{v} * 255 * parts + std::uint64_t{65535} * (2 * rank + 1)) /
                                   (65535 * parts));
}

Image bytes_of(const ImageView& image, bool dither) {
  Shape shape = image.shape;
  shape.type = Type::u8;
  Image result(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const auto* from = image.row<std::uint16_t>(y);
    auto* to = reinterpret_cast<std::uint8_t*>(row_of(result, y));
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c, ++from, ++to)
        *to = dither ? dithered(*from, bayer(x, y)) : rounded(*from);
  }
  return result;
}

/// Puts one channel of ink over black, both as reflectance (the whole range is paper): c * k / maximum,
/// rounded. This is the plain conversion without colour management.
constexpr std::uint32_t ink_over(std::uint32_t c, std::uint32_t k, std::uint32_t maximum) {
  return static_cast<std::uint32_t>((std::uint64_t{c} * k + maximum / 2) / maximum);
}

/// Converts codes to linear light of 0 to 1 by the file's curves, or by sRGB's, and multiplies colours by
/// alpha.
Image linear_floats(const ImageView& image, const Shape& target, const Metadata& metadata) {
  const std::optional<ToneCurves> own = ToneCurves::of(metadata, image.shape);
  const Image light = (own ? *own : ToneCurves::srgb(image.shape.type)).decoded(image);
  Image result(target);
  const int channels = target.channels;
  for (std::int64_t y = 0; y < target.height; ++y) {
    const auto* from = light.view().row<float>(y);
    auto* to = reinterpret_cast<float*>(row_of(result, y));
    for (std::int64_t x = 0; x < target.width; ++x, from += channels, to += channels)
      for (int c = 0; c < channels; ++c)
        to[c] = target.alpha == Alpha::none || c == channels - 1 ? from[c] : from[c] * from[channels - 1];
  }
  return result;
}

#ifdef SATIN_IO_LCMS

template <auto Close>
struct Closer {
  void operator()(void* handle) const { Close(handle); }
};
struct ContextCloser {
  void operator()(cmsContext context) const { cmsDeleteContext(context); }
};
using Context = std::unique_ptr<std::remove_pointer_t<cmsContext>, ContextCloser>;
using Profile = std::unique_ptr<void, Closer<cmsCloseProfile>>;
using Transform = std::unique_ptr<void, Closer<cmsDeleteTransform>>;

/// Returns a transform to sRGB: relative colorimetric, with black point compensation. Null if the profile is
/// damaged or not one of `space`.
Transform transform_to_srgb(cmsContext context, Bytes profile, cmsColorSpaceSignature space,
                            cmsUInt32Number from, cmsUInt32Number to) {
  const Profile own(
      cmsOpenProfileFromMemTHR(context, profile.data(), static_cast<cmsUInt32Number>(profile.size())));
  if (own == nullptr || cmsGetColorSpace(own.get()) != space) return nullptr;
  const Profile srgb(cmsCreate_sRGBProfileTHR(context));
  const cmsUInt32Number alpha = space == cmsSigRgbData ? cmsFLAGS_COPY_ALPHA : 0;
  return Transform(cmsCreateTransformTHR(context, own.get(), from, srgb.get(), to,
                                         INTENT_RELATIVE_COLORIMETRIC,
                                         cmsFLAGS_BLACKPOINTCOMPENSATION | alpha | cmsFLAGS_NOCACHE));
}

/// Whether no colour of a grid changes by more than rounding.
bool changes_nothing(const Transform& transform, int channels) {
  constexpr int step = 17;
  std::vector<std::uint8_t> before;
  for (int red = 0; red < 256; red += step)
    for (int green = 0; green < 256; green += step)
      for (int blue = 0; blue < 256; blue += step) {
        for (const int value : {red, green, blue}) before.push_back(static_cast<std::uint8_t>(value));
        if (channels == 4) before.push_back(0);
      }
  std::vector<std::uint8_t> after(before.size());
  cmsDoTransform(transform.get(), before.data(), after.data(),
                 static_cast<cmsUInt32Number>(before.size() / static_cast<std::size_t>(channels)));
  constexpr int rounding = 1;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (std::abs(before[i] - after[i]) > rounding) return false;
  return true;
}

#endif

}  // namespace

Shape shape_for(const Codec& codec, const Shape& shape) {
  const bool codes = shape.type == Type::u8 || shape.type == Type::u16;
  if (why_not(codec, shape).empty() || (!codes && shape.type != Type::f32)) return shape;
  Shape narrower = shape;
  if (shape.alpha == Alpha::premultiplied && shape.type == Type::f32) narrower.alpha = Alpha::straight;
  for (const Type type : {Type::u16, Type::u8}) {
    narrower.type = type;
    if (why_not(codec, narrower).empty()) return narrower;
  }
  Shape wider = shape;
  wider.type = Type::f32;
  if (shape.alpha == Alpha::straight) wider.alpha = Alpha::premultiplied;
  const bool widens = codes && shape.alpha != Alpha::premultiplied;
  return widens && why_not(codec, wider).empty() ? wider : shape;
}

Image converted(const ImageView& image, const Shape& target, bool dither, const Metadata& metadata) {
  if (target.type == Type::f32) return linear_floats(image, target, metadata);
  if (image.shape.type == Type::u16) return bytes_of(image, dither);
  Image codes = codes16(image);
  return target.type == Type::u16 ? std::move(codes) : bytes_of(codes, dither);
}

std::optional<Image> in_srgb([[maybe_unused]] const ImageView& picture, [[maybe_unused]] Bytes profile) {
#ifdef SATIN_IO_LCMS
  const Shape& shape = picture.shape;
  if (profile.empty() || shape.type != Type::u8 || shape.channels < 3) return std::nullopt;
  const Context context(cmsCreateContext(nullptr, nullptr));
  const auto extra = static_cast<cmsUInt32Number>(shape.channels - 3);
  const cmsUInt32Number format = COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | BYTES_SH(1) | EXTRA_SH(extra);
  const Transform transform = transform_to_srgb(context.get(), profile, cmsSigRgbData, format, format);
  if (transform == nullptr || changes_nothing(transform, shape.channels)) return std::nullopt;
  Image result(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    cmsDoTransform(transform.get(), picture.at(0, y), result.view().at(0, y),
                   static_cast<cmsUInt32Number>(shape.width));
  return result;
#else
  return std::nullopt;
#endif
}

InkConversion::InkConversion([[maybe_unused]] Bytes profile, Type type, bool reflectance)
    : type_(type), reflectance_(reflectance), has_profile_(!profile.empty()) {
#ifdef SATIN_IO_LCMS
  if (!has_profile_) return;
  const cmsContext context = cmsCreateContext(nullptr, nullptr);
  context_.reset(context, cmsDeleteContext);
  const cmsUInt32Number bytes = type == Type::u8 ? 1 : 2;
  const cmsUInt32Number inks =
      COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | BYTES_SH(bytes) | FLAVOR_SH(reflectance ? 1U : 0U);
  const cmsUInt32Number rgb = COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | BYTES_SH(bytes);
  transform_ = transform_to_srgb(context, profile, cmsSigCmykData, inks, rgb);
#endif
}

template <class Value>
void InkConversion::convert_plainly(const Value* inks, Value* rgb, std::size_t count) const {
  constexpr Value maximum = std::numeric_limits<Value>::max();
  const Value invert = reflectance_ ? Value{0} : maximum;
  for (std::size_t i = 0; i < count; ++i, inks += 4)
    for (std::size_t c = 0; c < 3; ++c)
      *rgb++ = static_cast<Value>(ink_over(inks[c] ^ invert, inks[3] ^ invert, maximum));
}

void InkConversion::convert(const std::byte* inks, std::byte* rgb, std::size_t count) const {
#ifdef SATIN_IO_LCMS
  if (transform_ != nullptr) {
    constexpr std::size_t part = std::size_t{1} << 24;  // Little CMS counts in 32 bits
    const std::size_t size = size_of(type_);
    for (std::size_t done = 0; done < count; done += part)
      cmsDoTransform(transform_.get(), inks + done * 4 * size, rgb + done * 3 * size,
                     static_cast<cmsUInt32Number>(std::min(part, count - done)));
    return;
  }
#endif
  if (type_ == Type::u8)
    convert_plainly(reinterpret_cast<const std::uint8_t*>(inks), reinterpret_cast<std::uint8_t*>(rgb), count);
  else
    convert_plainly(reinterpret_cast<const std::uint16_t*>(inks), reinterpret_cast<std::uint16_t*>(rgb),
                    count);
}

std::string InkConversion::warning() const {
  if (transform_ != nullptr) return {};
  const std::string plainly = "the inks became RGB by the plain product of ink and black.";
#ifdef SATIN_IO_LCMS
  return (has_profile_ ? "the CMYK profile in the file cannot be used; " : "CMYK without a profile: ") +
         plainly;
#else
  return (has_profile_ ? "this build has no colour management; " : "CMYK without a profile: ") + plainly;
#endif
}

}  // namespace satin::io
