// Distances along rows and columns that Highway compiles once for every SIMD target and chooses between at
// run time.

#include "masks/cpu/distance_simd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/cpu/distance_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

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

template <class T>
void Step(const std::uint8_t* mask, const std::uint8_t* before, const T* from, T most, std::size_t count,
          T* to) {
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

template <class T>
void Meet(const T* other, std::size_t count, T* into) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Min(hn::LoadU(d, into + i), hn::LoadU(d, other + i)), d, into + i);
  for (; i < count; ++i) into[i] = std::min(into[i], other[i]);
}

/// Tables of 16 entries, looked up in each of those that `steps` may point to. Not by the emulation of 128
/// bits: its TableLookupBytesOr0 gives no zeros in Highway 1.0.3.
void Cover(const std::uint8_t* mask, std::uint8_t side, const std::uint8_t* chords,
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
  for (; i < count; ++i) steps[i] = chords[mask[i] == side ? steps[i] : 0];
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

template <class T>
void Mark(const T* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = spread[i] != 0 ? reached : rest;
}

/// heights[i] = columns[i]^2, at most `most`, on the side; 0 elsewhere.
void Heights(const NearRow& row, std::uint8_t side, std::uint16_t* heights) {
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

BlockRange RangeOf(const std::uint16_t* heights) {
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
void SearchBlock(const std::uint16_t* heights, int reach, std::uint16_t* squared) {
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

void AddNearSquares(const NearRow& row, std::uint8_t side, std::uint16_t* space, std::uint16_t* squared) {
  const std::size_t size = near_row_space(row.count);
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

// The entry points, one a type.

using U8 = std::uint8_t;
using U16 = std::uint16_t;
void StepU8(const U8* m, const U8* b, const U8* f, U8 most, std::size_t n, U8* t) {
  Step(m, b, f, most, n, t);
}
void StepU16(const U8* m, const U8* b, const U16* f, U16 most, std::size_t n, U16* t) {
  Step(m, b, f, most, n, t);
}
void MeetU8(const U8* other, std::size_t n, U8* into) { Meet(other, n, into); }
void MeetU16(const U16* other, std::size_t n, U16* into) { Meet(other, n, into); }
void SpreadU8(U8* line, std::size_t n) { SpreadRow(line, n); }
void SpreadU16(U16* line, std::size_t n) { SpreadRow(line, n); }
void MarkU8(const U8* s, std::size_t n, U8 reached, U8 rest, U8* out) { Mark(s, n, reached, rest, out); }
void MarkU16(const U16* s, std::size_t n, U8 reached, U8 rest, U8* out) { Mark(s, n, reached, rest, out); }

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(StepU8);
HWY_EXPORT(StepU16);
HWY_EXPORT(MeetU8);
HWY_EXPORT(MeetU16);
HWY_EXPORT(Cover);
HWY_EXPORT(AddNearSquares);
HWY_EXPORT(SpreadU8);
HWY_EXPORT(SpreadU16);
HWY_EXPORT(MarkU8);
HWY_EXPORT(MarkU16);

void step_columns(const std::uint8_t* mask, const std::uint8_t* before, const std::uint8_t* from,
                  std::uint8_t most, std::size_t count, std::uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(StepU8)(mask, before, from, most, count, to);
}
void step_columns(const std::uint8_t* mask, const std::uint8_t* before, const std::uint16_t* from,
                  std::uint16_t most, std::size_t count, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(StepU16)(mask, before, from, most, count, to);
}

void meet_columns(const std::uint8_t* other, std::size_t count, std::uint8_t* into) {
  HWY_DYNAMIC_DISPATCH(MeetU8)(other, count, into);
}
void meet_columns(const std::uint16_t* other, std::size_t count, std::uint16_t* into) {
  HWY_DYNAMIC_DISPATCH(MeetU16)(other, count, into);
}

void cover_row(const std::uint8_t* mask, std::uint8_t side, const std::uint8_t* chords, std::size_t entries,
               std::size_t count, std::uint8_t* steps) {
  HWY_DYNAMIC_DISPATCH(Cover)(mask, side, chords, entries, count, steps);
}

void cover_row(const std::uint8_t* mask, std::uint8_t side, const std::uint16_t* chords,
               std::size_t /*entries*/, std::size_t count, std::uint16_t* steps) {
  for (std::size_t i = 0; i < count; ++i) steps[i] = chords[mask[i] == side ? steps[i] : 0];
}

void add_near_squares(const NearRow& row, std::uint8_t side, std::uint16_t* space, std::uint16_t* squared) {
  HWY_DYNAMIC_DISPATCH(AddNearSquares)(row, side, space, squared);
}

void spread_row(std::uint8_t* spread, std::size_t count) { HWY_DYNAMIC_DISPATCH(SpreadU8)(spread, count); }
void spread_row(std::uint16_t* spread, std::size_t count) { HWY_DYNAMIC_DISPATCH(SpreadU16)(spread, count); }

void mark_row(const std::uint8_t* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest,
              std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(MarkU8)(spread, count, reached, rest, out);
}
void mark_row(const std::uint16_t* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest,
              std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(MarkU16)(spread, count, reached, rest, out);
}

}  // namespace satin::cpu
#endif
