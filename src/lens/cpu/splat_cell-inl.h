// Cells of sums, for the files of the splat that Highway compiles once for every SIMD target.

#if defined(SATIN_DEPOSIT_CELL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DEPOSIT_CELL_INL_H
#undef SATIN_DEPOSIT_CELL_INL_H
#else
#define SATIN_DEPOSIT_CELL_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lens/cpu/splat_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int Size>
using SizedTag = hn::CappedTag<std::uint64_t, static_cast<std::size_t>(Size)>;
template <int Channels>
using CellTag = SizedTag<cell_size(Channels)>;

/// Masks of the lanes that hold colours, and 1 in the lane of the weights.
template <int Channels>
struct CellLanes {
  std::uint64_t colours[static_cast<std::size_t>(cell_size(Channels))] = {};
  std::uint64_t weight[static_cast<std::size_t>(cell_size(Channels))] = {};

  constexpr CellLanes() {
    for (int c = 0; c < Channels; ++c) colours[c] = ~std::uint64_t{0};
    weight[Channels] = 1;
  }
};

/// weight * (colours, 1) from lane `part` on. A whole cell of colours is read.
template <int Channels>
HWY_INLINE auto WeightedCell(const std::uint32_t* colour, std::uint32_t weight, std::size_t part) {
  static constexpr CellLanes<Channels> lanes;
  const CellTag<Channels> d;
  const hn::Rebind<std::uint32_t, decltype(d)> narrow;
  const auto colours =
      hn::And(hn::PromoteTo(d, hn::LoadU(narrow, colour + part)), hn::LoadU(d, lanes.colours + part));
  const auto values = hn::Or(colours, hn::LoadU(d, lanes.weight + part));
  const auto weights = hn::Set(d, weight);
  if constexpr (hn::MaxLanes(CellTag<Channels>()) == 1) {
    return hn::Mul(values, weights);
  } else {  // both are below 2^32, and most targets have no other multiplication
    const hn::Repartition<std::uint32_t, CellTag<Channels>> halves;
    return hn::MulEven(hn::BitCast(halves, values), hn::BitCast(halves, weights));
  }
}

/// Colours of a pixel with as much behind them as a cell reads.
template <int Channels>
struct Padded {
  std::uint32_t colour[static_cast<std::size_t>(cell_size(Channels))] = {};
  explicit Padded(const std::uint32_t* from) { std::copy_n(from, Channels, colour); }
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
