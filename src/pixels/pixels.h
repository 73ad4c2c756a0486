#pragma once
// How an operation reads and writes pixels: descriptions that every backend understands, and the choice of
// the accumulator, the one place where the width of sums is decided.

#include <cstdint>

#include "satin/view.h"

namespace satin {

enum class Transfer : std::uint8_t {
  identity,
  srgb  ///< u8 <-> 16-bit linear, u16 <-> 24-bit linear; not for floats, which are linear already
};

/// Returns the stored value of white: the largest code, or 1 of floats.
[[nodiscard]] inline double white_of(Type type) {
  return type == Type::u8 ? 0xFF : type == Type::u16 ? 0xFFFF : 1;
}

/// How stored pixels become working values. Types u32 and u64, and u16 with the transfer `identity`, are
/// working values already, signed if `fixed_point`.
struct PixelRead {
  Type type = Type::u8;
  int channels = 1;
  Transfer transfer = Transfer::identity;
  bool weighted = false;            ///< the last channel is alpha: the working colour is colour * alpha
  bool premultiplied = false;       ///< successive_pixels() of bytes with alpha, and results of such passes
  bool fixed_point = false;         ///< floats, or working values made from floats
  int fixed_bits = 0;               ///< bits of a float's magnitude in fixed point
  int fraction = 0;                 ///< bits below the point of working values
  std::uint64_t maximum = 0;        ///< largest working value: the bound of every sum
  std::uint64_t alpha_maximum = 0;  ///< largest working alpha of weighted integers
};

/// How results become stored pixels or, if `working`, working values of the next pass (type u16, u32 or u64).
struct PixelWrite {
  Type type = Type::u8;
  Transfer transfer = Transfer::identity;
  int fraction = 0;
  bool working = false;
};

enum class Accumulator : std::uint8_t { u32, u64 };

/// Returns the largest working colour without its alpha.
[[nodiscard]] inline std::uint64_t white_of(const PixelRead& read) {
  return read.alpha_maximum == 0 ? read.maximum : read.maximum / read.alpha_maximum;
}

/// Describes how pixels of this shape are read for sums of at most `area` pixels, which only floats depend
/// on. Throws Error(usage) for types that are not pixels and for premultiplied integers in linear light.
[[nodiscard]] PixelRead read_pixels(const Shape& shape, Transfer transfer, std::uint64_t area);

/// Describes a validity mask: u8, 1 for pixels that count and 0 for others. A box has at most (2 * 16385 +
/// 1)^2 < 2^32 pixels, so counts are summed in 32 bits.
[[nodiscard]] PixelRead counted_pixels();

/// Chooses the smallest width of sums with area * maximum < 2^width (2^63 if signed). Sums are modulo 2^32 or
/// 2^64; a difference of table entries is exact while the true sum of that one box fits. Throws Error(usage),
/// which says what to reduce, if 64 bits do not suffice.
[[nodiscard]] Accumulator choose_accumulator(const PixelRead& read, std::uint64_t area,
                                             std::uint64_t maximum);

/// Throws Error(usage) unless area-weighted sums of alpha (weights up to 65536 per pixel) stay below 2^61,
/// the largest divisor of divide_round(). They do for every 8-bit picture, and for 16-bit ones up to a
/// radius of 11,000.
void check_alpha_divisor(const PixelRead& read, std::uint64_t area);

/// Describes how the first of several passes reads these pixels. Bytes with straight alpha are premultiplied
/// (pixels/premultiplied.h), so that all channels are summed alike. Others are read unchanged.
[[nodiscard]] PixelRead successive_pixels(const PixelRead& stored);

/// Describes the values between two passes, in the smallest type that holds them. Bytes summed as stored and
/// colours weighted by alpha have 8 bits below the point; premultiplied bytes, 16-bit codes and linear light
/// have none. Floats keep their fixed point.
[[nodiscard]] PixelRead working_pixels(const PixelRead& stored);

/// Returns working_pixels() with 8 bits below the point always, for a difference from the picture that is
/// amplified.
[[nodiscard]] PixelRead fine_working_pixels(const PixelRead& stored);

/// Returns how a pass writes the working values that the next pass reads.
[[nodiscard]] inline PixelWrite written_as(const PixelRead& working) {
  return {working.type, Transfer::identity, working.fraction, true};
}

/// Returns the bits of a float's magnitude in fixed point such that a signed 64-bit sum of `area` values
/// cannot wrap: 40, or fewer from 2^23 pixels on.
[[nodiscard]] int fixed_bits_for(std::uint64_t area);

}  // namespace satin
