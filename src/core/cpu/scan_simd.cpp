// Prefix sums that Highway compiles once for every SIMD target and chooses between at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/scan_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <array>

#include "core/cpu/load_wide-inl.h"
#include "core/cpu/scan_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

#if HWY_HAVE_SCALABLE  // lane tables need a size that is known: the smallest
template <class Sum>
using ScanTag = hn::FixedTag<Sum, 16 / sizeof(Sum)>;
#else
template <class Sum>
using ScanTag = hn::ScalableTag<Sum>;
#endif

template <class Sum>
using LaneTable = std::array<hwy::MakeSigned<Sum>, hn::MaxLanes(ScanTag<Sum>())>;

/// Lane j takes lane j - step.
template <class Sum>
constexpr LaneTable<Sum> ShiftedLanes(std::size_t step) {
  LaneTable<Sum> lanes{};
  for (std::size_t j = step; j < lanes.size(); ++j) lanes[j] = static_cast<hwy::MakeSigned<Sum>>(j - step);
  return lanes;
}

/// Lane j takes the last lane of the channel that lane j of the next vector has.
template <class Sum>
constexpr LaneTable<Sum> LastPixelLanes(std::size_t channels) {
  LaneTable<Sum> lanes{};
  for (std::size_t j = 0; j < lanes.size(); ++j)
    lanes[j] = static_cast<hwy::MakeSigned<Sum>>(lanes.size() - channels + j % channels);
  return lanes;
}

/// Prefix sums within one vector whose channels repeat every `Step` lanes (Hillis and Steele, 1986).
template <std::size_t Step, class D, class V>
HWY_INLINE V PrefixOfVector(D d, V v) {
  using Sum = hn::TFromD<D>;
  if constexpr (Step < hn::MaxLanes(D())) {
    alignas(64) static constexpr LaneTable<Sum> shifted = ShiftedLanes<Sum>(Step);
    const V before = hn::TableLookupLanes(v, hn::SetTableIndices(d, shifted.data()));
    return PrefixOfVector<2 * Step>(d, hn::Add(v, hn::IfThenElseZero(hn::Not(hn::FirstN(d, Step)), before)));
  } else {
    return v;
  }
}

template <std::size_t Channels, bool Above, class Value, class Sum>
void ScanRow(const Value* values, std::size_t count, const Sum* above, Sum* out) {
  const ScanTag<Sum> d;
  constexpr std::size_t lanes = hn::MaxLanes(ScanTag<Sum>());
  alignas(64) std::array < Sum, lanes<Channels ? Channels : lanes> running{};
  std::size_t i = 0;
  if constexpr (lanes >= Channels && lanes > 1) {
    alignas(64) static constexpr LaneTable<Sum> last_pixel = LastPixelLanes<Sum>(Channels);
    const auto last = hn::SetTableIndices(d, last_pixel.data());
    auto carry = hn::Zero(d);
    for (; i + lanes <= count; i += lanes) {
      const auto prefix = PrefixOfVector<Channels>(d, LoadWide(d, values + i));
      const auto sum = hn::Add(prefix, carry);
      hn::StoreU(Above ? hn::Add(sum, hn::LoadU(d, above + i)) : sum, d, out + i);
      if constexpr (lanes % Channels == 0) {
        carry = hn::Add(carry, hn::TableLookupLanes(prefix, last));  // one addition from vector to vector
      } else {
        carry = hn::TableLookupLanes(sum, last);
      }
    }
    hn::Store(carry, d, running.data());
  }
  for (std::size_t j = 0; i < count; ++i, ++j) {
    Sum& sum = running[j % Channels];
    sum += values[i];
    out[i] = Above ? sum + above[i] : sum;
  }
}

template <std::size_t Channels, class Value, class Sum>
void ScanAbove(const Value* values, std::size_t pixels, const Sum* above, Sum* out) {
  above == nullptr ? ScanRow<Channels, false>(values, pixels * Channels, above, out)
                   : ScanRow<Channels, true>(values, pixels * Channels, above, out);
}

template <class Value, class Sum>
void Scan(const Value* values, std::size_t pixels, int channels, const Sum* above, Sum* out) {
  switch (channels) {
    case 1:
      return ScanAbove<1>(values, pixels, above, out);
    case 2:
      return ScanAbove<2>(values, pixels, above, out);
    case 3:
      return ScanAbove<3>(values, pixels, above, out);
    default:
      return ScanAbove<4>(values, pixels, above, out);
  }
}

// Highway dispatches plain functions: one name for each instance.
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using F64 = double;
void ScanU8U32(const U8* v, std::size_t n, int c, const U32* a, U32* o) { Scan(v, n, c, a, o); }
void ScanU16U32(const U16* v, std::size_t n, int c, const U32* a, U32* o) { Scan(v, n, c, a, o); }
void ScanU32U32(const U32* v, std::size_t n, int c, const U32* a, U32* o) { Scan(v, n, c, a, o); }
void ScanU8U64(const U8* v, std::size_t n, int c, const U64* a, U64* o) { Scan(v, n, c, a, o); }
void ScanU16U64(const U16* v, std::size_t n, int c, const U64* a, U64* o) { Scan(v, n, c, a, o); }
void ScanF64F64(const F64* v, std::size_t n, int c, const F64* a, F64* o) { Scan(v, n, c, a, o); }
void ScanU64U64(const U64* v, std::size_t n, int c, const U64* a, U64* o) { Scan(v, n, c, a, o); }

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(ScanU8U32);
HWY_EXPORT(ScanU16U32);
HWY_EXPORT(ScanU32U32);
HWY_EXPORT(ScanU8U64);
HWY_EXPORT(ScanU16U64);
HWY_EXPORT(ScanU64U64);
HWY_EXPORT(ScanF64F64);

template <>
void scan(const std::uint8_t* values, std::size_t pixels, int channels, const std::uint32_t* above,
          std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU8U32)(values, pixels, channels, above, out);
}
template <>
void scan(const std::uint16_t* values, std::size_t pixels, int channels, const std::uint32_t* above,
          std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU16U32)(values, pixels, channels, above, out);
}
template <>
void scan(const std::uint32_t* values, std::size_t pixels, int channels, const std::uint32_t* above,
          std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU32U32)(values, pixels, channels, above, out);
}
template <>
void scan(const std::uint8_t* values, std::size_t pixels, int channels, const std::uint64_t* above,
          std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU8U64)(values, pixels, channels, above, out);
}
template <>
void scan(const std::uint16_t* values, std::size_t pixels, int channels, const std::uint64_t* above,
          std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU16U64)(values, pixels, channels, above, out);
}
template <>
void scan(const std::uint64_t* values, std::size_t pixels, int channels, const std::uint64_t* above,
          std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU64U64)(values, pixels, channels, above, out);
}
template <>
void scan(const double* values, std::size_t pixels, int channels, const double* above, double* out) {
  HWY_DYNAMIC_DISPATCH(ScanF64F64)(values, pixels, channels, above, out);
}

}  // namespace satin::cpu
#endif
