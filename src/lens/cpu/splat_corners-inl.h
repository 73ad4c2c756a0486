// Corners of staircases in rows of deltas, one sample's or those of a run of neighbours, for the file that
// Highway compiles once for every SIMD target. Cells that do not fit a vector are done in parts, one after
// the other.

#if defined(SATIN_SPLAT_CORNERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_CORNERS_INL_H
#undef SATIN_SPLAT_CORNERS_INL_H
#else
#define SATIN_SPLAT_CORNERS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "lens/cpu/splat_visible-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Rows of second differences of columns first to last - 1, and one cell more that takes what lies beyond.
/// Samples left of the first column count there.
struct DeltaRows {
  std::int64_t first = 0;
  std::int64_t last = 0;
  /// rows[group * span + reach + dy] lies dy rows below the sample's; rows above the band are its first one,
  /// and rows below it one that nobody reads.
  std::uint64_t* const* rows = nullptr;
  std::int64_t reach = 0;
  std::int64_t span = 0;
};

/// Which groups a row has samples of: bit 0 is group 0.
struct GroupsOfRow {
  std::uint32_t spread = 0;   ///< out of focus
  std::uint32_t focused = 0;  ///< these stay on their pixels
};

/// Adds a cell of Size sums to the corners of one staircase around column x, in the rows of a group. This and
/// what adds runs are calls, once for each size of a cell: made part of their callers, for every number of
/// channels and kind of sample, they took six times as long to compile.
template <int Size>
HWY_NOINLINE void AddCorners(const Staircase& stairs, std::int64_t x, std::int64_t more,
                             const std::uint64_t* cell, std::uint64_t* const* rows, const DeltaRows& area) {
  const SizedTag<Size> d;
  const auto column = [&](std::int64_t at) {
    return (std::clamp(at, area.first, area.last) - area.first) * Size;
  };
  for (std::size_t part = 0; part < Size; part += hn::Lanes(d)) {
    const auto values = hn::LoadU(d, cell + part);
    const auto add = [&](std::uint64_t* to)
                         HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, to), values), d, to); };
    const auto take = [&](std::uint64_t* to)
                          HWY_ATTR { hn::StoreU(hn::Sub(hn::LoadU(d, to), values), d, to); };
    std::int64_t inner_left = 0;
    std::int64_t inner_right = 0;
    for (int k = 0; k < stairs.boxes; ++k) {
      const std::int64_t left = column(x - stairs.wide[k]);
      const std::int64_t right = column(x + stairs.wide[k] + more);
      std::uint64_t* top = rows[area.reach - stairs.high[k]] + part;
      std::uint64_t* bottom = rows[area.reach + stairs.high[k] + more] + part;
      if (k > 0) {
        take(top + inner_left);
        add(top + inner_right);
        add(bottom + inner_left);
        take(bottom + inner_right);
      }
      add(top + left);
      take(top + right);
      take(bottom + left);
      add(bottom + right);
      inner_left = left;
      inner_right = right;
    }
  }
}

/// cell_of(share, part) is what every pixel of a staircase gets.
template <int Channels, class CellOf>
HWY_INLINE void Spread(const SplatRule& rule, const LensKernel& kernel, std::int64_t x, std::uint32_t weight,
                       std::uint32_t group, bool block, const DeltaRows& area, const CellOf& cell_of) {
  const CellTag<Channels> d;
  const std::int64_t more = block ? 2 : 1;
  std::uint64_t* const* rows = area.rows + group * area.span;
  for (int i = 0; i < 2 && kernel.weight[i] != 0; ++i) {
    const Staircase& stairs = rule.kernels.staircases[kernel.staircase[i]];
    const std::int64_t widest = stairs.wide[stairs.boxes - 1];
    if (x - widest >= area.last || x + widest + more <= area.first) continue;
    const std::uint32_t share =
        weight == lens_full_weight ? kernel.weight[i] : sample_weight(kernel.weight[i], weight);
    HWY_ALIGN std::uint64_t cell[static_cast<std::size_t>(cell_size(Channels))];
    for (std::size_t part = 0; part < cell_size(Channels); part += hn::Lanes(d))
      hn::StoreU(cell_of(share, part), d, cell + part);
    AddCorners<cell_size(Channels)>(stairs, x, more, cell, rows, area);
  }
}

/// Neighbouring samples of one group and the same staircases: as their corners are neighbours too, each
/// corner is added for all of them at once. Where depth is smooth almost all samples lie in runs.
template <int Size>
struct SampleRun {
  static constexpr std::int64_t most = 64;
  static constexpr std::int64_t size = Size;

  std::int64_t first = 0;                ///< column
  std::int64_t count = 0;                ///< of columns
  std::int64_t more = 1;                 ///< 2 for blocks: every other column has one
  std::uint64_t* const* rows = nullptr;  ///< of the group, from the samples' own row on

  /// Cells of the run for either staircase, weighted by it; zeros lie around them.
  [[nodiscard]] HWY_INLINE std::uint64_t* Cells(int which) { return cells_[which] + most * size; }

  template <class CellOf>
  HWY_INLINE void Put(int which, std::int64_t place, std::uint32_t share, const CellOf& cell_of) {
    const SizedTag<Size> d;
    for (std::size_t part = 0; part < size; part += hn::Lanes(d))
      hn::StoreU(cell_of(share, part), d, Cells(which) + place * size + part);
  }
  HWY_INLINE void PutNothing(std::int64_t place) {
    for (int which = 0; which < 2; ++which) std::fill_n(Cells(which) + place * size, size, 0);
  }

  HWY_NOINLINE void AddCorners(const Staircase& stairs, int which, std::int64_t first_column) {
    // Left and right corners of boxes that are narrower than the run meet.
    if (2 * stairs.wide[stairs.boxes - 1] + more < count) return AddDifferences(stairs, which, first_column);
    const std::uint64_t* weighted = Cells(which);
    std::int64_t inner_left = 0;
    std::int64_t inner_right = 0;
    for (int k = 0; k < stairs.boxes; ++k) {
      const std::int64_t left = (first - stairs.wide[k] - first_column) * size;
      const std::int64_t right = (first + stairs.wide[k] + more - first_column) * size;
      std::uint64_t* top = rows[-stairs.high[k]];
      std::uint64_t* bottom = rows[stairs.high[k] + more];
      if (k > 0) {
        AddCells<false>(weighted, top + inner_left);
        AddCells<true>(weighted, top + inner_right);
        AddCells<true>(weighted, bottom + inner_left);
        AddCells<false>(weighted, bottom + inner_right);
      }
      AddCells<true>(weighted, top + left);
      AddCells<false>(weighted, top + right);
      AddCells<false>(weighted, bottom + left);
      AddCells<true>(weighted, bottom + right);
      inner_left = left;
      inner_right = right;
    }
  }

 private:
  /// The differences along rows of what a box spreads, less those of the box within it, into the row that
  /// begins it and out of the row that ends it.
  HWY_INLINE void AddDifferences(const Staircase& stairs, int which, std::int64_t first_column) {
    const std::int64_t widest = stairs.wide[stairs.boxes - 1];
    constexpr auto vector = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<std::uint64_t>()));
    std::fill_n(Cells(which) + count * size, (2 * widest + more) * size + vector, std::uint64_t{0});
    for (int k = 0; k < stairs.boxes; ++k) {
      std::uint64_t* top = rows[-stairs.high[k]];
      std::uint64_t* bottom = rows[stairs.high[k] + more];
      if (k == 0) {
        AddBox<false>(which, stairs.wide[0], 0, first_column, top, bottom);
      } else {
        AddBox<true>(which, stairs.wide[k], stairs.wide[k - 1], first_column, top, bottom);
      }
    }
  }

  template <bool Inner>
  HWY_INLINE void AddBox(int which, std::int64_t wide, std::int64_t inner, std::int64_t first_column,
                         std::uint64_t* HWY_RESTRICT top, std::uint64_t* HWY_RESTRICT bottom) {
    using Tag = std::conditional_t<(hn::MaxLanes(hn::ScalableTag<std::uint64_t>()) < Size), SizedTag<Size>,
                                   hn::ScalableTag<std::uint64_t>>;
    const Tag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t left = (first - wide - first_column) * size;
    const std::int64_t begin = left / lanes * lanes;
    const std::int64_t end = (first + count + wide + more - first_column) * size;
    const std::uint64_t* own = Cells(which) + begin - (first - first_column) * size;
    for (std::int64_t i = begin; i < end; i += lanes, own += lanes) {
      const auto at = [&](std::int64_t column) HWY_ATTR { return hn::LoadU(d, own + column * size); };
      auto added = hn::Sub(at(wide), at(-wide - more));
      if constexpr (Inner) added = hn::Sub(added, hn::Sub(at(inner), at(-inner - more)));
      hn::StoreU(hn::Add(hn::LoadU(d, top + i), added), d, top + i);
      hn::StoreU(hn::Sub(hn::LoadU(d, bottom + i), added), d, bottom + i);
    }
  }

  template <bool Plus>
  HWY_INLINE void AddCells(const std::uint64_t* HWY_RESTRICT weighted, std::uint64_t* HWY_RESTRICT to) const {
    const hn::ScalableTag<std::uint64_t> wide;
    const SizedTag<Size> narrow;
    const std::int64_t values = count * size;
    std::int64_t i = 0;
    // vectors that hold several cells begin on their own multiples
    for (; i < values && reinterpret_cast<std::uintptr_t>(to + i) % (hn::Lanes(wide) * 8) != 0;
         i += static_cast<std::int64_t>(hn::Lanes(narrow)))
      AddVector<Plus>(narrow, weighted + i, to + i);
    for (const auto step = static_cast<std::int64_t>(hn::Lanes(wide)); i + step <= values; i += step)
      AddVector<Plus>(wide, weighted + i, to + i);
    for (; i < values; i += static_cast<std::int64_t>(hn::Lanes(narrow)))
      AddVector<Plus>(narrow, weighted + i, to + i);
  }

  template <bool Plus, class D>
  static HWY_INLINE void AddVector(D d, const std::uint64_t* from, std::uint64_t* to) {
    const auto sum = hn::LoadU(d, to);
    const auto cells_of = hn::LoadU(d, from);
    hn::StoreU(Plus ? hn::Add(sum, cells_of) : hn::Sub(sum, cells_of), d, to);
  }

  HWY_ALIGN std::uint64_t cells_[2][static_cast<std::size_t>(3 * most * size + 64)] = {};
};

template <int Channels>
using RunOf = SampleRun<cell_size(Channels)>;

/// The staircases of a kernel, the first one twice if there is no second.
struct TwoStaircases {
  const Staircase& first;
  const Staircase& second;
  bool two;
  std::int64_t widest;

  TwoStaircases(const LensKernelView& view, const LensKernel& kernel)
      : first(view.staircases[kernel.staircase[0]]),
        second(view.staircases[kernel.staircase[kernel.weight[1] != 0 ? 1 : 0]]),
        two(kernel.weight[1] != 0),
        widest(std::max(first.wide[first.boxes - 1], second.wide[second.boxes - 1])) {}
};

/// Adds what was put into a run.
template <int Size>
HWY_INLINE void AddRun(SampleRun<Size>& run, const TwoStaircases& stairs, std::uint32_t group,
                       const DeltaRows& area) {
  run.rows = area.rows + group * area.span + area.reach;
  run.AddCorners(stairs.first, 0, area.first);
  if (stairs.two) run.AddCorners(stairs.second, 1, area.first);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
