#pragma once
// Linear integers of the lens -> the pixel that is stored.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "means/maths/mean.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/rows.h"
#include "pixels/maths/store.h"

namespace satin {

// Stored pixels as the lens sees them: linear integers of at most 32 bits, colours times alpha.
//
// The unit by stored type: u8 has 16 bits, with alpha 24 (65535 * 255 is white); u16 has 24 bits; floats have
// fixed point with 31 bits, or fewer where radii are large, for the largest magnitude of the picture. Alpha
// has the unit of the colours.

inline constexpr int lens_float_bits = 31;  ///< at most
/// Float pictures are measured as if this magnitude were in them, so that white stays a normal float.
inline constexpr double lens_least_magnitude = 1.0 / 16777216;
/// Largest linear value that the steps between pixels see, white is 1: squares of it are finite.
inline constexpr float lens_largest_light = 65536.0F;
/// Linear light from which pixels of a picture that ends at white may have been clipped.
inline constexpr float lens_clipped_light = 0.9F;

/// The unit of one picture's linear integers.
struct LensUnit {
  float white = 65535;  ///< the integer of linear 1
  int colour_exponent = 0;
  int alpha_exponent = 0;           ///< floats: value * 2^exponent is the integer
  float largest = 65535;            ///< the largest integer of any sample
  std::uint32_t brightest = 65535;  ///< white as an integer; all ones if it does not fit
  int float_bits = lens_float_bits;
  bool ends_at_white = true;    ///< what is brighter may have been clipped
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

/// White of integer pictures.
SATIN_HD std::uint32_t lens_white(bool wide, bool weighted) {
  return wide ? 16777215U : weighted ? 65535U * 255U : 65535U;
}

/// `measured` is of float pictures, with lens_least_magnitude at least.
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

/// Linear light of a code without alpha, in the unit of opaque pictures.
SATIN_HD std::uint32_t lens_decode(std::uint8_t code, const TransferView& transfer) {
  return transfer.decode == nullptr ? code * 257U : transfer.decode[code];
}
SATIN_HD std::uint32_t lens_decode(std::uint16_t code, const TransferView& transfer) {
  return transfer.decode == nullptr ? code * 256U + (code >> 8) : transfer.decode[code];
}

/// Negative values count as 0, and so do values that are not finite, which the plan's check() refuses.
SATIN_HD std::uint32_t lens_fixed(double value, int exponent, int bits) {
  const std::int64_t fixed = value > 0 ? to_fixed(value, exponent) : 0;
  const std::int64_t largest = (std::int64_t{1} << bits) - 1;
  return static_cast<std::uint32_t>(fixed < largest ? fixed : largest);
}

SATIN_HD double lens_finite(float value) { return value - value == 0.0F ? static_cast<double>(value) : 0.0; }

/// The linear integers of one pixel, as many as the picture has channels.
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

/// value / divisor; `of_one` is 1 / divisor. On a GPU one step from the rounded product, which is the
/// quotient to the bit for the divisors of this library: tried for the three whites of lens_white(), with
/// every value below 2^25 and every 127th above, and for packed_scale, with every float from 2^-100 to what
/// it packs. Whites of floats are powers of two.
SATIN_HD float lens_quotient(float value, float divisor, float of_one) {
#if defined(__CUDA_ARCH__)
  const float product = value * of_one;
  return __fmaf_rn(__fmaf_rn(-product, divisor, value), of_one, product);
#else
  static_cast<void>(of_one);
  return value / divisor;
#endif
}

/// Linear light, white is 1, of an integer.
SATIN_HD float lens_light(std::uint32_t value, const LensUnit& unit) {
  const float light = lens_quotient(static_cast<float>(value), unit.white, unit.of_one);
  return light < lens_largest_light ? light : lens_largest_light;
}

/// Back, to nearest, and not above the largest; `light` is not negative.
SATIN_HD std::uint32_t lens_integer(float light, const LensUnit& unit) {
  const float value = light * unit.white + 0.5F;
  return static_cast<std::uint32_t>(value < unit.largest ? value : unit.largest);
}

struct LensStoreRule : StoreRule {
  bool keeps_last = false;  ///< the last channel is data, whose bytes stay
};

/// (a * b / divisor) to nearest.
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

/// Stores one pixel of the result. One that is what the picture has there keeps its bytes.
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
  const std::uint32_t* values;  ///< dense, interleaved
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
      store_lens_pixel<Channels>(step.values + y * step.width * Channels + at, step.picture,
                                 step.picture.at(x, y), step.mask.weight(x, y), step.rule, unit,
                                 step.output.row(y) + at);
    }
  };
  SATIN_HD Row row(int y) const { return {*this, lens_unit(picture, measured), y}; }
};

}  // namespace satin
