// Ranks in small windows by sorting networks over lines of pixels, compiled for every SIMD target.

#if defined(SATIN_NETWORK_RANKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NETWORK_RANKS_INL_H
#undef SATIN_NETWORK_RANKS_INL_H
#else
#define SATIN_NETWORK_RANKS_INL_H
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
class NetworkRanks {
 public:
  /// Windows of up to so many pixels.
  static constexpr std::int64_t most_pixels = sizeof(Key) == 2 ? 81 : 49;
  /// Pixels of a row that the lines of one pass hold.
  static constexpr std::int64_t least_width = 64;

  NetworkRanks(const RankJob& job, const LargestReach& reach)
      : channels_(static_cast<std::size_t>(job.channels)),
        reach_(reach),
        width_(static_cast<int>(2 * reach.x + 1)),
        height_(static_cast<int>(2 * reach.y + 1)),
        rank_(static_cast<int>(rank_of(job.percent, static_cast<std::uint32_t>(width_ * height_))) - 1),
        median_of_(width_ == height_ && rank_ == width_ * height_ / 2 ? width_ : 0),
        block_(median_of_ == 3 || median_of_ == 5 ? 2048 : 256 / sizeof(Key)),
        stride_(whole_cache_lines<Key>(block_ + static_cast<std::size_t>(width_) * channels_ + 64)) {
    stages_.push_back({sorted_column(height_), 0});
    std::size_t lines = static_cast<std::size_t>(height_);
    for (int stage = 1; stage < shared_stages(width_); ++stage) {
      stages_.push_back({merged_lists(height_ << (stage - 1)), lines});
      lines += static_cast<std::size_t>(height_ << stage);
    }
    stages_.push_back({ranked_window(width_, height_, rank_), lines});
    lines_.resize((lines + static_cast<std::size_t>(width_ * height_)) * stride_);
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.size() * sizeof(Key); }

  /// Puts the keys of the ranks into the output.
  void run(const RankImages& images, const Rectangle& inner) {
    for (std::int64_t y = inner.y.first; y < inner.y.last; ++y) {
      const std::size_t row = static_cast<std::size_t>(inner.x.size()) * channels_;
      Key* out = images.output.row<Key>(y) + static_cast<std::size_t>(inner.x.first) * channels_;
      for (std::size_t done = 0; done < row; done += block_) {
        // The last block ends with the row, which is wider than a block of vectors.
        const std::size_t length = std::min(block_, row);
        const std::size_t first = std::min(done, row - length);
        const std::size_t left = static_cast<std::size_t>(inner.x.first - reach_.x) * channels_ + first;
        for (int k = 0; k < height_; ++k)
          rows_[static_cast<std::size_t>(k)] = images.source.row<Key>(y - reach_.y + k) + left;
        if (median_of_ == 3) {
          median3(length, out + first);
        } else if (median_of_ == 5) {
          median5(length, out + first);
        } else {
          any_rank(length, out + first);
        }
      }
    }
  }

 private:
  /// A network, and the first of the lines that are its wires.
  struct Stage {
    SortingNetwork network;
    std::size_t first_line;
  };

  static constexpr SortingNetwork column3 = sorted_column(3);
  static constexpr SortingNetwork window3 = ranked_window(3, 3, 4);
  static constexpr SortingNetwork column5 = sorted_column(5);
  static constexpr SortingNetwork pair5 = merged_lists(5);
  static constexpr SortingNetwork window5 = ranked_window(5, 5, 12);

  [[nodiscard]] Key* line(std::size_t index) { return lines_.data() + index * stride_; }
  /// Elements of the lines of a stage that `length` windows look at.
  [[nodiscard]] std::size_t length_of(std::size_t length, int columns) const {
    return length + static_cast<std::size_t>(width_ - columns) * channels_;
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

  /// Every exchange over whole lines, which stay in the first-level cache.
  void any_rank(std::size_t length, Key* out) {
    for (int k = 0; k < height_; ++k) {
      const std::size_t elements = length_of(length, 1);
      Key* keys =
          std::copy_n(rows_[static_cast<std::size_t>(k)], elements, line(static_cast<std::size_t>(k))) -
          elements;
      if constexpr (std::is_same_v<Key, FloatKey>)
        std::transform(keys, keys + elements, keys, [](Key bits) { return turn_key(bits); });
    }
    exchange_lines(stages_[0], length_of(length, 1));
    for (int stage = 1; stage < static_cast<int>(stages_.size()) - 1; ++stage) {
      const std::size_t elements = length_of(length, 1 << stage);
      const std::size_t half =
          copy_list(stage - 1, 0, stages_[static_cast<std::size_t>(stage)].first_line, elements);
      copy_list(stage - 1, 1 << (stage - 1), half, elements);
      exchange_lines(stages_[static_cast<std::size_t>(stage)], elements);
    }
    const Stage& window = stages_.back();
    std::size_t to = window.first_line;
    const ColumnLists lists = lists_of(width_);
    for (int i = 0; i < lists.size; ++i) {
      const ColumnLists::List list = lists.lists[static_cast<std::size_t>(i)];
      to = copy_list(list.stage, list.first, to, length);
    }
    exchange_lines(window, length);
    std::copy_n(line(window.first_line + static_cast<std::size_t>(window.network.order.at(rank_))), length,
                out);
  }

  /// The sorted lines of a stage, from a column on, as the lines from `to` on. Returns the line behind them.
  std::size_t copy_list(int stage, int column, std::size_t to, std::size_t length) {
    const Stage& from = stages_[static_cast<std::size_t>(stage)];
    for (int k = 0; k < height_ << stage; ++k)
      std::copy_n(line(from.first_line + static_cast<std::size_t>(from.network.order.at(k))) +
                      static_cast<std::size_t>(column) * channels_,
                  length, line(to++));
    return to;
  }

  void exchange_lines(const Stage& stage, std::size_t length) {
    const hn::ScalableTag<Key> d;
    const std::size_t lanes = hn::Lanes(d);
    for (int s = 0; s < stage.network.count; ++s) {
      const Exchange step = stage.network.exchanges[static_cast<std::size_t>(s)];
      Key* HWY_RESTRICT low = line(stage.first_line + step.low);
      Key* HWY_RESTRICT high = line(stage.first_line + step.high);
      for (std::size_t i = 0; i < length; i += lanes) {
        const auto a = hn::LoadU(d, low + i);
        const auto b = hn::LoadU(d, high + i);
        if (step.keeps_low) hn::StoreU(hn::Min(a, b), d, low + i);
        if (step.keeps_high) hn::StoreU(hn::Max(a, b), d, high + i);
      }
    }
  }

  std::size_t channels_;
  LargestReach reach_;
  int width_;      ///< of the window
  int height_;     ///< of the window
  int rank_;       ///< from 0
  int median_of_;  ///< side of the square window whose median is wanted; 0: another rank or window
  std::size_t block_;
  std::size_t stride_;
  std::vector<Stage> stages_;  ///< what windows share, and last the windows
  std::array<const Key*, WireList::most> rows_{};
  CacheLines<Key> lines_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
