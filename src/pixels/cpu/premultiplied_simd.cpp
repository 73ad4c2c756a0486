// The loops of premultiplied_simd.h that Highway compiles once for every SIMD target and chooses between at
// run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/premultiplied_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/premultiplied_simd.h"
#include "pixels/cpu/transfer_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <int Channels, class Value>
std::size_t WeighVectors(const std::uint8_t*, std::size_t, const std::uint16_t*, std::uint32_t, Value*) {
  return 0;
}
template <int Channels, class Value>
std::size_t UnpremultiplyVectors(const Value*, std::size_t, const PremultiplyRule&, std::uint16_t*) {
  return 0;
}
#else
using Words = hn::ScalableTag<std::uint32_t>;
using Word = hn::Vec<Words>;

/// The last channel of every pixel in all of its lanes.
template <int Channels>
HWY_INLINE Word AlphaOf(Word values) {
  if constexpr (Channels == 4) {
    return hn::Broadcast<3>(values);
  } else {
    return hn::DupOdd(values);
  }
}

template <int Channels>
HWY_INLINE hn::Mask<Words> AlphaLanes() {
  const Words d;
  const Word last = hn::Set(d, Channels - 1U);
  return hn::Eq(hn::And(hn::Iota(d, 0), last), last);
}

/// Stores words as values of any width.
template <class Value>
HWY_INLINE void StoreAs(Word values, Value* to) {
  const Words d;
  if constexpr (sizeof(Value) == 8) {
    const hn::RepartitionToWide<Words> wide;
    hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(values)), wide, to);
    hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(hn::Half<Words>(), values)), wide, to + hn::Lanes(wide));
  } else if constexpr (sizeof(Value) == 4) {
    hn::StoreU(values, d, to);
  } else {
    const hn::Rebind<Value, Words> narrow;
    hn::StoreU(hn::TruncateTo(narrow, values), narrow, to);
  }
}

/// Colours times alpha, and `whole` times alpha. `light` is the linear light of the colours, or null.
template <int Channels, class Value>
std::size_t WeighVectors(const std::uint8_t* stored, std::size_t count, const std::uint16_t* light,
                         std::uint32_t whole, Value* values) {
  const Words d;
  const hn::Mask<Words> alpha_lanes = AlphaLanes<Channels>();
  const Word whole_word = hn::Set(d, whole);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const Word codes = LoadWide(d, stored + i);
    const Word colour = light == nullptr ? codes : LoadWide(d, light + i);
    StoreAs(hn::Mul(hn::IfThenElse(alpha_lanes, whole_word, colour), AlphaOf<Channels>(codes)), values + i);
  }
  return i;
}

/// Single precision errs by less than one, which the remainder tells.
HWY_INLINE Word ColourOfCodes(Word colour, Word alpha) {
  const Words d;
  const hn::RebindToSigned<Words> integers;
  const hn::RebindToFloat<Words> floats;
  const auto real = [&](Word value) HWY_ATTR { return hn::ConvertTo(floats, hn::BitCast(integers, value)); };
  const Word scaled = hn::Sub(hn::ShiftLeft<8>(colour), colour);
  const auto estimate = hn::Add(hn::Div(real(scaled), real(alpha)), hn::Set(floats, 0.5F));
  const Word quotient = hn::BitCast(d, hn::ConvertTo(integers, estimate));
  const Word sum = hn::Add(scaled, hn::ShiftRight<1>(alpha));
  const auto rest = hn::BitCast(integers, hn::Sub(sum, hn::Mul(quotient, alpha)));
  const auto less = hn::VecFromMask(integers, hn::Lt(rest, hn::Zero(integers)));  // -1
  const auto more = hn::VecFromMask(integers, hn::Not(hn::Lt(rest, hn::BitCast(integers, alpha))));
  return hn::Add(quotient, hn::BitCast(d, hn::Sub(less, more)));
}

/// floor of a quotient of integers below 2^41 and 2^24, which differs from the next integer by more than a
/// double's rounding.
template <class D, class Half>
HWY_INLINE auto QuotientOfLight(D d, Half colour, Half alpha, Half half_alpha) {
  const auto sum = hn::MulAdd(ExactDouble(d, colour), hn::Set(d, 65535.0), ExactDouble(d, half_alpha));
  return hn::DemoteTo(hn::Rebind<std::int32_t, D>(), hn::Div(sum, ExactDouble(d, alpha)));
}

HWY_INLINE Word ColourOfLight(Word colour, Word alpha) {
  const Words d;
  const hn::RebindToSigned<Words> integers;
  const hn::ScalableTag<double> reals;
  const Word half = hn::ShiftRight<1>(alpha);
  const auto low = QuotientOfLight(reals, hn::LowerHalf(colour), hn::LowerHalf(alpha), hn::LowerHalf(half));
  const auto high =
      QuotientOfLight(reals, hn::UpperHalf(hn::Half<Words>(), colour),
                      hn::UpperHalf(hn::Half<Words>(), alpha), hn::UpperHalf(hn::Half<Words>(), half));
  return hn::BitCast(d, hn::Combine(integers, high, low));
}

/// y / 65535 of y up to 2^24 + 2^16.
HWY_INLINE Word DividedBy65535(Word y) {
  const Words d;
  return hn::ShiftRight<16>(hn::Add(hn::Add(y, hn::ShiftRight<16>(y)), hn::Set(d, 1)));
}

/// Colours, which mean nothing where there is no alpha, and alpha bytes.
template <int Channels, class Value>
std::size_t UnpremultiplyVectors(const Value* values, std::size_t count, const PremultiplyRule& rule,
                                 std::uint16_t* results) {
  const Words d;
  const hn::Mask<Words> alpha_lanes = AlphaLanes<Channels>();
  const Word white = hn::Set(d, rule.white);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const Word value = LoadWide(d, values + i);
    const Word alpha = AlphaOf<Channels>(value);
    const Word lifted = hn::Add(alpha, hn::ShiftRight<1>(white));
    const Word byte = sizeof(Value) == 2 ? DividedBy255(d, lifted) : DividedBy65535(lifted);
    const Word divisor = hn::Max(alpha, hn::Set(d, 1));
    const Word colour = sizeof(Value) == 2 ? ColourOfCodes(value, divisor) : ColourOfLight(value, divisor);
    StoreAs(hn::IfThenElse(alpha_lanes, byte, hn::Min(colour, white)), results + i);
  }
  return i;
}
#endif

template <int Channels, class Value>
void WeighPixels(const std::uint8_t* stored, std::size_t pixels, const std::uint16_t* light,
                 std::uint32_t whole, Value* values) {
  const std::size_t count = pixels * Channels;
  for (std::size_t i = WeighVectors<Channels>(stored, count, light, whole, values); i < count;
       i += Channels) {
    const Value alpha = stored[i + Channels - 1];
    for (std::size_t c = i; c + 1 < i + Channels; ++c)
      values[c] = static_cast<Value>((light == nullptr ? stored[c] : light[c]) * alpha);
    values[i + Channels - 1] = static_cast<Value>(whole * alpha);
  }
}

template <class Value>
void WeighAnyPixels(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
                    std::uint32_t whole, Value* values) {
  channels == 2 ? WeighPixels<2>(stored, pixels, light, whole, values)
                : WeighPixels<4>(stored, pixels, light, whole, values);
}

template <int Channels, class Value>
void StorePixels(const Value* values, const std::uint8_t* original, std::size_t pixels,
                 const PremultiplyRule& rule, std::uint16_t* scratch, std::uint8_t* out) {
  const std::size_t count = pixels * Channels;
  const std::size_t done = UnpremultiplyVectors<Channels>(values, count, rule, scratch);
  if (sizeof(Value) == 4) {
    encode_row(scratch, done, rule.transfer, out);
  } else {
    std::transform(scratch, scratch + done, out,
                   [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
  }
  for (std::size_t i = 0; i < done; i += Channels) {
    out[i + Channels - 1] = static_cast<std::uint8_t>(scratch[i + Channels - 1]);
    if (out[i + Channels - 1] == 0) std::copy_n(original + i, Channels - 1, out + i);
  }
  for (std::size_t i = done; i < count; i += Channels)
    store_premultiplied<Channels>(values + i, original + i, 0, rule, out + i);
}

template <class Value>
void PremultiplyRow(const std::uint8_t* stored, std::size_t pixels, int channels, const PremultiplyRule& rule,
                    std::uint16_t* scratch, Value* values) {
  const std::uint16_t* light = sizeof(Value) == 4 ? scratch : nullptr;
  if (light != nullptr)
    decode_row(stored, pixels * static_cast<std::size_t>(channels), rule.transfer, scratch);
  WeighAnyPixels(stored, pixels, channels, light, rule.white, values);
}

template <class Value>
void StoreRow(const Value* values, const std::uint8_t* original, std::size_t pixels, int channels,
              const PremultiplyRule& rule, std::uint16_t* scratch, std::uint8_t* out) {
  channels == 2 ? StorePixels<2>(values, original, pixels, rule, scratch, out)
                : StorePixels<4>(values, original, pixels, rule, scratch, out);
}

// Highway dispatches plain functions: one name for each instance.
void PremultiplyRowU16(const std::uint8_t* stored, std::size_t pixels, int channels,
                       const PremultiplyRule& rule, std::uint16_t* scratch, std::uint16_t* values) {
  PremultiplyRow(stored, pixels, channels, rule, scratch, values);
}
void PremultiplyRowU32(const std::uint8_t* stored, std::size_t pixels, int channels,
                       const PremultiplyRule& rule, std::uint16_t* scratch, std::uint32_t* values) {
  PremultiplyRow(stored, pixels, channels, rule, scratch, values);
}
void WeighRowU32(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
                 std::uint32_t* values) {
  WeighAnyPixels(stored, pixels, channels, light, 1, values);
}
void WeighRowU64(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
                 std::uint64_t* values) {
  WeighAnyPixels(stored, pixels, channels, light, 1, values);
}
void StoreRowU16(const std::uint16_t* values, const std::uint8_t* original, std::size_t pixels, int channels,
                 const PremultiplyRule& rule, std::uint16_t* scratch, std::uint8_t* out) {
  StoreRow(values, original, pixels, channels, rule, scratch, out);
}
void StoreRowU32(const std::uint32_t* values, const std::uint8_t* original, std::size_t pixels, int channels,
                 const PremultiplyRule& rule, std::uint16_t* scratch, std::uint8_t* out) {
  StoreRow(values, original, pixels, channels, rule, scratch, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PremultiplyRowU16);
HWY_EXPORT(PremultiplyRowU32);
HWY_EXPORT(WeighRowU32);
HWY_EXPORT(WeighRowU64);
HWY_EXPORT(StoreRowU16);
HWY_EXPORT(StoreRowU32);

template <>
void premultiply_row(const std::uint8_t* stored, std::size_t pixels, int channels,
                     const PremultiplyRule& rule, std::uint16_t* scratch, std::uint16_t* values) {
  HWY_DYNAMIC_DISPATCH(PremultiplyRowU16)(stored, pixels, channels, rule, scratch, values);
}
template <>
void premultiply_row(const std::uint8_t* stored, std::size_t pixels, int channels,
                     const PremultiplyRule& rule, std::uint16_t* scratch, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(PremultiplyRowU32)(stored, pixels, channels, rule, scratch, values);
}
template <>
void store_premultiplied_row(const std::uint16_t* values, const std::uint8_t* original, std::size_t pixels,
                             int channels, const PremultiplyRule& rule, std::uint16_t* scratch,
                             std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(StoreRowU16)(values, original, pixels, channels, rule, scratch, out);
}
template <>
void store_premultiplied_row(const std::uint32_t* values, const std::uint8_t* original, std::size_t pixels,
                             int channels, const PremultiplyRule& rule, std::uint16_t* scratch,
                             std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(StoreRowU32)(values, original, pixels, channels, rule, scratch, out);
}
template <>
void weigh_row(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
               std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WeighRowU32)(stored, pixels, channels, light, values);
}
template <>
void weigh_row(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
               std::uint64_t* values) {
  HWY_DYNAMIC_DISPATCH(WeighRowU64)(stored, pixels, channels, light, values);
}

}  // namespace satin::cpu
#endif
