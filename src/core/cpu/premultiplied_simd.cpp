// The loops of premultiplied_simd.h that Highway compiles once for every SIMD target and chooses between at
// run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/premultiplied_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "core/cpu/load_wide-inl.h"
#include "core/cpu/premultiplied_simd.h"
#include "core/cpu/transfer_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <int Channels>
std::size_t PremultiplyVectors(const std::uint8_t*, std::size_t, const std::uint16_t*, int, std::uint16_t*) {
  return 0;
}
template <int Channels>
std::size_t UnpremultiplyVectors(const std::uint16_t*, std::size_t, std::uint32_t, int, std::uint16_t*) {
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

/// y / 255 of y below 2^24: q has at most 1 too little.
HWY_INLINE Word DividedBy255(Word y) {
  const Words d;
  const Word q = hn::ShiftRight<8>(hn::Add(y, hn::ShiftRight<8>(y)));
  const Word rest = hn::Sub(hn::Add(y, q), hn::ShiftLeft<8>(q));
  return hn::Add(q, hn::ShiftRight<8>(hn::Add(rest, hn::Set(d, 1))));
}

/// Multiples of a vector, and as many values as `light` has: linear light, or the codes where it is null.
template <int Channels>
std::size_t PremultiplyVectors(const std::uint8_t* stored, std::size_t count, const std::uint16_t* light,
                               int fraction, std::uint16_t* values) {
  const Words d;
  const hn::Rebind<std::uint16_t, Words> d16;
  const hn::Mask<Words> alpha_lanes = AlphaLanes<Channels>();
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const Word codes = LoadWide(d, stored + i);
    const Word alpha = AlphaOf<Channels>(codes);
    const Word colour = light == nullptr ? codes : LoadWide(d, light + i);
    const Word product = hn::ShiftLeftSame(hn::Mul(colour, alpha), fraction);
    const Word value = DividedBy255(hn::Add(product, hn::Set(d, 0x7F)));
    const Word result = hn::IfThenElse(alpha_lanes, hn::ShiftLeft<8>(alpha), value);
    hn::StoreU(hn::TruncateTo(d16, result), d16, values + i);
  }
  return i;
}

/// floor((colour white + alpha / 2) / alpha): single precision errs by less than one, which the remainder
/// tells. Where there is no alpha the result means nothing.
template <class V>
HWY_INLINE Word Quotient(V colour, V alpha, Word white) {
  const Words d;
  const hn::RebindToSigned<Words> signed_words;
  const hn::RebindToFloat<Words> floats;
  const auto real = [&](Word value)
                        HWY_ATTR { return hn::ConvertTo(floats, hn::BitCast(signed_words, value)); };
  const auto estimate = hn::Div(hn::Mul(real(colour), real(white)), real(alpha));
  const Word q = hn::BitCast(d, hn::ConvertTo(signed_words, hn::Add(estimate, hn::Set(floats, 0.5F))));
  const Word sum = hn::Add(hn::Mul(colour, white), hn::ShiftRight<1>(alpha));
  const auto rest = hn::BitCast(signed_words, hn::Sub(sum, hn::Mul(q, alpha)));
  const auto too_much = hn::Lt(rest, hn::Zero(signed_words));
  const auto too_little = hn::Not(hn::Lt(rest, hn::BitCast(signed_words, alpha)));
  const auto less = hn::VecFromMask(signed_words, too_much);  // -1
  const auto more = hn::VecFromMask(signed_words, too_little);
  return hn::Add(q, hn::BitCast(d, hn::Sub(less, more)));
}

template <int Channels>
std::size_t UnpremultiplyVectors(const std::uint16_t* values, std::size_t count, std::uint32_t white,
                                 int fraction, std::uint16_t* light) {
  const Words d;
  const hn::Rebind<std::uint16_t, Words> d16;
  const hn::Mask<Words> alpha_lanes = AlphaLanes<Channels>();
  const Word scale = hn::Set(d, alpha_white(fraction));
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const Word value = LoadWide(d, values + i);
    const Word alpha = AlphaOf<Channels>(value);
    const Word colour = hn::Min(Quotient(value, alpha, scale), hn::Set(d, white));
    const Word byte = hn::ShiftRight<8>(hn::Add(alpha, hn::Set(d, 0x80)));
    hn::StoreU(hn::TruncateTo(d16, hn::IfThenElse(alpha_lanes, byte, colour)), d16, light + i);
  }
  return i;
}
#endif

template <int Channels>
void PremultiplyPixels(const std::uint8_t* stored, std::size_t pixels, const PremultiplyRule& rule,
                       std::uint16_t* values) {
  const std::size_t count = pixels * Channels;
  const bool linear = rule.transfer.decode != nullptr;
  if (linear) decode_row(stored, count, rule.transfer, values);
  std::size_t i =
      PremultiplyVectors<Channels>(stored, count, linear ? values : nullptr, rule.fraction, values);
  for (; i < count; i += Channels) premultiply<Channels>(stored + i, rule, values + i);
}

template <int Channels>
void StorePixels(const std::uint16_t* values, const std::uint8_t* original, std::size_t pixels,
                 const PremultiplyRule& rule, std::uint16_t* light, std::uint8_t* out) {
  const std::size_t count = pixels * Channels;
  const bool linear = rule.transfer.decode != nullptr;
  const std::size_t done =
      UnpremultiplyVectors<Channels>(values, count, linear ? 0xFFFF : 0xFF, rule.fraction, light);
  if (linear) {
    encode_row(light, done, rule.transfer, out);
  } else {
    std::transform(light, light + done, out,
                   [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
  }
  for (std::size_t i = 0; i < done; i += Channels) {
    out[i + Channels - 1] = static_cast<std::uint8_t>(light[i + Channels - 1]);
    if (out[i + Channels - 1] == 0) std::copy_n(original + i, Channels - 1, out + i);
  }
  for (std::size_t i = done; i < count; i += Channels)
    store_premultiplied<Channels>(values + i, original + i, 0, rule, out + i);
}

void PremultiplyRow(const std::uint8_t* stored, std::size_t pixels, int channels, const PremultiplyRule& rule,
                    std::uint16_t* values) {
  channels == 2 ? PremultiplyPixels<2>(stored, pixels, rule, values)
                : PremultiplyPixels<4>(stored, pixels, rule, values);
}

void StoreRow(const std::uint16_t* values, const std::uint8_t* original, std::size_t pixels, int channels,
              const PremultiplyRule& rule, std::uint16_t* light, std::uint8_t* out) {
  channels == 2 ? StorePixels<2>(values, original, pixels, rule, light, out)
                : StorePixels<4>(values, original, pixels, rule, light, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PremultiplyRow);
HWY_EXPORT(StoreRow);

void premultiply_row(const std::uint8_t* stored, std::size_t pixels, int channels,
                     const PremultiplyRule& rule, std::uint16_t* values) {
  HWY_DYNAMIC_DISPATCH(PremultiplyRow)(stored, pixels, channels, rule, values);
}

void store_premultiplied_row(const std::uint16_t* values, const std::uint8_t* original, std::size_t pixels,
                             int channels, const PremultiplyRule& rule, std::uint16_t* light,
                             std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(StoreRow)(values, original, pixels, channels, rule, light, out);
}

}  // namespace satin::cpu
#endif
