#include "io/colour.h"

#include <algorithm>
#include <limits>

#include "io/support.h"
#ifdef SATIN_IO_LCMS
#include <lcms2.h>
#endif

namespace satin::io {
namespace {

#ifdef SATIN_IO_LCMS

/// Null if the profile is damaged or is not one of four inks.
cmsHTRANSFORM open_transform(cmsContext context, Bytes profile, Type type, bool reflectance) {
  const cmsHPROFILE inks =
      cmsOpenProfileFromMemTHR(context, profile.data(), static_cast<cmsUInt32Number>(profile.size()));
  if (inks == nullptr) return nullptr;
  cmsHTRANSFORM transform = nullptr;
  if (cmsGetColorSpace(inks) == cmsSigCmykData) {
    const cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR(context);
    const cmsUInt32Number bytes = type == Type::u8 ? 1 : 2;
    const cmsUInt32Number from =
        COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | BYTES_SH(bytes) | FLAVOR_SH(reflectance ? 1U : 0U);
    const cmsUInt32Number to = COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | BYTES_SH(bytes);
    transform = cmsCreateTransformTHR(context, inks, from, srgb, to, INTENT_RELATIVE_COLORIMETRIC,
                                      cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE);
    cmsCloseProfile(srgb);
  }
  cmsCloseProfile(inks);
  return transform;
}

#endif

}  // namespace

InkConversion::InkConversion([[maybe_unused]] Bytes profile, Type type, bool reflectance)
    : type_(type), reflectance_(reflectance), has_profile_(!profile.empty()) {
#ifdef SATIN_IO_LCMS
  if (!has_profile_) return;
  context_ = cmsCreateContext(nullptr, nullptr);
  transform_ = open_transform(static_cast<cmsContext>(context_), profile, type, reflectance);
#endif
}

InkConversion::~InkConversion() {
#ifdef SATIN_IO_LCMS
  if (transform_ != nullptr) cmsDeleteTransform(transform_);
  if (context_ != nullptr) cmsDeleteContext(static_cast<cmsContext>(context_));
#endif
}

template <class Value>
void InkConversion::convert_plainly(const Value* inks, Value* rgb, std::size_t count) const {
  constexpr Value maximum = std::numeric_limits<Value>::max();
  const Value invert = reflectance_ ? Value{0} : maximum;
  for (std::size_t i = 0; i < count; ++i, inks += 4)
    for (std::size_t c = 0; c < 3; ++c)
      *rgb++ = static_cast<Value>(ink(inks[c] ^ invert, inks[3] ^ invert, maximum));
}

void InkConversion::convert(const std::byte* inks, std::byte* rgb, std::size_t count) const {
#ifdef SATIN_IO_LCMS
  if (transform_ != nullptr) {
    constexpr std::size_t part = std::size_t{1} << 24;  // Little CMS counts in 32 bits
    const std::size_t size = size_of(type_);
    for (std::size_t done = 0; done < count; done += part)
      cmsDoTransform(transform_, inks + done * 4 * size, rgb + done * 3 * size,
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
