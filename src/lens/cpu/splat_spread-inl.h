// Samples spread into rows of deltas, for the file that Highway compiles once for every SIMD target.

#if defined(SATIN_SPLAT_SPREAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_SPREAD_INL_H
#undef SATIN_SPLAT_SPREAD_INL_H
#else
#define SATIN_SPLAT_SPREAD_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/cpu/fetch.h"
#include "lens/cpu/splat_corners-inl.h"
#include "lens/cpu/splat_visible-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// The first of `limit` samples from x on that is not full, of another group or of a radius out of the range.
template <int Channels>
HWY_INLINE std::int64_t EndOfAlike(const VisibleSamples<Channels>& samples, std::int64_t x,
                                   std::int64_t limit, const KernelRange& range) {
  const VisibleRow row = samples.row;
  const std::uint32_t group = samples.Group(x);
  const std::uint32_t last_group = samples.rule.last_group;
  const auto first_unlike = [&](auto d, std::int64_t at) HWY_ATTR {
    const auto beyond = hn::Sub(hn::LoadU(d, row.radii + at), hn::Set(d, range.first));
    const auto inside = hn::Eq(hn::Min(beyond, hn::Set(d, range.last - range.first)), beyond);
    const auto groups = hn::Min(LoadWide(d, row.groups + at), hn::Set(d, last_group));
    const auto unlike = hn::Or(hn::Xor(groups, hn::Set(d, group)),
                               hn::Xor(LoadWide(d, row.weights + at), hn::Set(d, lens_full_weight)));
    return hn::FindFirstTrue(d, hn::Not(hn::And(inside, hn::Eq(unlike, hn::Zero(d)))));
  };
  const hn::ScalableTag<std::uint32_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; x < limit && x + lanes <= row.width; x += lanes) {
    const std::int64_t unlike = first_unlike(d, x);
    if (unlike >= 0) return std::min(x + unlike, limit);
  }
  while (x < limit && first_unlike(hn::CappedTag<std::uint32_t, 1>(), x) < 0) ++x;
  return std::min(x, limit);
}

/// The first sample from x to `end` - 1 that is a highlight and those before are not, or the other way round.
template <int Channels>
HWY_INLINE std::int64_t EndOfHighlights(const VisibleSamples<Channels>& samples, std::int64_t x,
                                        std::int64_t end, bool highlight) {
  if (!samples.highlights) return end;
  while (x < end && samples.Highlight(x) == highlight) ++x;
  return x;
}

/// The end of the run of full samples that begins at x: up to `limit`, of one group, not merged, and with the
/// same staircases.
template <int Channels>
HWY_INLINE std::int64_t EndOfRun(const VisibleRows<Channels>& rows, const VisibleSamples<Channels>& samples,
                                 std::int64_t x, std::int64_t limit) {
  const bool highlight = samples.Highlight(x);
  const KernelRange range = samples.rule.ranges->of(samples.row.radii[x], highlight);
  const std::int64_t end = EndOfAlike(samples, x, limit, range);
  if (rows.merges && range.last >= samples.rule.merge_from)
    for (std::int64_t next = (x + 2) / 2 * 2; next < end; next += 2)
      if (rows.Merged(next)) return EndOfHighlights(samples, x, next, highlight);
  return EndOfHighlights(samples, x, end, highlight);
}

/// Puts the cells of a run's samples, `count` from x on, for the first staircase and, if there are `two`, for
/// the second.
template <int Channels>
HWY_INLINE void PutRun(const VisibleSamples<Channels>& samples, std::int64_t x, std::int64_t count, bool two,
                       RunOf<Channels>& run) {
  const CellTag<Channels> d;
  constexpr std::int64_t size = cell_size(Channels);
  const LensKernel* kernels = &lens_kernel(samples.rule.kernels, 0, samples.Highlight(x), false);
  const std::uint32_t largest = samples.rule.kernels.largest;
  const std::uint32_t* radii = samples.row.radii + x;
  std::uint64_t* const one_cells = run.Cells(0);
  std::uint64_t* const two_cells = run.Cells(1);
  const auto put = [&](const std::uint32_t* colour, std::int64_t i) HWY_ATTR {
    const LensKernel& kernel = kernels[std::min(radii[i], largest)];
    for (std::size_t part = 0; part < size; part += hn::Lanes(d)) {
      const auto cell = CellOf<Channels>(colour, part);
      hn::Store(Weighted<Channels>(cell, kernel.weight[0]), d, one_cells + i * size + part);
      if (two) hn::Store(Weighted<Channels>(cell, kernel.weight[1]), d, two_cells + i * size + part);
    }
  };
  const std::uint32_t* colours = samples.row.colours + x * Channels;
  const std::int64_t whole = std::min(count, samples.row.width - 1 - x);
  for (std::int64_t i = 0; i < whole; ++i) put(colours + i * Channels, i);
  if (whole < count) put(samples.last.colour, whole);
}

/// Spreads the run of samples that begins at x, or the sample there if it is not full or reaches beyond the
/// area; returns the column behind them.
template <int Channels>
HWY_INLINE std::int64_t SpreadRun(const VisibleRows<Channels>& rows, const VisibleSamples<Channels>& samples,
                                  std::int64_t x, std::int64_t end, const DeltaRows& area,
                                  RunOf<Channels>& run) {
  const std::uint32_t group = samples.Group(x);
  const LensKernel first = samples.Kernel(x);
  const TwoStaircases stairs(samples.rule.kernels, first);
  if (samples.row.weights[x] != lens_full_weight || x - stairs.widest < area.first ||
      x + stairs.widest >= area.last) {
    const std::uint32_t* colour = samples.Colours(x);
    Spread<Channels>(samples.rule, first, x, samples.row.weights[x], group, false, area,
                     [colour](std::uint32_t share, std::size_t part)
                         HWY_ATTR { return WeightedCell<Channels>(colour, share, part); });
    return x + 1;
  }
  const std::int64_t limit = std::min({end, x + RunOf<Channels>::most, area.last - stairs.widest});
  const std::int64_t next = EndOfRun<Channels>(rows, samples, x, limit);
  fetch_values(samples.row.colours + (samples.row.width + x) * Channels, (next - x) * Channels);
  fetch_values(samples.row.radii + samples.row.width + x, next - x);
  run.first = x;
  run.count = next - x;
  run.more = 1;
  PutRun<Channels>(samples, x, run.count, stairs.two, run);
  AddRun(run, stairs, group, area);
  return next;
}

/// The same for blocks.
template <int Channels>
HWY_INLINE std::int64_t SpreadMerged(const VisibleRows<Channels>& rows, std::int64_t x, std::int64_t end,
                                     const DeltaRows& area, RunOf<Channels>& run) {
  const SplatRule& rule = rows.upper.rule;
  const std::uint32_t group = rows.upper.Group(x);
  const LensKernel first = rows.MergedKernel(x);
  const TwoStaircases stairs(rule.kernels, first);
  if (x - stairs.widest < area.first || x + stairs.widest + 1 >= area.last) {
    Spread<Channels>(rule, first, x, lens_full_weight, group, true, area, rows.MergedCell(x));
    return x + 2;
  }
  const std::int64_t limit = std::min({end, x + RunOf<Channels>::most, area.last - stairs.widest - 1});
  std::int64_t next = x;
  LensKernel kernel = first;
  do {
    if (next > x) run.PutNothing(next - x - 1);
    for (int i = 0; i < 2 && kernel.weight[i] != 0; ++i)
      run.Put(i, next - x, kernel.weight[i], rows.MergedCell(next));
    next += 2;
    if (next >= limit || !rows.Merged(next) || rows.upper.Group(next) != group) break;
    kernel = rows.MergedKernel(next);
  } while (same_staircases(kernel, first));
  run.first = x;
  run.count = next - x - 1;
  run.more = 2;
  AddRun(run, stairs, group, area);
  return next;
}

/// Spreads the samples of one row and columns begin to end - 1 that are out of focus; `begin` is even. Merged
/// ones count as the upper row's; `marks` of VisibleRows.
template <int Channels>
GroupsOfRow SpreadVisible(const SplatRule& rule, const VisiblePair& pair, std::int64_t begin,
                          std::int64_t end, const DeltaRows& area, std::uint8_t* marks, bool marked) {
  GroupsOfRow found;
  const VisibleRows<Channels> rows(rule, pair, begin, end, marks, marked);
  const VisibleSamples<Channels>& samples = pair.spreads_lower ? rows.lower : rows.upper;
  RunOf<Channels> run;
  for (std::int64_t x = begin; x < end;) {
    if (samples.row.weights[x] == 0) {
      ++x;
    } else if (samples.Focused(x)) {
      found.focused |= 1U << samples.Group(x);
      ++x;
    } else if (x % 2 == 0 && rows.Merged(x)) {
      found.spread |= 1U << samples.Group(x);
      x = pair.spreads_lower ? x + 2 : SpreadMerged<Channels>(rows, x, end, area, run);
    } else {
      found.spread |= 1U << samples.Group(x);
      x = SpreadRun<Channels>(rows, samples, x, end, area, run);
    }
  }
  return found;
}

/// Spreads samples of one row, by their places in the list.
template <int Channels>
GroupsOfRow SpreadListed(const SplatRule& rule, const LensSample* listed, const std::uint32_t* places,
                         std::size_t count, const DeltaRows& area) {
  GroupsOfRow found;
  for (std::size_t i = 0; i < count; ++i) {
    const LensSample& sample = listed[places[i]];
    if (sample.weight == 0) continue;
    const std::uint32_t group = std::min<std::uint32_t>(sample.group, rule.last_group);
    found.spread |= 1U << group;
    const Padded<Channels> colour(sample.colour);
    const bool block = sample.block == 2;
    const bool highlight = IsHighlight<Channels>(rule, colour.colour);
    Spread<Channels>(rule, lens_kernel(rule.kernels, sample.radius, highlight, block), sample.x,
                     sample.weight, group, block, area, [&](std::uint32_t share, std::size_t part) HWY_ATTR {
                       return WeightedCell<Channels>(colour.colour, share, part);
                     });
  }
  return found;
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
