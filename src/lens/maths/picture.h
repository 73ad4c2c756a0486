#pragma once
// How stored pixels become the linear integers that the lens works on, and how results become pixels again.
//
// An integer has at most 32 bits: linear light times alpha. White is 2^16 - 1 for u8 (times 255 with alpha),
// 2^24 - 1 for u16. Floats are fixed point with 31 bits for the largest magnitude of the picture, fewer where
// radii are large. Alpha has the unit of the colours.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/maths/hd.h"
#include "means/maths/mean.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/rows.h"
#include "pixels/maths/store.h"

namespace satin {

inline constexpr int lens_float_bits = 31;  ///< largest value of LensUnit::float_bits
/// Least magnitude that a float picture is measured with, so that white stays a normal float.
inline constexpr double lens_least_magnitude = 1.0 / 16777216;
/// Largest linear light (white is 1) in the steps between pixels: its square is finite.
inline constexpr float lens_largest_light = 65536.0F;
/// Linear light from which a pixel may have been clipped, in a picture that has nothing above white.
inline constexpr float lens_clipped_light = 0.9F;

struct LensUnit {
  float white = 65535;  ///< integer of linear light 1
  int colour_exponent = 0;
  int alpha_exponent = 0;           ///< floats: the integer is value * 2^exponent
  float largest = 65535;            ///< largest integer of a sample
  std::uint32_t brightest = 65535;  ///< white as an integer, or all ones if it does not fit
  int float_bits = lens_float_bits;
  bool ends_at_white = true;    ///< no pixel is above white, so white pixels may be clipped
  float of_one = 1.0F / 65535;  ///< 1 / white
};

/// Pixels of type T (u8, u16, float) of one picture in the memory of one device.
template <class T>
struct LensPicture {
  const std::byte* data = nullptr;
  std::int64_t row = 0;
  int channels = 1;
  bool weighted = false;  ///< the last channel is straight alpha
  int float_bits = lens_float_bits;
  TransferView transfer;

  SATIN_HD const T* at(int x, int y) const {
    return reinterpret_cast<const T*>(data + y * row) + static_cast<std::int64_t>(x) * channels;
  }
};

SATIN_HD std::uint32_t lens_white(bool wide, bool weighted) {
  return wide ? 16777215U : weighted ? 65535U * 255U : 65535U;
}

/// Unit of a picture. Only floats need `measured`, whose magnitudes are at least lens_least_magnitude.
template <class T>
SATIN_HD LensUnit lens_unit(const LensPicture<T>& picture, const Measured* measured) {
  if constexpr (std::is_same_v<T, float>) {
    const FixedExponents exponents = fixed_exponents(*measured, picture.float_bits);
    const auto white = static_cast<float>(power_of_two(exponents.colour));
    const auto brightest = white < 4294967296.0F ? static_cast<std::uint32_t>(white) : ~0U;
    const auto end = static_cast<float>(power_of_two(picture.float_bits));
    const float largest = end - end / 16777216.0F;  // the largest float below it
    const bool ends_at_white = !(double_of(measured->largest[0]) > 1);
    return {white,     exponents.colour,   exponents.alpha, largest,
            brightest, picture.float_bits, ends_at_white,   1.0F / white};
  } else {
    const std::uint32_t brightest = lens_white(sizeof(T) > 1, picture.weighted);
    const auto white = static_cast<float>(brightest);
    return {white, 0, 0, white, brightest, lens_float_bits, true, 1.0F / white};
  }
}

/// Linear light of a code without alpha.
SATIN_HD std::uint32_t lens_decode(std::uint8_t code, const TransferView& transfer) {
  return transfer.decode == nullptr ? code * 257U : transfer.decode[code];
}
SATIN_HD std::uint32_t lens_decode(std::uint16_t code, const TransferView& transfer) {
  return transfer.decode == nullptr ? code * 256U + (code >> 8) : transfer.decode[code];
}

/// Fixed point of a value. Negative and non-finite values count as 0; Plan refuses the latter.
SATIN_HD std::uint32_t lens_fixed(double value, int exponent, int bits) {
  const std::int64_t fixed = value > 0 ? to_fixed(value, exponent) : 0;
  const std::int64_t largest = (std::int64_t{1} << bits) - 1;
  return static_cast<std::uint32_t>(fixed < largest ? fixed : largest);
}

SATIN_HD double lens_finite(float value) { return value - value == 0.0F ? static_cast<double>(value) : 0.0; }

/// Reads the linear integers of one pixel.
template <int Channels>
SATIN_HD void read_lens_pixel(const std::uint8_t* pixel, const LensPicture<std::uint8_t>& picture,
                              const LensUnit& /*unit*/, std::uint32_t* values) {
  const std::uint32_t alpha = picture.weighted ? pixel[Channels - 1] : 1U;
  for (int c = 0; c < Channels; ++c)
    values[c] = picture.weighted && c + 1 == Channels ? alpha * 65535U
                                                      : lens_decode(pixel[c], picture.transfer) * alpha;
}

template <int Channels>
SATIN_HD void read_lens_pixel(const std::uint16_t* pixel, const LensPicture<std::uint16_t>& picture,
                              const LensUnit& /*unit*/, std::uint32_t* values) {
  if (!picture.weighted) {
    for (int c = 0; c < Channels; ++c) values[c] = lens_decode(pixel[c], picture.transfer);
    return;
  }
  const std::uint64_t alpha = pixel[Channels - 1];
  for (int c = 0; c + 1 < Channels; ++c)
    values[c] =
        static_cast<std::uint32_t>((lens_decode(pixel[c], picture.transfer) * alpha + 32767U) / 65535U);
  values[Channels - 1] = pixel[Channels - 1] * 256U + (pixel[Channels - 1] >> 8);
}

template <int Channels>
SATIN_HD void read_lens_pixel(const float* pixel, const LensPicture<float>& picture, const LensUnit& unit,
                              std::uint32_t* values) {
  const double alpha = picture.weighted ? lens_finite(pixel[Channels - 1]) : 1.0;
  for (int c = 0; c < Channels; ++c)
    values[c] = picture.weighted && c + 1 == Channels
                    ? lens_fixed(alpha, unit.alpha_exponent, unit.float_bits)
                    : lens_fixed(lens_finite(pixel[c]) * alpha, unit.colour_exponent, unit.float_bits);
}

/// Returns value / divisor; `of_one` is 1 / divisor. CUDA corrects the rounded product by one Newton step,
/// which gives the correctly rounded quotient for every divisor used here: checked for the whites of
/// lens_white() with every value below 2^25 and every 127th above, and for packed_scale with every float from
/// 2^-100 to the largest that it packs. Float whites are powers of two.
SATIN_HD float lens_quotient(float value, float divisor, float of_one) {
#if defined(__CUDA_ARCH__)
  const float product = value * of_one;
  return __fmaf_rn(__fmaf_rn(-product, divisor, value), of_one, product);
#else
  static_cast<void>(of_one);
  return value / divisor;
#endif
}

SATIN_HD float clamped_to_unit(float value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

/// Converts an integer to linear light (white is 1), at most lens_largest_light.
SATIN_HD float lens_light(std::uint32_t value, const LensUnit& unit) {
  const float light = lens_quotient(static_cast<float>(value), unit.white, unit.of_one);
  return light < lens_largest_light ? light : lens_largest_light;
}

/// Converts non-negative linear light to an integer, rounded to nearest, at most LensUnit::largest.
SATIN_HD std::uint32_t lens_integer(float light, const LensUnit& unit) {
  const float value = light * unit.white + 0.5F;
  return static_cast<std::uint32_t>(value < unit.largest ? value : unit.largest);
}

struct LensStoreRule : StoreRule {
  bool keeps_last = false;  ///< the last channel is data and keeps its bytes
};

/// Returns a * b / divisor, rounded to nearest.
SATIN_HD std::uint64_t lens_ratio(std::uint64_t a, std::uint64_t b, std::uint64_t divisor) {
  return (a * b + divisor / 2) / divisor;
}

template <int Channels>
SATIN_HD void store_lens_values(const std::uint32_t* values, const std::uint8_t* original, std::uint32_t mask,
                                const LensStoreRule& rule, const LensUnit& /*unit*/, std::uint8_t* out) {
  constexpr int alpha = Channels - 1;
  const auto colour = [&](int c) -> std::uint64_t {
    std::uint64_t linear = values[c];
    if (rule.weighted) linear = values[alpha] == 0 ? 0 : lens_ratio(linear, 65535U, values[alpha]);
    if (linear > 65535U) linear = 65535U;
    return rule.transfer.decode == nullptr ? lens_ratio(linear, 1, 257U) : linear;
  };
  store_integers<Channels>(colour, lens_ratio(values[alpha], 1, 65535U), original, mask, rule, out);
}

template <int Channels>
SATIN_HD void store_lens_values(const std::uint32_t* values, const std::uint16_t* original,
                                std::uint32_t mask, const LensStoreRule& rule, const LensUnit& /*unit*/,
                                std::uint16_t* out) {
  constexpr int alpha = Channels - 1;
  constexpr std::uint64_t white = 16777215U;
  const auto colour = [&](int c) -> std::uint64_t {
    std::uint64_t linear = values[c];
    if (rule.weighted) linear = values[alpha] == 0 ? 0 : lens_ratio(linear, white, values[alpha]);
    if (linear > white) linear = white;
    return rule.transfer.decode == nullptr ? lens_ratio(linear, 65535U, white) : linear;
  };
  const std::uint64_t alpha_value = lens_ratio(values[alpha], 65535U, white);
  store_integers<Channels>(colour, alpha_value < 65535U ? alpha_value : 65535U, original, mask, rule, out);
}

template <int Channels>
SATIN_HD void store_lens_values(const std::uint32_t* values, const float* original, std::uint32_t mask,
                                const LensStoreRule& rule, const LensUnit& unit, float* out) {
  constexpr int alpha = Channels - 1;
  const double scale = power_of_two(-unit.colour_exponent);
  const double alpha_value =
      rule.weighted ? static_cast<double>(values[alpha]) * power_of_two(-unit.alpha_exponent) : 1.0;
  const auto colour = [&](int c) { return static_cast<double>(values[c]) * scale / alpha_value; };
  store_floats<Channels>(colour, alpha_value, original, mask, rule, out);
}

/// Stores one pixel of the result. A pixel whose value did not change keeps its bytes.
template <int Channels, class T>
SATIN_HD void store_lens_pixel(const std::uint32_t* values, const LensPicture<T>& picture, const T* original,
                               std::uint32_t mask, const LensStoreRule& rule, const LensUnit& unit, T* out) {
  std::uint32_t own[4];
  read_lens_pixel<Channels>(original, picture, unit, own);
  bool same = true;
  for (int c = 0; c < Channels; ++c) same = same && own[c] == values[c];
  if (same || (rule.mask_maximum != 0 && mask == 0)) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  store_lens_values<Channels>(values, original, mask, rule, unit, out);
  if (rule.keeps_last) out[Channels - 1] = original[Channels - 1];
}

template <int Channels, class T>
struct StoreLens {
  LensPicture<T> picture;
  LensStoreRule rule;
  const std::uint32_t* values;  ///< dense, interleaved; floats may be stored in their place
  std::int64_t width;
  const Measured* measured;
  MaskRows mask;
  Rows<T> output;

  struct Row {
    const StoreLens& step;
    LensUnit unit;
    int y;

    SATIN_HD void operator()(int x) const {
      const std::int64_t at = std::int64_t{x} * Channels;
      std::uint32_t own[std::size_t{Channels}];  // copied, as floats may be stored in their place
      std::memcpy(own, step.values + y * step.width * Channels + at, sizeof own);
      store_lens_pixel<Channels>(own, step.picture, step.picture.at(x, y), step.mask.weight(x, y), step.rule,
                                 unit, step.output.row(y) + at);
    }
  };
  SATIN_HD Row row(int y) const { return {*this, lens_unit(picture, measured), y}; }
};

}  // namespace satin
