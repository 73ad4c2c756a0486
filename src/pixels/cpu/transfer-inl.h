// Rows of codes to linear light and back, compiled for every SIMD target. AVX-512 keeps the tables in
// registers (avx512-inl.h); other targets look values up in memory.

#if defined(SATIN_TRANSFER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_TRANSFER_INL_H
#undef SATIN_TRANSFER_INL_H
#else
#define SATIN_TRANSFER_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pixels/cpu/avx512-inl.h"
#include "pixels/cpu/load_wide-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sets values[i] to decode(codes[i], transfer). Not inlined: with the loop in a caller, g++ 13 warns that
/// the caller's array may be read before it is written.
HWY_NOINLINE inline void DecodeRow(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
                                   std::uint16_t* values) {
  const auto light = [](auto, auto value) HWY_ATTR { return value; };
  for (std::size_t i = DecodeVectors(codes, count, transfer.decode, light, values); i < count; ++i)
    values[i] = static_cast<std::uint16_t>(transfer.decode[codes[i]]);
}

/// Constants of the curve 1.055 (v / largest)^(5/12) - 0.055, times 65535, at v = m 2^e with m in [1, 2). The
/// range of m has eight segments around middles 1 / inverse.
struct RootOfLight {
  std::array<float, 16> inverse{};
  std::array<float, 16> root{};   ///< inverse^(-5/12)
  std::array<float, 16> scale{};  ///< scale_of(e) by the low three bits of the float's exponent, for e >= 16

  RootOfLight() {
    for (int i = 0; i < 16; ++i) {
      const auto at = static_cast<std::size_t>(i);
      inverse[at] = static_cast<float>(16.0 / (17 + 2 * (i % 8)));
      root[at] = static_cast<float>(std::pow(inverse[at], -5.0 / 12));
      scale[at] = scale_of((i + 1) % 8 + 16);
    }
  }
  static float scale_of(int e) {
    return static_cast<float>(1.055 * 65535 * std::pow(std::ldexp(1.0, e) / 0xFFFFFF, 5.0 / 12));
  }
};

/// Encodes whole vectors of 24-bit light and returns the number of values that are done. Evaluates the curve,
/// in codes plus 1/2, relative to the nearest integer k. The error is below 0.005: the code is k, or k - 1
/// for a negative result, and where the result is closer to 0 than that, the threshold of k decides.
inline std::size_t Encode16Vectors(const std::uint32_t* values, std::size_t count,
                                   const TransferView& transfer, std::uint16_t* codes) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::RebindToFloat<decltype(d)> real;
  const hn::Rebind<std::uint16_t, decltype(d)> stored;
  static const RootOfLight light;
  const auto* thresholds = reinterpret_cast<const std::int32_t*>(transfer.thresholds);
  const auto set = [&](double value) HWY_ATTR { return hn::Set(real, static_cast<float>(value)); };
  const auto entry = [&](const std::array<float, 16>& table, auto index) HWY_ATTR {
    const auto lanes = hn::IndicesFromVec(real, hn::And(index, hn::Set(d, 7)));
    return hn::TableLookupLanes(hn::LoadU(real, table.data()), lanes);
  };
  const auto whole = set(3604);  // floor(0.055 * 65535)
  std::size_t i = 0;
  for (; gathers_fast && i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i);
    const auto v = hn::ConvertTo(real, hn::BitCast(integers, value));
    const auto bits = hn::BitCast(d, v);
    const auto segment = hn::ShiftRight<20>(bits);
    const auto m = hn::BitCast(real, hn::Or(hn::And(bits, hn::Set(d, 0x7FFFFF)), hn::Set(d, 0x3F800000)));
    const auto t = hn::MulSub(m, entry(light.inverse, segment), set(1));
    auto series = hn::MulAdd(t, set(0.0296868637), set(-0.0414235307));  // of (1 + t)^(5/12)
    series = hn::MulAdd(t, series, set(0.0641396605));
    series = hn::MulAdd(t, series, set(-0.1215277778));
    series = hn::MulAdd(t, series, set(0.4166666667));
    const auto root = entry(light.root, segment);
    const auto low = hn::Lt(v, set(0x1p16));
    const auto scale =
        hn::IfThenElse(low, set(RootOfLight::scale_of(15)), entry(light.scale, hn::ShiftRight<23>(bits)));
    const auto rest = hn::MulAdd(hn::Mul(scale, root), hn::Mul(t, series), set(3604.5 - 0.055 * 65535));
    const auto line = hn::MulAdd(v, set(12.92 * 65535 / 0xFFFFFF), set(0.5));
    const auto curved = hn::Gt(v, set(0.04045 / 12.92 * 0xFFFFFF));
    const auto sum = hn::IfThenElse(curved, hn::MulAdd(scale, root, hn::Sub(rest, whole)), line);
    const auto nearest = NearestWord(sum);
    const auto k = hn::ConvertTo(real, nearest);
    const auto above =
        hn::IfThenElse(curved, hn::Add(hn::MulSub(scale, root, hn::Add(k, whole)), rest), hn::Sub(line, k));
    auto less = hn::RebindMask(integers, hn::Lt(above, hn::Zero(real)));
    if (!hn::AllTrue(real, hn::Gt(hn::Abs(above), set(0.005)))) {
      const auto own = hn::GatherIndex(integers, thresholds, hn::Min(nearest, hn::Set(integers, 0xFFFF)));
      less = hn::Lt(hn::BitCast(integers, value), own);
    }
    const auto code = hn::Add(nearest, hn::VecFromMask(integers, less));
    hn::StoreU(hn::DemoteTo(stored, code), stored, codes + i);  // saturates
  }
  return i;
}

/// Sets codes[i] to encode(values[i], transfer), of 24-bit linear light.
inline void EncodeRow16(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                        std::uint16_t* codes) {
  for (std::size_t i = Encode16Vectors(values, count, transfer, codes); i < count; ++i)
    codes[i] = encode(values[i], transfer, std::uint16_t{});
}

/// Sets codes[i] to encode(values[i], transfer). Stores four codes at a time: for the compiler, a store of a
/// byte may change anything, even the address of the table.
inline void EncodeRow(const std::uint16_t* values, std::size_t count, const TransferView& transfer,
                      std::uint8_t* codes) {
  const std::uint8_t* table = transfer.encode8;
  const hn::Rebind<std::uint8_t, CodeWords> bytes;
  std::size_t i = EncodeVectors(values, count, [&](std::size_t at, auto, auto code) HWY_ATTR {
    hn::StoreU(hn::TruncateTo(bytes, code), bytes, codes + at);
  });
  for (; i + 4 <= count; i += 4) {
    const std::array<std::uint8_t, 4> four = {table[values[i]], table[values[i + 1]], table[values[i + 2]],
                                              table[values[i + 3]]};
    std::copy(four.begin(), four.end(), codes + i);
  }
  for (; i < count; ++i) codes[i] = table[values[i]];
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
