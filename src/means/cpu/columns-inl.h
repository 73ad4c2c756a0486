// Column sums over a window of rows that slides down, compiled for every SIMD target.

#if defined(SATIN_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_COLUMNS_INL_H
#undef SATIN_COLUMNS_INL_H
#else
#define SATIN_COLUMNS_INL_H
#endif

#include <hwy/highway.h>

#include "core/workspace.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
const T* As(const std::byte* row) {
  return reinterpret_cast<const T*>(row);
}

template <class T>
T* As(WorkspaceVector<std::byte>& row) {
  return reinterpret_cast<T*>(row.data());
}

/// One step down: sums[i] += enters[i] - above[i], the sum over the whole rows of the window, and
/// weighted[i] = 256 sums[i] + outer (above[i] + below[i]), with the rows that it covers partly. `above` left
/// the window in this step. Value is u8, u16 or u32. Sums and, where Sum is u32, weighted sums are below
/// 2^31.
template <class Value, class Sum>
void Slide(const Value* HWY_RESTRICT enters, const Value* HWY_RESTRICT above, const Value* HWY_RESTRICT below,
           std::uint32_t outer, std::size_t count, std::uint32_t* HWY_RESTRICT sums,
           Sum* HWY_RESTRICT weighted) {
  const hn::ScalableTag<Sum> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto leaves = LoadWide(du, above + i);
    const auto sum = hn::Add(hn::LoadU(du, sums + i), hn::Sub(LoadWide(du, enters + i), leaves));
    const auto edges = hn::Add(leaves, LoadWide(du, below + i));
    hn::StoreU(sum, du, sums + i);
    if constexpr (sizeof(Sum) == 4) {
      hn::StoreU(hn::Add(hn::ShiftLeft<8>(sum), hn::Mul(edges, hn::Set(du, outer))), du, weighted + i);
    } else {
      const auto covered = hn::Mul(ExactDouble(d, edges), hn::Set(d, static_cast<double>(outer)));
      hn::StoreU(hn::Add(hn::Mul(ExactDouble(d, sum), hn::Set(d, 256.0)), covered), d, weighted + i);
    }
  }
  for (; i < count; ++i) {
    const std::uint32_t leaves = above[i];
    sums[i] += enters[i] - leaves;
    weighted[i] =
        Sum{256} * static_cast<Sum>(sums[i]) + static_cast<Sum>(outer) * static_cast<Sum>(leaves + below[i]);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
