#pragma once
// Rows of local statistics, compiled for every SIMD target. The same bytes from all of them, and from
// statistics/maths/local_statistics.h.

#include <cstddef>
#include <cstdint>

#include "statistics/maths/local_statistics.h"
#include "statistics/maths/quick_number.h"
#include "statistics/maths/quick_threshold.h"

namespace satin::cpu {

/// sums += enters - leaves and squares += enters^2 - leaves^2, element by element, modulo 2^32 or 2^64.
/// Stored and Sum are u8 and u32, u8 and u64, u16 and u64, or u32 and u64.
template <class Stored, class Sum>
void exchange_with_squares(const Stored* enters, const Stored* leaves, std::size_t count, Sum* sums,
                           Sum* squares);

/// Windows of one row: pixel i covers the columns i ... i + span - 1 of the extended row, whose exclusive
/// prefix sums are given, and `counts[i]` pixels. Sum is u32 or u64.
template <class Sum>
struct WindowRow {
  const Sum* sums = nullptr;
  const Sum* squares = nullptr;
  const double* counts = nullptr;
  std::size_t span = 1;
  Quantised quantised{};
  bool exact_in_double = false;  ///< count * squares < 2^53 and offset 0
};

/// Mean and deviation of the pixels [first, first + count).
template <class Sum>
void statistics_of_row(const WindowRow<Sum>& row, std::size_t first, std::size_t count, double* means,
                       double* deviations);

/// The largest n Q - S^2 of the pixels [first, first + count) of a row that is exact in double.
template <class Sum>
double largest_radicand(const WindowRow<Sum>& row, std::size_t first, std::size_t count);

/// 255 where a value is above its threshold, otherwise 0; the other way round if inverted.
void binarise(const ThresholdRule& rule, const PictureExtremes& extremes, const double* values,
              const double* means, const double* deviations, std::size_t count, bool inverted,
              std::uint8_t* out);

/// The same in floats, for all `count` pixels of a row that is exact in double; inverses[i] is 1 / counts[i],
/// rounded. Returns how many pixels that leaves open; their indices are in `open`, which has room for all.
std::size_t binarise_quickly(const QuickThreshold& threshold, const WindowRow<std::uint32_t>& row,
                             const float* inverses, const std::uint8_t* values, std::size_t count,
                             bool inverted, std::uint8_t* out, std::uint32_t* open);

/// The stored integers of deviations, or with `normalised` of normalised values, of all `count` pixels of a
/// row that is exact in double. Which pixels that leaves open, and `inverses`, as above. Stored and Sum are
/// u8 and u32, u8 and u64, or u16 and u64.
template <class Stored, class Sum>
std::size_t number_quickly(const QuickNumber& number, bool normalised, const WindowRow<Sum>& row,
                           const float* inverses, const Stored* values, std::size_t count, Stored* stored,
                           std::uint32_t* open);

}  // namespace satin::cpu
