// Medians of 3 x 3 and 5 x 5 pixels by sorting networks, compiled for every SIMD target.
//
// A vector of neighbouring windows moves down the rows. Each row of a window is sorted once, and sorted rows
// are merged (Adams, Fast median filters using separable sorting networks, 2021). Two windows, one above the
// other, share the merged rows that both see; the row that only one of them sees is not merged, as the median
// of two sorted lists needs fewer comparisons (RankProgram::selected()). Lists are merged by odd-even merging
// (Batcher, Sorting networks and their applications, 1968). The networks are made at compile time, without
// the exchanges that the median does not need, and values stay in registers.
//
// Pixels that do not count are marked: colours of transparent pixels, and pixels beyond a border that shrinks
// windows. In each window they become by turns the least and the greatest key, so that the median of all is
// the lower median of the others. Turns begin with the rows that two windows share, and each window continues
// them in its own row.

#if defined(SATIN_NETWORK_MEDIANS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NETWORK_MEDIANS_INL_H
#undef SATIN_NETWORK_MEDIANS_INL_H
#else
#define SATIN_NETWORK_MEDIANS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/cpu/cache.h"
#include "core/windows.h"
#include "order/cpu/rank_program.h"
#include "order/rank.h"
#include "pixels/cpu/visible_pixels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Two wires of a network: the smaller value goes to `low` and the larger to `high`, if they are needed.
struct Exchange {
  std::uint8_t low = 0;
  std::uint8_t high = 0;
  bool keeps_low = true;
  bool keeps_high = true;
};

/// Wires in the order of the values that they hold.
class WireList {
 public:
  static constexpr std::size_t most = 20;

  constexpr void push_back(std::uint8_t wire) { wires_[size_++] = wire; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr std::uint8_t operator[](std::size_t i) const { return wires_[i]; }

 private:
  std::array<std::uint8_t, most> wires_{};
  std::size_t size_ = 0;
};

[[nodiscard]] constexpr WireList sorted_wires(int first, int size) {
  WireList list;
  for (int i = 0; i < size; ++i) list.push_back(static_cast<std::uint8_t>(first + i));
  return list;
}

class SortingNetwork {
 public:
  static constexpr int most = 40;

  int count = 0;
  std::array<Exchange, most> exchanges{};
  WireList order;  ///< wires of the result

  constexpr WireList sort(int first, int size) {
    if (size == 1) return sorted_wires(first, 1);
    return merge(sort(first, size / 2), sort(first + size / 2, size - size / 2));
  }

  constexpr WireList merge(const WireList& a, const WireList& b) {
    return odd_even_merge(a, b, [this](std::uint8_t low, std::uint8_t high) {
      exchanges[static_cast<std::size_t>(count++)] = {low, high};
      return std::pair(low, high);
    });
  }

  /// Removes the exchanges that the values of the ranks [rank, rank + size), counted from 0, do not need.
  constexpr void select(int rank, int size) {
    std::array<bool, WireList::most> live{};
    for (int i = rank; i < rank + size; ++i) live[order[static_cast<std::size_t>(i)]] = true;
    int kept = most;
    for (int i = count - 1; i >= 0; --i) {
      Exchange step = exchanges[static_cast<std::size_t>(i)];
      step.keeps_low = live[step.low];
      step.keeps_high = live[step.high];
      if (!step.keeps_low && !step.keeps_high) continue;
      live[step.low] = live[step.high] = true;
      exchanges[static_cast<std::size_t>(--kept)] = step;
    }
    count = most - kept;
    for (int i = 0; i < count; ++i)
      exchanges[static_cast<std::size_t>(i)] = exchanges[static_cast<std::size_t>(kept + i)];
  }
};

[[nodiscard]] constexpr SortingNetwork sorted_line(int size) {
  SortingNetwork network;
  network.order = network.sort(0, size);
  return network;
}

/// Merges two lists of `size` values each; the `kept` values in the middle are needed.
[[nodiscard]] constexpr SortingNetwork merged_lists(int size, int kept) {
  SortingNetwork network;
  network.order = network.merge(sorted_wires(0, size), sorted_wires(size, size));
  network.select(size - kept / 2, kept);
  return network;
}

/// turn_key() for vectors: turns stored bits into keys and back.
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

/// Values in rising order, in each lane by itself.
template <class V, std::size_t size>
struct SortedLanes {
  V at[size];
};

template <const SortingNetwork& network, std::size_t first, class V, std::size_t... Step,
          std::size_t... Result>
HWY_INLINE SortedLanes<V, sizeof...(Result)> RunNetwork(V* wires, std::index_sequence<Step...> /*steps*/,
                                                        std::index_sequence<Result...> /*results*/) {
  (ExchangeLanes<network.exchanges[Step]>(wires), ...);
  return {{wires[network.order[first + Result]]...}};
}
template <const SortingNetwork& network, std::size_t first, std::size_t results, class V>
HWY_INLINE SortedLanes<V, results> RunNetwork(V* wires) {
  return RunNetwork<network, first>(wires,
                                    std::make_index_sequence<static_cast<std::size_t>(network.count)>(),
                                    std::make_index_sequence<results>());
}

template <class Element>
struct Lines {
  Element* first = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes

  [[nodiscard]] Element* row(std::int64_t y) const {
    using Byte = std::conditional_t<std::is_const_v<Element>, const std::byte, std::byte>;
    return reinterpret_cast<Element*>(reinterpret_cast<Byte*>(first) + y * stride);
  }
};

/// Marks the colours of pixels whose alpha hides them: -1, and 0 elsewhere.
template <class Key>
void mark_hidden(const Key* keys, std::size_t count, std::size_t channels, Key* marks) {
  const auto candidates = [](auto d, std::size_t, auto)
                              HWY_ATTR { return std::pair(hn::Zero(d), hn::Set(d, static_cast<Key>(-1))); };
  for (std::size_t i = SelectVisible(count, channels, candidates, keys, marks); i < count; i += channels) {
    const bool shown = counts(turn_key(keys[i + channels - 1]), 1, false);
    std::fill_n(marks + i, channels - 1, static_cast<Key>(shown ? 0 : -1));
    marks[i + channels - 1] = 0;
  }
}

/// Medians of windows of (2 reach + 1)^2 pixels inside the picture.
template <class Key, std::size_t reach>
class NetworkMedians {
 public:
  /// `plainly`: whether the output gets stored pixels; otherwise it gets keys.
  NetworkMedians(const RankJob& job, bool plainly)
      : channels_(static_cast<std::size_t>(job.channels)), weighted_(job.weighted), plainly_(plainly) {}

  /// Returns the fewest columns that networks take: those of a vector.
  static std::int64_t least_width(int channels) {
    return (64 / static_cast<std::int64_t>(sizeof(Key)) + channels - 1) / channels;
  }

  /// `marks`: those of the source's keys. If null, the marks follow from alpha.
  void run(const RankImages& images, const Lines<const Key>& marks, const Rectangle& inner) const {
    const std::size_t row = static_cast<std::size_t>(inner.x.size()) * channels_;
    const std::int64_t rows = rows_per_chunk(images);
    for (std::int64_t y = inner.y.first; y < inner.y.last; y += rows)
      for (std::size_t first = 0; first < row; first += most_elements) {
        const std::size_t begin = std::min(first, row - lanes());  // the last vector ends with the row
        run_chunk(images, marks, {y, std::min(y + rows, inner.y.last)},
                  static_cast<std::size_t>(inner.x.first) * channels_ + begin,
                  std::min(first + most_elements, row) - begin);
      }
  }

 private:
  static constexpr std::size_t side = 2 * reach + 1;
  static constexpr SortingNetwork line = sorted_line(side);
  static constexpr SortingNetwork pair = merged_lists(side, 2 * side);
  static constexpr SortingNetwork halves = merged_lists(reach * side, side + 1);

  using D = hn::ScalableTag<Key>;
  using V = hn::Vec<D>;
  using Row = SortedLanes<V, side>;
  using Rows = SortedLanes<V, reach * side>;  ///< half of the rows that two windows share
  using Core = SortedLanes<V, side + 1>;      ///< values of both halves that can be a median

  static std::size_t lanes() { return hn::Lanes(D()); }

  /// Returns the number of rows that a vector moves down. More rows sort fewer rows twice; fewer rows fit the
  /// first-level cache together, above all where rows are multiples of a page apart and compete for its sets.
  /// Measured with 32 KiB, 8-way.
  static std::int64_t rows_per_chunk(const RankImages& images) {
    return images.source.strides.row % 4096 == 0 ? 2 : 8;
  }

  static constexpr std::int64_t most_rows = 8;       ///< rows per chunk
  static constexpr std::size_t most_elements = 256;  ///< elements per row of a chunk
  static constexpr std::size_t most_channels = 4;
  static constexpr std::size_t turned_elements = most_elements + 2 * reach * most_channels;
  using KeyLines = std::array<Key, (most_rows + 2 * reach) * turned_elements>;

  /// Reads keys that all count.
  struct Keys {
    Lines<const Key> keys;

    HWY_INLINE V at(std::int64_t y, std::size_t i) { return hn::LoadU(D(), keys.row(y) + i); }
  };

  /// Reads the keys of windows, with those that do not count replaced.
  struct MarkedKeys {
    Lines<const Key> keys;
    Lines<const Key> marks;
    V turn = hn::Zero(D());

    HWY_INLINE V at(std::int64_t y, std::size_t i) {
      const D d;
      const V marked = hn::LoadU(d, marks.row(y) + i);
      turn = hn::Xor(turn, marked);
      const V key = hn::Xor(turn, hn::Set(d, neutral_key<Key>(Extreme::minimum)));
      return hn::IfVecThenElse(marked, key, hn::LoadU(d, keys.row(y) + i));
    }
  };

  /// Finds the medians of a chunk: elements [x, x + size) of some rows.
  void run_chunk(const RankImages& images, Lines<const Key> marks, const Stretch& chunk, std::size_t x,
                 std::size_t size) const {
    constexpr std::int64_t above = reach;
    const std::int64_t rows = chunk.size() + 2 * above;
    const std::size_t elements = size + 2 * reach * channels_;
    const std::size_t from = x - reach * channels_;
    Lines<const Key> seen{images.source.row<Key>(chunk.first - above) + from, images.source.strides.row};
    const Lines<Key> found{images.output.row<Key>(chunk.first) + x, images.output.strides.row};
    KeyLines marked;
    Shown shown = marks.first != nullptr ? Shown::some : Shown::all;
    if (marks.first != nullptr) {
      marks.first = marks.row(chunk.first - above) + from;
    } else if (weighted_) {
      shown = shown_of(seen, rows, elements);
      if (shown == Shown::none) return copy(images, chunk, x, size);
      if (shown == Shown::some) marks = marked_of(seen, rows, elements, marked);
    }
    const bool searches = marks.first == marked.data();
    KeyLines turned;
    bool turns_back = false;
    if constexpr (std::is_same_v<Key, FloatKey>)
      if (AnyNegative(seen, rows, elements)) {
        seen = Turned(seen, rows, elements, turned);
        turns_back = plainly_;
      }
    for (std::size_t i = 0; i < size; i += lanes()) {
      const std::size_t at = std::min(i, size - lanes());
      fetch_below(images, chunk, x + at);
      const std::size_t around = lanes() + 2 * reach * channels_;
      const std::uint32_t hidden = marks.first == nullptr ? 0 : marked_rows(marks, at, rows, around);
      if (searches && std::countr_one(hidden) == rows &&
          shown_of({seen.first + at, seen.stride}, rows, around) == Shown::none) {
        copy(images, chunk, x + at, lanes());
        continue;
      }
      for (std::int64_t y = 0, count = 0; y < chunk.size(); y += count) {
        const Lines<const Key> keys{seen.row(y), seen.stride};
        const Lines<Key> medians{found.row(y), found.stride};
        const std::int64_t clear = std::countr_zero(hidden >> y) - 2 * above;  // windows without marks
        count = std::min(std::max<std::int64_t>(clear, 2), chunk.size() - y);
        if (clear > 0)
          go_down(Keys{keys}, medians, count = std::min(clear, count), at, turns_back);
        else
          go_down(MarkedKeys{keys, {marks.row(y), marks.stride}}, medians, count, at, turns_back);
      }
    }
    if (marks.first != nullptr && weighted_ && plainly_) keep_hidden(images, chunk, x, size);
  }

  /// The pixels with an alpha above 0 among those that a chunk sees. All alphas are +0 if there are none.
  enum class Shown : std::uint8_t { none, some, all };

  [[nodiscard]] Shown shown_of(const Lines<const Key>& lines, std::int64_t rows, std::size_t size) const {
    const D d;
    if (lanes() < most_channels) return Shown::some;  // a vector holds no pixel
    V least = hn::Set(d, neutral_key<Key>(Extreme::minimum));
    V bits = hn::Zero(d);
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::size_t i = 0; i < size; i += lanes()) {
        const V keys = hn::LoadU(d, lines.row(y) + std::min(i, size - lanes()));
        least = hn::Min(least, keys);
        bits = hn::Or(bits, keys);
      }
    bool all = true;
    bool none = true;
    alignas(64) std::array<Key, hn::MaxLanes(D())> leasts;
    alignas(64) std::array<Key, hn::MaxLanes(D())> ors;
    hn::Store(least, d, leasts.data());
    hn::Store(bits, d, ors.data());
    for (std::size_t lane = channels_ - 1; lane < lanes(); lane += channels_) {
      all = all && leasts[lane] > 0;
      none = none && ors[lane] == 0;
    }
    return all ? Shown::all : none ? Shown::none : Shown::some;
  }

  Lines<const Key> marked_of(const Lines<const Key>& lines, std::int64_t rows, std::size_t size,
                             KeyLines& marked) const {
    const Lines<Key> marks{marked.data(), turned_elements * sizeof(Key)};
    for (std::int64_t y = 0; y < rows; ++y) mark_hidden(lines.row(y), size, channels_, marks.row(y));
    return {marks.first, marks.stride};
  }

  /// Returns a bit for each row that has marks among elements [i, i + size).
  static std::uint32_t marked_rows(const Lines<const Key>& marks, std::size_t i, std::int64_t rows,
                                   std::size_t size) {
    const D d;
    std::uint32_t bits = 0;
    for (std::int64_t y = 0; y < rows; ++y) {
      const Key* row = marks.row(y) + i;
      V any = hn::LoadU(d, row + size - lanes());
      for (std::size_t at = 0; at + lanes() < size; at += lanes()) any = hn::Or(any, hn::LoadU(d, row + at));
      bits |= std::uint32_t{!hn::AllFalse(d, hn::Ne(any, hn::Zero(d)))} << y;
    }
    return bits;
  }

  static void copy(const RankImages& images, const Stretch& rows, std::size_t x, std::size_t size) {
    for (std::int64_t y = rows.first; y < rows.last; ++y)
      std::copy_n(images.source.row<Key>(y) + x, size, images.output.row<Key>(y) + x);
  }

  /// Restores the colours of results that are fully transparent.
  void keep_hidden(const RankImages& images, const Stretch& rows, std::size_t x, std::size_t size) const {
    const std::size_t alpha = channels_ - 1;
    for (std::int64_t y = rows.first; y < rows.last; ++y) {
      const Key* original = images.source.row<Key>(y) + x;
      Key* found = images.output.row<Key>(y) + x;
      const auto candidates = [=](auto d, std::size_t i, auto own)
                                  HWY_ATTR { return std::pair(own, hn::LoadU(d, original + i)); };
      for (std::size_t i = SelectVisible(size, channels_, candidates, found, found); i < size; i += channels_)
        if (!(turn_key(found[i + alpha]) > 0)) std::copy_n(original + i, alpha, found + i);
    }
  }

  /// Whether a float is negative. If none is, their bits are keys already.
  static bool AnyNegative(const Lines<const Key>& lines, std::int64_t rows, std::size_t size) {
    const D d;
    for (std::int64_t y = 0; y < rows; ++y) {
      const Key* row = lines.row(y);
      V bits = hn::LoadU(d, row + size - lanes());
      for (std::size_t i = 0; i + lanes() < size; i += lanes()) bits = hn::Or(bits, hn::LoadU(d, row + i));
      if (!hn::AllFalse(d, hn::Lt(bits, hn::Zero(d)))) return true;
    }
    return false;
  }

  static Lines<const Key> Turned(const Lines<const Key>& lines, std::int64_t rows, std::size_t size,
                                 KeyLines& turned) {
    const D d;
    const Lines<Key> keys{turned.data(), turned_elements * sizeof(Key)};
    for (std::int64_t y = 0; y < rows; ++y) {
      const auto turn_at = [&, from = lines.row(y), to = keys.row(y)](std::size_t i)
                               HWY_ATTR { hn::StoreU(TurnKeys(d, hn::LoadU(d, from + i)), d, to + i); };
      for (std::size_t i = 0; i + lanes() < size; i += lanes()) turn_at(i);
      turn_at(size - lanes());
    }
    return {keys.first, keys.stride};
  }

  template <class Source>
  HWY_INLINE Row SortedRow(Source& seen, std::size_t i, std::int64_t y) const {
    return Sorted(seen, i, y + static_cast<std::int64_t>(reach), std::make_index_sequence<side>());
  }
  static HWY_INLINE void store(const Lines<Key>& found, std::size_t i, bool turns_back, std::int64_t y,
                               V median) {
    hn::StoreU(turns_back ? TurnKeys(D(), median) : median, D(), found.row(y) + i);
  }

  /// Finds the medians of elements [i, i + lanes) of some rows, of at most two if keys are marked. `seen`
  /// begins with the first pixel of the first window.
  template <class Source>
  HWY_INLINE void go_down(Source seen, const Lines<Key>& found, std::int64_t rows, std::size_t i,
                          bool turns_back) const {
    Row own = SortedRow(seen, i, 0);
    Row next = SortedRow(seen, i, 1);
    Rows upper = Joined(reach == 1 ? own : SortedRow(seen, i, -1), own);
    Row last = reach == 1 ? next : SortedRow(seen, i, 2);
    Source seen_below = seen;
    Row above = SortedRow(seen, i, -static_cast<std::int64_t>(reach));
    for (std::int64_t y = 0; y < rows; y += 2) {
      const Rows lower = Joined(next, last);
      const Core shared = Merged<halves, reach * side - (side + 1) / 2, side + 1>(upper, lower);
      store(found, i, turns_back, y, Selected(shared, above, std::make_index_sequence<side>()));
      if (y + 1 == rows) break;
      const Row below = SortedRow(seen_below, i, y + 1 + static_cast<std::int64_t>(reach));
      store(found, i, turns_back, y + 1, Selected(shared, below, std::make_index_sequence<side>()));
      if (y + 2 == rows) break;
      if constexpr (reach == 1) {
        above = next;
        upper = below;
        last = next = SortedRow(seen, i, y + 3);
      } else {
        above = own;
        own = last;
        upper = lower;
        next = below;
        last = SortedRow(seen, i, y + 4);
      }
    }
  }

  /// Prefetches what the chunk below reads and writes into the second-level cache. The rows are more streams
  /// than the processor follows by itself where several are in one page.
  HWY_INLINE void fetch_below(const RankImages& images, const Stretch& rows, std::size_t x) const {
    const auto below = static_cast<std::int64_t>(reach);
    const std::int64_t last = std::min(rows.last + rows.size(), images.source.shape.height - below);
    for (std::int64_t y = rows.last; y < last; ++y) {
      fetch_to_second_level(images.source.row<Key>(y + below) + x);
      fetch_to_second_level_for_writing(images.output.row<Key>(y) + x);
    }
  }

  template <class Source, std::size_t... Column>
  HWY_INLINE Row Sorted(Source& seen, std::size_t i, std::int64_t y,
                        std::index_sequence<Column...> /*columns*/) const {
    V wires[] = {seen.at(y, i + Column * channels_)...};
    return RunNetwork<line, 0, side>(wires);
  }

  /// Returns half of the rows that two windows share: the second row of two, or both.
  static HWY_INLINE Rows Joined([[maybe_unused]] const Row& first, const Row& second) {
    if constexpr (reach == 1)
      return second;
    else
      return Merged<pair, 0, 2 * side>(first, second);
  }

  template <const SortingNetwork& network, std::size_t first, std::size_t results, std::size_t size>
  static HWY_INLINE SortedLanes<V, results> Merged(const SortedLanes<V, size>& a,
                                                   const SortedLanes<V, size>& b) {
    return Merged<network, first, results>(a, b, std::make_index_sequence<size>());
  }
  template <const SortingNetwork& network, std::size_t first, std::size_t results, std::size_t size,
            std::size_t... I>
  static HWY_INLINE SortedLanes<V, results> Merged(const SortedLanes<V, size>& a,
                                                   const SortedLanes<V, size>& b,
                                                   std::index_sequence<I...> /*indices*/) {
    V wires[] = {a.at[I]..., b.at[I]...};
    return RunNetwork<network, first, results>(wires);
  }

  /// Returns the median of the core and a row: the smallest of core[side] and all max(core[i], row[side - 1 -
  /// i]).
  template <std::size_t... I>
  static HWY_INLINE V Selected(const Core& core, const Row& row, std::index_sequence<I...> /*indices*/) {
    V least = core.at[side];
    ((least = hn::Min(least, hn::Max(core.at[I], row.at[side - 1 - I]))), ...);
    return least;
  }

  std::size_t channels_;
  bool weighted_;
  bool plainly_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
