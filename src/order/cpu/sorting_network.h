#pragma once
// Sorting networks for medians of 3 x 3 and 5 x 5 pixels: lines are sorted, then merged (Adams, Fast median
// filters using separable sorting networks, 2021). Lists are merged by odd-even merging (Batcher, Sorting
// networks and their applications, 1968), and what the median does not need is left out.

#include <array>
#include <cstdint>

namespace satin::cpu {

/// Two wires of a network: the smaller value goes to `low`, the larger to `high`, if they are needed.
struct Exchange {
  std::uint8_t low = 0;
  std::uint8_t high = 0;
  bool keeps_low = true;
  bool keeps_high = true;
};

/// Wires, in the order of the values that they hold.
struct WireList {
  static constexpr int most = 20;
  std::array<std::uint8_t, most> wires{};
  int size = 0;

  constexpr void add(int wire) { wires[static_cast<std::size_t>(size++)] = static_cast<std::uint8_t>(wire); }
  [[nodiscard]] constexpr int at(int i) const { return wires[static_cast<std::size_t>(i)]; }
  /// Every second one.
  [[nodiscard]] constexpr WireList every_second(int first) const {
    WireList half;
    for (int i = first; i < size; i += 2) half.add(at(i));
    return half;
  }
};

class SortingNetwork {
 public:
  static constexpr int most = 40;

  int count = 0;
  std::array<Exchange, most> exchanges{};
  WireList order;  ///< of the result

  /// Wires [first, first + size), sorted.
  constexpr WireList sort(int first, int size) {
    WireList list;
    if (size == 1) list.add(first);
    return size == 1 ? list : merge(sort(first, size / 2), sort(first + size / 2, size - size / 2));
  }

  constexpr WireList merge(const WireList& a, const WireList& b) {
    if (a.size == 0) return b;
    if (b.size == 0) return a;
    if (a.size == 1 && b.size == 1) {
      exchange(a.at(0), b.at(0));
      WireList pair = a;
      pair.add(b.at(0));
      return pair;
    }
    const WireList even = merge(a.every_second(0), b.every_second(0));
    const WireList odd = merge(a.every_second(1), b.every_second(1));
    WireList result;
    result.add(even.at(0));
    for (int i = 0; i < odd.size || i + 1 < even.size; ++i) {
      if (i < odd.size && i + 1 < even.size) exchange(odd.at(i), even.at(i + 1));
      if (i < odd.size) result.add(odd.at(i));
      if (i + 1 < even.size) result.add(even.at(i + 1));
    }
    return result;
  }

  /// Leaves out what the values of `size` ranks, counted from 0, do not need.
  constexpr void select(int rank, int size) {
    std::array<bool, WireList::most> live{};
    for (int i = rank; i < rank + size; ++i) live[static_cast<std::size_t>(order.at(i))] = true;
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

 private:
  constexpr void exchange(int low, int high) {
    exchanges[static_cast<std::size_t>(count++)] = {static_cast<std::uint8_t>(low),
                                                    static_cast<std::uint8_t>(high)};
  }
};

[[nodiscard]] constexpr SortingNetwork sorted_line(int size) {
  SortingNetwork network;
  network.order = network.sort(0, size);
  return network;
}

/// The wires of a sorted list, the smallest first.
[[nodiscard]] constexpr WireList sorted_wires(int first, int size) {
  WireList list;
  for (int i = 0; i < size; ++i) list.add(first + i);
  return list;
}

/// Merges two lists of so many values, of which `kept` values in the middle are needed.
[[nodiscard]] constexpr SortingNetwork merged_lists(int size, int kept) {
  SortingNetwork network;
  network.order = network.merge(sorted_wires(0, size), sorted_wires(size, size));
  network.select(size - kept / 2, kept);
  return network;
}

}  // namespace satin::cpu
