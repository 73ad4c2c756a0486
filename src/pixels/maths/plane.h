#pragma once
// One plane of a picture as unsigned integers: a channel or the luminance; floats in fixed point.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "satin/view.h"

namespace satin {

/// Returns the Rec. 709 luminance of three stored values (ITU-R BT.709-6, item 3.2). Integers, below 2^16,
/// are rounded to nearest, ties up; their weighted sum stays below 2^30.
template <class T>
SATIN_HD T luminance709(T r, T g, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(0.2126 * r + 0.7152 * g + 0.0722 * b);
  } else {
    const std::uint32_t sum = 2126U * r + 7152U * g + 722U * b;
    return static_cast<T>((sum + 5000) / 10000);
  }
}

/// The map from integers q back to stored values: value = (q - offset) * scale, where scale is a power of
/// two.
struct Quantised {
  std::uint64_t offset = 0;
  double scale = 1;
};

/// The plane of a picture that is read, and its format.
struct PlaneRead {
  static constexpr int weighted = -1;  ///< selects the luminance as channel

  Type type = Type::u8;
  int channels = 1;
  int channel = 0;  ///< index, or `weighted`
  Order order = Order::rgb;
  int float_bits = 0;  ///< floats become integers up to 2^float_bits in magnitude, plus 2^float_bits
};

template <class T>
SATIN_HD T plane_value(const T* pixel, const PlaneRead& plane) {
  if (plane.channel != PlaneRead::weighted) return pixel[plane.channel];
  const int red = plane.order == Order::rgb ? 0 : 2;
  return luminance709(pixel[red], pixel[1], pixel[2 - red]);
}

SATIN_HD int plane_exponent(const PlaneRead& plane, const Measured* measured) {
  return measured == nullptr ? 0 : fixed_exponent(measured->largest[0], plane.float_bits);
}

/// Returns a stored value as an integer. Floats become integers below 2^31; those that are not finite, which
/// are refused elsewhere, count as 0.
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

/// Returns the number of codes of a type. Floats have 2^16: 15 bits and a sign.
SATIN_HD std::size_t codes_of(Type type) { return type == Type::u8 ? 256 : 65536; }

/// Returns the code of a quantised value, clamped since the largest magnitude may round up to 2^16.
SATIN_HD std::uint32_t code_of(std::uint32_t quantised) { return quantised > 0xFFFF ? 0xFFFF : quantised; }

/// Returns the value clamped to [0, largest] and rounded to nearest, ties up.
SATIN_HD std::uint32_t nearest_code(double value, double largest) {
  const double above = value > 0 ? value : 0;
  return static_cast<std::uint32_t>((above < largest ? above : largest) + 0.5);
}

/// Returns a number as a stored value; for integers the nearest code.
template <class T>
SATIN_HD T stored_number(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    return static_cast<T>(nearest_code(value, static_cast<T>(~T{0})));
  }
}

/// Returns weight / whole of a number blended with the picture's own value, as a stored value. Weight 0 keeps
/// the own value's bits. Without a mask both are 0.
template <class T>
SATIN_HD T blended_number(double value, T own, std::uint32_t weight, std::uint32_t whole) {
  if (weight == whole) return stored_number<T>(value);
  if (weight == 0) return own;
  const double rest = static_cast<double>(own) * static_cast<double>(whole - weight);
  return stored_number<T>((rest + value * static_cast<double>(weight)) / static_cast<double>(whole));
}

}  // namespace satin
