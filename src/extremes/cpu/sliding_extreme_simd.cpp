// Minima and maxima that Highway compiles once for every SIMD target and chooses between at run time.

#include "extremes/cpu/sliding_extreme_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "extremes/cpu/sliding_extreme_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Least {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
  static constexpr Extreme extreme = Extreme::minimum;
};

struct Greatest {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
  static constexpr Extreme extreme = Extreme::maximum;
};

template <class Op, int Windows, class Key>
void JoinCounted(const Key* from, const JoinedWindows& windows, std::size_t count, Key* out) {
  const hn::ScalableTag<Key> d;
  const Op op;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto value = hn::LoadU(d, from + i + windows.offset[0]);
    for (int k = 1; k < Windows; ++k) value = op(value, hn::LoadU(d, from + i + windows.offset[k]));
    hn::StoreU(value, d, out + i);
  }
  for (; i < count; ++i) {
    Key value = from[i + windows.offset[0]];
    for (int k = 1; k < Windows; ++k) value = extreme_of(Op::extreme, value, from[i + windows.offset[k]]);
    out[i] = value;
  }
}

template <class Op, class Key>
void JoinWindows(const Key* from, const JoinedWindows& windows, std::size_t count, Key* out) {
  switch (windows.count) {
    case 1:
      return JoinCounted<Op, 1>(from, windows, count, out);
    case 2:
      return JoinCounted<Op, 2>(from, windows, count, out);
    case 3:
      return JoinCounted<Op, 3>(from, windows, count, out);
    default:
      return JoinCounted<Op, 4>(from, windows, count, out);
  }
}

template <class Op, class Key>
void JoinLines(const Key* other, std::size_t count, Key* into) {
  const hn::ScalableTag<Key> d;
  const Op op;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(op(hn::LoadU(d, into + i), hn::LoadU(d, other + i)), d, into + i);
  for (; i < count; ++i) into[i] = extreme_of(Op::extreme, into[i], other[i]);
}

template <class Op, class Key>
void AdvanceLines(const Key* line, const Key* suffix, std::size_t count, Key* HWY_RESTRICT prefix,
                  Key* HWY_RESTRICT out) {
  const hn::ScalableTag<Key> d;
  const Op op;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto grown = op(hn::LoadU(d, prefix + i), hn::LoadU(d, line + i));
    hn::StoreU(grown, d, prefix + i);
    hn::StoreU(op(grown, hn::LoadU(d, suffix + i)), d, out + i);
  }
  for (; i < count; ++i) {
    prefix[i] = extreme_of(Op::extreme, prefix[i], line[i]);
    out[i] = extreme_of(Op::extreme, prefix[i], suffix[i]);
  }
}

// The entry points, one a type.

template <class Key>
void JoinAnyWindows(Extreme e, const Key* from, const JoinedWindows& windows, std::size_t n, Key* out) {
  return e == Extreme::minimum ? JoinWindows<Least>(from, windows, n, out)
                               : JoinWindows<Greatest>(from, windows, n, out);
}
template <class Key>
void JoinAnyLines(Extreme e, const Key* other, std::size_t n, Key* into) {
  return e == Extreme::minimum ? JoinLines<Least>(other, n, into) : JoinLines<Greatest>(other, n, into);
}
template <class Key>
void AdvanceAnyLines(Extreme e, const Key* line, const Key* suffix, std::size_t n, Key* prefix, Key* out) {
  return e == Extreme::minimum ? AdvanceLines<Least>(line, suffix, n, prefix, out)
                               : AdvanceLines<Greatest>(line, suffix, n, prefix, out);
}

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using I32 = FloatKey;
void JoinWindowsU8(Extreme e, const U8* f, const JoinedWindows& w, std::size_t n, U8* o) {
  JoinAnyWindows(e, f, w, n, o);
}
void JoinWindowsU16(Extreme e, const U16* f, const JoinedWindows& w, std::size_t n, U16* o) {
  JoinAnyWindows(e, f, w, n, o);
}
void JoinWindowsI32(Extreme e, const I32* f, const JoinedWindows& w, std::size_t n, I32* o) {
  JoinAnyWindows(e, f, w, n, o);
}
void JoinLinesU8(Extreme e, const U8* a, std::size_t n, U8* o) { JoinAnyLines(e, a, n, o); }
void JoinLinesU16(Extreme e, const U16* a, std::size_t n, U16* o) { JoinAnyLines(e, a, n, o); }
void JoinLinesI32(Extreme e, const I32* a, std::size_t n, I32* o) { JoinAnyLines(e, a, n, o); }
void AdvanceLinesU8(Extreme e, const U8* l, const U8* s, std::size_t n, U8* p, U8* o) {
  AdvanceAnyLines(e, l, s, n, p, o);
}
void AdvanceLinesU16(Extreme e, const U16* l, const U16* s, std::size_t n, U16* p, U16* o) {
  AdvanceAnyLines(e, l, s, n, p, o);
}
void AdvanceLinesI32(Extreme e, const I32* l, const I32* s, std::size_t n, I32* p, I32* o) {
  AdvanceAnyLines(e, l, s, n, p, o);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(JoinWindowsU8);
HWY_EXPORT(JoinWindowsU16);
HWY_EXPORT(JoinWindowsI32);
HWY_EXPORT(JoinLinesU8);
HWY_EXPORT(JoinLinesU16);
HWY_EXPORT(JoinLinesI32);
HWY_EXPORT(AdvanceLinesU8);
HWY_EXPORT(AdvanceLinesU16);
HWY_EXPORT(AdvanceLinesI32);

void join_windows(Extreme extreme, const std::uint8_t* from, const JoinedWindows& windows, std::size_t count,
                  std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(JoinWindowsU8)(extreme, from, windows, count, out);
}
void join_windows(Extreme extreme, const std::uint16_t* from, const JoinedWindows& windows, std::size_t count,
                  std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(JoinWindowsU16)(extreme, from, windows, count, out);
}
void join_windows(Extreme extreme, const FloatKey* from, const JoinedWindows& windows, std::size_t count,
                  FloatKey* out) {
  HWY_DYNAMIC_DISPATCH(JoinWindowsI32)(extreme, from, windows, count, out);
}

void join_lines(Extreme extreme, const std::uint8_t* other, std::size_t count, std::uint8_t* into) {
  HWY_DYNAMIC_DISPATCH(JoinLinesU8)(extreme, other, count, into);
}
void join_lines(Extreme extreme, const std::uint16_t* other, std::size_t count, std::uint16_t* into) {
  HWY_DYNAMIC_DISPATCH(JoinLinesU16)(extreme, other, count, into);
}
void join_lines(Extreme extreme, const FloatKey* other, std::size_t count, FloatKey* into) {
  HWY_DYNAMIC_DISPATCH(JoinLinesI32)(extreme, other, count, into);
}

void advance_lines(Extreme extreme, const std::uint8_t* line, const std::uint8_t* suffix, std::size_t count,
                   std::uint8_t* prefix, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(AdvanceLinesU8)(extreme, line, suffix, count, prefix, out);
}
void advance_lines(Extreme extreme, const std::uint16_t* line, const std::uint16_t* suffix, std::size_t count,
                   std::uint16_t* prefix, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(AdvanceLinesU16)(extreme, line, suffix, count, prefix, out);
}
void advance_lines(Extreme extreme, const FloatKey* line, const FloatKey* suffix, std::size_t count,
                   FloatKey* prefix, FloatKey* out) {
  HWY_DYNAMIC_DISPATCH(AdvanceLinesI32)(extreme, line, suffix, count, prefix, out);
}

}  // namespace satin::cpu
#endif
