#pragma once
// Rows of local statistics, compiled for every SIMD target. The same bytes from all of them, and from
// core/maths/local_statistics.h.

#include <cstddef>
#include <cstdint>

#include "core/maths/local_statistics.h"

namespace satin::cpu {

/// sums += enters - leaves and squares += enters^2 - leaves^2, element by element.
void exchange_with_squares(const std::uint32_t* enters, const std::uint32_t* leaves, std::size_t count,
                           std::uint64_t* sums, std::uint64_t* squares);

/// Windows of one row: pixel i covers the columns i ... i + span - 1 of the extended row, whose exclusive
/// prefix sums are given, and `counts[i]` pixels.
struct WindowRow {
  const std::uint64_t* sums = nullptr;
  const std::uint64_t* squares = nullptr;
  const double* counts = nullptr;
  std::size_t span = 1;
  Quantised quantised{};
  bool exact_in_double = false;  ///< count * squares < 2^53 and offset 0
};

/// Mean and deviation of the pixels [first, first + count).
void statistics_of_row(const WindowRow& row, std::size_t first, std::size_t count, double* means,
                       double* deviations);

/// 255 where a value is above its threshold, otherwise 0; the other way round if inverted.
void binarise(const ThresholdRule& rule, const PictureExtremes& extremes, const double* values,
              const double* means, const double* deviations, std::size_t count, bool inverted,
              std::uint8_t* out);

}  // namespace satin::cpu
