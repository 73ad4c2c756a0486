// Rows of the non-local fill, for files that Highway compiles once for every SIMD target: differences of
// sampled points, and what the pixels of one row add to the windows of a tile.

#if defined(SATIN_NONLOCAL_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NONLOCAL_ROWS_INL_H
#undef SATIN_NONLOCAL_ROWS_INL_H
#else
#define SATIN_NONLOCAL_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "lens/maths/nonlocal_fill.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;

/// packed_difference() of all lanes; squares of negative words are right modulo 2^32.
template <class D, class V>
HWY_INLINE V PackedDifference(D d, V a, V b) {
  const auto largest = hn::Set(d, packed_largest);
  const auto squared = [&](V x, V y) HWY_ATTR {
    const auto apart = hn::Sub(hn::And(x, largest), hn::And(y, largest));
    return hn::Mul(apart, apart);
  };
  const auto first = squared(a, b);
  const auto second = squared(hn::ShiftRight<9>(a), hn::ShiftRight<9>(b));
  return hn::Add(hn::Add(first, second), squared(hn::ShiftRight<18>(a), hn::ShiftRight<18>(b)));
}

inline constexpr int nonlocal_side = 64;
inline constexpr int nonlocal_columns = nonlocal_side + 2 * known_reach;
inline constexpr int window_rows = 2 * known_reach + 1;

/// Entries of one row of a tile and what lies around it, or their sums over the rows of a window: a value,
/// and above it a count. Whole vectors, whose last places stay 0.
inline constexpr std::size_t known_places = (nonlocal_columns + 15) / 16 * 16;
using KnownRow = std::array<std::uint32_t, known_places>;
inline constexpr int value_bits = 26;
inline constexpr int entries_at_most = 2;  ///< that a pixel has of one kind
static_assert(entries_at_most * window_rows * 3 * packed_largest * packed_largest < 1U << value_bits);
static_assert(entries_at_most * window_rows < 1U << (32 - value_bits));

/// An area: columns [left, right) and rows [top, bottom).
struct NonlocalArea {
  int left, top, right, bottom;
};

inline std::uint32_t packed_entry(const KnownEntry& entry) {
  return entry.value + (entry.count << value_bits);
}
template <class D, class M, class V>
HWY_INLINE V PackedEntries(D d, M known, V values) {
  return hn::IfThenElseZero(known, hn::Add(values, hn::Set(d, 1U << value_bits)));
}

/// Calls vector(x) for vectors that together are places `from` to `to` - 1, some of them twice, or one(x) for
/// each place where there are fewer than a vector has.
template <class Vector, class One>
HWY_INLINE void ForVectorsOf(int from, int to, const Vector& vector, const One& one) {
  const auto lanes = static_cast<int>(hn::Lanes(Words()));
  int x = from;
  for (; x + lanes <= to; x += lanes) vector(x);
  if (x == to) return;
  if (x > from) return vector(to - lanes);
  for (; x < to; ++x) one(x);
}

// EntryRow makes a row of one kind of entry.

/// Zeros for the entries from `left` to `right`, unless those from `from` to `to` are all of them.
inline void ClearPartOfRow(int left, int right, int from, int to, KnownRow& row) {
  if (from != left || to != right) std::fill_n(row.data(), right - left, 0U);
}

/// Differences of whole vectors where both ends lie in the picture.
inline void EntryRow(const DifferenceEntry& entry, int left, int right, int y, KnownRow& row) {
  const NonlocalFill& fill = entry.fill;
  const int from = std::max({left, 0, -entry.offset.x});
  const int to = std::min({right, fill.planes.width, fill.planes.width - entry.offset.x});
  const int other = y + entry.offset.y;
  const bool inside =
      y >= 0 && other >= 0 && y < fill.planes.height && other < fill.planes.height && from < to;
  ClearPartOfRow(left, right, from, inside ? to : from, row);
  if (!inside) return;
  const Words d;
  const auto group = hn::Set(d, static_cast<std::uint32_t>(entry.group));
  const std::uint32_t* own = fill.words + fill.planes.place(0, y);
  const std::uint32_t* there = fill.words + fill.planes.place(entry.offset.x, other);
  std::uint32_t* to_row = row.data();
  ForVectorsOf(
      from, to,
      [&](int x) HWY_ATTR {
        const auto a = hn::LoadU(d, own + x);
        const auto b = hn::LoadU(d, there + x);
        const auto known =
            hn::And(hn::Eq(hn::ShiftRight<27>(a), group), hn::Eq(hn::ShiftRight<27>(b), group));
        hn::StoreU(PackedEntries(d, known, PackedDifference(d, a, b)), d, to_row + (x - left));
      },
      [&](int x) { to_row[x - left] = packed_entry(entry(x, y)); });
}

/// Values of the pixels of the group alone: value_of(words) of vectors.
template <class Entry, class ValueOf>
void OwnRow(const Entry& entry, int left, int right, int y, KnownRow& row, const ValueOf& value_of) {
  const NonlocalFill& fill = entry.fill;
  const int from = std::max(left, 0);
  const int to = std::min(right, fill.planes.width);
  const bool inside = y >= 0 && y < fill.planes.height && from < to;
  ClearPartOfRow(left, right, from, inside ? to : from, row);
  if (!inside) return;
  const Words d;
  const auto group = hn::Set(d, static_cast<std::uint32_t>(entry.group));
  const std::uint32_t* own = fill.words + fill.planes.place(0, y);
  std::uint32_t* to_row = row.data();
  ForVectorsOf(
      from, to,
      [&](int x) HWY_ATTR {
        const auto words = hn::LoadU(d, own + x);
        const auto known = hn::Eq(hn::ShiftRight<27>(words), group);
        hn::StoreU(PackedEntries(d, known, value_of(d, words)), d, to_row + (x - left));
      },
      [&](int x) { to_row[x - left] = packed_entry(entry(x, y)); });
}

inline void EntryRow(const SquareEntry& entry, int left, int right, int y, KnownRow& row) {
  OwnRow(entry, left, right, y, row,
         [](auto d, auto words) HWY_ATTR { return PackedDifference(d, words, hn::Zero(d)); });
}

inline void EntryRow(const CodeEntry& entry, int left, int right, int y, KnownRow& row) {
  const int shift = 9 * entry.colour;
  OwnRow(entry, left, right, y, row, [shift](auto d, auto words) HWY_ATTR {
    return hn::And(hn::ShiftRightSame(words, shift), hn::Set(d, packed_largest));
  });
}

/// Two of the four differences of GuardEntry: those at an offset and at its opposite.
struct HalfOfGuard {
  NonlocalFill fill;
  int group;
  Offset offset;
};

inline void EntryRow(const HalfOfGuard& entry, int left, int right, int y, KnownRow& row) {
  const Offset opposite{-entry.offset.x, -entry.offset.y};
  KnownRow other;
  EntryRow(DifferenceEntry{entry.fill, entry.group, entry.offset}, left, right, y, row);
  EntryRow(DifferenceEntry{entry.fill, entry.group, opposite}, left, right, y, other);
  for (int x = 0; x < right - left; ++x)
    row[static_cast<std::size_t>(x)] += other[static_cast<std::size_t>(x)];
}

/// to += entering - slot; slot = entering.
inline void ExchangeRows(const KnownRow& entering, int count, KnownRow& slot, KnownRow& to) {
  const Words d;
  static_assert(known_places % hn::MaxLanes(d) == 0);
  for (int x = 0; x < count; x += static_cast<int>(hn::Lanes(d))) {
    const auto own = hn::LoadU(d, entering.data() + x);
    const auto sums = hn::Add(hn::LoadU(d, to.data() + x), own);
    hn::StoreU(hn::Sub(sums, hn::LoadU(d, slot.data() + x)), d, to.data() + x);
    hn::StoreU(own, d, slot.data() + x);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
