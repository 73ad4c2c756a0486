#pragma once
// A summed-area table of RGB bytes in 8.5 bytes a pixel, for the means of large boxes.
//
// An entry has the sums modulo 2^21, 2^21 and 2^22; those of four corners give the sums of a box modulo the
// same. A second way tells about how large these are, and so which number of a residue they are:
//   - At every fourth column and second row a coarse word has bits 17 to 27 of the sums (of the last channel
//     bits 18 to 27). The words nearest to the corners of a box are the corners of another one, whose sums
//     are known but for what was cut off. It differs from the box by four columns and two rows, each of whose
//     pixels is 127.5 or less away from 127.5.
//   - Or the sums of a box are known that differs by few columns and rows: the one around the pixel above.
// residues_suffice() says for which boxes the error is below 2^20.
//
// Both tables have a row and a column before the first. Coarse words stand for columns -1, 3, 7 ... and rows
// -1, 1, 3 ...; right of the picture pixels are 0.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin::kernels::residue {

inline constexpr int channels = 3;
inline constexpr int bits = 21;      ///< of a residue; of the last channel one more
inline constexpr int sum_bits = 28;  ///< of a box
inline constexpr int coarse_bits = 11;
inline constexpr int coarse_shift = sum_bits - coarse_bits;
inline constexpr int column_step = 4;
inline constexpr int row_step = 2;

/// From the lowest bit on: the residues of the first, the second and the last channel.
struct alignas(8) Entry {
  std::uint32_t low;
  std::uint32_t high;
};

SATIN_HD Entry entry_of(const std::uint32_t (&sums)[channels]) {
  return {(sums[0] & ((1U << bits) - 1)) | sums[1] << bits,
          (sums[1] >> (32 - bits) & ((1U << (2 * bits - 32)) - 1)) | sums[2] << (2 * bits - 32)};
}

SATIN_HD std::uint32_t coarse_of(const std::uint32_t (&sums)[channels]) {
  constexpr std::uint32_t mask = (1U << coarse_bits) - 1;
  return (sums[0] >> coarse_shift & mask) | (sums[1] >> coarse_shift & mask) << coarse_bits |
         sums[2] >> (coarse_shift + 1) << 2 * coarse_bits;
}

/// The nearest place of a coarse word: for columns -1, 0 | 1 .. 4 | 5 .. 8 ..., for rows -1, 0 | 1, 2 ...
SATIN_HD int coarse_column(int x) { return (x + 3) >> 2; }
SATIN_HD int coarse_row(int y) { return (y + 1) >> 1; }
inline constexpr int coarse_area = column_step * row_step;  ///< pixels between neighbouring words

/// Above and below, left and right of a box.
template <class Value>
struct Corners {
  Value above_left, above_right, below_left, below_right;
};

template <class Value, class Part>
SATIN_HD std::uint32_t difference(const Corners<Value>& corners, const Part& part) {
  return (part(corners.below_right) - part(corners.below_left)) -
         (part(corners.above_right) - part(corners.above_left));
}

/// The only number of a residue in the 2^residue_bits up to `most`.
SATIN_HD std::uint32_t largest_up_to(std::uint32_t most, std::uint32_t residue, int residue_bits) {
  return most - ((most - residue) & ((1U << residue_bits) - 1));
}

/// The residues of a box's sums; what is above them means nothing.
SATIN_HD void residues_of_box(const Corners<Entry>& entries, std::uint32_t (&residues)[channels]) {
  residues[0] = difference(entries, [](const Entry& entry) { return entry.low; });
  residues[1] =
      difference(entries, [](const Entry& entry) { return entry.low >> bits | entry.high << (32 - bits); });
  residues[2] = difference(entries, [](const Entry& entry) { return entry.high >> (2 * bits - 32); });
}

/// The sums of a box of `pixels`, by the coarse words around a box of `coarse_pixels`. In sixteenths, so that
/// carries leave the 28 bits by themselves.
SATIN_HD void sums_by_coarse(const std::uint32_t (&residues)[channels], const Corners<std::uint32_t>& coarse,
                             std::uint32_t pixels, std::uint32_t coarse_pixels,
                             std::uint32_t (&sums)[channels]) {
  constexpr int scale_bits = 32 - sum_bits;
  constexpr std::uint32_t middle = 255U << scale_bits >> 1;
  constexpr std::uint32_t reach = 1U << (bits - 1 + scale_bits);
  const std::uint32_t beyond = middle * (pixels - coarse_pixels) + reach;
  const auto most = [&](int first_bit, int field_bits) {
    return (difference(coarse, [first_bit](std::uint32_t word) { return word >> first_bit; })
            << (32 - field_bits)) +
           beyond;
  };
  const auto sum = [](std::uint32_t largest, std::uint32_t residue, int residue_bits) {
    return largest_up_to(largest, residue << scale_bits, residue_bits + scale_bits) >> scale_bits;
  };
  sums[0] = sum(most(0, coarse_bits), residues[0], bits);
  sums[1] = sum(most(coarse_bits, coarse_bits), residues[1], bits);
  sums[2] = sum(most(2 * coarse_bits, coarse_bits - 1) + reach, residues[2], bits + 1);
}

/// The sums of a box with `more` pixels than the one whose sums they were, if its centre is the pixel below
/// and its reach differs by at most nearest_reach.
inline constexpr int nearest_reach = 2;
SATIN_HD void sums_by_neighbour(const std::uint32_t (&residues)[channels], std::uint32_t more,
                                std::uint32_t (&sums)[channels]) {
  const std::uint32_t beyond = 128 * more + (1U << (bits - 1)) - 1;
  for (int c = 0; c < channels; ++c) sums[c] = largest_up_to(sums[c] + beyond, residues[c], bits);
}

/// True if the sums of boxes of up to these sides are known. Of a box whose corners are moved by at most two
/// columns and one row, four columns differ, each one pixel higher than the box, and two rows; of a neighbour
/// four columns and four rows. Sums are below 2^28 then: width + height is at most 2051.
SATIN_HD bool residues_suffice(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t cut_off = 2 * ((1 << coarse_shift) - 1);
  constexpr std::int64_t reach = (1 << (bits - 1)) - 1;
  const std::int64_t moved = 4 * (height + 1) + 2 * width;
  const std::int64_t of_neighbour = 4 * height + 4 * width - 16;
  return 255 * moved <= 2 * (reach - cut_off) && 128 * of_neighbour <= reach;
}

}  // namespace satin::kernels::residue
