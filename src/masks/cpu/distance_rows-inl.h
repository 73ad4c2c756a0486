// Rows of distances in masks, for the file that Highway compiles once for every SIMD target. Steps are u8 or
// u16.

#if defined(SATIN_DISTANCE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DISTANCE_ROWS_INL_H
#undef SATIN_DISTANCE_ROWS_INL_H
#else
#define SATIN_DISTANCE_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
auto LoadBytes(D d, const std::uint8_t* from) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D>(), from));
  }
}

/// One step down or up the columns: to[i] = the distance along column i to the nearest pixel on the other
/// side among the rows passed so far; `most` where there is none that near. `from`: those of the row before,
/// which may be `to`.
template <class T>
void StepColumns(const std::uint8_t* mask, const std::uint8_t* before, const T* from, T most,
                 std::size_t count, T* to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, T{1});
  const auto limit = hn::Set(d, most);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto same = LoadBytes(d, mask + i) == LoadBytes(d, before + i);
    const auto passed = hn::IfThenElseZero(same, hn::LoadU(d, from + i));
    hn::StoreU(hn::Min(hn::SaturatedAdd(passed, one), limit), d, to + i);
  }
  for (; i < count; ++i) {
    const T passed = mask[i] == before[i] ? from[i] : T{0};
    to[i] = passed < most ? static_cast<T>(passed + 1) : most;
  }
}

/// into[i] = min(into[i], other[i])
template <class T>
void MeetColumns(const T* other, std::size_t count, T* into) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Min(hn::LoadU(d, into + i), hn::LoadU(d, other + i)), d, into + i);
  for (; i < count; ++i) into[i] = std::min(into[i], other[i]);
}

/// steps[i] = chords[steps[i]] where the mask is `side`, chords[0] elsewhere.
template <class T>
void CoverOneByOne(const std::uint8_t* mask, std::uint8_t side, const T* chords, std::size_t first,
                   std::size_t count, T* steps) {
  for (std::size_t i = first; i < count; ++i) steps[i] = chords[mask[i] == side ? steps[i] : 0];
}

inline void CoverRow(const std::uint8_t* mask, std::uint8_t side, const std::uint16_t* chords,
                     std::size_t /*entries*/, std::size_t count, std::uint16_t* steps) {
  CoverOneByOne(mask, side, chords, 0, count, steps);
}

/// Looks bytes up in the tables of 16 entries that `steps` may point to; `entries` counts all entries. The
/// emulation of 128 bits cannot: its TableLookupBytesOr0 gives no zeros in Highway 1.0.3.
inline void CoverRow(const std::uint8_t* mask, std::uint8_t side, const std::uint8_t* chords,
                     [[maybe_unused]] std::size_t entries, std::size_t count, std::uint8_t* steps) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto in_table = hn::Set(d, std::uint8_t{0x70});  // 16 and more get the highest bit, and look up 0
  const auto next_table = hn::Set(d, std::uint8_t{16});
  const auto sides = hn::Set(d, side);
  for (; i + lanes <= count; i += lanes) {
    auto index = hn::IfThenElseZero(hn::LoadU(d, mask + i) == sides, hn::LoadU(d, steps + i));
    auto found = hn::Zero(d);
    for (std::size_t table = 0; table < entries; table += 16) {
      const auto part =
          hn::TableLookupBytesOr0(hn::LoadDup128(d, chords + table), hn::SaturatedAdd(index, in_table));
      found = hn::Or(found, part);
      index = index - next_table;
    }
    hn::StoreU(found, d, steps + i);
  }
#endif
  CoverOneByOne(mask, side, chords, i, count, steps);
}

template <class T>
T Fallen(T reach) {
  return static_cast<T>(reach - (reach != 0 ? 1 : 0));
}

template <class T>
void SpreadOneByOne(T* line, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) line[i] = std::max(line[i], Fallen(line[i - 1]));
  for (std::size_t i = count; i > 1; --i) line[i - 2] = std::max(line[i - 2], Fallen(line[i - 1]));
}

// SpreadRow(): line[i] = max of line[j] - |i - j|, 0 at least, over all j.
#if HWY_TARGET == HWY_SCALAR

template <class T>
void SpreadRow(T* line, std::size_t count) {
  SpreadOneByOne(line, count);
}

#else

/// Blocks of 16 bytes: within one by doubling (Hillis and Steele, Data parallel algorithms, 1986), from one
/// to the next by the lane at its end.
template <class T>
class BlockSpread {
 public:
  static constexpr std::size_t lanes = 16 / sizeof(T);

  BlockSpread() {
    for (std::size_t i = 0; i < lanes; ++i) {
      rising_[i] = static_cast<T>(i + 1);
      falling_[i] = static_cast<T>(lanes - i);
    }
    for (std::size_t i = 0; i < 16; ++i) {
      first_[i] = static_cast<std::uint8_t>(i % sizeof(T));
      last_[i] = static_cast<std::uint8_t>(16 - sizeof(T) + i % sizeof(T));
    }
  }

  /// Both take whole blocks.
  void RunRight(T* line, std::size_t count) const {
    const D d;
    const V falls = hn::Load(d, rising_);
    const V end = hn::BitCast(d, hn::Load(hn::Full128<std::uint8_t>(), last_));
    V carry = hn::Zero(d);
    for (std::size_t i = 0; i < count; i += lanes) {
      const V v = hn::Max(Doubled<1, true>(hn::LoadU(d, line + i)), hn::SaturatedSub(carry, falls));
      hn::StoreU(v, d, line + i);
      carry = hn::TableLookupBytes(v, end);
    }
  }

  /// `reach` comes in from the right.
  void RunLeft(T* line, std::size_t count, T reach) const {
    const D d;
    const V falls = hn::Load(d, falling_);
    const V end = hn::BitCast(d, hn::Load(hn::Full128<std::uint8_t>(), first_));
    V carry = hn::Set(d, reach);
    for (std::size_t i = count; i > 0; i -= lanes) {
      T* block = line + i - lanes;
      const V v = hn::Max(Doubled<1, false>(hn::LoadU(d, block)), hn::SaturatedSub(carry, falls));
      hn::StoreU(v, d, block);
      carry = hn::TableLookupBytes(v, end);
    }
  }

 private:
  using D = hn::Full128<T>;
  using V = hn::Vec<D>;

  template <std::size_t By, bool Right>
  static HWY_INLINE V Doubled(V v) {
    const D d;
    V other;
    if constexpr (Right) {
      other = hn::ShiftLeftLanes<static_cast<int>(By)>(d, v);
    } else {
      other = hn::ShiftRightLanes<static_cast<int>(By)>(d, v);
    }
    v = hn::Max(v, hn::SaturatedSub(other, hn::Set(d, static_cast<T>(By))));
    if constexpr (By * 2 < lanes) {
      return Doubled<By * 2, Right>(v);
    } else {
      return v;
    }
  }

  alignas(16) T rising_[lanes];
  alignas(16) T falling_[lanes];
  alignas(16) std::uint8_t first_[16];
  alignas(16) std::uint8_t last_[16];
};

template <class T>
void SpreadRow(T* line, std::size_t count) {
  const BlockSpread<T> blocks;
  const std::size_t whole = count / blocks.lanes * blocks.lanes;
  blocks.RunRight(line, whole);
  const std::size_t begin = whole == 0 ? 0 : whole - 1;
  SpreadOneByOne(line + begin, count - begin);
  blocks.RunLeft(line, whole, whole < count ? line[whole] : T{0});
}

#endif

/// out[i] = spread[i] != 0 ? reached : rest
template <class T>
void MarkRow(const T* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = spread[i] != 0 ? reached : rest;
}

/// A row whose squared distances fit 16 bits: (reach + 1)^2 + reach^2 < 2^16 and most <= (reach + 1)^2.
struct NearRow {
  static constexpr int most_reach = 126;
  static constexpr std::size_t block = 64;    ///< pixels
  static constexpr std::size_t margin = 256;  ///< of heights, on either side of the row

  /// Numbers of 16 bits in the workspace of rows of this many pixels.
  [[nodiscard]] static constexpr std::size_t space(std::size_t count) {
    return (count / block + 1) * block + 2 * margin;
  }

  const std::uint8_t* mask;
  const std::uint8_t* columns;  ///< distances down the columns, reach + 1 at most
  std::size_t count;
  int reach;
  std::uint16_t most;
};

/// heights[i] = columns[i]^2, at most `most`, on the side; 0 elsewhere.
inline void Heights(const NearRow& row, std::uint8_t side, std::uint16_t* heights) {
  const hn::ScalableTag<std::uint16_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, row.most);
  const auto sides = hn::Set(d, std::uint16_t{side});
  std::size_t i = 0;
  for (; i + lanes <= row.count; i += lanes) {
    const auto steps = LoadBytes(d, row.columns + i);
    const auto height = hn::Min(steps * steps, limit);
    hn::StoreU(hn::IfThenElseZero(LoadBytes(d, row.mask + i) == sides, height), d, heights + i);
  }
  for (; i < row.count; ++i) {
    const int square = row.columns[i] * row.columns[i];
    heights[i] =
        row.mask[i] == side ? static_cast<std::uint16_t>(std::min<int>(square, row.most)) : std::uint16_t{0};
  }
}

/// What a block holds, and what is near it.
struct BlockRange {
  std::uint16_t least;
  std::uint16_t greatest;
};

inline BlockRange RangeOf(const std::uint16_t* heights) {
  const hn::CappedTag<std::uint16_t, NearRow::block> d;
  auto least = hn::LoadU(d, heights);
  auto greatest = least;
  for (std::size_t i = hn::Lanes(d); i < NearRow::block; i += hn::Lanes(d)) {
    const auto height = hn::LoadU(d, heights + i);
    least = hn::Min(least, height);
    greatest = hn::Max(greatest, height);
  }
  return {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, greatest))};
}

/// Further pixels are looked at until they cannot be nearer.
inline void SearchBlock(const std::uint16_t* heights, int reach, std::uint16_t* squared) {
  const hn::CappedTag<std::uint16_t, NearRow::block> d;
  constexpr int steps_between_looks = 4;
  for (std::size_t i = 0; i < NearRow::block; i += hn::Lanes(d)) {
    const std::uint16_t* at = heights + i;
    auto best = hn::LoadU(d, at);
    for (int first = 1; first <= reach; first += steps_between_looks) {
      const auto limit = hn::Set(d, static_cast<std::uint16_t>(first * first));
      if (hn::AllTrue(d, hn::Min(best, limit) == best)) break;
      for (int x = first; x < first + steps_between_looks; ++x) {
        const auto nearer = hn::Min(hn::LoadU(d, at - x), hn::LoadU(d, at + x));
        best = hn::Min(best, nearer + hn::Set(d, static_cast<std::uint16_t>(x * x)));
      }
    }
    hn::StoreU(best + hn::LoadU(d, squared + i), d, squared + i);
  }
}

/// squared[i] = the smallest of (x - i)^2 + columns[x]^2, at most `most`, for pixels i that are `side`, where
/// pixels x on the other side have columns[x] = 0; for others 0 is added. `squared` has room for whole
/// blocks.
inline void AddNearSquares(const NearRow& row, std::uint8_t side, std::uint16_t* space,
                           std::uint16_t* squared) {
  const std::size_t size = NearRow::space(row.count);
  std::uint16_t* heights = space + NearRow::margin;
  std::fill(space, heights, row.most);
  std::fill(heights + row.count, space + size, row.most);
  Heights(row, side, heights);
  const auto reach = static_cast<std::size_t>(row.reach);
  for (std::size_t first = 0; first < row.count; first += NearRow::block) {
    const BlockRange range = RangeOf(heights + first);
    if (range.greatest == 0) continue;
    bool far = range.least == row.most;
    for (std::size_t apart = NearRow::block; far && apart < reach + NearRow::block; apart += NearRow::block)
      far = RangeOf(heights + first - apart).least == row.most &&
            RangeOf(heights + first + apart).least == row.most;
    if (far) {
      std::fill_n(squared + first, NearRow::block, row.most);
    } else {
      SearchBlock(heights + first, row.reach, squared + first);
    }
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
