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

/// One block of a bundle.
template <class Real>
struct BlockScan {
  const Real* from = nullptr;  ///< of the position that the scan meets first
  Real* values = nullptr;      ///< results; may be `from`
  std::ptrdiff_t step = 0;     ///< from position to position: bundle_lines or its negative
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

/// Vectors of lines from `line` on, two or, where a bundle has as many, four at a time: that hides the
/// latency of the recurrence. `Own`: every pair has its coefficient.
template <bool Own, bool Four, class D, class Real>
void ScanVectors(D d, const BlockScan<Real>& scan, std::size_t line) {
  const std::size_t lanes = hn::Lanes(d);
  const Real* products = scan.products + (scan.first ? 0 : 1);
  const Real* from = scan.from + line;
  Real* values = scan.values + line;
  const Real* coefficients = Own ? scan.coefficients + line : nullptr;
  const auto first = [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, from + i * lanes); };
  const auto difference = [&](std::size_t i, auto x)
                              HWY_ATTR { return DifferenceBefore(d, scan, line + i * lanes, x); };
  auto z0 = first(0);
  auto z1 = first(1);
  auto z2 = Four ? first(2) : z0;
  auto z3 = Four ? first(3) : z1;
  const auto difference0 = difference(0, z0);
  const auto difference1 = difference(1, z1);
  const auto difference2 = Four ? difference(2, z2) : difference0;
  const auto difference3 = Four ? difference(3, z3) : difference1;
  auto p0 = hn::Set(d, static_cast<Real>(1));
  auto p1 = p0;
  auto p2 = p0;
  auto p3 = p0;
  const auto feedback = hn::Set(d, scan.feedback);
  for (int position = 0; position < scan.positions; ++position) {
    const bool multiplies = position > 0 || !scan.first;
    const auto step = [&](std::size_t i, auto& z, auto& p, auto difference_before) HWY_ATTR {
      auto a = feedback;
      if constexpr (Own) {
        a = hn::LoadU(d, coefficients + i * lanes);
        if (multiplies) p = KeptProduct(d, hn::Mul(p, a));
      } else {
        p = hn::Set(d, products[position]);
      }
      z = Follow(d, hn::LoadU(d, from + i * lanes), a, z);
      hn::StoreU(hn::Add(z, hn::Mul(p, difference_before)), d, values + i * lanes);
    };
    step(0, z0, p0, difference0);
    step(1, z1, p1, difference1);
    if constexpr (Four) {
      step(2, z2, p2, difference2);
      step(3, z3, p3, difference3);
    }
    from += scan.step;
    values += scan.step;
    if constexpr (Own) coefficients += scan.step;
  }
  values -= scan.step;
  for (std::size_t i = 0; i < (Four ? 4 : 2); ++i)
    hn::StoreU(hn::LoadU(d, values + i * lanes), d, scan.carry + line + i * lanes);
}

template <bool Own, class Real>
void ScanLines(const BlockScan<Real>& scan) {
  const Lines<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  if (4 * lanes <= bundle_lines<Real>) {
    for (std::size_t line = 0; line < bundle_lines<Real>; line += 4 * lanes)
      ScanVectors<Own, true>(d, scan, line);
  } else {
    ScanVectors<Own, false>(d, scan, 0);
  }
}

template <class Real>
void ScanBlock(const BlockScan<Real>& scan) {
  scan.coefficients == nullptr ? ScanLines<false>(scan) : ScanLines<true>(scan);
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
/// Four values of each row that a vector has quarters for, rows `apart` of each other: row after row in
/// blocks of four.
template <class D>
HWY_INLINE hn::Vec<D> LoadQuarters(D d, const float* from, std::size_t apart) {
  if constexpr (HWY_HAVE_SCALABLE || hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadQuarters(half, from + hn::MaxLanes(half) * apart, apart),
                       LoadQuarters(half, from, apart));
  }
}

/// Squares of 4 x 4, as many side by side as a vector has quarters: `rows` is a multiple of its lanes,
/// `columns` of 4.
template <class D>
void TransposeSquares(D d, const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                      float* to, std::size_t to_step) {
  const hn::Repartition<double, D> pairs;
  const std::size_t lanes = hn::MaxLanes(d);
  for (std::size_t j = 0; j + 4 <= columns; j += 4) {
    for (std::size_t i = 0; i + lanes <= rows; i += lanes) {
      const float* corner = from + i * from_step + j;
      const auto row = [&](std::size_t r)
                           HWY_ATTR { return LoadQuarters(d, corner + r * from_step, from_step); };
      const auto r0 = row(0);
      const auto r1 = row(1);
      const auto r2 = row(2);
      const auto r3 = row(3);
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
  const hn::FixedTag<float, HWY_HAVE_SCALABLE ? 4 : HWY_MAX_BYTES / sizeof(float)> d;
  whole_rows = rows / hn::MaxLanes(d) * hn::MaxLanes(d);
  whole_columns = columns / 4 * 4;
  TransposeSquares(d, from, from_step, whole_rows, whole_columns, to, to_step);
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
