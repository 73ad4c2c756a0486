#pragma once
// One plane of a picture as unsigned integers: a channel or the luminance, floats in fixed point.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "satin/view.h"

namespace satin {

// Rec. 709 luminance of three values as stored (ITU-R BT.709-6, item 3.2).

/// Integers are rounded to nearest, ties up; below 2^16 their sum stays below 2^30.
template <class T>
SATIN_HD T luminance709(T r, T g, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(0.2126 * r + 0.7152 * g + 0.0722 * b);
  } else {
    const std::uint32_t sum = 2126U * r + 7152U * g + 722U * b;
    return static_cast<T>((sum + 5000) / 10000);
  }
}

/// How stored values became integers: value = (q - offset) * scale; scale is a power of two.
struct Quantised {
  std::uint64_t offset = 0;
  double scale = 1;
};

struct PlaneRead {
  static constexpr int weighted = -1;  ///< luminance of colours

  Type type = Type::u8;
  int channels = 1;
  int channel = 0;  ///< or `weighted`
  Order order = Order::rgb;
  int float_bits = 0;  ///< magnitudes of floats become integers up to 2^float_bits, raised by as much
};

/// The stored value of the plane; `pixel` is of the plane's type.
template <class T>
SATIN_HD T plane_value(const T* pixel, const PlaneRead& plane) {
  if (plane.channel != PlaneRead::weighted) return pixel[plane.channel];
  const int red = plane.order == Order::rgb ? 0 : 2;
  return luminance709(pixel[red], pixel[1], pixel[2 - red]);
}

SATIN_HD int plane_exponent(const PlaneRead& plane, const Measured* measured) {
  return measured == nullptr ? 0 : fixed_exponent(measured->largest[0], plane.float_bits);
}

/// Integers as they are; floats below 2^31. Those that are not finite (which are refused elsewhere) count as
/// 0.
template <class T>
SATIN_HD std::uint32_t quantise(T value, const PlaneRead& plane, int exponent) {
  if constexpr (std::is_same_v<T, float>) {
    const bool finite = value - value == 0;
    const std::int64_t zero = std::int64_t{1} << plane.float_bits;
    return static_cast<std::uint32_t>(zero + to_fixed(finite ? static_cast<double>(value) : 0.0, exponent));
  } else {
    return value;
  }
}

SATIN_HD Quantised quantised(const PlaneRead& plane, int exponent) {
  if (plane.type != Type::f32) return {};
  return {std::uint64_t{1} << plane.float_bits, power_of_two(-exponent)};
}

/// How many codes integers have, and floats that are cut to 15 bits and a sign.
SATIN_HD std::size_t codes_of(Type type) { return type == Type::u8 ? 256 : 65536; }

/// The largest magnitude may round up to one code too many.
SATIN_HD std::uint32_t code_of(std::uint32_t quantised) { return quantised > 0xFFFF ? 0xFFFF : quantised; }

/// Clamped to [0, largest] and rounded to nearest, ties up.
SATIN_HD std::uint32_t nearest_code(double value, double largest) {
  const double above = value > 0 ? value : 0;
  return static_cast<std::uint32_t>((above < largest ? above : largest) + 0.5);
}

/// A number as a stored value: integers are the nearest code.
template <class T>
SATIN_HD T stored_number(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    return static_cast<T>(nearest_code(value, static_cast<T>(~T{0})));
  }
}

/// A number blended with the picture's own value, and stored: `weight` parts of `whole`, of which 0 keeps the
/// bytes; no mask where whole is 0.
template <class T>
SATIN_HD T blended_number(double value, T own, std::uint32_t weight, std::uint32_t whole) {
  if (weight == whole) return stored_number<T>(value);
  if (weight == 0) return own;
  const double rest = static_cast<double>(own) * static_cast<double>(whole - weight);
  return stored_number<T>((rest + value * static_cast<double>(weight)) / static_cast<double>(whole));
}

}  // namespace satin
