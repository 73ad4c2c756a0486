#pragma once
// Arithmetic of lobes so wide that their means are found for cells of several pixels, and interpolated
// between the centres of cells.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "means/maths/mean.h"
#include "pixels/maths/divide.h"
#include "pixels/maths/store.h"

namespace satin {

/// Bits below the point in the means of cells. The largest means are colours times alpha of u16 in linear
/// light, with 48 bits.
inline constexpr int cell_fraction = 8;

/// Side of the largest cell, in pixels. Weights of interpolation then add up to 2^10, so that values between
/// cells stay below 2^58.
inline constexpr std::int64_t largest_cell = 16;

SATIN_HD int cell_bits(std::int64_t cell) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < cell) ++bits;
  return bits;
}

/// Returns the mean of one channel of a cell: an integer with cell_fraction bits below the point, rounded to
/// nearest, ties up; for floats the bits of a double, in units of their fixed point. There may be up to 2^9
/// boxes: then the quotient's estimate is off by 16 at most where it has 48 bits and its divisor 45, and by 2
/// otherwise.
SATIN_HD std::uint64_t cell_mean(WideSum total, std::uint64_t weight, bool fixed_point) {
  if (fixed_point) return bits_of(total.estimate / static_cast<double>(weight));
  const WideSum shifted{total.low << cell_fraction,
                        total.estimate * static_cast<double>(std::uint64_t{1} << cell_fraction)};
  return static_cast<std::uint64_t>(divide_round(shifted, weight));
}

/// Position of a pixel among cells of 2^bits pixels along an axis: `weight` / 2^(bits + 1) of the way from
/// the centre of the cell before `next` to that of `next`. The next pixel's weight is 2 more.
struct CellPosition {
  std::int64_t next = 0;  ///< 0 to the number of cells
  std::uint32_t weight = 0;
};

SATIN_HD CellPosition cell_position(std::int64_t pixel, int bits) {
  const std::int64_t position = 2 * pixel + 1 + (std::int64_t{1} << bits);
  const std::int64_t whole = std::int64_t{2} << bits;
  return {position >> (bits + 1), static_cast<std::uint32_t>(position & (whole - 1))};
}

SATIN_HD std::uint64_t between(std::uint64_t a, std::uint64_t b, std::uint32_t weight, int bits) {
  return a * ((2U << bits) - weight) + b * weight;
}
SATIN_HD double between(double a, double b, std::uint32_t weight, int bits) {
  return a * static_cast<double>((2U << bits) - weight) + b * static_cast<double>(weight);
}

/// A row of cells. Beyond the first or last row, behind a pole, the same row follows again, half the circle
/// away.
struct CellRow {
  std::int64_t row = 0;
  bool behind_pole = false;
};

SATIN_HD CellRow cell_row(std::int64_t row, std::int64_t rows) {
  return {row < 0 ? 0 : row < rows ? row : rows - 1, row < 0 || row >= rows};
}

struct CellRule : StoreRule {
  int cell_bits = 0;         ///< cells have 2^cell_bits x 2^cell_bits pixels
  FixedExponents exponents;  ///< for floats
};

/// Bits below the point of a value interpolated along both axes.
SATIN_HD int value_bits(int cell_bits) { return cell_fraction + 2 * (cell_bits + 1); }

/// Rounds a value interpolated along both axes to a working value, to nearest, ties up.
SATIN_HD std::uint64_t whole_value(std::uint64_t value, int cell_bits) {
  const int bits = value_bits(cell_bits);
  return (value + (std::uint64_t{1} << (bits - 1))) >> bits;
}

/// Stores a pixel from the interpolated values of its channels. Colours times alpha are divided by alpha,
/// exactly.
template <int Channels, class T>
SATIN_HD void store_between(const std::uint64_t* values, const T* original, const CellRule& rule, T* out) {
  constexpr int alpha = Channels - 1;
  const auto colour = [&](int c) -> std::uint64_t {
    if (!rule.weighted) return whole_value(values[c], rule.cell_bits);
    if (values[alpha] == 0) return 0;
    return static_cast<std::uint64_t>(
        divide_round({values[c], static_cast<double>(values[c])}, values[alpha]));
  };
  store_integers<Channels>(colour, rule.weighted ? whole_value(values[alpha], rule.cell_bits) : 0, original,
                           0, rule, out);
}
template <int Channels>
SATIN_HD void store_between(const double* values, const float* original, const CellRule& rule, float* out) {
  constexpr int alpha = Channels - 1;
  const auto weights = static_cast<double>(4U << (2 * rule.cell_bits));
  const double scale =
      power_of_two(rule.weighted ? rule.exponents.alpha - rule.exponents.colour : -rule.exponents.colour);
  const auto colour = [&](int c) { return values[c] / (rule.weighted ? values[alpha] : weights) * scale; };
  const double mean_alpha =
      rule.weighted ? values[alpha] / weights * power_of_two(-rule.exponents.alpha) : 0.0;
  store_floats<Channels>(colour, mean_alpha, original, 0, rule, out);
}

/// Type of interpolated values, by the stored type.
template <class T>
using BetweenCells = std::conditional_t<std::is_same_v<T, float>, double, std::uint64_t>;

}  // namespace satin
