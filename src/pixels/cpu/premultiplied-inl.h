// Rows of bytes with straight alpha, 2 or 4 channels, to premultiplied values (pixels/premultiplied.h) and
// back, compiled for every SIMD target. Vectors hold whole pixels, so alpha is broadcast within a vector.

#if defined(SATIN_PREMULTIPLIED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_PREMULTIPLIED_INL_H
#undef SATIN_PREMULTIPLIED_INL_H
#else
#define SATIN_PREMULTIPLIED_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/transfer-inl.h"
#include "pixels/premultiplied.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the lanes of the last channel in a vector of whole pixels.
template <int Channels, class D>
HWY_INLINE hn::Mask<D> AlphaLanes(D d) {
  const auto last = hn::Set(d, Channels - 1);
  return hn::Eq(hn::And(hn::Iota(d, 0), last), last);
}

#if HWY_TARGET == HWY_SCALAR
template <int Channels, class Stored, class Value>
std::size_t WeighVectors(const Stored*, std::size_t, const std::uint16_t*, std::uint32_t, Value*) {
  return 0;
}
template <int Channels, class Value>
std::size_t UnpremultiplyVectors(const Value*, std::size_t, std::uint16_t*) {
  return 0;
}
#else
using PixelWords = hn::ScalableTag<std::uint32_t>;
using PixelWord = hn::Vec<PixelWords>;

/// Returns the last channel of every pixel in all of its lanes.
template <int Channels, class V>
HWY_INLINE V AlphaOf(V values) {
  if constexpr (Channels == 4) {
    return hn::Broadcast<3>(values);
  } else {
    return hn::DupOdd(values);
  }
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

/// Computes colours times alpha, and `whole` times alpha, in whole vectors. `light` is the linear light of
/// the colours, or null for codes. Returns the number of values that are done.
template <int Channels, class Stored, class Value>
std::size_t WeighVectors(const Stored* stored, std::size_t count, const std::uint16_t* light,
                         std::uint32_t whole, Value* values) {
  const PixelWords d;
  const hn::Mask<PixelWords> alpha_lanes = AlphaLanes<Channels>(d);
  const PixelWord whole_word = hn::Set(d, whole);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const PixelWord codes = LoadWide(d, stored + i);
    const PixelWord colour = light == nullptr ? codes : LoadWide(d, light + i);
    StoreAs(hn::Mul(hn::IfThenElse(alpha_lanes, whole_word, colour), AlphaOf<Channels>(codes)), values + i);
  }
  return i;
}

/// Returns the last channel of every pixel of `Channels` vectors: that of vector k, in its 128-bit block, in
/// the lanes of channel k.
template <int Channels>
HWY_INLINE PixelWord GatherAlpha(const PixelWord (&values)[std::size_t{Channels}]) {
  const PixelWords d;
  if constexpr (Channels == 4) {
    const hn::RepartitionToWide<PixelWords> pairs;
    const auto first = hn::BitCast(pairs, hn::InterleaveUpper(d, values[0], values[1]));
    const auto second = hn::BitCast(pairs, hn::InterleaveUpper(d, values[2], values[3]));
    return hn::BitCast(d, hn::InterleaveUpper(pairs, first, second));
  } else {
    return hn::OddEven(values[1], hn::DupOdd(values[0]));
  }
}

/// Returns lane k of every pixel in all of its lanes.
template <int Channels, int k, class V>
HWY_INLINE V BroadcastChannel(V values) {
  if constexpr (Channels == 4) {
    return hn::Broadcast<k>(values);
  } else if constexpr (k == 0) {
    return hn::DupEven(values);
  } else {
    return hn::DupOdd(values);
  }
}

/// Returns round(dividend / divisor), ties up, of values below 2^24, in alpha_lanes, and elsewhere
/// round(white dividend / divisor), for quotients up to 2^17. White is 2^bits - 1. `ratio` is the quotient
/// for a dividend of 1. An estimate that is 1/4 too low and errs by less than 1/4 rounds to the quotient or
/// to one less. The remainder decides; it is below 2^25 in magnitude, so that its low 32 bits suffice.
template <int bits, class Ratio>
HWY_INLINE PixelWord StraightOf(PixelWord value, PixelWord divisor, Ratio ratio,
                                hn::Mask<PixelWords> alpha_lanes) {
  const PixelWords d;
  const hn::RebindToSigned<PixelWords> integers;
  const hn::RebindToFloat<PixelWords> floats;
  const auto real = hn::ConvertTo(floats, hn::BitCast(integers, value));
  const PixelWord quotient = hn::BitCast(d, NearestWord(hn::MulAdd(real, ratio, hn::Set(floats, -0.25F))));
  const PixelWord dividend =
      hn::IfThenElse(alpha_lanes, value, hn::Sub(hn::ShiftLeft<bits>(value), value));  // modulo 2^32
  const auto rest = hn::BitCast(integers, hn::Sub(dividend, hn::Mul(quotient, divisor)));
  const auto half = hn::BitCast(integers, hn::ShiftRight<1>(hn::Sub(divisor, hn::Set(d, 1))));
  const auto more = hn::BitCast(d, hn::VecFromMask(integers, hn::Gt(rest, half)));  // -1
  return hn::Min(hn::Sub(quotient, more), hn::Set(d, (1U << bits) - 1));
}

/// Computes colours and alpha bytes of blocks with as many pixels as a vector has lanes, which share one
/// division; the last block may overlap the one before. Colours are meaningless where alpha is 0. Returns the
/// number of values that are done: all, or none if they do not fill a block.
template <int Channels, class Value>
std::size_t UnpremultiplyVectors(const Value* values, std::size_t count, std::uint16_t* results) {
  constexpr int bits = 4 * sizeof(Value);
  constexpr std::uint32_t largest = (1U << bits) - 1;
  const PixelWords d;
  const hn::RebindToSigned<PixelWords> integers;
  const hn::RebindToFloat<PixelWords> floats;
  const std::size_t block = Channels * hn::Lanes(d);
  if (count < block) return 0;
  const hn::Mask<PixelWords> alpha_lanes = AlphaLanes<Channels>(d);
  const auto white = hn::Set(d, largest);
  const auto of_alpha = hn::Set(floats, 1.0F / static_cast<float>(largest));
  for (std::size_t next = 0; next < count; next += block) {
    const std::size_t i = std::min(next, count - block);
    PixelWord value[std::size_t{Channels}];
    for (std::size_t k = 0; k < Channels; ++k) value[k] = LoadWide(d, values + i + k * hn::Lanes(d));
    const auto alpha = hn::BitCast(integers, hn::Max(GatherAlpha<Channels>(value), hn::Set(d, 1)));
    const auto ratios = hn::Div(hn::Set(floats, static_cast<float>(largest)), hn::ConvertTo(floats, alpha));
    const auto store = [&]<int k>() HWY_ATTR {
      const auto of_colour = BroadcastChannel<Channels, k>(ratios);
      const auto ratio = hn::IfThenElse(hn::RebindMask(floats, alpha_lanes), of_alpha, of_colour);
      const auto own = BroadcastChannel<Channels, k>(hn::BitCast(d, alpha));
      const auto divisor = hn::IfThenElse(alpha_lanes, white, own);
      StoreAs(StraightOf<bits>(value[k], divisor, ratio, alpha_lanes), results + i + k * hn::Lanes(d));
    };
    store.template operator()<0>();
    store.template operator()<1>();
    if constexpr (Channels == 4) {
      store.template operator()<2>();
      store.template operator()<3>();
    }
  }
  return count;
}
#endif

/// Decodes colours and keeps alpha. Not inlined, as DecodeRow().
template <int Channels>
HWY_NOINLINE void DecodeColours(const std::uint8_t* stored, std::size_t count, const TransferView& transfer,
                                std::uint16_t* values) {
  const auto choose = [](auto code, auto light)
                          HWY_ATTR { return hn::IfThenElse(AlphaLanes<Channels>(CodeWords()), code, light); };
  for (std::size_t i = DecodeVectors(stored, count, transfer.decode, choose, values); i < count;
       i += Channels) {
    for (std::size_t c = 0; c + 1 < Channels; ++c)
      values[i + c] = static_cast<std::uint16_t>(transfer.decode[stored[i + c]]);
    values[i + Channels - 1] = stored[i + Channels - 1];
  }
}

/// Computes colours times alpha, and `whole` times alpha, of bytes: in linear light, or of codes without a
/// transfer. `scratch` has room for the row.
template <int Channels, class Value>
void WeighPixels(const std::uint8_t* stored, std::size_t pixels, const TransferView& transfer,
                 std::uint16_t* scratch, std::uint32_t whole, Value* values) {
  const std::size_t count = pixels * Channels;
  if (transfer.decode != nullptr) DecodeRow(stored, count, transfer, scratch);
  std::size_t i =
      WeighVectors<Channels>(stored, count, transfer.decode == nullptr ? nullptr : scratch, whole, values);
  for (; i < count; i += Channels) {
    const Value alpha = stored[i + Channels - 1];
    for (std::size_t c = i; c + 1 < i + Channels; ++c)
      values[c] = static_cast<Value>(decode(stored[c], transfer) * alpha);
    values[i + Channels - 1] = static_cast<Value>(whole * alpha);
  }
}

/// Restores the original's colours where alpha is 0.
template <int Channels>
void KeepColours(const std::uint8_t* original, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; i += Channels)
    if (out[i + Channels - 1] == 0) std::copy_n(original + i, Channels - 1, out + i);
}

/// A pixel of u8 or u16 as one integer, the first channel lowest.
template <int Channels, class Stored = std::uint8_t>
using BitsOfPixel =
    std::conditional_t<Channels * sizeof(Stored) == 8, std::uint64_t,
                       std::conditional_t<Channels * sizeof(Stored) == 4, std::uint32_t, std::uint16_t>>;

/// Stores whole pixels, a channel in each lane of `result`, with the original's colours where alpha is 0.
template <int Channels, class D, class V, class Stored>
HWY_INLINE void StoreShown(D /*d*/, V result, const Stored* original, Stored* out) {
  using Pixel = BitsOfPixel<Channels, Stored>;
  constexpr auto least_alpha = static_cast<Pixel>(Pixel{1} << (8 * sizeof(Stored) * (Channels - 1)));
  const hn::Rebind<Stored, D> stored;
  const hn::Repartition<Pixel, decltype(stored)> d;
  const auto pixels = hn::BitCast(d, hn::TruncateTo(stored, result));
  const auto hidden = hn::Lt(pixels, hn::Set(d, least_alpha));
  if (hn::AllFalse(d, hidden)) return hn::StoreU(hn::BitCast(stored, pixels), stored, out);
  const auto colours =
      hn::And(hn::BitCast(d, hn::LoadU(stored, original)), hn::Set(d, static_cast<Pixel>(least_alpha - 1)));
  hn::StoreU(hn::BitCast(stored, hn::IfThenElse(hidden, colours, pixels)), stored, out);
}

/// Stores values below 256 as bytes, with the original's colours where alpha is 0.
template <int Channels>
void StoreCodes(const std::uint16_t* values, const std::uint8_t* original, std::size_t count,
                std::uint8_t* out) {
  const hn::ScalableTag<std::uint16_t> d;
  std::size_t i = 0;
  if constexpr (hn::MaxLanes(d) >= Channels)
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
      StoreShown<Channels>(d, hn::LoadU(d, values + i), original + i, out + i);
  for (std::size_t j = i; j < count; ++j) out[j] = static_cast<std::uint8_t>(values[j]);
  KeepColours<Channels>(original + i, count - i, out + i);
}

/// Stores `count` values of pixels with straight alpha: encodes colours, keeps the original's where alpha is
/// 0, and stores alpha, up to 255, unchanged.
template <int Channels>
void StoreStraight(const std::uint16_t* values, const std::uint8_t* original, std::size_t count,
                   const TransferView& transfer, std::uint8_t* out) {
  if (transfer.decode == nullptr) return StoreCodes<Channels>(values, original, count, out);
  std::size_t i = EncodeVectors(values, count, [&](std::size_t at, auto value, auto code) HWY_ATTR {
    const CodeWords d;
    const auto result = hn::IfThenElse(AlphaLanes<Channels>(d), value, code);
    StoreShown<Channels>(d, result, original + at, out + at);
  });
  const std::uint8_t* table = transfer.encode8;
  constexpr int alpha_bit = 8 * (Channels - 1);
  for (; i < count; i += Channels) {
    BitsOfPixel<Channels> kept;
    std::memcpy(&kept, original + i, Channels);
    std::uint32_t codes = 0;
    for (std::size_t c = 0; c + 1 < Channels; ++c) codes |= std::uint32_t{table[values[i + c]]} << (8 * c);
    const std::uint32_t alpha = values[i + Channels - 1];
    const std::uint32_t colours = alpha == 0 ? kept & ((1U << alpha_bit) - 1) : codes;  // no branch
    const auto pixel = static_cast<BitsOfPixel<Channels>>(alpha << alpha_bit | colours);
    std::memcpy(out + i, &pixel, Channels);
  }
}

/// Stores a row of premultiplied values with straight alpha, without a mask. `scratch` has room for the row.
template <int Channels, class Value>
void StorePixels(const Value* values, const std::uint8_t* original, std::size_t pixels,
                 const PremultiplyRule& rule, std::uint16_t* scratch, std::uint8_t* out) {
  const std::size_t count = pixels * Channels;
  const std::size_t done = UnpremultiplyVectors<Channels>(values, count, scratch);
  if (done != 0) StoreStraight<Channels>(scratch, original, done, rule.transfer, out);
  for (std::size_t i = done; i < count; i += Channels)
    store_premultiplied<Channels>(values + i, original + i, 0, rule, out + i);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
