// Rows of bytes with straight alpha, 2 or 4 channels, to premultiplied values and back as
// pixels/maths/premultiplied.h has it, compiled for every SIMD target.

#if defined(SATIN_PREMULTIPLIED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_PREMULTIPLIED_INL_H
#undef SATIN_PREMULTIPLIED_INL_H
#else
#define SATIN_PREMULTIPLIED_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/transfer-inl.h"
#include "pixels/maths/premultiplied.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
using PixelWords = hn::ScalableTag<std::uint32_t>;
using PixelWord = hn::Vec<PixelWords>;

/// The last channel of every pixel in all of its lanes.
template <int Channels>
HWY_INLINE PixelWord AlphaOf(PixelWord values) {
  if constexpr (Channels == 4) {
    return hn::Broadcast<3>(values);
  } else {
    return hn::DupOdd(values);
  }
}

template <int Channels>
HWY_INLINE hn::Mask<PixelWords> AlphaLanes() {
  const PixelWords d;
  const PixelWord last = hn::Set(d, Channels - 1U);
  return hn::Eq(hn::And(hn::Iota(d, 0), last), last);
}

/// Stores words as values of any width.
template <class Value>
HWY_INLINE void StoreAs(PixelWord values, Value* to) {
  const PixelWords d;
  if constexpr (sizeof(Value) == 8) {
    const hn::RepartitionToWide<PixelWords> wide;
    hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(values)), wide, to);
    hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(hn::Half<PixelWords>(), values)), wide,
               to + hn::Lanes(wide));
  } else if constexpr (sizeof(Value) == 4) {
    hn::StoreU(values, d, to);
  } else {
    const hn::Rebind<Value, PixelWords> narrow;
    hn::StoreU(hn::TruncateTo(narrow, values), narrow, to);
  }
}

/// Colours times alpha, and `whole` times alpha. `light` is the linear light of the colours, or null.
template <int Channels, class Value>
std::size_t WeighVectors(const std::uint8_t* stored, std::size_t count, const std::uint16_t* light,
                         std::uint32_t whole, Value* values) {
  const PixelWords d;
  const hn::Mask<PixelWords> alpha_lanes = AlphaLanes<Channels>();
  const PixelWord whole_word = hn::Set(d, whole);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const PixelWord codes = LoadWide(d, stored + i);
    const PixelWord colour = light == nullptr ? codes : LoadWide(d, light + i);
    StoreAs(hn::Mul(hn::IfThenElse(alpha_lanes, whole_word, colour), AlphaOf<Channels>(codes)), values + i);
  }
  return i;
}

/// Single precision errs by less than one, which the remainder tells.
HWY_INLINE PixelWord ColourOfCodes(PixelWord colour, PixelWord alpha) {
  const PixelWords d;
  const hn::RebindToSigned<PixelWords> integers;
  const hn::RebindToFloat<PixelWords> floats;
  const auto real = [&](PixelWord value)
                        HWY_ATTR { return hn::ConvertTo(floats, hn::BitCast(integers, value)); };
  const PixelWord scaled = hn::Sub(hn::ShiftLeft<8>(colour), colour);
  const auto estimate = hn::Add(hn::Div(real(scaled), real(alpha)), hn::Set(floats, 0.5F));
  const PixelWord quotient = hn::BitCast(d, hn::ConvertTo(integers, estimate));
  const PixelWord sum = hn::Add(scaled, hn::ShiftRight<1>(alpha));
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

HWY_INLINE PixelWord ColourOfLight(PixelWord colour, PixelWord alpha) {
  const PixelWords d;
  const hn::RebindToSigned<PixelWords> integers;
  const hn::ScalableTag<double> reals;
  const PixelWord half = hn::ShiftRight<1>(alpha);
  const auto low = QuotientOfLight(reals, hn::LowerHalf(colour), hn::LowerHalf(alpha), hn::LowerHalf(half));
  const auto high = QuotientOfLight(reals, hn::UpperHalf(hn::Half<PixelWords>(), colour),
                                    hn::UpperHalf(hn::Half<PixelWords>(), alpha),
                                    hn::UpperHalf(hn::Half<PixelWords>(), half));
  return hn::BitCast(d, hn::Combine(integers, high, low));
}

/// y / 65535 of y up to 2^24 + 2^16.
HWY_INLINE PixelWord DividedBy65535(PixelWord y) {
  const PixelWords d;
  return hn::ShiftRight<16>(hn::Add(hn::Add(y, hn::ShiftRight<16>(y)), hn::Set(d, 1)));
}

/// Colours, which mean nothing where there is no alpha, and alpha bytes.
template <int Channels, class Value>
std::size_t UnpremultiplyVectors(const Value* values, std::size_t count, const PremultiplyRule& rule,
                                 std::uint16_t* results) {
  const PixelWords d;
  const hn::Mask<PixelWords> alpha_lanes = AlphaLanes<Channels>();
  const PixelWord white = hn::Set(d, rule.white);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const PixelWord value = LoadWide(d, values + i);
    const PixelWord alpha = AlphaOf<Channels>(value);
    const PixelWord lifted = hn::Add(alpha, hn::ShiftRight<1>(white));
    const PixelWord byte = sizeof(Value) == 2 ? DividedBy255(d, lifted) : DividedBy65535(lifted);
    const PixelWord divisor = hn::Max(alpha, hn::Set(d, 1));
    const PixelWord colour =
        sizeof(Value) == 2 ? ColourOfCodes(value, divisor) : ColourOfLight(value, divisor);
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

/// Colours times alpha, and `whole` times alpha, of bytes; `light` has the linear light of the row, null: the
/// codes are taken.
template <class Value>
void WeighAnyPixels(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
                    std::uint32_t whole, Value* values) {
  channels == 2 ? WeighPixels<2>(stored, pixels, light, whole, values)
                : WeighPixels<4>(stored, pixels, light, whole, values);
}

/// The original's colours where alpha is 0.
template <int Channels>
void KeepColours(const std::uint8_t* original, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; i += Channels)
    if (out[i + Channels - 1] == 0) std::copy_n(original + i, Channels - 1, out + i);
}

/// out = `codes` of colours and the values of alpha; where codes is null, all values. They are below 256.
template <int Channels>
void MergeAlpha(const std::uint16_t* values, const std::uint8_t* codes, const std::uint8_t* original,
                std::size_t count, std::uint8_t* out) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  std::size_t i = 0;
  if constexpr (hn::MaxLanes(d) >= Channels) {
    const auto last = hn::Set(d, Channels - 1);
    const auto is_alpha = hn::Eq(hn::And(hn::Iota(d, 0), last), last);
    const auto alpha_bytes = hn::TruncateTo(bytes, hn::VecFromMask(d, is_alpha));
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      const auto value = hn::LoadU(d, values + i);
      auto result = hn::TruncateTo(bytes, value);
      if (codes != nullptr) result = hn::IfVecThenElse(alpha_bytes, result, hn::LoadU(bytes, codes + i));
      hn::StoreU(result, bytes, out + i);
      if (!hn::AllFalse(d, hn::And(is_alpha, hn::Eq(value, hn::Zero(d)))))
        KeepColours<Channels>(original + i, hn::Lanes(d), out + i);
    }
  }
  for (std::size_t j = i; j < count; ++j)
    out[j] =
        codes == nullptr || j % Channels == Channels - 1 ? static_cast<std::uint8_t>(values[j]) : codes[j];
  KeepColours<Channels>(original + i, count - i, out + i);
}

/// Stores `count` values of pixels with straight alpha: colours by their codes, but the original's where
/// alpha is 0; alpha, up to 255, as it is.
template <int Channels>
void StoreStraight(const std::uint16_t* values, const std::uint8_t* original, std::size_t count,
                   const TransferView& transfer, std::uint8_t* out) {
  if (transfer.decode == nullptr) return MergeAlpha<Channels>(values, nullptr, original, count, out);
  if (encodes_in_vectors) {
    EncodeRow(values, count, transfer, out);
    return MergeAlpha<Channels>(values, out, original, count, out);
  }
  const std::uint8_t* table = transfer.encode8;
  for (std::size_t i = 0; i < count; i += Channels) {
    std::array<std::uint8_t, static_cast<std::size_t>(Channels)> pixel;
    for (std::size_t c = 0; c + 1 < Channels; ++c) pixel[c] = table[values[i + c]];
    pixel.back() = static_cast<std::uint8_t>(values[i + Channels - 1]);
    std::copy_n(pixel.begin(), Channels, out + i);
    if (pixel.back() == 0) std::copy_n(original + i, Channels - 1, out + i);
  }
}

template <int Channels, class Value>
void StorePixels(const Value* values, const std::uint8_t* original, std::size_t pixels,
                 const PremultiplyRule& rule, std::uint16_t* scratch, std::uint8_t* out) {
  const std::size_t count = pixels * Channels;
  const std::size_t done = UnpremultiplyVectors<Channels>(values, count, rule, scratch);
  StoreStraight<Channels>(scratch, original, done, rule.transfer, out);
  for (std::size_t i = done; i < count; i += Channels)
    store_premultiplied<Channels>(values + i, original + i, 0, rule, out + i);
}

/// Values are u16, of linear light u32; `scratch` has room for the row.
template <class Value>
void PremultiplyRow(const std::uint8_t* stored, std::size_t pixels, int channels, const PremultiplyRule& rule,
                    std::uint16_t* scratch, Value* values) {
  const std::uint16_t* light = sizeof(Value) == 4 ? scratch : nullptr;
  if (light != nullptr)
    DecodeRow(stored, pixels * static_cast<std::size_t>(channels), rule.transfer, scratch);
  WeighAnyPixels(stored, pixels, channels, light, rule.white, values);
}

/// The way back, without a mask.
template <class Value>
void StorePremultipliedRow(const Value* values, const std::uint8_t* original, std::size_t pixels,
                           int channels, const PremultiplyRule& rule, std::uint16_t* scratch,
                           std::uint8_t* out) {
  channels == 2 ? StorePixels<2>(values, original, pixels, rule, scratch, out)
                : StorePixels<4>(values, original, pixels, rule, scratch, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
