#include "metadata/colour_profile.h"

#include <algorithm>
#include <array>

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

/// A tone curve, and what is said of it behind the name of the primaries.
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
