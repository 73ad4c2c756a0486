// The gather that Highway compiles once for every SIMD target and chooses between at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/gather_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "means/cpu/gather_simd.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Sums of one whole box, as exact doubles; D holds as many channels as fit a vector.
template <class D, class Sum>
HWY_INLINE auto WholeBox(D d, const Sum* above, const Sum* below, std::size_t left, std::size_t right) {
  const hn::Rebind<Sum, D> sums;
  const auto lower = hn::Sub(hn::LoadU(sums, below + right), hn::LoadU(sums, below + left));
  const auto upper = hn::Sub(hn::LoadU(sums, above + right), hn::LoadU(sums, above + left));
  return ExactDouble(d, hn::Sub(lower, upper));
}

template <std::size_t Channels, class Sum>
void GatherMeans(const RingTable<Sum>& table, std::size_t y, const BoxOfRadius* const* boxes,
                 std::size_t first, std::size_t last, std::uint32_t* HWY_RESTRICT means) {
  const hn::CappedTag<double, 4> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const hn::Rebind<std::uint32_t, decltype(d)> du32;
  const auto row = [&](std::size_t at) { return table.data + (at & table.row_mask) * table.stride; };
  for (std::size_t x = first; x < last; ++x) {
    const BoxOfRadius& box = *boxes[x];
    const auto reach = static_cast<std::size_t>(box.reach);
    const Sum* above = row(y - reach - 1);
    const Sum* below = row(y + reach);
    const std::size_t left = (x - reach - 1) * Channels;
    const std::size_t right = (x + reach) * Channels;
    const auto half_up = hn::Set(d, box.half_up);
    const auto reciprocal = hn::Set(d, box.reciprocal);
    for (std::size_t c = 0; c < Channels; c += hn::Lanes(d)) {
      auto sum = WholeBox(d, above + c, below + c, left, right);
      if (box.fractional) {
        const Sum* outer_above = row(y - reach - 2);
        const Sum* outer_below = row(y + reach + 1);
        const auto inner = hn::Set(d, box.inner);
        const auto outer = hn::Set(d, box.outer);
        const auto wide = WholeBox(d, above + c, below + c, left - Channels, right + Channels);
        const auto tall = WholeBox(d, outer_above + c, outer_below + c, left, right);
        const auto both = WholeBox(d, outer_above + c, outer_below + c, left - Channels, right + Channels);
        sum = hn::Add(hn::Mul(inner, hn::Add(hn::Mul(inner, sum), hn::Mul(outer, wide))),
                      hn::Mul(outer, hn::Add(hn::Mul(inner, tall), hn::Mul(outer, both))));
      }
      const auto mean = hn::DemoteTo(d32, hn::Mul(hn::Add(sum, half_up), reciprocal));
      hn::StoreU(hn::BitCast(du32, mean), du32, means + x * Channels + c);
    }
  }
}

template <class Sum>
void Gather(const RingTable<Sum>& table, std::size_t y, std::size_t channels, const BoxOfRadius* const* boxes,
            std::size_t first, std::size_t last, std::uint32_t* means) {
  switch (channels) {
    case 1:
      return GatherMeans<1>(table, y, boxes, first, last, means);
    case 2:
      return GatherMeans<2>(table, y, boxes, first, last, means);
    case 3:
      return GatherMeans<3>(table, y, boxes, first, last, means);
    default:
      return GatherMeans<4>(table, y, boxes, first, last, means);
  }
}

void GatherU32(const RingTable<std::uint32_t>& t, std::size_t y, std::size_t c, const BoxOfRadius* const* b,
               std::size_t first, std::size_t last, std::uint32_t* m) {
  Gather(t, y, c, b, first, last, m);
}
void GatherU64(const RingTable<std::uint64_t>& t, std::size_t y, std::size_t c, const BoxOfRadius* const* b,
               std::size_t first, std::size_t last, std::uint32_t* m) {
  Gather(t, y, c, b, first, last, m);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(GatherU32);
HWY_EXPORT(GatherU64);

template <>
void gather_means(const RingTable<std::uint32_t>& table, std::size_t y, std::size_t channels,
                  const BoxOfRadius* const* boxes, std::size_t first, std::size_t last,
                  std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(GatherU32)(table, y, channels, boxes, first, last, means);
}
template <>
void gather_means(const RingTable<std::uint64_t>& table, std::size_t y, std::size_t channels,
                  const BoxOfRadius* const* boxes, std::size_t first, std::size_t last,
                  std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(GatherU64)(table, y, channels, boxes, first, last, means);
}

BoxOfRadius box_of_radius(std::int32_t radius256) {
  BoxOfRadius box;
  box.reach = radius256 / 256;
  box.fractional = radius256 % 256 != 0;
  std::uint64_t side = 2 * static_cast<std::uint64_t>(box.reach) + 1;
  if (box.fractional) {
    box.outer = radius256 % 256;
    box.inner = 256 - box.outer;
    side = 2 * static_cast<std::uint64_t>(radius256) + 256;
  }
  const std::uint64_t half = side * side / 2;
  box.half_up = static_cast<double>(half) + 0.5;
  box.reciprocal = 1.0 / static_cast<double>(side * side);
  return box;
}

}  // namespace satin::cpu
#endif
