// The loops of recursive/maths/recursive.h over lines that lie side by side, compiled for every SIMD target:
// the same operations in the same order, so that every target gives the same bytes.

#if defined(SATIN_RECURSIVE_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_RECURSIVE_LINES_INL_H
#undef SATIN_RECURSIVE_LINES_INL_H
#else
#define SATIN_RECURSIVE_LINES_INL_H
#endif

#include <hwy/highway.h>

#include "recursive/maths/recursive.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

/// A bundle is an even number of such vectors.
template <class Real>
using Lines = hn::CappedTag<Real, bundle_lines<Real> / 2>;

template <class D, class V = hn::Vec<D>>
V Follow(D, V x, V a, V before) {
  return hn::Add(x, hn::Mul(a, hn::Sub(before, x)));
}

template <class D, class V = hn::Vec<D>>
V KeptProduct(D d, V product) {
  using Real = hn::TFromD<D>;
  const auto small = hn::Lt(product, hn::Set(d, static_cast<Real>(smallest_product)));
  return hn::IfThenZeroElse(small, product);
}

template <class D, class V = hn::Vec<D>>
V CarriedDifference(D d, V carry, V reference) {
  const auto difference = hn::Sub(carry, reference);
  const auto small = hn::Lt(hn::Abs(difference), hn::Set(d, negligible<hn::TFromD<D>>));
  return hn::IfThenZeroElse(small, difference);
}

/// c - r of the lines at `line`, whose first values are x.
template <class D, class V = hn::Vec<D>>
V DifferenceBefore(D d, const BlockScan<hn::TFromD<D>>& scan, std::size_t line, V x) {
  const auto carry = hn::LoadU(d, scan.carry + line);
  return scan.first ? carry : CarriedDifference(d, carry, x);
}

/// Two vectors of lines at a time hide the latency of the recurrence. `Own`: every pair has its coefficient.
template <bool Own, class Real>
void ScanPairs(const BlockScan<Real>& scan) {
  const Lines<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  const Real* products = scan.products + (scan.first ? 0 : 1);
  for (std::size_t line = 0; line < bundle_lines<Real>; line += 2 * lanes) {
    Real* values = scan.values + line;
    const Real* coefficients = Own ? scan.coefficients + line : nullptr;
    auto z0 = hn::LoadU(d, values);
    auto z1 = hn::LoadU(d, values + lanes);
    const auto difference0 = DifferenceBefore(d, scan, line, z0);
    const auto difference1 = DifferenceBefore(d, scan, line + lanes, z1);
    auto a0 = hn::Set(d, scan.feedback);
    auto a1 = a0;
    auto p0 = hn::Set(d, static_cast<Real>(1));
    auto p1 = p0;
    auto y0 = z0;
    auto y1 = z1;
    for (int i = 0; i < scan.positions; ++i, values += scan.step) {
      if constexpr (Own) {
        a0 = hn::LoadU(d, coefficients);
        a1 = hn::LoadU(d, coefficients + lanes);
        coefficients += scan.step;
        if (i > 0 || !scan.first) {
          p0 = KeptProduct(d, hn::Mul(p0, a0));
          p1 = KeptProduct(d, hn::Mul(p1, a1));
        }
      } else {
        p0 = p1 = hn::Set(d, products[i]);
      }
      z0 = Follow(d, hn::LoadU(d, values), a0, z0);
      z1 = Follow(d, hn::LoadU(d, values + lanes), a1, z1);
      y0 = hn::Add(z0, hn::Mul(p0, difference0));
      y1 = hn::Add(z1, hn::Mul(p1, difference1));
      hn::StoreU(y0, d, values);
      hn::StoreU(y1, d, values + lanes);
    }
    hn::StoreU(y0, d, scan.carry + line);
    hn::StoreU(y1, d, scan.carry + line + lanes);
  }
}

template <class Real>
void ScanBlock(const BlockScan<Real>& scan) {
  scan.coefficients == nullptr ? ScanPairs<false>(scan) : ScanPairs<true>(scan);
}

/// decay() of recursive/maths/recursive.h.
template <class D, class V = hn::Vec<D>>
V Decay(D d, V t) {
  using Real = hn::TFromD<D>;
  using K = DecayTerms<Real>;
  const hn::RebindToSigned<D> integers;
  using Int = hn::TFromD<decltype(integers)>;
  constexpr int bits = sizeof(Real) == 4 ? 23 : 52;
  constexpr Int bias = sizeof(Real) == 4 ? 127 : 1023;
  const auto end = hn::Set(d, static_cast<Real>(decay_end));
  const auto bounded = hn::Min(t, end);
  const auto whole = hn::Floor(hn::Add(bounded, hn::Set(d, static_cast<Real>(0.5))));
  const auto f = hn::Sub(bounded, whole);
  auto q = hn::Set(d, K::k6);
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k5));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k4));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k3));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k2));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k1));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k0));
  const auto exponent = hn::Sub(hn::Set(integers, bias), hn::ConvertTo(integers, whole));
  const auto scale = hn::BitCast(d, hn::ShiftLeft<bits>(exponent));
  const auto result = hn::Mul(hn::Sub(hn::Set(d, static_cast<Real>(1)), hn::Mul(f, q)), scale);
  return hn::IfThenElseZero(hn::Lt(t, end), result);
}

/// coefficients[i] = decay(rate * distances[i])
template <class Real>
void Decays(const float* distances, std::size_t count, Real rate, Real* coefficients) {
  const Lines<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, rate);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    if constexpr (sizeof(Real) == 4) {
      hn::StoreU(Decay(d, hn::Mul(factor, hn::LoadU(d, distances + i))), d, coefficients + i);
    } else {
      const auto wide = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), distances + i));
      hn::StoreU(Decay(d, hn::Mul(factor, wide)), d, coefficients + i);
    }
  }
  for (; i < count; ++i) coefficients[i] = decay(rate * static_cast<Real>(distances[i]));
}

#if HWY_TARGET != HWY_SCALAR
/// Squares of 4 x 4.
inline void TransposeSquares(const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                             float* to, std::size_t to_step) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  for (std::size_t i = 0; i + 4 <= rows; i += 4) {
    for (std::size_t j = 0; j + 4 <= columns; j += 4) {
      const float* corner = from + i * from_step + j;
      const auto r0 = hn::LoadU(d, corner);
      const auto r1 = hn::LoadU(d, corner + from_step);
      const auto r2 = hn::LoadU(d, corner + 2 * from_step);
      const auto r3 = hn::LoadU(d, corner + 3 * from_step);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
      float* out = to + j * to_step + i;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, out);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, out + to_step);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, out + 2 * to_step);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, out + 3 * to_step);
    }
  }
}
#endif

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns.
inline void Transpose(const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                      float* to, std::size_t to_step) {
  std::size_t whole_rows = 0;
  std::size_t whole_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  whole_rows = rows / 4 * 4;
  whole_columns = columns / 4 * 4;
  TransposeSquares(from, from_step, whole_rows, whole_columns, to, to_step);
#endif
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * to_step + i] = from[i * from_step + j];
}
inline void Transpose(const double* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                      double* to, std::size_t to_step) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) to[j * to_step + i] = from[i * from_step + j];
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
