// Highway compiles this file once for every SIMD target and chooses at run time. Cells that do not fit a
// vector are done in parts, one after the other.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/deposit_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "core/cpu/deposit_simd.h"
#include "core/maths/composite.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int Channels>
using CellTag = hn::CappedTag<std::uint64_t, static_cast<std::size_t>(cell_size(Channels))>;

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
  return hn::Mul(hn::Or(colours, hn::LoadU(d, lanes.weight + part)), hn::Set(d, weight));
}

/// The corners of one staircase in the rows of a group.
template <int Channels>
struct Corners {
  const Staircase& stairs;
  std::int64_t x;
  std::int64_t more;
  std::uint64_t* const* rows;
  const DeltaRows& area;

  [[nodiscard]] HWY_INLINE std::int64_t column(std::int64_t at) const {
    return (std::clamp(at, area.first, area.last) - area.first) * cell_size(Channels);
  }

  template <class D, class V>
  HWY_INLINE void Add(D d, V cell, std::size_t part) const {
    const auto add = [&](std::uint64_t* to) { hn::StoreU(hn::Add(hn::LoadU(d, to), cell), d, to); };
    const auto take = [&](std::uint64_t* to) { hn::StoreU(hn::Sub(hn::LoadU(d, to), cell), d, to); };
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
};

template <int Channels>
HWY_INLINE bool IsHighlight(const DepositRule& rule, const std::uint32_t* colour) {
  bool highlight = false;
  for (int c = 0; c < Channels; ++c) highlight |= c < rule.highlight_channels && colour[c] > rule.white;
  return highlight;
}

/// A whole cell of colours is read.
template <int Channels>
HWY_INLINE void Spread(const DepositRule& rule, const std::uint32_t* colour, std::int64_t x,
                       std::uint32_t radius, std::uint32_t weight, std::uint32_t group, bool block,
                       const DeltaRows& area) {
  const CellTag<Channels> d;
  const LensKernel& kernel = lens_kernel(rule.kernels, radius, IsHighlight<Channels>(rule, colour), block);
  const std::int64_t more = block ? 2 : 1;
  std::uint64_t* const* rows = area.rows + group * area.span;
  for (int i = 0; i < 2 && kernel.weight[i] != 0; ++i) {
    const Staircase& stairs = rule.kernels.staircases[kernel.staircase[i]];
    const std::int64_t widest = stairs.wide[stairs.boxes - 1];
    if (x - widest >= area.last || x + widest + more <= area.first) continue;
    const std::uint32_t share =
        weight == lens_full_weight ? kernel.weight[i] : sample_weight(kernel.weight[i], weight);
    const Corners<Channels> corners{stairs, x, more, rows, area};
    for (std::size_t part = 0; part < cell_size(Channels); part += hn::Lanes(d))
      corners.Add(d, WeightedCell<Channels>(colour, share, part), part);
  }
}

/// Colours of a pixel with as much behind them as a cell reads.
template <int Channels>
struct Padded {
  std::uint32_t colour[static_cast<std::size_t>(cell_size(Channels))] = {};
  explicit Padded(const std::uint32_t* from) { std::copy_n(from, Channels, colour); }
};

template <int Channels>
GroupsOfRow SpreadVisible(const DepositRule& rule, const VisibleRow& row, std::int64_t begin,
                          std::int64_t end, const DeltaRows& area) {
  GroupsOfRow found;
  const Padded<Channels> last(row.colours + (row.width - 1) * Channels);
  for (std::int64_t x = begin; x < end; ++x) {
    const std::uint32_t weight = row.weights[x];
    if (weight == 0) continue;
    const std::uint32_t group = std::min<std::uint32_t>(row.groups[x], rule.last_group);
    if (row.radii[x] <= lens_focus_radius) {
      found.focused |= 1U << group;
      continue;
    }
    found.spread |= 1U << group;
    Spread<Channels>(rule, x + 1 == row.width ? last.colour : row.colours + x * Channels, x, row.radii[x],
                     weight, group, false, area);
  }
  return found;
}

template <int Channels>
GroupsOfRow SpreadListed(const DepositRule& rule, const LensSample* listed, const std::uint32_t* places,
                         std::size_t count, const DeltaRows& area) {
  GroupsOfRow found;
  for (std::size_t i = 0; i < count; ++i) {
    const LensSample& sample = listed[places[i]];
    if (sample.weight == 0) continue;
    const std::uint32_t group = std::min<std::uint32_t>(sample.group, rule.last_group);
    found.spread |= 1U << group;
    const Padded<Channels> colour(sample.colour);
    Spread<Channels>(rule, colour.colour, sample.x, sample.radius, sample.weight, group, sample.block == 2,
                     area);
  }
  return found;
}

/// Sums of a row: columns += deltas, deltas = 0, sums = prefix sums of the columns.
template <int Channels>
HWY_INLINE void IntegrateRow(std::uint64_t* HWY_RESTRICT deltas, std::uint64_t* HWY_RESTRICT columns,
                             std::int64_t pixels, std::uint64_t* HWY_RESTRICT sums) {
  const CellTag<Channels> d;
  constexpr std::int64_t size = cell_size(Channels);
  const auto zero = hn::Zero(d);
  for (std::size_t part = 0; part < size; part += hn::Lanes(d)) {
    auto prefix = zero;
    for (std::int64_t i = 0; i < pixels * size; i += size) {
      const auto column = hn::Add(hn::LoadU(d, columns + part + i), hn::LoadU(d, deltas + part + i));
      hn::StoreU(column, d, columns + part + i);
      hn::StoreU(zero, d, deltas + part + i);
      prefix = hn::Add(prefix, column);
      hn::StoreU(prefix, d, sums + part + i);
    }
  }
}

/// Adds the samples that stay on their pixels.
template <int Channels>
HWY_INLINE void AddFocused(const DepositRule& rule, const VisibleRow& row, std::uint32_t group,
                           std::int64_t first, std::int64_t last, std::uint64_t* sums) {
  const CellTag<Channels> d;
  const std::uint32_t whole = 1U << rule.kernels.weight_bits;
  const Padded<Channels> end(row.colours + (row.width - 1) * Channels);
  for (std::int64_t x = first; x < last; ++x, sums += cell_size(Channels)) {
    if (row.radii[x] > lens_focus_radius) continue;
    if (std::min<std::uint32_t>(row.groups[x], rule.last_group) != group) continue;
    const std::uint32_t weight = sample_weight(whole, row.weights[x]);
    const std::uint32_t* colour = x + 1 == row.width ? end.colour : row.colours + x * Channels;
    for (std::size_t part = 0; part < cell_size(Channels); part += hn::Lanes(d))
      hn::StoreU(hn::Add(hn::LoadU(d, sums + part), WeightedCell<Channels>(colour, weight, part)), d,
                 sums + part);
  }
}

/// Integers below 2^63, and below 2^53 where Real is float, rounded once: as Composite does.
template <class Real, class D, class V>
HWY_INLINE auto RealOf(D /*d*/, V sums) {
  const hn::Rebind<double, D> wide;
  const auto values = hn::ConvertTo(wide, hn::BitCast(hn::Rebind<std::int64_t, D>(), sums));
  if constexpr (sizeof(Real) == 8) {
    return values;
  } else {
    return hn::DemoteTo(hn::Rebind<float, D>(), values);
  }
}

/// Composite::add() for all lanes at once.
template <class Real, int Channels>
HWY_INLINE void CompositeRow(const DepositRule& rule, const std::uint64_t* sums, std::int64_t pixels,
                             Real* HWY_RESTRICT state) {
  const CellTag<Channels> d;
  const hn::Rebind<Real, CellTag<Channels>> real;
  const auto unit = static_cast<Real>(std::ldexp(1.0, -rule.kernels.weight_bits));
  constexpr std::int64_t size = cell_size(Channels);
  for (std::int64_t i = 0; i < pixels * size; i += size) {
    if (sums[i + Channels] == 0) continue;
    const Real weight = Composite<Real, Channels>::real(sums[i + Channels]) * unit;
    const Real factor = Composite<Real, Channels>::factor(weight, state[i + Channels]);
    for (std::size_t part = 0; part < size; part += hn::Lanes(d)) {
      Real* to = state + i + part;
      const auto values = hn::Mul(RealOf<Real>(d, hn::LoadU(d, sums + i + part)), hn::Set(real, unit));
      hn::StoreU(hn::Add(hn::LoadU(real, to), hn::Mul(hn::Set(real, factor), values)), real, to);
    }
  }
}

template <int Channels>
void CompositeGroup(const DepositRule& rule, const GroupRow& group, const VisibleRow& row, std::int64_t first,
                    std::int64_t last, std::uint64_t* sums, void* state) {
  if (group.spread) {
    IntegrateRow<Channels>(group.deltas, group.columns, last - first, sums);
  } else {
    std::fill_n(sums, (last - first) * cell_size(Channels), std::uint64_t{0});
  }
  if (group.focused) AddFocused<Channels>(rule, row, group.group, first, last, sums);
  if (rule.colour_bits <= most_bits_in_float)
    return CompositeRow<float, Channels>(rule, sums, last - first, static_cast<float*>(state));
  CompositeRow<double, Channels>(rule, sums, last - first, static_cast<double*>(state));
}

/// Composite::result() of colours below 2^most_bits_in_float.
template <int Channels>
HWY_INLINE void StoreNarrow(const float* state, const std::uint32_t* source, std::size_t pixels,
                            std::uint32_t* out) {
  constexpr std::size_t size = cell_size(Channels);
  const hn::CappedTag<float, size> d;
  const hn::RebindToSigned<decltype(d)> integers;
  std::int32_t whole[size];
  for (std::size_t x = 0; x < pixels; ++x, state += size, source += Channels, out += Channels) {
    const float covered = state[Channels];
    if (!(covered > 0)) {
      std::copy_n(source, Channels, out);
      continue;
    }
    for (std::size_t part = 0; part < size; part += hn::Lanes(d)) {
      const auto colour = hn::Div(hn::LoadU(d, state + part), hn::Set(d, covered));
      hn::StoreU(hn::ConvertTo(integers, hn::Add(colour, hn::Set(d, 0.5F))), integers, whole + part);
    }
    for (int c = 0; c < Channels; ++c) out[c] = static_cast<std::uint32_t>(whole[c]);
  }
}

template <int Channels>
HWY_INLINE void StoreWide(const double* state, const std::uint32_t* source, std::size_t pixels,
                          std::uint32_t* out) {
  constexpr int size = cell_size(Channels);
  for (std::size_t x = 0; x < pixels; ++x, state += size, source += Channels, out += Channels) {
    Composite<double, Channels> composite;
    for (int c = 0; c < Channels; ++c) composite.colour[c] = state[c];
    composite.covered = state[Channels];
    for (int c = 0; c < Channels; ++c) out[c] = composite.empty() ? source[c] : composite.result(c);
  }
}

template <int Channels>
void StoreComposite(const DepositRule& rule, const void* state, const std::uint32_t* source,
                    std::size_t pixels, std::uint32_t* out) {
  if (rule.colour_bits <= most_bits_in_float)
    return StoreNarrow<Channels>(static_cast<const float*>(state), source, pixels, out);
  StoreWide<Channels>(static_cast<const double*>(state), source, pixels, out);
}

// Highway dispatches plain functions: one name for each.
#define SATIN_EVERY_CHANNELS(name, ...)  \
  switch (rule.channels) {               \
    case 1:                              \
      return name<1>(rule, __VA_ARGS__); \
    case 2:                              \
      return name<2>(rule, __VA_ARGS__); \
    case 3:                              \
      return name<3>(rule, __VA_ARGS__); \
    default:                             \
      return name<4>(rule, __VA_ARGS__); \
  }
GroupsOfRow SpreadAnyVisible(const DepositRule& rule, const VisibleRow& row, std::int64_t begin,
                             std::int64_t end, const DeltaRows& area){
    SATIN_EVERY_CHANNELS(SpreadVisible, row, begin, end, area)}

GroupsOfRow SpreadAnyListed(const DepositRule& rule, const LensSample* listed, const std::uint32_t* places,
                            std::size_t count, const DeltaRows& area) {
  SATIN_EVERY_CHANNELS(SpreadListed, listed, places, count, area)
}

void CompositeAnyGroup(const DepositRule& rule, const GroupRow& group, const VisibleRow& row,
                       std::int64_t first, std::int64_t last, std::uint64_t* sums, void* state) {
  SATIN_EVERY_CHANNELS(CompositeGroup, group, row, first, last, sums, state)
}

void StoreAnyComposite(const DepositRule& rule, const void* state, const std::uint32_t* source,
                       std::size_t pixels, std::uint32_t* out) {
  SATIN_EVERY_CHANNELS(StoreComposite, state, source, pixels, out)
}
#undef SATIN_EVERY_CHANNELS

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(SpreadAnyVisible);
HWY_EXPORT(SpreadAnyListed);
HWY_EXPORT(CompositeAnyGroup);
HWY_EXPORT(StoreAnyComposite);

GroupsOfRow spread_visible(const DepositRule& rule, const VisibleRow& row, std::int64_t begin,
                           std::int64_t end, const DeltaRows& rows) {
  return HWY_DYNAMIC_DISPATCH(SpreadAnyVisible)(rule, row, begin, end, rows);
}
GroupsOfRow spread_listed(const DepositRule& rule, const LensSample* listed, const std::uint32_t* places,
                          std::size_t count, const DeltaRows& rows) {
  return HWY_DYNAMIC_DISPATCH(SpreadAnyListed)(rule, listed, places, count, rows);
}
void composite_group(const DepositRule& rule, const GroupRow& group, const VisibleRow& row,
                     std::int64_t first, std::int64_t last, std::uint64_t* sums, void* state) {
  HWY_DYNAMIC_DISPATCH(CompositeAnyGroup)(rule, group, row, first, last, sums, state);
}
void store_composite(const DepositRule& rule, const void* state, const std::uint32_t* source,
                     std::size_t pixels, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(StoreAnyComposite)(rule, state, source, pixels, out);
}

}  // namespace satin::cpu
#endif
