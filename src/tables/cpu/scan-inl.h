// Prefix sums along a row of interleaved channels, compiled for every SIMD target. A vector is scanned in
// log2 steps of lane shifts; carries between vectors are lane tables that repeat the last pixel.

#if defined(SATIN_SCAN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SCAN_INL_H
#undef SATIN_SCAN_INL_H
#else
#define SATIN_SCAN_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/maths/window.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_SCALABLE  // lane tables need a known size, so vectors of the smallest one
template <class Sum>
using ScanTag = hn::FixedTag<Sum, 16 / sizeof(Sum)>;
#else
template <class Sum>
using ScanTag = hn::ScalableTag<Sum>;
#endif

template <class Sum>
using LaneTable = std::array<hwy::MakeSigned<Sum>, hn::MaxLanes(ScanTag<Sum>())>;

/// Lane j reads lane j - step.
template <class Sum>
constexpr LaneTable<Sum> ShiftedLanes(std::size_t step) {
  LaneTable<Sum> lanes{};
  for (std::size_t j = step; j < lanes.size(); ++j) lanes[j] = static_cast<hwy::MakeSigned<Sum>>(j - step);
  return lanes;
}

/// Lane j reads the last lane with the channel of lane j of the next vector.
template <class Sum>
constexpr LaneTable<Sum> LastPixelLanes(std::size_t channels) {
  LaneTable<Sum> lanes{};
  for (std::size_t j = 0; j < lanes.size(); ++j)
    lanes[j] = static_cast<hwy::MakeSigned<Sum>>(lanes.size() - channels + j % channels);
  return lanes;
}

/// Scans one vector whose channels repeat every `Step` lanes (Hillis and Steele, Data parallel algorithms,
/// 1986).
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

/// Lane j reads a lane with the channel of lane j after `vectors` more vectors.
template <class Sum>
constexpr LaneTable<Sum> RotatedLanes(std::size_t channels, std::size_t vectors) {
  LaneTable<Sum> lanes{};
  for (std::size_t j = 0; j < lanes.size(); ++j)
    lanes[j] = static_cast<hwy::MakeSigned<Sum>>((j + vectors * lanes.size()) % channels);
  return lanes;
}

template <bool Above, class D, class V, class Sum>
HWY_INLINE void StoreSum(D d, V sum, std::size_t at, const Sum* above, Sum* out) {
  if constexpr (Above) sum = hn::Add(sum, hn::LoadU(d, above + at));
  hn::StoreU(sum, d, out + at);
}

/// Returns the prefixes of the pixel before `out`, in the lanes of their channels; zeros unless `follows`.
template <std::size_t Channels, class D, class Sum>
HWY_INLINE auto CarryInto(D d, bool follows, const Sum* out) {
  alignas(64) static constexpr LaneTable<Sum> lanes = RotatedLanes<Sum>(Channels, 0);
  if (!follows) return hn::Zero(d);
  return hn::TableLookupLanes(hn::LoadU(d, out - Channels), hn::SetTableIndices(d, lanes.data()));
}

/// Scans vectors that all begin with the first channel, two at a time: one addition depends on the two
/// before. Returns the number of values that are done.
template <std::size_t Channels, bool Above, class D, class Value, class Sum>
HWY_INLINE std::size_t ScanVectors(D d, bool follows, const Value* values, std::size_t count,
                                   const Sum* above, Sum* out, Sum* running) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  alignas(64) static constexpr LaneTable<Sum> last_pixel = LastPixelLanes<Sum>(Channels);
  const auto last = hn::SetTableIndices(d, last_pixel.data());
  if (count < 2 * lanes) return 0;
  auto carry = CarryInto<Channels>(d, follows, out);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = PrefixOfVector<Channels>(d, LoadWide(d, values + i));
    const auto b =
        hn::Add(PrefixOfVector<Channels>(d, LoadWide(d, values + i + lanes)), hn::TableLookupLanes(a, last));
    StoreSum<Above>(d, hn::Add(a, carry), i, above, out);
    StoreSum<Above>(d, hn::Add(b, carry), i + lanes, above, out);
    carry = hn::Add(carry, hn::TableLookupLanes(b, last));
  }
  hn::Store(carry, d, running);
  return i;
}

/// Scans three channels, whose lanes repeat after three vectors.
template <bool Above, class D, class Value, class Sum>
HWY_INLINE std::size_t ScanTriples(D d, bool follows, const Value* values, std::size_t count,
                                   const Sum* above, Sum* out, Sum* running) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  alignas(64) static constexpr LaneTable<Sum> last_pixel = LastPixelLanes<Sum>(3);
  alignas(64) static constexpr LaneTable<Sum> second_lanes = RotatedLanes<Sum>(3, 1);
  alignas(64) static constexpr LaneTable<Sum> third_lanes = RotatedLanes<Sum>(3, 2);
  const auto last = hn::SetTableIndices(d, last_pixel.data());
  const auto second = hn::SetTableIndices(d, second_lanes.data());
  const auto third = hn::SetTableIndices(d, third_lanes.data());
  if (count < 3 * lanes) return 0;
  auto carry = CarryInto<3>(d, follows, out);
  std::size_t i = 0;
  for (; i + 3 * lanes <= count; i += 3 * lanes) {
    const auto a = PrefixOfVector<3>(d, LoadWide(d, values + i));
    const auto b =
        hn::Add(PrefixOfVector<3>(d, LoadWide(d, values + i + lanes)), hn::TableLookupLanes(a, last));
    const auto c =
        hn::Add(PrefixOfVector<3>(d, LoadWide(d, values + i + 2 * lanes)), hn::TableLookupLanes(b, last));
    StoreSum<Above>(d, hn::Add(a, carry), i, above, out);
    StoreSum<Above>(d, hn::Add(b, hn::TableLookupLanes(carry, second)), i + lanes, above, out);
    StoreSum<Above>(d, hn::Add(c, hn::TableLookupLanes(carry, third)), i + 2 * lanes, above, out);
    carry = hn::Add(carry, hn::TableLookupLanes(c, last));
  }
  hn::Store(carry, d, running);
  return i;
}

template <std::size_t Channels, bool Above, class Value, class Sum>
void ScanRow(bool follows, const Value* values, std::size_t count, const Sum* above, Sum* out) {
  const ScanTag<Sum> d;
  constexpr std::size_t lanes = hn::MaxLanes(ScanTag<Sum>());
  alignas(64) std::array < Sum, lanes<Channels ? Channels : lanes> running{};
  if (follows)
    for (std::size_t j = 0; j < running.size(); ++j) running[j] = *(out - Channels + j % Channels);
  std::size_t i = 0;
  if constexpr (lanes > 1 && lanes % Channels == 0) {
    i = ScanVectors<Channels, Above>(d, follows, values, count, above, out, running.data());
  } else if constexpr (lanes > 3 && Channels == 3) {
    i = ScanTriples<Above>(d, follows, values, count, above, out, running.data());
  }
  for (std::size_t j = 0; i < count; ++i, ++j) {
    Sum& sum = running[j % Channels];
    sum += values[i];
    out[i] = Above ? sum + above[i] : sum;
  }
}

/// Scan() that continues, if the values `follow` a pixel, from that pixel's prefixes before `out`. `out` is
/// then not `values`.
template <class Value, class Sum>
void ScanAfter(bool follow, const Value* values, std::size_t pixels, int channels,
               const std::type_identity_t<Sum>* above, Sum* out) {
  const auto scan = [&]<std::size_t Channels>() {
    above == nullptr ? ScanRow<Channels, false>(follow, values, pixels * Channels, above, out)
                     : ScanRow<Channels, true>(follow, values, pixels * Channels, above, out);
  };
  switch (channels) {
    case 1:
      return scan.template operator()<1>();
    case 2:
      return scan.template operator()<2>();
    case 3:
      return scan.template operator()<3>();
    default:
      return scan.template operator()<4>();
  }
}

/// Sets out[x] to values[0] + ... + values[x] of its channel, plus above[x] unless `above` is null. Integers
/// wrap; doubles must be integers, with exact sums. `out` may be `values` or `above`. Value is Sum or
/// narrower.
template <class Value, class Sum>
void Scan(const Value* values, std::size_t pixels, int channels, const std::type_identity_t<Sum>* above,
          Sum* out) {
  ScanAfter(false, values, pixels, channels, above, out);
}

/// Sets `prefixes` to the exclusive prefixes of a row of one channel, extended by its border by `reach` on
/// either side. The sum over the window around pixel i is then prefixes[i + 2 reach + 1] - prefixes[i].
template <class Sum>
void ScanExtended(const Sum* row, std::size_t width, std::size_t reach, Border border, Sum* prefixes) {
  prefixes[0] = 0;
  Sum* after = prefixes + 1;
  if (border == Border::shrink) {
    std::fill_n(after, reach, Sum{0});
    Scan(row, width, 1, nullptr, after + reach);
    std::fill_n(after + reach + width, reach, after[reach + width - 1]);
    return;
  }
  const auto size = static_cast<std::int64_t>(width);
  std::copy_n(row, width, after + reach);
  for (std::size_t i = 0; i < reach; ++i) {
    after[i] = row[source_of(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(reach), size, border)];
    after[reach + width + i] = row[source_of(size + static_cast<std::int64_t>(i), size, border)];
  }
  Scan(after, width + 2 * reach, 1, nullptr, after);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
