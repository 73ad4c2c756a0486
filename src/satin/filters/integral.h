#pragma once

#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Reduction of a table's sums.
enum class Modulo {
  none,       ///< exact sums, in a type that holds the sum of the whole picture
  two_to_32,  ///< sums of integers modulo 2^32, as u32 for any picture
};

[[nodiscard]] const FilterRecord& integral_record();  ///< record of the filter `integral`

/// Parameters of integral().
struct Integral {
  bool squared = false;          ///< sums of squares instead of sums
  Modulo modulo = Modulo::none;  ///< reduction of the sums

  static const FilterRecord& record() { return integral_record(); }  ///< record of the filter
};

/// Computes the summed-area table. Entry (x, y) is the sum over all pixels from (0, 0) to (x, y), both
/// included.
///
/// Pixels: u8, u16 or f32 as stored; 1 to 4 channels, each with its own table. The result has the picture's
/// size (no border row) and the type u32 where width * height * largest value (squared) is below 2^32,
/// otherwise u64; f64 for floats, whose values are rounded to 40 bits below the largest one first (fewer
/// above 2^23 pixels). Sums are exact. Throws Error(usage) if even 64 bits do not suffice, Error(input) for
/// NaN or infinity.
///
/// With Modulo::two_to_32 entries are sums modulo 2^32, in half the bytes where u64 would be needed. The
/// difference of four entries, computed in 32 bits, is the exact sum of its box as long as that sum is below
/// 2^32. Throws Error(usage) for floats.
///
/// Crow, Summed-area tables for texture mapping, 1984.
[[nodiscard]] inline Image integral(const Device& device, const ImageView& image,
                                    const Integral& parameters = {}) {
  return run_filter(Integral::record(), device, image, &parameters);
}

}  // namespace satin
