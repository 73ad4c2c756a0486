#pragma once
// Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016: every value is read
// once and written once.
//
// Values come from load(i) and go to store(i, value), so that conversions between values and states need no
// pass over memory of their own.

#include <atomic>
#include <thread>
#include <type_traits>
#include <vector>

#include "machine.h"

namespace study {

/// The state of a tile: it has published nothing, the sum of its own values, or that of all values up to its
/// end.
enum class Told : std::uint32_t { nothing, aggregate, prefix };

inline std::string text_of(Told told) {
  return told == Told::nothing ? "-" : told == Told::aggregate ? "A" : "P";
}

/// Inclusive scan of a tile on the chip. Returns its sum.
template <class Value, class Load, class Plus>
Value scan_tile(Value* chip, Index first, Index count, Load load, Plus plus) {
  chip[0] = load(first);
  for (Index i = 1; i < count; ++i) chip[i] = plus(chip[i - 1], load(first + i));
  return chip[count - 1];
}

/// Returns the sum of everything up to the end of tile `left`. Goes left until a tile has published its
/// prefix. told_by(t) returns the state of tile t, which is not `nothing`; sum_of(t, told) the sum of that
/// state.
template <class ToldBy, class SumOf, class Plus>
auto look_back(Index left, ToldBy told_by, SumOf sum_of, Plus plus) {
  Told told = told_by(left);
  auto sum = sum_of(left, told);
  while (told != Told::prefix) {
    told = told_by(--left);
    sum = plus(sum_of(left, told), sum);
  }
  return sum;
}

/// Inclusive scan in lock step, `resident` tiles at once; a tile is the work of one processor. All processors
/// scan their tile and publish its sum; then all look back, adding aggregates until they meet a prefix, and
/// publish their own; then all write.
/// With t tiles: n - t additions in the tiles, t - 1 for the prefixes, one for each result after the first
/// tile, and up to resident - 1 for each tile in the look-back, which depends on the order of the tiles.
template <class Machine, class Load, class Store, class Op>
void chained(Machine& m, Index n, Index tile, Index resident, Load load, Store store, Op op) {
  using Value = ValueOf<Op>;
  const auto plus = m.operation(op);
  const Index tiles = (n + tile - 1) / tile;
  std::vector<Told> told_values(static_cast<std::size_t>(tiles), Told::nothing);
  std::vector<Value> sum_values(static_cast<std::size_t>(2 * tiles));
  const auto told = m.memory(std::span(told_values));
  const auto aggregate = m.memory(std::span(sum_values).first(static_cast<std::size_t>(tiles)));
  const auto prefix = m.memory(std::span(sum_values).last(static_cast<std::size_t>(tiles)));
  std::vector<Value> chip(static_cast<std::size_t>(resident * tile));
  std::vector<Value> before(static_cast<std::size_t>(resident));

  for (Index wave = 0; wave < tiles; wave += resident) {
    const Index present = std::min(resident, tiles - wave);
    const auto count_of = [=](Index t) { return std::min(tile, n - t * tile); };

    m.together(present, [&](Index k) {
      const Index t = wave + k;
      const Value sum =
          scan_tile(&chip[static_cast<std::size_t>(k * tile)], t * tile, count_of(t), load, plus);
      if (t == 0)
        prefix[t] = sum;
      else
        aggregate[t] = sum;
      told[t] = t == 0 ? Told::prefix : Told::aggregate;
    });
    m.show("told", -1, told, tiles);
    m.show("aggregate", -1, aggregate, tiles);

    m.together(present, [&](Index k) {
      const Index t = wave + k;
      if (t == 0) return;
      const Value sum = look_back(
          t - 1, [&](Index left) -> Told { return told[left]; },
          [&](Index left, Told what) -> Value {
            return what == Told::prefix ? prefix[left] : aggregate[left];
          },
          plus);
      before[static_cast<std::size_t>(k)] = sum;
      prefix[t] = plus(sum, chip[static_cast<std::size_t>(k * tile + count_of(t) - 1)]);
      told[t] = Told::prefix;
    });
    m.show("told", -1, told, tiles);
    m.show("prefix", -1, prefix, tiles);

    m.together(present, [&](Index k) {
      const Index t = wave + k;
      m.together(count_of(t), [&](Index i) {
        const Value& value = chip[static_cast<std::size_t>(k * tile + i)];
        store(t * tile + i, t == 0 ? value : plus(before[static_cast<std::size_t>(k)], value));
      });
    });
  }
}

/// The chained scan by threads, which wait only for a neighbour that has published nothing yet. A ticket
/// hands out tiles in ascending order, so that a thread is at work on every tile that another one waits for.
/// Release and acquire: a thread that reads the state sees the sum that was written before it.
template <class Load, class Store, class Op>
void chained_by_threads(Index n, Index tile, int threads, Load load, Store store, Op op) {
  using Value = ValueOf<Op>;
  const Index tiles = (n + tile - 1) / tile;
  std::vector<std::atomic<Told>> told(static_cast<std::size_t>(tiles));
  std::vector<Value> aggregate(static_cast<std::size_t>(tiles));
  std::vector<Value> prefix(static_cast<std::size_t>(tiles));
  std::atomic<Index> ticket = 0;

  const auto wait_for = [&](Index t) {
    const std::atomic<Told>& word = told[static_cast<std::size_t>(t)];
    Told state = word.load(std::memory_order_acquire);
    for (; state == Told::nothing; state = word.load(std::memory_order_acquire)) std::this_thread::yield();
    return state;
  };
  const auto sum_of = [&](Index t, Told what) {
    return (what == Told::prefix ? prefix : aggregate)[static_cast<std::size_t>(t)];
  };
  const auto work = [&] {
    std::vector<Value> chip(static_cast<std::size_t>(tile));
    for (Index t = ticket.fetch_add(1); t < tiles; t = ticket.fetch_add(1)) {
      const Index first = t * tile;
      const Index count = std::min(tile, n - first);
      const auto at = static_cast<std::size_t>(t);
      aggregate[at] = scan_tile(chip.data(), first, count, load, op);
      if (t == 0) {
        prefix[at] = aggregate[at];
        told[at].store(Told::prefix, std::memory_order_release);
        for (Index i = 0; i < count; ++i) store(i, chip[static_cast<std::size_t>(i)]);
        continue;
      }
      told[at].store(Told::aggregate, std::memory_order_release);
      const Value before = look_back(t - 1, wait_for, sum_of, op);
      prefix[at] = op(before, aggregate[at]);
      told[at].store(Told::prefix, std::memory_order_release);
      for (Index i = 0; i < count; ++i) store(first + i, op(before, chip[static_cast<std::size_t>(i)]));
    }
  };
  std::vector<std::jthread> others;
  for (Index k = 1; k < std::min<Index>(threads, tiles); ++k) others.emplace_back(work);
  work();
}

}  // namespace study
