// Medians of 3 x 3 and 5 x 5 pixels by sorting networks over lines of pixels, compiled for every SIMD target.

#if defined(SATIN_NETWORK_MEDIANS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NETWORK_MEDIANS_INL_H
#undef SATIN_NETWORK_MEDIANS_INL_H
#else
#define SATIN_NETWORK_MEDIANS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/cpu/cache_lines.h"
#include "order/cpu/sorting_network.h"
#include "order/rank.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keys of stored bits, as turn_key().
template <class D, class V>
HWY_INLINE V TurnKeys(D d, V bits) {
  if constexpr (std::is_same_v<hn::TFromD<D>, FloatKey>)
    return hn::Xor(bits, hn::And(hn::ShiftRight<31>(bits), hn::Set(d, 0x7FFFFFFF)));
  return bits;
}

template <Exchange step, class V>
HWY_INLINE void ExchangeLanes(V* wires) {
  const V low = wires[step.low];
  const V high = wires[step.high];
  if constexpr (step.keeps_low) wires[step.low] = hn::Min(low, high);
  if constexpr (step.keeps_high) wires[step.high] = hn::Max(low, high);
}

/// The network over all lanes of lines: one line a wire, and one for each result from place `first` of the
/// order on. The last vector ends with the lines, which are as long as one at least.
template <const SortingNetwork& network, std::size_t first = 0, bool turns = false, class Key,
          std::size_t... Wire, std::size_t... Step, std::size_t... Result>
void RunNetwork(const std::array<const Key*, sizeof...(Wire)>& from,
                const std::array<Key*, sizeof...(Result)>& to, std::size_t length,
                std::index_sequence<Wire...> /*wires*/, std::index_sequence<Step...> /*steps*/,
                std::index_sequence<Result...> /*results*/) {
  const hn::ScalableTag<Key> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < length; i += lanes) {
    const std::size_t at = std::min(i, length - lanes);
    V wires[] = {hn::LoadU(d, from[Wire] + at)...};
    if constexpr (turns) ((wires[Wire] = TurnKeys(d, wires[Wire])), ...);
    (ExchangeLanes<network.exchanges[Step]>(wires), ...);
    (hn::StoreU(wires[network.order.wires[first + Result]], d, to[Result] + at), ...);
  }
}

template <const SortingNetwork& network, std::size_t first = 0, bool turns = false, class Key,
          std::size_t Wires, std::size_t Results>
void RunOverLines(const std::array<const Key*, Wires>& from, const std::array<Key*, Results>& to,
                  std::size_t length) {
  RunNetwork<network, first, turns>(from, to, length, std::make_index_sequence<Wires>(),
                                    std::make_index_sequence<static_cast<std::size_t>(network.count)>(),
                                    std::make_index_sequence<Results>());
}

/// Parts of the picture whose windows do not leave it.
template <class Key>
class NetworkMedians {
 public:
  /// Pixels of a row that the lines of one pass hold.
  static constexpr std::size_t block = 2048;
  static constexpr std::int64_t least_width = 64;  ///< of the pixels inside: a vector at least

  /// The reach is 1 or 2 along both axes.
  NetworkMedians(std::size_t channels, const LargestReach& reach)
      : channels_(channels),
        reach_(static_cast<std::size_t>(reach.x)),
        stride_(whole_cache_lines<Key>(block + (2 * reach_ + 1) * channels + 64)),
        lines_((reach_ == 1 ? 3 : 15) * stride_) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.size() * sizeof(Key); }

  /// Puts the keys of the medians into the output.
  void run(const RankImages& images, const Rectangle& inner) {
    const auto reach = static_cast<std::int64_t>(reach_);
    for (std::int64_t y = inner.y.first; y < inner.y.last; ++y) {
      const std::size_t row = static_cast<std::size_t>(inner.x.size()) * channels_;
      Key* out = images.output.row<Key>(y) + static_cast<std::size_t>(inner.x.first) * channels_;
      for (std::size_t done = 0; done < row; done += block) {
        // The last block ends with the row, which is wider than a block of vectors.
        const std::size_t length = std::min(block, row);
        const std::size_t first = std::min(done, row - length);
        const std::size_t left = static_cast<std::size_t>(inner.x.first - reach) * channels_ + first;
        for (std::int64_t k = 0; k <= 2 * reach; ++k)
          rows_[static_cast<std::size_t>(k)] = images.source.row<Key>(y - reach + k) + left;
        if (reach_ == 1)
          median3(length, out + first);
        else
          median5(length, out + first);
      }
    }
  }

 private:
  static constexpr SortingNetwork column3 = sorted_column(3);
  static constexpr SortingNetwork window3 = median_of_nine();
  static constexpr SortingNetwork column5 = sorted_column(5);
  static constexpr SortingNetwork pair5 = merged_lists(5);
  static constexpr SortingNetwork window5 = median_of_25();

  [[nodiscard]] Key* line(std::size_t index) { return lines_.data() + index * stride_; }
  /// Elements of the lines of a stage that `length` windows look at.
  [[nodiscard]] std::size_t length_of(std::size_t length, std::size_t columns) const {
    return length + (2 * reach_ + 1 - columns) * channels_;
  }

  /// Lines [first, first + Count), from a column on.
  template <std::size_t Count>
  std::array<Key*, Count> lines_from(std::size_t first, std::size_t column = 0) {
    std::array<Key*, Count> lines;
    for (std::size_t k = 0; k < Count; ++k) lines[k] = line(first + k) + column * channels_;
    return lines;
  }

  /// The wires of lists, one after the other.
  template <std::size_t... Counts>
  static auto joined(const std::array<Key*, Counts>&... lists) {
    std::array<const Key*, (Counts + ...)> wires;
    auto* to = wires.data();
    ((to = std::copy(lists.begin(), lists.end(), to)), ...);
    return wires;
  }

  template <const SortingNetwork& network, std::size_t Height>
  void sort_columns(std::size_t length) {
    std::array<const Key*, Height> rows;
    std::copy_n(rows_.begin(), Height, rows.begin());
    RunOverLines<network, 0, true>(rows, lines_from<Height>(0), length_of(length, 1));
  }

  void median3(std::size_t length, Key* out) {
    sort_columns<column3, 3>(length);
    RunOverLines<window3, 4>(joined(lines_from<3>(0), lines_from<3>(0, 1), lines_from<3>(0, 2)),
                             std::array{out}, length);
  }

  void median5(std::size_t length, Key* out) {
    sort_columns<column5, 5>(length);
    RunOverLines<pair5>(joined(lines_from<5>(0), lines_from<5>(0, 1)), lines_from<10>(5),
                        length_of(length, 2));
    RunOverLines<window5, 12>(joined(lines_from<10>(5), lines_from<10>(5, 2), lines_from<5>(0, 4)),
                              std::array{out}, length);
  }

  std::size_t channels_;
  std::size_t reach_;
  std::size_t stride_;
  std::array<const Key*, 5> rows_{};
  CacheLines<Key> lines_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
