// What the splat reads of visible samples, for the file that Highway compiles once for every SIMD target.

#if defined(SATIN_DEPOSIT_VISIBLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DEPOSIT_VISIBLE_INL_H
#undef SATIN_DEPOSIT_VISIBLE_INL_H
#else
#define SATIN_DEPOSIT_VISIBLE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lens/cpu/splat_cell-inl.h"
#include "lens/cpu/splat_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <int Channels>
HWY_INLINE bool IsHighlight(const SplatRule& rule, const std::uint32_t* colour) {
  bool highlight = false;
  for (int c = 0; c < Channels; ++c) highlight |= c < rule.highlight_channels && colour[c] > rule.white;
  return highlight;
}

/// The visible samples of one row. All that a loop asks for is its own, so that no store can change it.
template <int Channels>
struct VisibleSamples {
  SplatRule rule;
  VisibleRow row;
  Padded<Channels> last;
  bool highlights;  ///< there may be some

  VisibleSamples(const SplatRule& of_rule, const VisibleRow& of_row)
      : rule(of_rule),
        row(of_row),
        last(row.colours + (row.width - 1) * Channels),
        highlights(rule.white < (std::uint64_t{1} << rule.colour_bits) - 1) {}

  [[nodiscard]] HWY_INLINE std::uint32_t Group(std::int64_t x) const {
    return std::min<std::uint32_t>(row.groups[x], rule.last_group);
  }
  [[nodiscard]] HWY_INLINE bool Focused(std::int64_t x) const { return row.radii[x] <= lens_focus_radius; }
  /// A whole cell of them can be read.
  [[nodiscard]] HWY_INLINE const std::uint32_t* Colours(std::int64_t x) const {
    return x + 1 == row.width ? last.colour : row.colours + x * Channels;
  }
  [[nodiscard]] HWY_INLINE bool Highlight(std::int64_t x) const {
    return highlights && IsHighlight<Channels>(rule, Colours(x));
  }
  [[nodiscard]] HWY_INLINE LensKernel Kernel(std::int64_t x) const {
    return lens_kernel(rule.kernels, row.radii[x], Highlight(x), false);
  }
};

/// Two rows of samples, some of them merged.
template <int Channels>
struct VisibleRows {
  VisibleSamples<Channels> upper;
  VisibleSamples<Channels> lower;
  bool merges;

  VisibleRows(const SplatRule& rule, const VisiblePair& pair)
      : upper(rule, pair.upper),
        lower(rule, pair.lower.width == 0 ? pair.upper : pair.lower),
        merges(rule.merge_from != never_merged && pair.lower.width != 0) {}

  struct Radii {
    std::uint32_t of[4];
  };
  [[nodiscard]] HWY_INLINE Radii RadiiAt(std::int64_t x) const {
    return {{upper.row.radii[x], upper.row.radii[x + 1], lower.row.radii[x], lower.row.radii[x + 1]}};
  }

  /// The samples at x, which is even, are one block.
  [[nodiscard]] HWY_INLINE bool Merged(std::int64_t x) const {
    if (!merges || x + 1 >= upper.row.width || !can_merge(RadiiAt(x).of, upper.rule.merge_from)) return false;
    const std::uint32_t group = upper.Group(x);
    bool alike = true;
    for (std::int64_t u = x; u < x + 2; ++u)
      for (const auto* samples : {&upper, &lower})
        alike = alike && samples->row.weights[u] == lens_full_weight && samples->Group(u) == group &&
                !samples->Highlight(u);
    return alike;
  }
  [[nodiscard]] HWY_INLINE const LensKernel& MergedKernel(std::int64_t x) const {
    return lens_kernel(upper.rule.kernels, merged_radius_of(RadiiAt(x).of), false, true);
  }
  [[nodiscard]] HWY_INLINE auto MergedCell(std::int64_t x) const {
    return [this, x](std::uint32_t share, std::size_t part) HWY_ATTR {
      const auto above = hn::Add(WeightedCell<Channels>(upper.Colours(x), share, part),
                                 WeightedCell<Channels>(upper.Colours(x + 1), share, part));
      const auto below = hn::Add(WeightedCell<Channels>(lower.Colours(x), share, part),
                                 WeightedCell<Channels>(lower.Colours(x + 1), share, part));
      return hn::Add(above, below);
    };
  }
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
