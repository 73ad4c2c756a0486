// Last stage of the splat on the CPU: integrates a row of deltas, composites it behind the nearer groups and
// stores colours. Compiled for every SIMD target.

#if defined(SATIN_SPLAT_COMPOSITE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_COMPOSITE_INL_H
#undef SATIN_SPLAT_COMPOSITE_INL_H
#else
#define SATIN_SPLAT_COMPOSITE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lens/cpu/splat_spread-inl.h"
#include "lens/splat.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Integrates a row: adds the deltas to the column sums, clears them, and writes prefix sums of the columns.
template <int Channels>
HWY_INLINE void IntegrateRow(std::uint64_t* HWY_RESTRICT deltas, std::uint64_t* HWY_RESTRICT columns,
                             std::int64_t pixels, std::uint64_t* HWY_RESTRICT sums) {
  const CellTag<Channels> d;
  constexpr std::int64_t size = cell_size(Channels);
  const auto zero = hn::Zero(d);
  for (std::size_t lane = 0; lane < size; lane += hn::Lanes(d)) {
    auto prefix = zero;
    for (std::int64_t i = 0; i < pixels * size; i += size) {
      const auto column = hn::Add(hn::LoadU(d, columns + lane + i), hn::LoadU(d, deltas + lane + i));
      hn::StoreU(column, d, columns + lane + i);
      hn::StoreU(zero, d, deltas + lane + i);
      prefix = hn::Add(prefix, column);
      hn::StoreU(prefix, d, sums + lane + i);
    }
  }
}

/// Adds the samples in focus to the sums of their pixels.
template <int Channels>
HWY_INLINE void AddFocused(const SplatRule& rule, const VisibleRow& row, std::uint32_t group,
                           std::int64_t first, std::int64_t last, std::uint64_t* sums) {
  const CellTag<Channels> d;
  const std::uint32_t whole = 1U << rule.kernels.weight_bits;
  const Padded<Channels> end(row.colours + (row.width - 1) * Channels);
  for (std::int64_t x = first; x < last; ++x, sums += cell_size(Channels)) {
    if (row.radii[x] > lens_focus_radius) continue;
    if (std::min<std::uint32_t>(row.groups[x], rule.last_group) != group) continue;
    const std::uint32_t weight = sample_weight(whole, row.weights[x]);
    const std::uint32_t* colour = x + 1 == row.width ? end.colour : row.colours + x * Channels;
    for (std::size_t lane = 0; lane < cell_size(Channels); lane += hn::Lanes(d))
      hn::StoreU(hn::Add(hn::LoadU(d, sums + lane), WeightedCell<Channels>(colour, weight, lane)), d,
                 sums + lane);
  }
}

/// Converts sums below 2^63 (below 2^53 if Real is float), rounded once as in Composite.
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

/// Composite::add() for all channels of a pixel at once.
template <class Real, int Channels>
HWY_INLINE void CompositeRow(const SplatRule& rule, const VisibleRow& row, std::uint32_t group,
                             std::int64_t first, std::int64_t last, const std::uint64_t* sums,
                             Real* HWY_RESTRICT state) {
  using State = Composite<Real, Channels>;
  const CellTag<Channels> d;
  const hn::Rebind<Real, CellTag<Channels>> real;
  const auto unit = static_cast<Real>(std::ldexp(1.0, -rule.kernels.weight_bits));
  constexpr std::int64_t size = cell_size(Channels);
  for (std::int64_t x = first; x < last; ++x) {
    const std::int64_t i = (x - first) * size;
    if (sums[i + Channels] == 0) continue;
    const Real weight = State::real(sums[i + Channels]) * unit;
    const bool closes = State::has_gap(weight) && row.IsInside(x, group);
    const Real factor = State::factor(weight, state[i + Channels], closes);
    for (std::size_t lane = 0; lane < size; lane += hn::Lanes(d)) {
      Real* to = state + i + lane;
      const auto values = hn::Mul(RealOf<Real>(d, hn::LoadU(d, sums + i + lane)), hn::Set(real, unit));
      hn::StoreU(hn::Add(hn::LoadU(real, to), hn::Mul(hn::Set(real, factor), values)), real, to);
    }
  }
}

/// A group's row, from the tile's first column on.
struct GroupRow {
  std::uint32_t group = 0;
  bool first = false;                ///< first group of the row: the state is not cleared yet
  bool spread = false;               ///< there are deltas here or above
  bool focused = false;              ///< there are samples in focus
  std::uint64_t* deltas = nullptr;   ///< read, then cleared
  std::uint64_t* columns = nullptr;  ///< sums of the deltas above; this row's are added
};

#if HWY_TARGET != HWY_SCALAR
template <int Channels>
using CellsTag = hn::CappedTag<std::uint64_t, std::size_t{2 * cell_size(Channels)}>;

/// Prefix sums along a row, one vector of cells at a time.
template <class D, std::size_t Size>
class RowPrefix {
 public:
  HWY_INLINE RowPrefix() : before_(hn::Zero(D())) {}

  template <class V>
  HWY_INLINE V operator()(V cells) {
    const D d;
    if constexpr (hn::MaxLanes(D()) == Size) {
      before_ = hn::Add(before_, cells);
      return before_;
    } else {
      const auto pair = hn::Add(cells, hn::ConcatLowerLower(d, cells, hn::Zero(d)));
      const auto sums = hn::Add(before_, pair);
      before_ = hn::Add(before_, hn::ConcatUpperUpper(d, pair, pair));
      return sums;
    }
  }

 private:
  hn::VFromD<D> before_;
};

/// IntegrateRow, AddFocused (if `Focused`) and CompositeRow in one pass, without storing sums, for cells that
/// fill a vector or half of one. A pixel without weight has no colours and adds 0. The first group overwrites
/// the state.
template <bool Focused, bool First, int Channels>
HWY_INLINE void IntegrateComposite(const SplatRule& rule, const GroupRow& group, const VisibleRow& row,
                                   std::int64_t first, std::int64_t last, float* HWY_RESTRICT state) {
  const CellsTag<Channels> d;
  const CellTag<Channels> one_cell;
  const hn::Rebind<float, CellsTag<Channels>> real;
  constexpr std::int64_t size = cell_size(Channels);
  constexpr std::int64_t cells = hn::MaxLanes(CellsTag<Channels>()) / size;
  const auto unit = hn::Set(real, static_cast<float>(std::ldexp(1.0, -rule.kernels.weight_bits)));
  const auto one = hn::Set(real, 1.0F);
  const auto almost = hn::Set(real, largest_gap_weight);
  const auto zero = hn::Zero(d);
  const std::uint32_t whole = 1U << rule.kernels.weight_bits;
  const std::uint32_t last_group = rule.last_group;
  const Padded<Channels> end(row.colours + (row.width - 1) * Channels);
  std::uint64_t* HWY_RESTRICT deltas = group.deltas;
  std::uint64_t* HWY_RESTRICT columns = group.columns;
  const auto is_focused = [&](std::int64_t x) {
    return x < last && row.radii[x] <= lens_focus_radius &&
           std::min<std::uint32_t>(row.groups[x], last_group) == group.group;
  };
  const auto focused_cell = [&](std::int64_t x, bool focused) HWY_ATTR {
    if (!focused) return hn::Zero(one_cell);
    const std::uint32_t* colour = x + 1 == row.width ? end.colour : row.colours + x * Channels;
    return WeightedCell<Channels>(colour, sample_weight(whole, row.weights[x]), 0);
  };
  /// Divisors of Composite::factor(), for cells with gaps.
  const auto divisor_of = [&](std::int64_t x, auto weight) HWY_ATTR {
    HWY_ALIGN float divisors[static_cast<std::size_t>(cells * size)];
    hn::Store(weight, real, divisors);
    for (std::int64_t i = 0; i < cells; ++i) {
      const float own = divisors[i * size];
      const bool closes = x + i < last && own < largest_gap_weight && row.IsInside(x + i, group.group);
      std::fill_n(divisors + i * size, size, std::max(own, closes ? least_inside_weight : 1.0F));
    }
    return hn::Load(real, divisors);
  };
  RowPrefix<CellsTag<Channels>, static_cast<std::size_t>(size)> prefix;
  for (std::int64_t x = first; x < last;
       x += cells, deltas += cells * size, columns += cells * size, state += cells * size) {
    const auto column = hn::Add(hn::LoadU(d, columns), hn::LoadU(d, deltas));
    hn::StoreU(column, d, columns);
    hn::StoreU(zero, d, deltas);
    auto sums = prefix(column);
    if constexpr (Focused && cells == 1) {
      if (is_focused(x)) sums = hn::Add(sums, focused_cell(x, true));
    } else if constexpr (Focused) {
      const bool here = is_focused(x);
      const bool next = is_focused(x + 1);
      if (here || next)
        sums = hn::Add(sums, hn::Combine(d, focused_cell(x + 1, next), focused_cell(x, here)));
    }
    const auto values = hn::Mul(RealOf<float>(d, sums), unit);
    const auto weight = hn::Broadcast<Channels>(values);
    auto divisor = hn::Max(weight, one);
    const auto gap = hn::And(hn::Lt(weight, almost), hn::Gt(weight, hn::Zero(real)));
    if (row.exposed != nullptr && !hn::AllFalse(real, gap)) divisor = divisor_of(x, weight);
    if constexpr (First) {
      hn::StoreU(hn::Mul(hn::Div(one, divisor), values), real, state);
    } else {
      const auto before = hn::LoadU(real, state);
      const auto through = hn::Max(hn::Sub(one, hn::Broadcast<Channels>(before)), hn::Zero(real));
      const auto factor = hn::Div(through, divisor);  // as Composite::factor()
      hn::StoreU(hn::Add(before, hn::Mul(factor, values)), real, state);
    }
  }
}

template <int Channels>
HWY_INLINE void IntegrateComposite(const SplatRule& rule, const GroupRow& group, const VisibleRow& row,
                                   std::int64_t first, std::int64_t last, float* state) {
  const auto run = [&]<bool Focused>() HWY_ATTR {
    group.first ? IntegrateComposite<Focused, true, Channels>(rule, group, row, first, last, state)
                : IntegrateComposite<Focused, false, Channels>(rule, group, row, first, last, state);
  };
  group.focused ? run.template operator()<true>() : run.template operator()<false>();
}
#endif

/// Clears the state, cell_size(channels) reals per pixel: floats up to most_bits_in_float, otherwise doubles.
inline void ClearState(void* state, std::int64_t cells, std::int64_t size) {
  std::fill_n(static_cast<double*>(state), cells * size, 0.0);
}

/// Integrates and composites columns first to last - 1 of one group. `sums` is scratch memory.
template <int Channels>
void CompositeGroup(const SplatRule& rule, const GroupRow& group, const VisibleRow& row, std::int64_t first,
                    std::int64_t last, std::uint64_t* sums, void* state) {
  const bool narrow = rule.colour_bits <= most_bits_in_float;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(CellTag<Channels>()) == cell_size(Channels) && cell_size(Channels) == 4) {
    if (group.spread && narrow)
      return IntegrateComposite<Channels>(rule, group, row, first, last, static_cast<float*>(state));
  }
#endif
  if (group.first) ClearState(state, last - first, cell_size(Channels));
  if (group.spread) {
    IntegrateRow<Channels>(group.deltas, group.columns, last - first, sums);
  } else {
    std::fill_n(sums, (last - first) * cell_size(Channels), std::uint64_t{0});
  }
  if (group.focused) AddFocused<Channels>(rule, row, group.group, first, last, sums);
  if (narrow)
    return CompositeRow<float, Channels>(rule, row, group.group, first, last, sums,
                                         static_cast<float*>(state));
  CompositeRow<double, Channels>(rule, row, group.group, first, last, sums, static_cast<double*>(state));
}

/// Composite::result() of one pixel with colours below 2^most_bits_in_float. With `room`, a whole cell may be
/// stored.
template <int Channels>
HWY_INLINE void StoreNarrowPixel(const float* state, const std::uint32_t* source, bool room,
                                 std::uint32_t* out) {
  constexpr std::size_t size = cell_size(Channels);
  const hn::CappedTag<float, size> d;
  const hn::RebindToSigned<decltype(d)> integers;
  std::int32_t whole[size];
  const float covered = state[Channels];
  if (!(covered > 0)) {
    std::copy_n(source, Channels, out);
    return;
  }
  auto* to = room ? reinterpret_cast<std::int32_t*>(out) : whole;
  for (std::size_t lane = 0; lane < size; lane += hn::Lanes(d)) {
    const auto colour = hn::Div(hn::LoadU(d, state + lane), hn::Set(d, covered));
    hn::StoreU(hn::ConvertTo(integers, hn::Add(colour, hn::Set(d, 0.5F))), integers, to + lane);
  }
  if (!room)
    for (int c = 0; c < Channels; ++c) out[c] = static_cast<std::uint32_t>(whole[c]);
}

#if HWY_TARGET != HWY_SCALAR
/// StoreNarrowPixel() of two pixels whose cells fill a vector, with room for both. Returns false if nothing
/// arrived at one of them.
template <int Channels, class D>
HWY_INLINE bool StoreNarrowPair(D d, const float* state, std::uint32_t* out) {
  const hn::RebindToSigned<D> integers;
  const hn::Half<hn::RebindToSigned<D>> half;
  const auto values = hn::LoadU(d, state);
  const auto covered = hn::Broadcast<Channels>(values);
  if (!hn::AllTrue(d, hn::Gt(covered, hn::Zero(d)))) return false;
  const auto colours = hn::ConvertTo(integers, hn::Add(hn::Div(values, covered), hn::Set(d, 0.5F)));
  auto* to = reinterpret_cast<std::int32_t*>(out);
  hn::StoreU(hn::LowerHalf(half, colours), half, to);
  hn::StoreU(hn::UpperHalf(half, colours), half, to + Channels);
  return true;
}

#endif

/// Stores a row. Whole cells are stored where the following pixels overwrite the excess.
template <int Channels>
HWY_INLINE void StoreNarrow(const float* state, const std::uint32_t* source, std::size_t pixels,
                            std::uint32_t* out) {
  constexpr std::size_t size = cell_size(Channels);
  const auto one = [&](std::size_t x) {
    StoreNarrowPixel<Channels>(state + x * size, source + x * Channels,
                               x * Channels + size <= pixels * Channels, out + x * Channels);
  };
  std::size_t x = 0;
#if HWY_TARGET != HWY_SCALAR
  using Pair = hn::CappedTag<float, 2 * size>;
  if constexpr (size == 4 && hn::MaxLanes(Pair()) == 2 * size)
    for (; (x + 1) * Channels + size <= pixels * Channels; x += 2)
      if (!StoreNarrowPair<Channels>(Pair(), state + x * size, out + x * Channels)) {
        one(x);
        one(x + 1);
      }
#endif
  for (; x < pixels; ++x) one(x);
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

/// Stores the colours of a row, or the source's where nothing arrived.
template <int Channels>
void StoreComposite(const SplatRule& rule, const void* state, const std::uint32_t* source, std::size_t pixels,
                    std::uint32_t* out) {
  if (rule.colour_bits <= most_bits_in_float)
    return StoreNarrow<Channels>(static_cast<const float*>(state), source, pixels, out);
  StoreWide<Channels>(static_cast<const double*>(state), source, pixels, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
