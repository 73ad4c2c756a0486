#pragma once
// The loops of recursive/maths/recursive.h over lines that lie side by side, with a version for every SIMD
// target: the same operations in the same order, so that every target gives the same bytes.

#include <cstddef>

namespace satin::cpu {

/// Lines of one bundle: 128 bytes side by side. Entry (position i, line l) is at i * bundle_lines + l.
template <class Real>
inline constexpr std::size_t bundle_lines = 128 / sizeof(Real);

/// One block of a bundle, in place.
template <class Real>
struct BlockScan {
  Real* values = nullptr;   ///< of the position that the scan meets first
  std::ptrdiff_t step = 0;  ///< from position to position: bundle_lines or its negative
  int positions = 0;
  const Real* coefficients = nullptr;  ///< one for every value, from the first position on; null: `feedback`
  Real feedback = 0;
  const Real* products = nullptr;  ///< of 0 to `positions` factors `feedback`
  bool first = false;              ///< the line's first block in the direction of the scan
  Real* carry = nullptr;  ///< one for each line: the result before the block, or its difference c - r for the
                          ///< first one; afterwards the block's last result
};

void scan_block(const BlockScan<float>& scan);
void scan_block(const BlockScan<double>& scan);

/// coefficients[i] = decay(rate * distances[i])
void decays(const float* distances, std::size_t count, float rate, float* coefficients);
void decays(const float* distances, std::size_t count, double rate, double* coefficients);

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns.
void transpose(const float* from, std::size_t from_step, std::size_t rows, std::size_t columns, float* to,
               std::size_t to_step);
void transpose(const double* from, std::size_t from_step, std::size_t rows, std::size_t columns, double* to,
               std::size_t to_step);

}  // namespace satin::cpu
