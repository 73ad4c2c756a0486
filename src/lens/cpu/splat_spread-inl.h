// First stage of the splat on the CPU: spreads the samples of a row into rows of deltas, the second
// differences of the sums. Compiled for every SIMD target.
//
// Four kinds of samples are spread: runs of neighbouring samples with the same staircases, whose corners are
// neighbours too and are added together (most samples, where depth is smooth); single samples; samples of the
// list; and lamps, drawn by the aperture.

#if defined(SATIN_SPLAT_SPREAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_SPREAD_INL_H
#undef SATIN_SPLAT_SPREAD_INL_H
#else
#define SATIN_SPLAT_SPREAD_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/cpu/cache.h"
#include "core/workspace.h"
#include "lens/maths/aperture.h"
#include "lens/maths/border_steps.h"
#include "lens/splat.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Samples: rows of visible ones. A cell holds the sums of one pixel: the
// weighted colours, then the weight.

struct KernelRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Ranges of radii with the same staircases: their samples differ by weights alone. Blocks are not included.
class KernelRanges {
 public:
  explicit KernelRanges(const LensKernels& kernels)
      : largest_(kernels.largest), numbers_(std::size_t{kernels.largest} + 1) {
    const LensKernelView view = kernels.view();
    for (std::uint32_t radius = 0; radius <= largest_; ++radius) {
      const bool begins =
          radius == 0 || radius == lens_focus_radius + 1 ||
          !same_staircases(lens_kernel(view, radius, false), lens_kernel(view, radius - 1, false));
      if (begins) ranges_.push_back({std::max(radius, lens_focus_radius + 1), radius});
      ranges_.back().last = radius == largest_ ? ~std::uint32_t{0} : radius;
      numbers_[radius] = static_cast<std::uint16_t>(ranges_.size() - 1);
    }
  }

  [[nodiscard]] const KernelRange& of(std::uint32_t radius) const {
    return ranges_[numbers_[std::min(radius, largest_)]];
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return numbers_.size() * sizeof(std::uint16_t) + ranges_.size() * sizeof(KernelRange);
  }

 private:
  std::uint32_t largest_;
  WorkspaceVector<std::uint16_t> numbers_;  ///< range of each radius
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
  int colour_bits = 16;
  std::uint32_t last_group = 0;
};

struct VisibleRow {
  std::int64_t width = 0;
  const std::uint32_t* colours = nullptr;
  const std::uint32_t* radii = nullptr;
  const std::uint8_t* groups = nullptr;
  const std::uint16_t* weights = nullptr;
  const std::uint8_t* exposed = nullptr;  ///< null if no pixel is inside a surface

  [[nodiscard]] bool IsInside(std::int64_t x, std::uint32_t group) const {
    return exposed != nullptr && groups[x] == group && is_inside(exposed[x], radii[x]);
  }
};

/// Visible samples of one row. It holds copies, so that compilers know that no store changes them.
template <int Channels>
struct VisibleSamples {
  SplatRule rule;
  VisibleRow row;
  Padded<Channels> last;

  VisibleSamples(const SplatRule& of_rule, const VisibleRow& of_row)
      : rule(of_rule), row(of_row), last(row.colours + (row.width - 1) * Channels) {}

  [[nodiscard]] HWY_INLINE std::uint32_t Group(std::int64_t x) const {
    return std::min<std::uint32_t>(row.groups[x], rule.last_group);
  }
  [[nodiscard]] HWY_INLINE bool Focused(std::int64_t x) const { return row.radii[x] <= lens_focus_radius; }
  /// Colours of a sample, with the padding of a cell.
  [[nodiscard]] HWY_INLINE const std::uint32_t* Colours(std::int64_t x) const {
    return x + 1 == row.width ? last.colour : row.colours + x * Channels;
  }
  [[nodiscard]] HWY_INLINE LensKernel Kernel(std::int64_t x) const {
    return lens_kernel(rule.kernels, row.radii[x], false);
  }
};

// Spreading.

/// Rows of deltas of columns first to last - 1, and one cell more for what lies beyond. What lies left of the
/// first column counts there.
struct DeltaRows {
  std::int64_t first = 0;
  std::int64_t last = 0;
  /// rows[group * rows_per_group + reach + dy] is the row dy below the sample's. Rows above the tile are its
  /// first row; rows below it are one that is never read.
  std::uint64_t* const* rows = nullptr;
  std::int64_t reach = 0;
  std::int64_t rows_per_group = 0;
  std::int64_t y = 0;  ///< row of the samples
  std::int64_t picture_width = 0;
  std::int64_t picture_height = 0;

  [[nodiscard]] bool OnBorder() const { return on_border(y, picture_height); }
};

/// Groups of the samples of a row, a bit each.
struct GroupsOfRow {
  std::uint32_t spread = 0;   ///< out of focus
  std::uint32_t focused = 0;  ///< in focus, on their pixels
};

/// Adds a cell to the corners of one staircase around column x. Not inlined: inlined for each number of
/// channels and kind of sample, this and SampleRun took six times as long to compile.
template <int Size>
HWY_NOINLINE void AddCorners(const Staircase& stairs, const KernelBox* outlines, std::int64_t x,
                             std::int64_t more, const std::uint64_t* cell, std::uint64_t* const* rows,
                             const DeltaRows& area) {
  const SizedTag<Size> d;
  const auto column = [&](std::int64_t at) {
    return (std::clamp(at, area.first, area.last) - area.first) * Size;
  };
  for (std::size_t lane = 0; lane < Size; lane += hn::Lanes(d)) {
    const auto values = hn::LoadU(d, cell + lane);
    const auto add = [&](std::uint64_t* to)
                         HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, to), values), d, to); };
    const auto take = [&](std::uint64_t* to)
                          HWY_ATTR { hn::StoreU(hn::Sub(hn::LoadU(d, to), values), d, to); };
    if (stairs.outline.count != 0) {
      for_boxes(stairs, outlines, 1, [&](const KernelBox& box, int) HWY_ATTR {
        const std::int64_t left = column(x + box.left);
        const std::int64_t right = column(x + box.right);
        std::uint64_t* top = rows[area.reach + box.top] + lane;
        std::uint64_t* bottom = rows[area.reach + box.bottom] + lane;
        add(top + left);
        take(top + right);
        take(bottom + left);
        add(bottom + right);
      });
      continue;
    }
    std::int64_t inner_left = 0;
    std::int64_t inner_right = 0;
    for (int k = 0; k < stairs.boxes; ++k) {
      const std::int64_t left = column(x - stairs.wide[k]);
      const std::int64_t right = column(x + stairs.wide[k] + more);
      std::uint64_t* top = rows[area.reach - stairs.high[k]] + lane;
      std::uint64_t* bottom = rows[area.reach + stairs.high[k] + more] + lane;
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

/// AddCorners() of a sample on the border of the picture.
template <int Size>
HWY_NOINLINE void AddBorderSteps(const Staircase& stairs, const KernelBox* outlines, std::int64_t x,
                                 const std::uint64_t* cell, std::uint64_t* const* rows,
                                 const DeltaRows& area) {
  const auto steps = [](std::int64_t at, std::int32_t first, std::int32_t end, std::int64_t size) {
    return BorderSteps(static_cast<std::int32_t>(at), first, end - 1, static_cast<std::int32_t>(size));
  };
  for_boxes(stairs, outlines, 1, [&](const KernelBox& box, int sign) {
    const BorderSteps lines = steps(area.y, box.top, box.bottom, area.picture_height);
    const BorderSteps columns = steps(x, box.left, box.right, area.picture_width);
    for (std::int32_t j = 0; j < lines.count(); ++j) {
      std::uint64_t* row = rows[area.reach + lines[j].place - area.y];
      for (std::int32_t i = 0; i < columns.count(); ++i) {
        const std::int64_t at =
            std::clamp<std::int64_t>(columns[i].place, area.first, area.last) - area.first;
        const auto factor =
            static_cast<std::uint64_t>(std::int64_t{sign * lines[j].height} * columns[i].height);
        for (std::int64_t lane = 0; lane < Size; ++lane) row[at * Size + lane] += factor * cell[lane];
      }
    }
  });
}

/// Spreads one sample. cell_of(share, lane) is the cell that each pixel of a staircase gets.
template <int Channels, class CellOf>
HWY_INLINE void Spread(const SplatRule& rule, const LensKernel& kernel, std::int64_t x, std::uint32_t weight,
                       std::uint32_t group, bool block, const DeltaRows& area, const CellOf& cell_of) {
  const CellTag<Channels> d;
  const std::int64_t more = block ? 2 : 1;
  std::uint64_t* const* rows = area.rows + group * area.rows_per_group;
  for (int i = 0; i < 2 && kernel.weight[i] != 0; ++i) {
    const Staircase& stairs = rule.kernels.staircases[kernel.staircase[i]];
    const std::int64_t widest = stairs.wide[stairs.boxes - 1];
    if (x - widest >= area.last || x + widest + more <= area.first) continue;
    const std::uint32_t share =
        weight == lens_full_weight ? kernel.weight[i] : sample_weight(kernel.weight[i], weight);
    HWY_ALIGN std::uint64_t cell[static_cast<std::size_t>(cell_size(Channels))];
    for (std::size_t lane = 0; lane < cell_size(Channels); lane += hn::Lanes(d))
      hn::StoreU(cell_of(share, lane), d, cell + lane);
    if (!block && (area.OnBorder() || on_border(x, area.picture_width)))
      AddBorderSteps<cell_size(Channels)>(stairs, rule.kernels.outlines, x, cell, rows, area);
    else
      AddCorners<cell_size(Channels)>(stairs, rule.kernels.outlines, x, more, cell, rows, area);
  }
}

/// Neighbouring samples of one group with the same staircases. Each corner is added for all of them at once.
template <int Size>
struct SampleRun {
  static constexpr std::int64_t most = 64;
  static constexpr std::int64_t size = Size;

  std::int64_t first = 0;                ///< first column
  std::int64_t count = 0;                ///< number of columns
  std::uint64_t* const* rows = nullptr;  ///< the group's rows, from that of the samples on

  /// Weighted cells of the run for one of its staircases, between zeros.
  [[nodiscard]] HWY_INLINE std::uint64_t* Cells(int which) { return cells_[which] + most * size; }

  HWY_NOINLINE void AddCorners(const Staircase& stairs, const KernelBox* outlines, int which,
                               std::int64_t first_column) {
    if (stairs.outline.count != 0) return AddOutline(stairs, outlines, which, first_column);
    // The left and right corners of boxes narrower than the run overlap.
    if (2 * stairs.wide[stairs.boxes - 1] + 1 < count) return AddDifferences(stairs, which, first_column);
    const std::uint64_t* weighted = Cells(which);
    std::int64_t inner_left = 0;
    std::int64_t inner_right = 0;
    for (int k = 0; k < stairs.boxes; ++k) {
      const std::int64_t left = (first - stairs.wide[k] - first_column) * size;
      const std::int64_t right = (first + stairs.wide[k] + 1 - first_column) * size;
      std::uint64_t* top = rows[-stairs.high[k]];
      std::uint64_t* bottom = rows[stairs.high[k] + 1];
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
  HWY_INLINE void AddOutline(const Staircase& stairs, const KernelBox* outlines, int which,
                             std::int64_t first_column) {
    const std::uint64_t* weighted = Cells(which);
    for_boxes(stairs, outlines, 1, [&](const KernelBox& box, int) HWY_ATTR {
      const std::int64_t left = (first + box.left - first_column) * size;
      const std::int64_t right = (first + box.right - first_column) * size;
      AddCells<true>(weighted, rows[box.top] + left);
      AddCells<false>(weighted, rows[box.top] + right);
      AddCells<false>(weighted, rows[box.bottom] + left);
      AddCells<true>(weighted, rows[box.bottom] + right);
    });
  }

  /// Adds the horizontal differences of each box, less those of the box within it, to the row where the box
  /// begins, and subtracts them where it ends.
  HWY_INLINE void AddDifferences(const Staircase& stairs, int which, std::int64_t first_column) {
    const std::int64_t widest = stairs.wide[stairs.boxes - 1];
    constexpr auto vector = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<std::uint64_t>()));
    std::fill_n(Cells(which) + count * size, (2 * widest + 1) * size + vector, std::uint64_t{0});
    for (int k = 0; k < stairs.boxes; ++k) {
      std::uint64_t* top = rows[-stairs.high[k]];
      std::uint64_t* bottom = rows[stairs.high[k] + 1];
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
    const std::int64_t end = (first + count + wide + 1 - first_column) * size;
    const std::uint64_t* own = Cells(which) + begin - (first - first_column) * size;
    for (std::int64_t i = begin; i < end; i += lanes, own += lanes) {
      const auto at = [&](std::int64_t column) HWY_ATTR { return hn::LoadU(d, own + column * size); };
      auto added = hn::Sub(at(wide), at(-wide - 1));
      if constexpr (Inner) added = hn::Sub(added, hn::Sub(at(inner), at(-inner - 1)));
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
    // Aligns the stores of vectors that hold several cells.
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

/// Staircases of a kernel; the first one twice if there is no second.
struct TwoStaircases {
  const KernelBox* outlines;
  const Staircase& first;
  const Staircase& second;
  bool two;
  std::int64_t widest;

  TwoStaircases(const LensKernelView& view, const LensKernel& kernel)
      : outlines(view.outlines),
        first(view.staircases[kernel.staircase[0]]),
        second(view.staircases[kernel.staircase[kernel.weight[1] != 0 ? 1 : 0]]),
        two(kernel.weight[1] != 0),
        widest(std::max(first.wide[first.boxes - 1], second.wide[second.boxes - 1])) {}
};

template <int Size>
HWY_INLINE void AddRun(SampleRun<Size>& run, const TwoStaircases& stairs, std::uint32_t group,
                       const DeltaRows& area) {
  run.rows = area.rows + group * area.rows_per_group + area.reach;
  run.AddCorners(stairs.first, stairs.outlines, 0, area.first);
  if (stairs.two) run.AddCorners(stairs.second, stairs.outlines, 1, area.first);
}

/// Returns the end of the run that begins at x: samples of full weight, of one group, with the same
/// staircases.
template <int Channels>
HWY_INLINE std::int64_t EndOfRun(const VisibleSamples<Channels>& samples, std::int64_t x,
                                 std::int64_t limit) {
  const VisibleRow row = samples.row;
  const KernelRange range = samples.rule.ranges->of(row.radii[x]);
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

/// Writes the weighted cells of `count` samples from x on, for one or two staircases.
template <int Channels>
HWY_INLINE void PutRun(const VisibleSamples<Channels>& samples, std::int64_t x, std::int64_t count, bool two,
                       RunOf<Channels>& run) {
  const CellTag<Channels> d;
  constexpr std::int64_t size = cell_size(Channels);
  const LensKernel* kernels = &lens_kernel(samples.rule.kernels, 0, false);
  const std::uint32_t largest = samples.rule.kernels.largest;
  const std::uint32_t* radii = samples.row.radii + x;
  std::uint64_t* const one_cells = run.Cells(0);
  std::uint64_t* const two_cells = run.Cells(1);
  const auto put = [&](const std::uint32_t* colour, std::int64_t i) HWY_ATTR {
    const LensKernel& kernel = kernels[std::min(radii[i], largest)];
    for (std::size_t lane = 0; lane < size; lane += hn::Lanes(d)) {
      const auto cell = CellOf<Channels>(colour, lane);
      hn::Store(Weighted<Channels>(cell, kernel.weight[0]), d, one_cells + i * size + lane);
      if (two) hn::Store(Weighted<Channels>(cell, kernel.weight[1]), d, two_cells + i * size + lane);
    }
  };
  const std::uint32_t* colours = samples.row.colours + x * Channels;
  const std::int64_t whole = std::min(count, samples.row.width - 1 - x);
  for (std::int64_t i = 0; i < whole; ++i) put(colours + i * Channels, i);
  if (whole < count) put(samples.last.colour, whole);
}

/// Spreads the run that begins at x, or the sample at x alone if its weight is not full, it reaches beyond
/// the area or it is on the border of the picture. Returns the next column.
template <int Channels>
HWY_INLINE std::int64_t SpreadRun(const VisibleSamples<Channels>& samples, std::int64_t x, std::int64_t end,
                                  const DeltaRows& area, RunOf<Channels>& run) {
  const std::uint32_t group = samples.Group(x);
  const LensKernel first = samples.Kernel(x);
  const TwoStaircases stairs(samples.rule.kernels, first);
  if (samples.row.weights[x] != lens_full_weight || x - stairs.widest < area.first ||
      x + stairs.widest >= area.last || area.OnBorder()) {
    const std::uint32_t* colour = samples.Colours(x);
    Spread<Channels>(samples.rule, first, x, samples.row.weights[x], group, false, area,
                     [colour](std::uint32_t share, std::size_t lane)
                         HWY_ATTR { return WeightedCell<Channels>(colour, share, lane); });
    return x + 1;
  }
  const std::int64_t limit = std::min({end, x + RunOf<Channels>::most, area.last - stairs.widest});
  const std::int64_t next = EndOfRun<Channels>(samples, x, limit);
  fetch_values(samples.row.colours + (samples.row.width + x) * Channels, (next - x) * Channels);
  fetch_values(samples.row.radii + samples.row.width + x, next - x);
  run.first = x;
  run.count = next - x;
  PutRun<Channels>(samples, x, run.count, stairs.two, run);
  AddRun(run, stairs, group, area);
  return next;
}

/// Spreads the samples out of focus in columns begin to end - 1 of one row.
template <int Channels>
GroupsOfRow SpreadVisible(const SplatRule& rule, const VisibleRow& row, std::int64_t begin, std::int64_t end,
                          const DeltaRows& area) {
  GroupsOfRow found;
  const VisibleSamples<Channels> samples(rule, row);
  RunOf<Channels> run;
  for (std::int64_t x = begin; x < end;) {
    if (samples.row.weights[x] == 0) {
      ++x;
    } else if (samples.Focused(x)) {
      found.focused |= 1U << samples.Group(x);
      ++x;
    } else {
      found.spread |= 1U << samples.Group(x);
      x = SpreadRun<Channels>(samples, x, end, area, run);
    }
  }
  return found;
}

/// Spreads the samples of one row, given by their indices in the list.
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
    Spread<Channels>(rule, lens_kernel(rule.kernels, sample.radius, block), sample.x, sample.weight, group,
                     block, area, [&](std::uint32_t share, std::size_t lane) HWY_ATTR {
                       return WeightedCell<Channels>(colour.colour, share, lane);
                     });
  }
  return found;
}

/// Adds `difference` * (colours, 1) to a cell; |difference| < 2^32.
template <int Channels>
HWY_INLINE void AddDifference(const std::uint32_t* colour, std::int64_t difference, std::uint64_t* to) {
  const CellTag<Channels> d;
  const auto weight = static_cast<std::uint32_t>(difference < 0 ? -difference : difference);
  for (std::size_t lane = 0; lane < cell_size(Channels); lane += hn::Lanes(d)) {
    const auto sum = hn::LoadU(d, to + lane);
    const auto cell = WeightedCell<Channels>(colour, weight, lane);
    hn::StoreU(difference < 0 ? hn::Sub(sum, cell) : hn::Add(sum, cell), d, to + lane);
  }
}

template <int Channels, int Most>
void DrawLamp(const Lamp& lamp, const LampShape& shape, std::uint64_t* const* rows, const DeltaRows& area) {
  const Padded<Channels> colour(lamp.sample.colour);
  LampRow<Most> above;
  LampRow<Most> own;
  above.load(shape, -shape.reach() - 1);
  for (std::int32_t row = -shape.reach(); row <= shape.reach() + 1; ++row) {
    own.load(shape, row);
    std::uint64_t* cells = rows[area.reach + row];
    for_lamp_deltas(own, above, lamp.share, [&](std::int32_t column, std::int64_t difference) {
      const std::int64_t at = std::clamp<std::int64_t>(lamp.sample.x + column, area.first, area.last);
      AddDifference<Channels>(colour.colour, difference, cells + (at - area.first) * cell_size(Channels));
    });
    above = own;
  }
}

/// Draws a lamp. Returns the bit of its group, or 0 if it does not reach the area.
template <int Channels>
std::uint32_t SpreadLamp(const SplatRule& rule, const Aperture& aperture, const Lamp& lamp,
                         const DeltaRows& area) {
  const LampShape shape(aperture, lamp.sample);
  if (lamp.sample.x - shape.reach() >= area.last || lamp.sample.x + shape.reach() + 1 < area.first) return 0;
  const std::uint32_t group = std::min<std::uint32_t>(lamp.sample.group, rule.last_group);
  std::uint64_t* const* rows = area.rows + group * area.rows_per_group;
  aperture.simple != 0 ? DrawLamp<Channels, 2>(lamp, shape, rows, area)
                       : DrawLamp<Channels, most_aperture_edges>(lamp, shape, rows, area);
  return 1U << group;
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
