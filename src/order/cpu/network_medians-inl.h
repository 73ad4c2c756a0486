// Medians of 3 x 3 and 5 x 5 pixels by sorting networks over lines of pixels, compiled for every SIMD target.

#if defined(SATIN_NETWORK_MEDIANS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NETWORK_MEDIANS_INL_H
#undef SATIN_NETWORK_MEDIANS_INL_H
#else
#define SATIN_NETWORK_MEDIANS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/cpu/fetch.h"
#include "core/maths/rectangle.h"
#include "order/cpu/sorting_network.h"
#include "order/rank.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keys of stored bits and stored bits of keys, as turn_key().
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

/// Values of every lane, in rising order.
template <class V, std::size_t size>
struct SortedLanes {
  V at[size];
};

/// The results from place `first` of the network's order on.
template <const SortingNetwork& network, std::size_t first, class V, std::size_t... Step,
          std::size_t... Result>
HWY_INLINE SortedLanes<V, sizeof...(Result)> RunNetwork(V* wires, std::index_sequence<Step...> /*steps*/,
                                                        std::index_sequence<Result...> /*results*/) {
  (ExchangeLanes<network.exchanges[Step]>(wires), ...);
  return {{wires[network.order.wires[first + Result]]...}};
}
template <const SortingNetwork& network, std::size_t first, std::size_t results, class V>
HWY_INLINE SortedLanes<V, results> RunNetwork(V* wires) {
  return RunNetwork<network, first>(wires,
                                    std::make_index_sequence<static_cast<std::size_t>(network.count)>(),
                                    std::make_index_sequence<results>());
}

/// Parts of the picture whose windows do not leave it. A vector of windows goes down the rows, with the rows
/// of its window in registers: a row is loaded once for every column of the window, and sorted. Two windows,
/// one above the other, share the merged rows that both see; the row that a window has for itself is not
/// merged (order/cpu/rank_program.h).
template <class Key, std::size_t reach>
class NetworkMedians {
 public:
  static constexpr std::int64_t least_width = 64;  ///< of the pixels inside: a vector at least

  /// `plainly`: the output gets the medians as they are stored; otherwise their keys.
  NetworkMedians(int channels, bool plainly)
      : channels_(static_cast<std::size_t>(channels)), plainly_(plainly) {}

  /// Puts the medians into the output.
  void run(const RankImages& images, const Rectangle& inner) const {
    const std::int64_t rows = rows_of_band(images);
    for (std::int64_t y = inner.y.first; y < inner.y.last; y += rows)
      run_band(images, inner.x, {y, std::min(y + rows, inner.y.last)});
  }

 private:
  static constexpr std::size_t side = 2 * reach + 1;
  static constexpr SortingNetwork line = sorted_line(side);
  static constexpr SortingNetwork pair = merged_lists(side, 2 * side);
  static constexpr SortingNetwork halves = merged_lists(reach * side, side + 1);

  using D = hn::ScalableTag<Key>;
  using V = hn::Vec<D>;
  using Row = SortedLanes<V, side>;
  using Rows = SortedLanes<V, reach * side>;  ///< half of those that two windows share
  using Core = SortedLanes<V, side + 1>;      ///< those of two halves that can be a median

  static std::size_t lanes() { return hn::Lanes(D()); }

  /// Rows that a vector goes down at once: more sort fewer rows twice, fewer lie in the first-level cache
  /// together, the less so where rows are multiples of a page apart. Measured with 32 KiB, 8 lines a set.
  static std::int64_t rows_of_band(const RankImages& images) {
    return images.source.strides.row % 4096 == 0 ? 2 : 8;
  }

  /// Rows of keys from the first row and element on that windows see.
  struct Lines {
    const std::byte* first;
    std::ptrdiff_t stride;

    [[nodiscard]] const Key* row(std::int64_t y) const {
      return reinterpret_cast<const Key*>(first + y * stride);
    }
  };

  static constexpr std::int64_t most_rows = 8;       ///< of a band
  static constexpr std::size_t most_elements = 256;  ///< of a piece of it
  static constexpr std::size_t most_channels = 4;
  static constexpr std::size_t turned_stride = most_elements + 2 * reach * most_channels;
  using TurnedLines = std::array<Key, (most_rows + 2 * reach) * turned_stride>;

  void run_band(const RankImages& images, const Stretch& columns, const Stretch& band) const {
    const std::size_t row = static_cast<std::size_t>(columns.size()) * channels_;
    for (std::size_t first = 0; first < row; first += most_elements) {
      const std::size_t begin = std::min(first, row - lanes());  // the last vector ends with the row
      const std::size_t x = static_cast<std::size_t>(columns.first) * channels_ + begin;
      const std::size_t size = std::min(first + most_elements, row) - begin;
      const Lines stored{
          reinterpret_cast<const std::byte*>(
              images.source.row<Key>(band.first - static_cast<std::int64_t>(reach)) + x - reach * channels_),
          images.source.strides.row};
      if constexpr (std::is_same_v<Key, FloatKey>) {
        const auto rows = static_cast<std::size_t>(band.size()) + 2 * reach;
        const std::size_t seen = size + 2 * reach * channels_;
        if (any_negative(stored, rows, seen)) {
          TurnedLines turned;
          const Lines keys = turn(stored, rows, seen, turned);
          for (std::size_t i = 0; i < size; i += lanes())
            go_down(keys, images, band, x, std::min(i, size - lanes()), plainly_);
          continue;
        }
      }
      for (std::size_t i = 0; i < size; i += lanes())
        go_down(stored, images, band, x, std::min(i, size - lanes()), false);
    }
  }

  /// Keys of floats are their bits unless they are negative.
  static bool any_negative(const Lines& lines, std::size_t rows, std::size_t size) {
    const D d;
    for (std::size_t y = 0; y < rows; ++y) {
      const Key* row = lines.row(static_cast<std::int64_t>(y));
      V bits = hn::LoadU(d, row + size - lanes());
      for (std::size_t i = 0; i + lanes() < size; i += lanes()) bits = hn::Or(bits, hn::LoadU(d, row + i));
      if (!hn::AllFalse(d, hn::Lt(bits, hn::Zero(d)))) return true;
    }
    return false;
  }

  static Lines turn(const Lines& lines, std::size_t rows, std::size_t size, TurnedLines& turned) {
    const D d;
    for (std::size_t y = 0; y < rows; ++y) {
      const Key* from = lines.row(static_cast<std::int64_t>(y));
      Key* to = turned.data() + y * turned_stride;
      const auto turn_at = [&](std::size_t i)
                               HWY_ATTR { hn::StoreU(TurnKeys(d, hn::LoadU(d, from + i)), d, to + i); };
      for (std::size_t i = 0; i + lanes() < size; i += lanes()) turn_at(i);
      turn_at(size - lanes());
    }
    return {reinterpret_cast<const std::byte*>(turned.data()), turned_stride * sizeof(Key)};
  }

  /// Elements [i, i + lanes) of the rows of a piece of a band whose first element is x.
  HWY_INLINE void go_down(const Lines& lines, const RankImages& images, const Stretch& rows, std::size_t x,
                          std::size_t i, bool turns) const {
    const auto row = [&](std::int64_t y) HWY_ATTR {
      return Sorted(lines.row(y - rows.first + static_cast<std::int64_t>(reach)) + i,
                    std::make_index_sequence<side>());
    };
    x += i;
    const auto store = [&](std::int64_t y, V median) HWY_ATTR {
      hn::StoreU(turns ? TurnKeys(D(), median) : median, D(), images.output.row<Key>(y) + x);
    };
    fetch_below(images, rows, x);
    Row above = row(rows.first - static_cast<std::int64_t>(reach));
    Row own = row(rows.first);
    Row next = row(rows.first + 1);
    Rows upper;
    if constexpr (reach == 1)
      upper = own;
    else
      upper = Merged<pair, 0, 2 * side>(row(rows.first - 1), own);
    for (std::int64_t y = rows.first; y < rows.last; y += 2) {
      Row last = next;
      Rows lower;
      if constexpr (reach == 1) {
        lower = next;
      } else {
        last = row(y + 2);
        lower = Merged<pair, 0, 2 * side>(next, last);
      }
      const Core shared = Merged<halves, reach * side - (side + 1) / 2, side + 1>(upper, lower);
      store(y, Selected(shared, above, std::make_index_sequence<side>()));
      if (y + 1 == rows.last) break;
      const Row below = row(y + 1 + static_cast<std::int64_t>(reach));
      store(y + 1, Selected(shared, below, std::make_index_sequence<side>()));
      if (y + 2 == rows.last) break;
      if constexpr (reach == 1) {
        above = next;
        upper = below;
        next = row(y + 3);
      } else {
        above = own;
        own = last;
        upper = lower;
        next = below;
      }
    }
  }

  /// Brings what the band below reads and writes into the second-level cache: as many rows at once are more
  /// streams than the processor follows by itself where several lie in a page.
  HWY_INLINE void fetch_below(const RankImages& images, const Stretch& rows, std::size_t x) const {
    const auto below = static_cast<std::int64_t>(reach);
    const std::int64_t last = std::min(rows.last + rows.size(), images.source.shape.height - below);
    for (std::int64_t y = rows.last; y < last; ++y) {
      fetch_to_second_level(images.source.row<Key>(y + below) + x);
      fetch_to_second_level_for_writing(images.output.row<Key>(y) + x);
    }
  }

  template <std::size_t... Column>
  HWY_INLINE Row Sorted(const Key* row, std::index_sequence<Column...> /*columns*/) const {
    const D d;
    V wires[] = {hn::LoadU(d, row + Column * channels_)...};
    return RunNetwork<line, 0, side>(wires);
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
                                                   std::index_sequence<I...> /*places*/) {
    V wires[] = {a.at[I]..., b.at[I]...};
    return RunNetwork<network, first, results>(wires);
  }

  /// The median of the core and a row: the smallest max(core[i - 1], row[side - i]), and core[side].
  template <std::size_t... I>
  static HWY_INLINE V Selected(const Core& core, const Row& row, std::index_sequence<I...> /*places*/) {
    V least = core.at[side];
    ((least = hn::Min(least, hn::Max(core.at[I], row.at[side - 1 - I]))), ...);
    return least;
  }

  std::size_t channels_;
  bool plainly_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
