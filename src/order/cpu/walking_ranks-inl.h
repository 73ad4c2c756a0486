// Ranks in a window of one size that walks down the columns of a region, compiled for every SIMD target.

#if defined(SATIN_WALKING_RANKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_WALKING_RANKS_INL_H
#undef SATIN_WALKING_RANKS_INL_H
#else
#define SATIN_WALKING_RANKS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/workspace.h"
#include "order/cpu/rank_codes.h"
#include "order/cpu/window_elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many of `entering` are below the limit, less how many of `leaving` are.
HWY_INLINE std::int32_t DifferenceBelow(const std::int16_t* entering, const std::int16_t* leaving,
                                        std::size_t count, std::int16_t limit) {
  const hn::ScalableTag<std::int16_t> d;
  const auto least = hn::Set(d, limit);
  const auto below = [&](const std::int16_t* codes) HWY_ATTR { return hn::Lt(hn::LoadU(d, codes), least); };
  std::size_t i = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  std::int64_t sum = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    sum += static_cast<std::int64_t>(hn::CountTrue(d, below(entering + i))) -
           static_cast<std::int64_t>(hn::CountTrue(d, below(leaving + i)));
  const auto rest = hn::FirstN(d, count - i);
  sum += static_cast<std::int64_t>(hn::CountTrue(d, hn::And(rest, below(entering + i)))) -
         static_cast<std::int64_t>(hn::CountTrue(d, hn::And(rest, below(leaving + i))));
  return static_cast<std::int32_t>(sum);
#else
  auto sum = hn::Zero(d);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    sum = hn::Sub(sum, hn::VecFromMask(d, below(entering + i)));
    sum = hn::Add(sum, hn::VecFromMask(d, below(leaving + i)));
  }
  const auto rest = hn::FirstN(d, count - i);
  sum = hn::Sub(sum, hn::VecFromMask(d, hn::And(rest, below(entering + i))));
  sum = hn::Add(sum, hn::VecFromMask(d, hn::And(rest, below(leaving + i))));
  return hn::GetLane(hn::SumOfLanes(d, sum));
#endif
}

/// The sorted elements of a region are in blocks. Of a window it is known how many of its elements are in the
/// blocks before one that is near its rank; the window below differs by a row that enters and one that
/// leaves, and the block of its rank is a few steps away. Where it is far, the elements of the window are
/// counted in large blocks. Windows go down in strips, so that neighbours find the rows in the first cache.
template <class Coordinate>
class WalkingRanks {
 public:
  WalkingRanks(const CodedRegion& region, const KeyGroups::Places<Coordinate>& places,
               const CountedPixels& counted, std::span<std::uint32_t> block_counts)
      : region_(region), places_(places), counted_(counted), block_counts_(block_counts) {}

  /// take(x, y, elements) for the windows from (x, y) on in a row of a strip.
  template <class Take>
  void run(Percent percent, const Element* sorted, const Take& take) {
    std::array<Pivot, strip_columns> pivots;
    std::array<std::uint32_t, strip_columns> elements;
    Pivot top = first(window_at(0, 0));
    for (std::int64_t left = 0; left < region_.inner_width(); left += strip_columns) {
      const std::int64_t columns = std::min<std::int64_t>(strip_columns, region_.inner_width() - left);
      for (std::int64_t y = 0; y < region_.inner_height(); ++y) {
        for (std::int64_t i = 0; i < columns; ++i) {
          const std::int64_t x = left + i;
          Pivot& pivot = pivots[static_cast<std::size_t>(i)];
          if (y > 0) {
            step_down(pivot, window_at(x, y - 1));
          } else if (x > 0) {
            step_right(top, window_at(x - 1, 0));
            pivot = top;
          } else {
            pivot = top;
          }
          const std::uint32_t element = find(percent, pivot, x, y);
          if (element != no_element) hwy::Prefetch(sorted + element);
          elements[static_cast<std::size_t>(i)] = element;
          if (y == 0) top = pivot;
        }
        take(left, y, std::span<const std::uint32_t>(elements).first(static_cast<std::size_t>(columns)));
      }
    }
  }

 private:
  static constexpr int strip_columns = 16;
  static constexpr auto nothing = static_cast<std::int16_t>(no_block);

  struct Pivot {
    std::size_t block = 0;
    std::uint32_t below = 0;    ///< elements of the window in the blocks before
    std::uint32_t counted = 0;  ///< elements of the window, where they are counted
  };

  [[nodiscard]] WindowPlace window_at(std::int64_t x, std::int64_t y) const {
    return {x, y, region_.reach_x, region_.reach_y};
  }

  HWY_INLINE std::uint32_t find(Percent percent, Pivot& pivot, std::int64_t x, std::int64_t y) {
    const std::uint32_t counted = counted_.vary ? pivot.counted : counted_.in_window(x, y);
    if (counted == 0) return no_element;
    if (counted != ranked_) {
      ranked_ = counted;
      rank_ = rank_of(percent, counted);
    }
    return static_cast<std::uint32_t>(element_of(rank_, pivot, window_at(x, y)));
  }

  /// Moves the pivot to the rank, and returns the element.
  HWY_INLINE std::size_t element_of(std::uint32_t rank, Pivot& pivot, const WindowPlace& window) {
    std::uint64_t bits = 0;
    if (!walk(pivot, window, rank, large_block, bits)) {
      if (!walk(pivot, window, rank, patience(window), bits)) {
        jump(pivot, window, rank);
        walk(pivot, window, rank, SIZE_MAX, bits);
      }
    }
    return pivot.block * window_bits + SelectBit(bits, rank - pivot.below);
  }

  /// The window that begins one row below `window`.
  HWY_INLINE void step_down(Pivot& pivot, const WindowPlace& window) const {
    const auto width = static_cast<std::size_t>(2 * window.reach_x + 1);
    const std::int16_t* leaving = codes(window.y) + window.x;
    const std::int16_t* entering = codes(window.y + 2 * window.reach_y + 1) + window.x;
    pivot.below +=
        static_cast<std::uint32_t>(DifferenceBelow(entering, leaving, width, code_of(pivot.block)));
    if (counted_.vary)
      pivot.counted += static_cast<std::uint32_t>(DifferenceBelow(entering, leaving, width, nothing));
  }

  /// The window that begins one column right of `window`.
  void step_right(Pivot& pivot, const WindowPlace& window) const {
    const std::int16_t limit = code_of(pivot.block);
    for (std::int64_t y = window.y; y <= window.y + 2 * window.reach_y; ++y) {
      const std::int16_t leaving = codes(y)[window.x];
      const std::int16_t entering = codes(y)[window.x + 2 * window.reach_x + 1];
      pivot.below +=
          static_cast<std::uint32_t>(entering < limit) - static_cast<std::uint32_t>(leaving < limit);
      pivot.counted +=
          static_cast<std::uint32_t>(entering != nothing) - static_cast<std::uint32_t>(leaving != nothing);
    }
  }

  [[nodiscard]] Pivot first(const WindowPlace& window) const {
    Pivot pivot;
    for (std::int64_t y = window.y; y <= window.y + 2 * window.reach_y; ++y)
      for (std::int64_t x = window.x; x <= window.x + 2 * window.reach_x; ++x)
        pivot.counted += codes(y)[x] != nothing ? 1U : 0U;
    return pivot;
  }

  static std::int16_t code_of(std::size_t block) { return static_cast<std::int16_t>(block_code(block)); }
  static std::size_t block_of(std::int16_t code) { return static_cast<std::size_t>(code + 0x8000); }
  [[nodiscard]] const std::int16_t* codes(std::int64_t y) const {
    return reinterpret_cast<const std::int16_t*>(region_.row(y));
  }

  /// Whether it comes to the block of the rank in so many steps; then `bits` are its elements in the window.
  HWY_INLINE bool walk(Pivot& pivot, const WindowPlace& window, std::uint32_t rank, std::size_t steps,
                       std::uint64_t& bits) const {
    for (; pivot.below >= rank; --steps) {
      if (steps == 0) return false;
      --pivot.block;
      pivot.below -= static_cast<std::uint32_t>(
          hwy::PopCount(ElementsInWindow(places_, pivot.block * window_bits, window)));
    }
    for (;; --steps) {
      bits = ElementsInWindow(places_, pivot.block * window_bits, window);
      const auto met = static_cast<std::uint32_t>(hwy::PopCount(bits));
      if (pivot.below + met >= rank) return true;
      if (steps == 0) return false;
      pivot.below += met;
      ++pivot.block;
    }
  }

  /// What it takes to make the counts those of a window by rows and columns that differ.
  [[nodiscard]] std::size_t apart(const WindowPlace& window) const {
    return static_cast<std::size_t>(2 * std::abs(window.x - counts_at_.x) * (2 * window.reach_y + 1) +
                                    2 * std::abs(window.y - counts_at_.y) * (2 * window.reach_x + 1));
  }
  [[nodiscard]] static std::size_t area(const WindowPlace& window) {
    return static_cast<std::size_t>((2 * window.reach_x + 1) * (2 * window.reach_y + 1));
  }

  /// So many steps take the time of a jump.
  [[nodiscard]] std::size_t patience(const WindowPlace& window) const {
    return std::min(apart(window), area(window)) / 8;
  }

  void count(std::int64_t y, std::int64_t first, std::int64_t last, std::uint32_t change) {
    for (const std::int16_t* code = codes(y) + first; code < codes(y) + last; ++code)
      block_counts_[block_of(*code) / large_block] += change;
  }

  void move_counts(const WindowPlace& window) {
    const std::int64_t columns = 2 * window.reach_x + 1;
    const std::int64_t rows = 2 * window.reach_y + 1;
    if (apart(window) >= area(window)) {
      std::fill(block_counts_.begin(), block_counts_.end(), 0U);
      for (std::int64_t y = window.y; y < window.y + rows; ++y) count(y, window.x, window.x + columns, 1);
      counts_at_ = window;
      return;
    }
    const auto [low_x, high_x] = std::minmax(window.x, counts_at_.x);
    const std::uint32_t right = window.x > counts_at_.x ? 1 : ~0U;
    for (std::int64_t y = counts_at_.y; low_x < high_x && y < counts_at_.y + rows; ++y) {
      count(y, low_x, high_x, ~right + 1);
      count(y, low_x + columns, high_x + columns, right);
    }
    const auto [low_y, high_y] = std::minmax(window.y, counts_at_.y);
    const std::uint32_t down = window.y > counts_at_.y ? 1 : ~0U;
    for (std::int64_t y = low_y; y < high_y; ++y) {
      count(y, window.x, window.x + columns, ~down + 1);
      count(y + rows, window.x, window.x + columns, down);
    }
    counts_at_ = window;
  }

  void jump(Pivot& pivot, const WindowPlace& window, std::uint32_t rank) {
    move_counts(window);
    pivot.block = 0;
    pivot.below = 0;
    for (const std::uint32_t* count = block_counts_.data(); pivot.below + *count < rank; ++count) {
      pivot.below += *count;
      pivot.block += large_block;
    }
  }

  const CodedRegion& region_;
  const KeyGroups::Places<Coordinate>& places_;
  const CountedPixels& counted_;
  std::span<std::uint32_t> block_counts_;            ///< elements of a window in every large block
  WindowPlace counts_at_{-0x10000, -0x10000, 0, 0};  ///< that window; at first it is far from all
  std::uint32_t ranked_ = 0;
  std::uint32_t rank_ = 0;  ///< of so many pixels
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
