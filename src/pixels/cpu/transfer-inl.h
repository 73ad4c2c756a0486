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

#include "pixels/cpu/avx512-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sets values[i] to decode(codes[i], transfer). Not inlined: with the loop in a caller, g++ 13 warns that
/// the caller's array may be read before it is written.
HWY_NOINLINE inline void DecodeRow(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
                                   std::uint16_t* values) {
  for (std::size_t i = DecodeVectors(codes, count, transfer.decode, values); i < count; ++i)
    values[i] = static_cast<std::uint16_t>(transfer.decode[codes[i]]);
}

/// Encodes whole vectors of 24-bit light and returns the number of values that are done. Between the first
/// codes of two values 256 apart the curve is nearly straight, so interpolation errs by at most one code; the
/// thresholds of that code and of the next one correct it.
inline std::size_t Encode16Vectors(const std::uint32_t* values, std::size_t count,
                                   const TransferView& transfer, std::uint16_t* codes) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> indices;
  const hn::Rebind<std::uint16_t, decltype(d)> stored;
  const auto* thresholds = reinterpret_cast<const std::int32_t*>(transfer.thresholds);
  const auto* firsts = reinterpret_cast<const std::int32_t*>(transfer.first_code);
  const auto gather = [&](const std::int32_t* table, auto offset) HWY_ATTR {
    return hn::BitCast(d, hn::GatherOffset(indices, table, hn::BitCast(indices, offset)));
  };
  std::size_t i = 0;
  for (; gathers_fast && i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i);
    const auto pair = gather(firsts, hn::ShiftLeft<1>(hn::ShiftRight<8>(value)));  // this code and the next
    const auto first = hn::And(pair, hn::Set(d, 0xFFFF));
    const auto step = hn::Sub(hn::ShiftRight<16>(pair), first);
    const auto rest = hn::And(value, hn::Set(d, 0xFF));
    const auto code = hn::Add(first, hn::ShiftRight<8>(hn::Mul(step, rest)));
    const auto own = gather(thresholds, hn::ShiftLeft<2>(code));
    const auto last = hn::Set(d, 0xFFFF);
    const auto next = gather(thresholds, hn::ShiftLeft<2>(hn::Min(hn::Add(code, hn::Set(d, 1)), last)));
    const auto less = hn::VecFromMask(d, hn::Lt(value, own));  // -1
    const auto more = hn::VecFromMask(d, hn::Not(hn::Lt(value, next)));
    const auto result = hn::Min(hn::Sub(hn::Add(code, less), more), last);
    hn::StoreU(hn::TruncateTo(stored, result), stored, codes + i);
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
