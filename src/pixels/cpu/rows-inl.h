// Rows of stored pixels to working values and back, and sums of rows, compiled for every SIMD target.
// Integers wrap, so every order of additions and every target gives the same bytes.

#if defined(SATIN_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_ROWS_INL_H
#undef SATIN_ROWS_INL_H
#else
#define SATIN_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "pixels/cpu/blend-inl.h"
#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/premultiplied-inl.h"
#include "pixels/cpu/rows.h"
#include "pixels/cpu/transfer-inl.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/real_pixel.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sets values[i] to source[i], of u8 or u16.
template <class Stored>
void Widen(const Stored* HWY_RESTRICT source, std::size_t count, std::uint32_t* HWY_RESTRICT values) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<Stored, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, source + i)), d, values + i);
  for (; i < count; ++i) values[i] = source[i];
}

/// Sets narrow[i] to values[i], which are below 2^31, clamped to the largest u8 or u16.
template <class Stored>
void Narrow(const std::uint32_t* HWY_RESTRICT values, std::size_t count, Stored* HWY_RESTRICT narrow) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<Stored, decltype(d)> stored;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(stored, hn::LoadU(d, reinterpret_cast<const std::int32_t*>(values + i))), stored,
               narrow + i);
  constexpr std::uint32_t largest = std::numeric_limits<Stored>::max();
  for (; i < count; ++i) narrow[i] = static_cast<Stored>(std::min(values[i], largest));
}

/// Sets narrow[i] to values[i], which are below 256.
inline void Narrow(const std::uint16_t* HWY_RESTRICT values, std::size_t count,
                   std::uint8_t* HWY_RESTRICT narrow) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::TruncateTo(bytes, hn::LoadU(d, values + i)), bytes, narrow + i);
  for (; i < count; ++i) narrow[i] = static_cast<std::uint8_t>(values[i]);
}

/// Adds values[i] to sums[i]. Value is Sum or narrower.
template <class Value, class Sum>
void Add(const Value* values, std::size_t count, Sum* sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), LoadWide(d, values + i)), d, sums + i);
  for (; i < count; ++i) sums[i] += values[i];
}

/// Adds enters[i] - leaves[i] to sums[i]. Value is Sum or narrower.
template <class Value, class Sum>
void Exchange(const Value* enters, const Value* leaves, std::size_t count, Sum* HWY_RESTRICT sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto difference = hn::Sub(LoadWide(d, enters + i), LoadWide(d, leaves + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), difference), d, sums + i);
  }
  for (; i < count; ++i) sums[i] += static_cast<Sum>(enters[i]) - static_cast<Sum>(leaves[i]);
}

/// Constant whose sum with an integer below 2^51 in magnitude has the integer in its low bits, as two's
/// complement.
inline constexpr double whole_numbers = 0x1.8p52;

template <class D>
std::size_t FixVectors(D d, const float* source, std::size_t i, std::size_t count, int exponent,
                       std::uint64_t* values) {
  const hn::Rebind<float, D> floats;
  const hn::Rebind<std::uint64_t, D> bits;
  const auto factor = hn::Set(d, power_of_two(exponent));
  const auto half = hn::Set(d, 0.5);
  const auto whole = hn::Set(d, whole_numbers);
  const auto whole_bits = hn::Set(bits, bits_of(whole_numbers));
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto stored = hn::LoadU(floats, source + i);
    const auto value = hn::PromoteTo(d, hn::IfThenElseZero(hn::IsFinite(stored), stored));
    const auto floor = hn::Floor(hn::Add(hn::Mul(value, factor), half));
    hn::StoreU(hn::Sub(hn::BitCast(bits, hn::Add(floor, whole)), whole_bits), bits, values + i);
  }
  return i;
}

/// Sets values[i] to to_fixed(source[i], exponent) of core/maths/fixed_point.h, which is below 2^50 in
/// magnitude, or to 0 where the float is not finite.
inline void FixFloats(const float* source, std::size_t count, int exponent, std::uint64_t* values) {
  const std::size_t done = FixVectors(hn::ScalableTag<double>(), source, 0, count, exponent, values);
  FixVectors(hn::CappedTag<double, 1>(), source, done, count, exponent, values);
}

/// Calls run(first, pixels) for ranges of a row with at most range_entries entries, for which scratch fits
/// the stack.
constexpr std::size_t range_entries = 4096;

template <class Run>
void InRanges(std::size_t pixels, std::size_t channels, const Run& run) {
  const std::size_t length = range_entries / channels;
  for (std::size_t first = 0; first < pixels; first += length) run(first, std::min(length, pixels - first));
}

template <class Value>
void ReadBytes(const RowReader& reader, const std::uint8_t* source, std::size_t pixels, Value* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  const std::uint32_t whole = reader.read.premultiplied ? decode(0xFF, reader.transfer) : 1;
  InRanges(pixels, channels, [&](std::size_t first, std::size_t length) {
    std::uint16_t light[range_entries];
    const std::size_t at = first * channels;
    if (reader.multiplies())
      return channels == 2 ? WeighPixels<2>(source + at, length, reader.transfer, light, whole, values + at)
                           : WeighPixels<4>(source + at, length, reader.transfer, light, whole, values + at);
    DecodeRow(source + at, length * channels, reader.transfer, light);
    std::copy_n(light, length * channels, values + at);
  });
}

template <class Stored, class Sum>
void ReadIntegers(const RowReader& reader, const Stored* source, std::size_t pixels, Sum* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  const std::size_t count = pixels * channels;
  if (!reader.multiplies() && (sizeof(Stored) != 1 || reader.transfer.decode == nullptr)) {
    for (std::size_t i = 0; i < count; ++i) values[i] = decode(source[i], reader.transfer);
  } else if constexpr (sizeof(Stored) == 1) {
    ReadBytes(reader, source, pixels, values);
  } else {
    const std::size_t alpha = channels - 1;
    std::size_t i = 0;
    if (reader.transfer.decode == nullptr)
      i = channels == 2 ? WeighVectors<2>(source, count, nullptr, 1, values)
                        : WeighVectors<4>(source, count, nullptr, 1, values);
    for (; i < count; i += channels) {
      const Sum weight = source[i + alpha];
      for (std::size_t c = 0; c < alpha; ++c) values[i + c] = decode(source[i + c], reader.transfer) * weight;
      values[i + alpha] = weight;
    }
  }
  if (reader.squared)
    for (std::size_t i = 0; i < count; ++i) values[i] *= values[i];
}

template <class Stored, class Sum>
void ReadStored(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  const auto* stored = reinterpret_cast<const Stored*>(source);
  if constexpr (sizeof(Sum) == 4)
    if (reader.plain()) return Widen(stored, pixels * static_cast<std::size_t>(reader.read.channels), values);
  ReadIntegers(reader, stored, pixels, values);
}

template <class Working, class Sum>
void ReadWorking(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  std::copy_n(reinterpret_cast<const Working*>(source),
              pixels * static_cast<std::size_t>(reader.read.channels), values);
}

inline void ReadFloats(const RowReader& reader, const float* source, std::size_t pixels,
                       std::uint64_t* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  if (!reader.read.weighted && !reader.squared)
    return FixFloats(source, pixels * channels, reader.exponents.colour, values);
  const std::size_t alpha = reader.read.weighted ? channels - 1 : channels;
  for (std::size_t p = 0; p < pixels; ++p, source += channels, values += channels) {
    const double weight = alpha < channels ? finite_value(source[alpha]) : 1.0;
    for (std::size_t c = 0; c < channels; ++c) {
      double value = finite_value(source[c]);
      if (c < alpha && alpha < channels) value = value * weight;
      if (reader.squared) value = value * value;
      const int exponent = c == alpha ? reader.exponents.alpha : reader.exponents.colour;
      values[c] = static_cast<std::uint64_t>(to_fixed(value, exponent));
    }
  }
}

/// Reads the working values of one row, interleaved. Sum is u32 or u64. Floats that are not finite count as
/// 0.
template <class Sum>
void ReadRow(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  switch (reader.read.type) {
    case Type::u8:
      return ReadStored<std::uint8_t>(reader, source, pixels, values);
    case Type::u16:
      return ReadStored<std::uint16_t>(reader, source, pixels, values);
    case Type::u32:
      return ReadWorking<std::uint32_t>(reader, source, pixels, values);
    default:
      break;
  }
  if constexpr (sizeof(Sum) == 8) {
    if (reader.read.type == Type::u64) return ReadWorking<std::uint64_t>(reader, source, pixels, values);
    ReadFloats(reader, reinterpret_cast<const float*>(source), pixels, values);
  }
}

/// Sets codes[i] to the stored value of the working value values[i]: its code in linear light, otherwise the
/// value.
inline void EncodeWorking(const std::uint16_t* values, std::size_t count, const TransferView& transfer,
                          std::uint8_t* codes) {
  transfer.decode == nullptr ? Narrow(values, count, codes) : EncodeRow(values, count, transfer, codes);
}

inline void EncodeWorking(const std::uint16_t* values, std::size_t count, const TransferView& /*transfer*/,
                          std::uint16_t* codes) {
  std::copy_n(values, count, codes);
}

inline void EncodeWorking(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                          std::uint8_t* codes) {
  if (transfer.decode == nullptr) return Narrow(values, count, codes);
  InRanges(count, 1, [&](std::size_t first, std::size_t length) {
    std::uint16_t light[range_entries];
    Narrow(values + first, length, light);
    EncodeRow(light, length, transfer, codes + first);
  });
}

inline void EncodeWorking(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                          std::uint16_t* codes) {
  if (transfer.decode != nullptr) return EncodeRow16(values, count, transfer, codes);
  Narrow(values, count, codes);
}

/// Stores codes of colours with the alpha of `values`, and the original's colours where alpha is 0.
template <int Channels, class Code>
void PutAlpha(const std::uint32_t* values, const Code* codes, const std::uint16_t* original,
              std::size_t count, std::uint16_t* out) {
  const hn::ScalableTag<std::uint32_t> d;
  std::size_t i = 0;
  if constexpr (hn::MaxLanes(d) >= Channels)
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      const auto shown =
          hn::IfThenElse(AlphaLanes<Channels>(d), hn::LoadU(d, values + i), LoadWide(d, codes + i));
      StoreShown<Channels>(d, shown, original + i, out + i);
    }
  for (; i < count; i += Channels) {
    const std::uint32_t alpha = values[i + Channels - 1];
    for (std::size_t c = 0; c + 1 < Channels; ++c)
      out[i + c] = alpha == 0 ? original[i + c] : static_cast<std::uint16_t>(codes[i + c]);
    out[i + Channels - 1] = static_cast<std::uint16_t>(alpha);
  }
}

/// Stores means of 16-bit pixels with straight alpha: encodes colours, and keeps the original's where alpha
/// is 0.
inline void StoreWithAlpha(const std::uint32_t* values, std::size_t pixels, std::size_t channels,
                           const TransferView& transfer, const std::uint16_t* original, std::uint16_t* out) {
  const std::size_t count = pixels * channels;
  const auto put = [&](const auto* codes) {
    channels == 2 ? PutAlpha<2>(values, codes, original, count, out)
                  : PutAlpha<4>(values, codes, original, count, out);
  };
  if (transfer.decode == nullptr) return put(values);
  EncodeRow16(values, count, transfer, out);
  put(out);
}

inline void StoreWithAlpha(const std::uint16_t* values, std::size_t pixels, std::size_t channels,
                           const TransferView& transfer, const std::uint8_t* original, std::uint8_t* out) {
  channels == 2 ? StoreStraight<2>(values, original, pixels * channels, transfer, out)
                : StoreStraight<4>(values, original, pixels * channels, transfer, out);
}

/// Stores the blend of the original's working values, which have 16 bits, and the means under a mask of
/// bytes.
template <class Stored>
void BlendRow(const Stored* original, const std::uint16_t* means, const std::uint8_t* mask,
              std::size_t pixels, std::size_t channels, const TransferView& transfer, Stored* out) {
  InRanges(pixels, channels, [&](std::size_t first, std::size_t length) {
    const std::size_t at = first * channels;
    if constexpr (sizeof(Stored) == 2) {
      BlendPixels(original + at, means + at, mask + first, length, channels, out + at);
    } else {
      std::uint16_t own[range_entries];
      std::uint16_t blended[range_entries];
      if (transfer.decode == nullptr) {
        BlendPixels(original + at, means + at, mask + first, length, channels, blended);
      } else {
        DecodeRow(original + at, length * channels, transfer, own);
        BlendPixels(own, means + at, mask + first, length, channels, blended);
      }
      EncodeWorking(blended, length * channels, transfer, out + at);
    }
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
