// Samples as the splat on the CPU reads them, compiled for every SIMD target: rows of visible samples, which
// of them are merged 2 x 2, and the cells of sums that a sample adds.
//
// A cell holds the sums of one pixel: the weighted colours, then the weight.

#if defined(SATIN_SPLAT_SAMPLES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_SAMPLES_INL_H
#undef SATIN_SPLAT_SAMPLES_INL_H
#else
#define SATIN_SPLAT_SAMPLES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/workspace.h"
#include "lens/maths/splat.h"
#include "lens/splat.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct KernelRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Ranges of radii with the same staircases: their samples differ by weights alone. Blocks are not included.
class KernelRanges {
 public:
  explicit KernelRanges(const LensKernels& kernels)
      : largest_(kernels.largest), numbers_(2 * (std::size_t{kernels.largest} + 1)) {
    const LensKernelView view = kernels.view();
    for (const bool highlight : {false, true})
      for (std::uint32_t radius = 0; radius <= largest_; ++radius) {
        const bool begins = radius == 0 || radius == lens_focus_radius + 1 ||
                            !same_staircases(lens_kernel(view, radius, highlight, false),
                                             lens_kernel(view, radius - 1, highlight, false));
        if (begins) ranges_.push_back({std::max(radius, lens_focus_radius + 1), radius});
        ranges_.back().last = radius == largest_ ? ~std::uint32_t{0} : radius;
        numbers_[place(radius, highlight)] = static_cast<std::uint16_t>(ranges_.size() - 1);
      }
  }

  [[nodiscard]] const KernelRange& of(std::uint32_t radius, bool highlight) const {
    return ranges_[numbers_[place(radius < largest_ ? radius : largest_, highlight)]];
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return numbers_.size() * sizeof(std::uint16_t) + ranges_.size() * sizeof(KernelRange);
  }

 private:
  [[nodiscard]] std::size_t place(std::uint32_t radius, bool highlight) const {
    return (highlight ? std::size_t{largest_} + 1 : 0) + radius;
  }

  std::uint32_t largest_;
  WorkspaceVector<std::uint16_t> numbers_;  ///< range of each radius, first without highlights
  WorkspaceVector<KernelRange> ranges_;
};

constexpr int cell_size(int channels) { return channels == 1 ? 2 : channels < 4 ? 4 : 8; }

template <int Size>
using SizedTag = hn::CappedTag<std::uint64_t, static_cast<std::size_t>(Size)>;
template <int Channels>
using CellTag = SizedTag<cell_size(Channels)>;

/// Masks of a cell's lanes: all ones for colours, 1 for the weight.
template <int Channels>
struct CellLanes {
  std::uint64_t colours[static_cast<std::size_t>(cell_size(Channels))] = {};
  std::uint64_t weight[static_cast<std::size_t>(cell_size(Channels))] = {};

  constexpr CellLanes() {
    for (int c = 0; c < Channels; ++c) colours[c] = ~std::uint64_t{0};
    weight[Channels] = 1;
  }
};

/// Returns (colours, 1) from `lane` on. Reads a whole cell of colours.
template <int Channels>
HWY_INLINE auto CellOf(const std::uint32_t* colour, std::size_t lane) {
  static constexpr CellLanes<Channels> lanes;
  const CellTag<Channels> d;
  const hn::Rebind<std::uint32_t, decltype(d)> narrow;
  const auto colours =
      hn::And(hn::PromoteTo(d, hn::LoadU(narrow, colour + lane)), hn::LoadU(d, lanes.colours + lane));
  return hn::Or(colours, hn::LoadU(d, lanes.weight + lane));
}

/// Returns weight * values, both below 2^32.
template <int Channels, class V>
HWY_INLINE V Weighted(V values, std::uint32_t weight) {
  if constexpr (hn::MaxLanes(CellTag<Channels>()) == 1) {
    return hn::Mul(values, hn::Set(CellTag<Channels>(), weight));
  } else {  // most targets have no other 64-bit multiplication
    const hn::Repartition<std::uint32_t, CellTag<Channels>> halves;
    return hn::MulEven(hn::BitCast(halves, values), hn::Set(halves, weight));
  }
}

template <int Channels>
HWY_INLINE auto WeightedCell(const std::uint32_t* colour, std::uint32_t weight, std::size_t lane) {
  return Weighted<Channels>(CellOf<Channels>(colour, lane), weight);
}

/// Copy of a pixel's colours with the padding that a cell reads.
template <int Channels>
struct Padded {
  std::uint32_t colour[static_cast<std::size_t>(cell_size(Channels))] = {};
  explicit Padded(const std::uint32_t* from) { std::copy_n(from, Channels, colour); }
};

struct SplatRule {
  LensKernelView kernels;
  const KernelRanges* ranges = nullptr;
  int highlight_channels = 3;  ///< channels without alpha
  std::uint32_t white = 0;
  int colour_bits = 16;
  std::uint32_t last_group = 0;
  std::uint32_t merge_from = never_merged;
};

struct VisibleRow {
  std::int64_t width = 0;
  const std::uint32_t* colours = nullptr;
  const std::uint32_t* radii = nullptr;
  const std::uint8_t* groups = nullptr;
  const std::uint16_t* weights = nullptr;
};

/// Rows 2 k and 2 k + 1, whose samples may be merged.
struct VisiblePair {
  VisibleRow upper;
  VisibleRow lower;  ///< width 0 below the last row
  bool spreads_lower = false;
};

template <int Channels>
HWY_INLINE bool IsHighlight(const SplatRule& rule, const std::uint32_t* colour) {
  bool highlight = false;
  for (int c = 0; c < Channels; ++c) highlight |= c < rule.highlight_channels && colour[c] > rule.white;
  return highlight;
}

/// Visible samples of one row. It holds copies, so that compilers know that no store changes them.
template <int Channels>
struct VisibleSamples {
  SplatRule rule;
  VisibleRow row;
  Padded<Channels> last;
  bool highlights;  ///< whether some samples may be highlights

  VisibleSamples(const SplatRule& of_rule, const VisibleRow& of_row)
      : rule(of_rule),
        row(of_row),
        last(row.colours + (row.width - 1) * Channels),
        highlights(rule.white < (std::uint64_t{1} << rule.colour_bits) - 1) {}

  [[nodiscard]] HWY_INLINE std::uint32_t Group(std::int64_t x) const {
    return std::min<std::uint32_t>(row.groups[x], rule.last_group);
  }
  [[nodiscard]] HWY_INLINE bool Focused(std::int64_t x) const { return row.radii[x] <= lens_focus_radius; }
  /// Colours of a sample, with the padding of a cell.
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

/// The samples of two rows, and which blocks of them are merged.
template <int Channels>
struct VisibleRows {
  VisibleSamples<Channels> upper;
  VisibleSamples<Channels> lower;
  bool merges;
  bool sums_colours;           ///< sums of four colours are below 2^32
  const std::uint8_t* merged;  ///< for even columns, valid if `merges`

  /// `marks` becomes the marks of columns `begin` (even) to `end` - 1, unless it is `marked` for these rows
  /// already.
  VisibleRows(const SplatRule& rule, const VisiblePair& pair, std::int64_t begin, std::int64_t end,
              std::uint8_t* marks, bool marked)
      : upper(rule, pair.upper),
        lower(rule, pair.lower.width == 0 ? pair.upper : pair.lower),
        merges(rule.merge_from != never_merged && pair.lower.width != 0),
        sums_colours(rule.colour_bits <= 30),
        merged(marks) {
    if (merges && !marked) Mark(begin, end, marks);
  }

  struct Radii {
    std::uint32_t of[4];
  };
  [[nodiscard]] HWY_INLINE Radii RadiiAt(std::int64_t x) const {
    return {{upper.row.radii[x], upper.row.radii[x + 1], lower.row.radii[x], lower.row.radii[x + 1]}};
  }

  [[nodiscard]] HWY_INLINE bool Merged(std::int64_t x) const { return merges && merged[x] != 0; }
  [[nodiscard]] HWY_INLINE const LensKernel& MergedKernel(std::int64_t x) const {
    return lens_kernel(upper.rule.kernels, merged_radius_of(RadiiAt(x).of), false, true);
  }
  [[nodiscard]] HWY_INLINE auto MergedCell(std::int64_t x) const {
    return [this, x](std::uint32_t share, std::size_t lane) HWY_ATTR {
      const auto sum = [&](const auto& cell) HWY_ATTR {
        return hn::Add(hn::Add(cell(upper.Colours(x)), cell(upper.Colours(x + 1))),
                       hn::Add(cell(lower.Colours(x)), cell(lower.Colours(x + 1))));
      };
      if (sums_colours)
        return Weighted<Channels>(
            sum([&](const std::uint32_t* colour) HWY_ATTR { return CellOf<Channels>(colour, lane); }), share);
      return sum([&](const std::uint32_t* colour)
                     HWY_ATTR { return WeightedCell<Channels>(colour, share, lane); });
    };
  }

 private:
  [[nodiscard]] bool Merges(std::int64_t x) const {
    if (x + 1 >= upper.row.width || !can_merge(RadiiAt(x).of, upper.rule.merge_from)) return false;
    const std::uint32_t group = upper.Group(x);
    bool alike = true;
    for (std::int64_t u = x; u < x + 2; ++u)
      for (const auto* samples : {&upper, &lower})
        alike = alike && samples->row.weights[u] == lens_full_weight && samples->Group(u) == group &&
                !samples->Highlight(u);
    return alike;
  }

  void Mark(std::int64_t begin, std::int64_t end, std::uint8_t* marks) const {
    const hn::ScalableTag<std::uint32_t> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = begin;
    if constexpr (hn::MaxLanes(hn::ScalableTag<std::uint32_t>()) > 1)
      for (; !upper.highlights && x + lanes <= end; x += lanes) MarkVector(d, x, marks + x);
    for (; x < end; x += 2) marks[x] = Merges(x) ? 1 : 0;
  }

  /// Marks a vector of columns; odd ones get the mark of the even column before them.
  template <class D>
  HWY_INLINE void MarkVector(D d, std::int64_t x, std::uint8_t* marks) const {
    const hn::RebindToSigned<D> integers;
    const hn::Rebind<std::uint8_t, D> bytes;
    const auto above = hn::LoadU(d, upper.row.radii + x);
    const auto below = hn::LoadU(d, lower.row.radii + x);
    const auto low = hn::Min(above, below);
    const auto high = hn::Max(above, below);
    const auto lowest = hn::Min(low, hn::Reverse2(d, low));
    const auto from = hn::Set(d, upper.rule.merge_from);
    const auto large = hn::Eq(hn::Min(lowest, from), from);
    if (hn::AllFalse(d, large)) return hn::StoreU(hn::Zero(bytes), bytes, marks);
    const auto apart = hn::Sub(hn::Max(high, hn::Reverse2(d, high)), lowest);
    const auto last = hn::Set(d, upper.rule.last_group);
    const auto full = hn::Set(d, lens_full_weight);
    const auto most = hn::Set(d, merged_difference);
    const auto group = hn::Min(LoadWide(d, upper.row.groups + x), last);
    const auto group_below = hn::Min(LoadWide(d, lower.row.groups + x), last);
    const auto weights = hn::Or(hn::Xor(LoadWide(d, upper.row.weights + x), full),
                                hn::Xor(LoadWide(d, lower.row.weights + x), full));
    const auto own = hn::Or(weights, hn::Xor(group, group_below));
    const auto unlike = hn::Or(hn::Or(own, hn::Reverse2(d, own)), hn::Xor(group, hn::Reverse2(d, group)));
    const auto near = hn::Eq(hn::Max(apart, most), most);
    const auto alike = hn::And(hn::And(large, near), hn::Eq(unlike, hn::Zero(d)));
    const auto one = hn::IfThenElseZero(alike, hn::Set(d, 1));
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(integers, one)), bytes, marks);
  }
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
