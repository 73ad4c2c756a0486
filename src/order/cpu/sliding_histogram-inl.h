// Ranks in a window of one size by histograms that slide, compiled for every SIMD target.

#if defined(SATIN_SLIDING_HISTOGRAM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SLIDING_HISTOGRAM_INL_H
#undef SATIN_SLIDING_HISTOGRAM_INL_H
#else
#define SATIN_SLIDING_HISTOGRAM_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "core/workspace.h"
#include "order/cpu/rank_codes.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Cumulative counts of one window: count[i] for values up to i, with a 0 before the first.
template <class Count, int bins>
class CumulativeCounts {
  static constexpr auto lanes = static_cast<std::size_t>(bins);

 public:
  /// The counts of values below `bin`.
  [[nodiscard]] Count below(int bin) const { return counts_[static_cast<std::size_t>(bins_at + bin - 1)]; }
  [[nodiscard]] Count all() const { return counts_[bins_at + bins - 1]; }

  /// Adds the columns [first, first + added) and subtracts as many that begin at `gone`, which may be null.
  template <class Column>
  HWY_INLINE void slide(const Column* first, const Column* gone, int added) {
    const D d;
    for (int i = 0; i < bins; i += width()) {
      Count* const counts = counts_.data() + bins_at + i;
      auto low = gone == nullptr ? hn::Zero(d) : hn::Load(d, counts);
      auto high = gone == nullptr || !pairs ? hn::Zero(d) : hn::Load(d, counts + half());
      for (int k = 0; k < added; ++k) {
        const Column* const add = first + k * bins + i;
        low = hn::Add(low, Promoted(add));
        if constexpr (pairs) high = hn::Add(high, Promoted(add + half()));
        if (gone == nullptr) continue;
        const Column* const subtract = gone + k * bins + i;
        low = hn::Sub(low, Promoted(subtract));
        if constexpr (pairs) high = hn::Sub(high, Promoted(subtract + half()));
      }
      hn::Store(low, d, counts);
      if constexpr (pairs) hn::Store(high, d, counts + half());
    }
  }

  /// Slides by one column `steps` times, and calls take(step) after each.
  template <class Column, class Take>
  HWY_INLINE void slide_along(const Column* first, const Column* gone, std::int64_t steps, const Take& take) {
    const D d;
    Count* const counts = counts_.data() + bins_at;
    auto low = hn::Load(d, counts);
    auto high = pairs ? hn::Load(d, counts + half()) : hn::Zero(d);
    for (std::int64_t x = 0; x < steps; ++x, first += bins, gone += bins) {
      if constexpr (in_registers) {
        low = hn::Sub(hn::Add(low, Promoted(first)), Promoted(gone));
        hn::Store(low, d, counts);
        if constexpr (pairs) {
          high = hn::Sub(hn::Add(high, Promoted(first + half())), Promoted(gone + half()));
          hn::Store(high, d, counts + half());
        }
      } else {
        slide(first, gone, 1);
      }
      take(x);
    }
  }

  /// The bin that holds the value of this rank.
  [[nodiscard]] HWY_INLINE int bin_of(Count rank) const {
    const hn::CappedTag<Count, lanes> d;
    std::size_t below = 0;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d)))
      below += hn::CountTrue(d, hn::Lt(hn::Load(d, counts_.data() + bins_at + i), hn::Set(d, rank)));
    return static_cast<int>(below);
  }

 private:
  using D = hn::CappedTag<Count, lanes>;
  static constexpr bool pairs = hn::MaxLanes(D()) < lanes;  ///< of vectors go together
  static constexpr bool in_registers = hn::MaxLanes(D()) * 2 >= lanes;
  static HWY_INLINE int half() { return static_cast<int>(hn::Lanes(D())); }
  static HWY_INLINE int width() { return pairs ? 2 * half() : half(); }
  template <class Column>
  static HWY_INLINE hn::Vec<D> Promoted(const Column* column) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<Column, D>(), column));
  }

  static constexpr int bins_at = 32;  // keeps vectors aligned
  alignas(64) std::array<Count, bins_at + lanes> counts_{};
};

/// Every column of the region has a histogram of what the window holds of it: the bins, and the codes of
/// every bin. A row of windows slides along the columns. Only the coarse counts follow every step; those of a
/// bin's codes are brought up to date where the rank falls into the bin (Perreault and Hebert, Median
/// filtering in constant time, 2007). Counts are cumulative, so that a rank is found by comparing, and a
/// pixel is counted by adding a row of 0 and 1.
///
/// Column holds the height of a window, Count its area.
template <class Column, class Count, int bins>
class SlidingHistogram {
  static constexpr auto lanes = static_cast<std::size_t>(bins);

 public:
  explicit SlidingHistogram(std::int64_t most_columns)
      : coarse_(static_cast<std::size_t>(most_columns + 1) * bins),
        fine_(static_cast<std::size_t>(most_columns + 1) * bins * (bins + 1)),
        ranks_(static_cast<std::size_t>(most_columns)) {
    for (int i = 0; i < bins; ++i)
      for (int k = i; k < bins; ++k)
        steps_[static_cast<std::size_t>(i) * bins + static_cast<std::size_t>(k)] = 1;
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (coarse_.size() + fine_.size()) * sizeof(Column) + ranks_.size() * sizeof(RankInBin);
  }

  /// Calls row_done(y, found) with the ranks of every row of windows.
  template <class RowDone>
  void run(const CodedRegion& region, Percent percent, std::span<FoundRank> found, const RowDone& row_done) {
    columns_ = region.width;
    std::fill(coarse_.begin(), coarse_.end(), Column{0});
    std::fill(fine_.begin(), fine_.end(), Column{0});
    const std::int64_t window = region.height - region.inner_height() + 1;
    for (std::int64_t y = 0; y < window; ++y) add_row(region.row(y));
    for (std::int64_t y = 0; y < region.inner_height(); ++y) {
      if (y > 0) slide_row(region.row(y - 1), region.row(y + window - 1));
      find_bins(region, percent);
      find_codes(region, found);
      row_done(y, found);
    }
  }

 private:
  /// Column -1 is empty.
  [[nodiscard]] Column* coarse(std::int64_t column) { return coarse_.data() + (column + 1) * bins; }
  [[nodiscard]] Column* fine(int bin, std::int64_t column) {
    return fine_.data() + (bin * (columns_ + 1) + column + 1) * bins;
  }
  [[nodiscard]] const Column* step(int from) const { return steps_.data() + from * bins; }

  static HWY_INLINE void replace(const Column* gone, const Column* step, Column* counts) {
    const hn::CappedTag<Column, lanes> d;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d))) {
      const auto change = hn::Sub(hn::LoadU(d, step + i), hn::LoadU(d, gone + i));
      hn::StoreU(hn::Add(hn::LoadU(d, counts + i), change), d, counts + i);
    }
  }
  static HWY_INLINE void add(const Column* step, Column* counts) {
    const hn::CappedTag<Column, lanes> d;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d)))
      hn::StoreU(hn::Add(hn::LoadU(d, counts + i), hn::LoadU(d, step + i)), d, counts + i);
  }
  static HWY_INLINE void subtract(const Column* step, Column* counts) {
    const hn::CappedTag<Column, lanes> d;
    for (int i = 0; i < bins; i += static_cast<int>(hn::Lanes(d)))
      hn::StoreU(hn::Sub(hn::LoadU(d, counts + i), hn::LoadU(d, step + i)), d, counts + i);
  }

  void add_row(const std::uint16_t* codes) {
    for (std::int64_t x = 0; x < columns_; ++x) {
      add(step(codes[x] / bins), coarse(x));
      add(step(codes[x] % bins), fine(codes[x] / bins, x));
    }
  }

  void slide_row(const std::uint16_t* gone, const std::uint16_t* codes) {
    for (std::int64_t x = 0; x < columns_; ++x) {
      if (gone[x] == codes[x]) continue;
      replace(step(gone[x] / bins), step(codes[x] / bins), coarse(x));
      subtract(step(gone[x] % bins), fine(gone[x] / bins, x));
      add(step(codes[x] % bins), fine(codes[x] / bins, x));
    }
  }

  /// Of every window the bin that the rank falls into, and its rank among the codes of the bin.
  void find_bins(const CodedRegion& region, Percent percent) {
    const auto window = static_cast<int>(region.width - region.inner_width() + 1);
    CumulativeCounts<Count, bins> all;
    all.slide(coarse(0), static_cast<const Column*>(nullptr), window - 1);
    std::uint32_t count = 0;
    std::uint32_t rank = 1;
    all.slide_along(coarse(window - 1), coarse(-1), region.inner_width(), [&](std::int64_t x) HWY_ATTR {
      if (all.all() != count) {
        count = all.all();
        rank = rank_of(percent, count);
      }
      const int bin = all.bin_of(static_cast<Count>(rank));
      ranks_[static_cast<std::size_t>(x)] = {static_cast<std::uint32_t>(bin), rank - all.below(bin)};
    });
  }

  void find_codes(const CodedRegion& region, std::span<FoundRank> found) {
    const auto window = static_cast<int>(region.width - region.inner_width() + 1);
    std::array<CumulativeCounts<Count, bins>, lanes> codes;
    std::array<std::int64_t, lanes> known;  // the window that the counts of a bin's codes are of
    known.fill(-2 * window);
    for (std::int64_t x = 0; x < region.inner_width(); ++x) {
      const auto [bin, rest] = ranks_[static_cast<std::size_t>(x)];
      FoundRank& result = found[static_cast<std::size_t>(x)];
      if (bin == bins) {  // nothing counts
        result = {};
        continue;
      }
      follow(codes[bin], known[bin], x, window, static_cast<int>(bin));
      known[bin] = x;
      const int code = codes[bin].bin_of(static_cast<Count>(rest));
      result = {static_cast<std::uint16_t>(static_cast<int>(bin) * bins + code), false,
                rest - codes[bin].below(code)};
    }
  }

  /// Makes the counts of window `known` those of window x: by the columns between them, or anew.
  HWY_INLINE void follow(CumulativeCounts<Count, bins>& codes, std::int64_t known, std::int64_t x, int window,
                         int bin) {
    const std::int64_t steps = x - known;
    if (2 * steps > window) {
      codes.slide(fine(bin, x), static_cast<const Column*>(nullptr), window);
    } else {
      codes.slide(fine(bin, known + window), fine(bin, known), static_cast<int>(steps));
    }
  }

  /// In which bin a rank is found, and which of the bin's values it is, counted from 1.
  struct RankInBin {
    std::uint32_t bin = 0;
    std::uint32_t rest = 0;
  };

  std::int64_t columns_ = 0;
  WorkspaceVector<Column> coarse_;
  WorkspaceVector<Column> fine_;
  WorkspaceVector<RankInBin> ranks_;                 ///< of a row of windows
  std::array<Column, (lanes + 1) * lanes> steps_{};  ///< the last one, of no_byte, adds nothing
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
