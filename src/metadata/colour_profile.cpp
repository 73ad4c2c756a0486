// ICC profiles by name and by code points, and the tone curves by which pictures are decoded to linear light
// (satin/tone_curves.h). Both use Little CMS where it is available.

#include "metadata/colour_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "satin/tone_curves.h"

#ifdef SATIN_IO_LCMS
#include <lcms2.h>
#endif

namespace satin::io {
namespace {

enum Number { srgb_primaries = 1, unknown = 2, gamma_22 = 4, gamma_28 = 5, linear = 8, pq = 16, hlg = 18 };

#ifdef SATIN_IO_LCMS

/// ITU-T H.273, table 2.
struct Primaries {
  int number;
  const char* name;
  std::array<double, 6> red_green_blue;
  std::array<double, 2> white;
};

constexpr std::array<double, 2> d65{0.3127, 0.3290};
constexpr std::array primaries_table{
    Primaries{1, "BT.709", {0.640, 0.330, 0.300, 0.600, 0.150, 0.060}, d65},
    Primaries{4, "BT.470 M", {0.67, 0.33, 0.21, 0.71, 0.14, 0.08}, {0.310, 0.316}},
    Primaries{5, "BT.470 BG", {0.64, 0.33, 0.29, 0.60, 0.15, 0.06}, d65},
    Primaries{6, "BT.601", {0.630, 0.340, 0.310, 0.595, 0.155, 0.070}, d65},
    Primaries{7, "SMPTE 240M", {0.630, 0.340, 0.310, 0.595, 0.155, 0.070}, d65},
    Primaries{9, "BT.2020", {0.708, 0.292, 0.170, 0.797, 0.131, 0.046}, d65},
    Primaries{11, "DCI-P3", {0.680, 0.320, 0.265, 0.690, 0.150, 0.060}, {0.314, 0.351}},
    Primaries{12, "Display P3", {0.680, 0.320, 0.265, 0.690, 0.150, 0.060}, d65},
    Primaries{22, "EBU 3213-E", {0.630, 0.340, 0.295, 0.605, 0.155, 0.077}, d65}};

/// A tone curve, and a suffix for the name of the primaries.
struct Curve {
  cmsToneCurve* curve;
  const char* name;
};

Curve curve_of(int transfer) {
  if (transfer == gamma_22) return {cmsBuildGamma(nullptr, 2.2), ", gamma 2.2"};
  if (transfer == gamma_28) return {cmsBuildGamma(nullptr, 2.8), ", gamma 2.8"};
  if (transfer == linear) return {cmsBuildGamma(nullptr, 1.0), ", linear"};
  constexpr std::array<double, 5> srgb{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  return {cmsBuildParametricToneCurve(nullptr, 4, srgb.data()), ""};
}

void set_name(cmsHPROFILE profile, const std::string& name) {
  cmsMLU* const text = cmsMLUalloc(nullptr, 1);
  cmsMLUsetASCII(text, "en", "US", name.c_str());
  cmsWriteTag(profile, cmsSigProfileDescriptionTag, text);
  cmsMLUfree(text);
}

FileBytes make_profile(const Primaries& primaries, int transfer) {
  const auto& [red_x, red_y, green_x, green_y, blue_x, blue_y] = primaries.red_green_blue;
  const cmsCIExyY white{primaries.white[0], primaries.white[1], 1};
  const cmsCIExyYTRIPLE colours{{red_x, red_y, 1}, {green_x, green_y, 1}, {blue_x, blue_y, 1}};
  const auto [curve, suffix] = curve_of(transfer);
  const std::array<cmsToneCurve*, 3> curves{curve, curve, curve};
  const cmsHPROFILE profile = cmsCreateRGBProfile(&white, &colours, curves.data());
  cmsFreeToneCurve(curve);
  set_name(profile, primaries.name + std::string(suffix));
  cmsUInt32Number size = 0;
  cmsSaveProfileToMem(profile, nullptr, &size);
  FileBytes bytes(size);
  cmsSaveProfileToMem(profile, bytes.data(), &size);
  cmsCloseProfile(profile);
  return bytes;
}

#endif

}  // namespace

bool is_hdr(const CodedColour& colour) { return colour.transfer == pq || colour.transfer == hlg; }

FileBytes icc_profile(const CodedColour& colour) {
  const bool own_curve =
      colour.transfer == gamma_22 || colour.transfer == gamma_28 || colour.transfer == linear;
  const int number = colour.primaries == unknown ? int{srgb_primaries} : colour.primaries;
  if (!own_curve && number == srgb_primaries) return {};
#ifdef SATIN_IO_LCMS
  const auto* const found = std::ranges::find(primaries_table, number, &Primaries::number);
  if (found != primaries_table.end()) return make_profile(*found, colour.transfer);
#endif
  return {};
}

std::string profile_name([[maybe_unused]] Bytes icc) {
#ifdef SATIN_IO_LCMS
  std::array<char, 256> text{};
  const cmsHPROFILE profile = cmsOpenProfileFromMem(icc.data(), static_cast<cmsUInt32Number>(icc.size()));
  if (profile != nullptr) {
    cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", text.data(), text.size() - 1);
    cmsCloseProfile(profile);
  }
  if (text.front() != '\0') return text.data();
#endif
  return "unnamed";
}

bool describes(Bytes icc, int channels) {
  constexpr std::size_t colour_space = 16;
  return icc.empty() || starts_with(icc, channels >= 3 ? "RGB " : "GRAY", colour_space);
}

}  // namespace satin::io

namespace satin {
namespace {

double srgb_to_linear(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

/// The inverse of the transfer of ITU-R BT.709, with the constants of H.273.
double bt709_to_linear(double encoded) {
  constexpr double alpha = 1.09929682680944, beta = 0.018053968510807;
  return encoded < 4.5 * beta ? encoded / 4.5 : std::pow((encoded + alpha - 1) / alpha, 1 / 0.45);
}

/// A transfer function that a PNG file names, and its inverse unless it is that of sRGB.
struct Transfer {
  Tone tone = Tone::srgb;
  std::function<double(double)> linear{};
};

Transfer power(double exponent) {
  return {Tone::curves, [exponent](double encoded) { return std::pow(encoded, exponent); }};
}

/// Returns nothing if the code points do not specify the transfer (2).
std::optional<Transfer> transfer_of_code_points(const PngColour& colour) {
  if (!colour.code_points) return std::nullopt;
  switch ((*colour.code_points)[1]) {  // ITU-T H.273, table 3
    case 1:
    case 6:
    case 14:
    case 15:
      return Transfer{Tone::curves, bt709_to_linear};
    case 2:
      return std::nullopt;
    case 4:
      return power(2.2);
    case 5:
      return power(2.8);
    case 8:
      return power(1);
    case 13:
      return Transfer{};
    default:
      return Transfer{Tone::unknown};
  }
}

/// Returns the transfer by the sRGB and gAMA chunks. Exponents beyond those of screens would merge codes.
Transfer transfer_of_gamma(const PngColour& colour) {
  if (colour.srgb_intent || !colour.gamma) return {};
  constexpr double unit = 100'000, most = 5;
  const double exponent = unit / std::max<std::uint32_t>(*colour.gamma, 1);
  return exponent > most || exponent < 1 / most ? Transfer{Tone::unknown} : power(exponent);
}

#ifdef SATIN_IO_LCMS

/// An open profile with the tone curves of its channels.
class Profile {
 public:
  Profile(std::span<const std::byte> icc, int colours) {
    profile_.reset(
        cmsOpenProfileFromMemTHR(context_.get(), icc.data(), static_cast<cmsUInt32Number>(icc.size())));
    if (profile_ == nullptr) return;
    const cmsColorSpaceSignature space = cmsGetColorSpace(profile_.get());
    if (colours == 1 && space == cmsSigGrayData) curves_.fill(read(cmsSigGrayTRCTag));
    if (colours == 3 && space == cmsSigRgbData && cmsIsMatrixShaper(profile_.get()) != 0)
      curves_ = {read(cmsSigRedTRCTag), read(cmsSigGreenTRCTag), read(cmsSigBlueTRCTag)};
  }

  /// Whether every channel has a monotonic curve.
  [[nodiscard]] bool has_curves() const {
    return std::all_of(curves_.begin(), curves_.end(), [](const cmsToneCurve* curve) {
      return curve != nullptr && cmsIsToneCurveMonotonic(curve) != 0;
    });
  }
  [[nodiscard]] double linear(std::size_t channel, double encoded) const {
    return double{cmsEvalToneCurveFloat(curves_[channel], static_cast<float>(encoded))};
  }

 private:
  const cmsToneCurve* read(cmsTagSignature tag) const {
    return static_cast<const cmsToneCurve*>(cmsReadTag(profile_.get(), tag));
  }

  std::unique_ptr<std::remove_pointer_t<cmsContext>, void (*)(cmsContext)> context_{
      cmsCreateContext(nullptr, nullptr), cmsDeleteContext};
  std::unique_ptr<void, cmsBool (*)(cmsHPROFILE)> profile_{nullptr, cmsCloseProfile};
  std::array<const cmsToneCurve*, 3> curves_{};
};

bool is_srgb(const Profile& profile) {
  constexpr double tolerance = 0.001;
  constexpr int steps = 1024;
  for (std::size_t c = 0; c < 3; ++c)
    for (int i = 0; i <= steps; ++i) {
      const double encoded = static_cast<double>(i) / steps;
      if (std::abs(profile.linear(c, encoded) - srgb_to_linear(encoded)) > tolerance) return false;
    }
  return true;
}

#endif

int colours_of(const Shape& shape) {
  return shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
}

/// Calls convert(source, target) for every pixel.
template <class From, class To, class Convert>
void convert_pixels(const ImageView& from, Image& to, const Convert& convert) {
  const Shape& shape = from.shape;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const auto* source = from.row<From>(y);
    auto* target = to.view().row<To>(y);
    for (std::int64_t x = 0; x < shape.width; ++x, source += shape.channels, target += shape.channels)
      convert(source, target);
  }
}

template <class Value>
Image decode(const ImageView& picture, const std::array<std::vector<float>, 3>& tables,
             const Allocator& allocator) {
  Shape shape = picture.shape;
  shape.type = Type::f32;
  Image result(shape, allocator);
  const auto colours = static_cast<std::size_t>(colours_of(shape));
  const float maximum = static_cast<float>(std::numeric_limits<Value>::max());
  convert_pixels<Value, float>(picture, result, [&](const Value* from, float* to) {
    for (std::size_t c = 0; c < colours; ++c) to[c] = tables[c][from[c]];
    if (shape.alpha != Alpha::none) to[colours] = static_cast<float>(from[colours]) / maximum;
  });
  return result;
}

template <class Value>
Image encode(const ImageView& linear, Type type, const std::array<std::vector<float>, 3>& thresholds) {
  Shape shape = linear.shape;
  shape.type = type;
  Image result(shape);
  const auto colours = static_cast<std::size_t>(colours_of(shape));
  const double maximum = std::numeric_limits<Value>::max();
  convert_pixels<float, Value>(linear, result, [&](const float* from, Value* to) {
    for (std::size_t c = 0; c < colours; ++c)
      to[c] = static_cast<Value>(std::upper_bound(thresholds[c].begin(), thresholds[c].end(), from[c]) -
                                 thresholds[c].begin());
    if (shape.alpha != Alpha::none)
      to[colours] = static_cast<Value>(double{std::clamp(from[colours], 0.0F, 1.0F)} * maximum + 0.5);
  });
  return result;
}

Tone tone_of_profile([[maybe_unused]] std::span<const std::byte> icc, [[maybe_unused]] const Shape& shape) {
#ifdef SATIN_IO_LCMS
  const Profile profile(icc, colours_of(shape));
  if (!profile.has_curves()) return Tone::unknown;
  return is_srgb(profile) ? Tone::srgb : Tone::curves;
#else
  return Tone::unknown;
#endif
}

/// Returns the transfer that code points or PNG chunks give, or nothing if the profile decides.
std::optional<Transfer> transfer_of(const Metadata& metadata) {
  std::optional<Transfer> transfer = transfer_of_code_points(metadata.png);
  if (!transfer && metadata.icc.empty()) transfer = transfer_of_gamma(metadata.png);
  return transfer;
}

}  // namespace

Tone tone_of(const Metadata& metadata, const Shape& shape) {
  const std::optional<Transfer> transfer = transfer_of(metadata);
  return transfer ? transfer->tone : tone_of_profile(metadata.icc, shape);
}

template <class Linear>
void ToneCurves::set(const Linear& linear) {
  const int codes = type_ == Type::u8 ? 256 : 65536;
  for (std::size_t c = 0; c < 3; ++c)
    for (int code = 0; code < codes; ++code) {
      linear_[c].push_back(static_cast<float>(linear(c, double(code) / (codes - 1))));
      if (code > 0) thresholds_[c].push_back(static_cast<float>(linear(c, (code - 0.5) / (codes - 1))));
    }
}

std::optional<ToneCurves> ToneCurves::of(const Metadata& metadata, const Shape& shape) {
  if ((shape.type != Type::u8 && shape.type != Type::u16) || tone_of(metadata, shape) != Tone::curves)
    return std::nullopt;
  ToneCurves result;
  result.type_ = shape.type;
  if (const std::optional<Transfer> transfer = transfer_of(metadata)) {
    result.set([&](std::size_t, double encoded) { return transfer->linear(encoded); });
    return result;
  }
#ifdef SATIN_IO_LCMS
  const Profile profile(metadata.icc, colours_of(shape));
  result.set([&](std::size_t channel, double encoded) { return profile.linear(channel, encoded); });
#endif
  return result;
}

ToneCurves ToneCurves::srgb(Type type) {
  ToneCurves result;
  result.type_ = type;
  result.set([](std::size_t, double encoded) { return srgb_to_linear(encoded); });
  return result;
}

Image ToneCurves::decoded(const ImageView& picture, const Allocator& allocator) const {
  return type_ == Type::u8 ? decode<std::uint8_t>(picture, linear_, allocator)
                           : decode<std::uint16_t>(picture, linear_, allocator);
}

Image ToneCurves::encoded(const ImageView& linear) const {
  return type_ == Type::u8 ? encode<std::uint8_t>(linear, type_, thresholds_)
                           : encode<std::uint16_t>(linear, type_, thresholds_);
}

}  // namespace satin
