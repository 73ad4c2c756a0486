// Loops over rows of lobes and cells, compiled for every SIMD target, all with the same results.

#if defined(SATIN_LOBE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LOBE_ROWS_INL_H
#undef SATIN_LOBE_ROWS_INL_H
#else
#define SATIN_LOBE_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include "lobes/maths/lobe_cells.h"
#include "means/maths/mean.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Sums times a weight below 2^32, modulo 2^64.
template <class D, class V, class Weight>
HWY_INLINE V Weighted(D d, V sums, Weight weight) {
  const hn::Repartition<std::uint32_t, D> halves;
  const V low = hn::MulEven(hn::BitCast(halves, sums), weight);
  const V high = hn::MulEven(hn::BitCast(halves, hn::ShiftRight<32>(sums)), weight);
  return hn::Add(low, hn::BitCast(d, hn::ShiftLeft<32>(high)));
}
#endif

/// add_weighted() (means/maths/mean.h) of ahead[i] - behind[i], signed, with the two parts of a sum apart.
inline void AddWeightedDifferences(const std::uint64_t* HWY_RESTRICT ahead,
                                   const std::uint64_t* HWY_RESTRICT behind, std::size_t count,
                                   std::uint32_t weight, std::uint64_t* HWY_RESTRICT low,
                                   double* HWY_RESTRICT estimate) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Rebind<std::int64_t, decltype(d)> integers;
  const hn::Rebind<double, decltype(d)> reals;
  const auto factor = hn::Set(hn::Repartition<std::uint32_t, decltype(d)>(), weight);
  const auto real_factor = hn::Set(reals, static_cast<double>(weight));
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::Sub(hn::LoadU(d, ahead + i), hn::LoadU(d, behind + i));
    hn::StoreU(hn::Add(hn::LoadU(d, low + i), Weighted(d, sum, factor)), d, low + i);
    const auto product = hn::Mul(real_factor, hn::ConvertTo(reals, hn::BitCast(integers, sum)));
    hn::StoreU(hn::Add(hn::LoadU(reals, estimate + i), product), reals, estimate + i);
  }
#endif
  for (; i < count; ++i) {
    WideSum total{low[i], estimate[i]};
    add_weighted(total, weight, ahead[i] - behind[i], true);
    low[i] = total.low;
    estimate[i] = total.estimate;
  }
}

/// whole[i] = whole_value() (lobes/maths/lobe_cells.h) of values[i], which fits; then values[i] becomes that
/// of the next row of pixels between the rows of cells `above` and `below`.
inline void RoundAndStep(const std::uint64_t* HWY_RESTRICT above, const std::uint64_t* HWY_RESTRICT below,
                         std::size_t count, int cell_bits, std::uint64_t* HWY_RESTRICT values,
                         std::uint32_t* HWY_RESTRICT whole) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Rebind<std::uint32_t, decltype(d)> narrow;
  const int bits = value_bits(cell_bits);
  const auto half = hn::Set(d, std::uint64_t{1} << (bits - 1));
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    hn::StoreU(hn::TruncateTo(narrow, hn::ShiftRightSame(hn::Add(value, half), bits)), narrow, whole + i);
    const auto step = hn::Sub(hn::LoadU(d, below + i), hn::LoadU(d, above + i));
    hn::StoreU(hn::Add(value, hn::Add(step, step)), d, values + i);
  }
  for (; i < count; ++i) {
    whole[i] = static_cast<std::uint32_t>(whole_value(values[i], cell_bits));
    values[i] += 2 * (below[i] - above[i]);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
