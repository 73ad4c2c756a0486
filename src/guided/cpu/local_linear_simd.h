#pragma once
// Rows of the guided filter, compiled for every SIMD target. The same bytes from all of them, and from
// guided/maths/local_linear.h.

#include <array>
#include <cstddef>
#include <cstdint>

#include "guided/maths/local_linear.h"

namespace satin::cpu {

/// A row of every value of a layout: the guides, then the picture's own channels.
using ValueRows = std::array<const std::int32_t*, 7>;

/// Row c gets channel c of the pixels, unless it is null.
void separate(const std::uint8_t* pixels, int channels, std::size_t count,
              const std::array<std::int32_t*, 4>& to);
void separate(const std::uint16_t* pixels, int channels, std::size_t count,
              const std::array<std::int32_t*, 4>& to);

/// Adds the sums of the layout over what enters to `sums`, and takes those over what leaves away. Planes of
/// `count` sums lie one behind the other; Sum is u32 or u64.
void exchange_moments(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                      std::size_t count, std::uint32_t* sums);
void exchange_moments(const LinearLayout& layout, const ValueRows& enters, const ValueRows& leaves,
                      std::size_t count, std::uint64_t* sums);

/// Windows of one row: the difference of prefixes `span` apart is a sum over a window, and counts[x] *
/// count_of_rows its number of pixels.
template <class Sum>
struct PrefixRow {
  LinearLayout layout;
  const Sum* prefixes = nullptr;  ///< planes
  std::size_t stride = 0;         ///< from plane to plane
  std::size_t span = 0;
  const double* counts = nullptr;
  double count_of_rows = 0;
};

/// What turns sums into coefficients.
struct LinearSolver {
  LinearFormat format;
  double eps = 0;                ///< in steps of the guide, squared
  bool exact_in_double = false;  ///< n sum(u v) stays below 2^51
};

/// Slopes and offsets of a row, planes of `count` one behind the other.
void coefficients_of_row(const PrefixRow<std::uint32_t>& row, const LinearSolver& solver, std::size_t count,
                         std::uint64_t* coefficients);
void coefficients_of_row(const PrefixRow<std::uint64_t>& row, const LinearSolver& solver, std::size_t count,
                         std::uint64_t* coefficients);

/// Results of a row in steps of the picture, planes of `count` for every channel.
void results_of_row(const PrefixRow<std::uint64_t>& row, const LinearFormat& format, const ValueRows& guides,
                    std::size_t count, double* results);

}  // namespace satin::cpu
