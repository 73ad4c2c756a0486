#include "io/srgb_pixels.h"

#ifdef SATIN_IO_LCMS
#include <lcms2.h>

#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>
#endif

namespace satin::io {

#ifdef SATIN_IO_LCMS
namespace {

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

Transform open_transform(const Context& context, Bytes bytes, int channels) {
  const Profile own(
      cmsOpenProfileFromMemTHR(context.get(), bytes.data(), static_cast<cmsUInt32Number>(bytes.size())));
  if (own == nullptr || cmsGetColorSpace(own.get()) != cmsSigRgbData) return nullptr;
  const Profile srgb(cmsCreate_sRGBProfileTHR(context.get()));
  const auto extra = static_cast<cmsUInt32Number>(channels - 3);
  const cmsUInt32Number format = COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | BYTES_SH(1) | EXTRA_SH(extra);
  return Transform(cmsCreateTransformTHR(
      context.get(), own.get(), format, srgb.get(), format, INTENT_RELATIVE_COLORIMETRIC,
      cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_COPY_ALPHA | cmsFLAGS_NOCACHE));
}

/// True if no colour of a grid changes by more than rounding.
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

}  // namespace

std::optional<Image> in_srgb(const ImageView& picture, Bytes profile) {
  const Shape& shape = picture.shape;
  if (profile.empty() || shape.type != Type::u8 || shape.channels < 3) return std::nullopt;
  const Context context(cmsCreateContext(nullptr, nullptr));
  const Transform transform = open_transform(context, profile, shape.channels);
  if (transform == nullptr || changes_nothing(transform, shape.channels)) return std::nullopt;
  Image result(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    cmsDoTransform(transform.get(), picture.at(0, y), result.view().at(0, y),
                   static_cast<cmsUInt32Number>(shape.width));
  return result;
}
#else
std::optional<Image> in_srgb(const ImageView& /*picture*/, Bytes /*profile*/) { return std::nullopt; }
#endif

}  // namespace satin::io
