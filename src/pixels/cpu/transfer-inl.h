// Rows of codes to linear light and back, compiled for every SIMD target. AVX-512 holds the tables in
// registers; other targets look them up in memory.

#if defined(SATIN_TRANSFER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_TRANSFER_INL_H
#undef SATIN_TRANSFER_INL_H
#else
#define SATIN_TRANSFER_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "pixels/cpu/code_chords.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr bool encodes_in_vectors = true;
using CodeWords = hn::ScalableTag<std::uint16_t>;
using CodeVector = hn::Vec<CodeWords>;
constexpr std::size_t code_lanes = 32;

/// Bits of the index above the sixth are ignored.
inline CodeVector Lookup64(const CodeVector* table, CodeVector index) {
  return CodeVector{_mm512_permutex2var_epi16(table[0].raw, index.raw, table[1].raw)};
}

/// Bits of the index above the seventh are ignored.
inline CodeVector Lookup128(const CodeVector* table, CodeVector index) {
  const __mmask32 upper = _mm512_test_epi16_mask(index.raw, _mm512_set1_epi16(64));
  return CodeVector{
      _mm512_mask_blend_epi16(upper, Lookup64(table, index).raw, Lookup64(table + 2, index).raw)};
}

inline CodeVector Lookup256(const CodeVector* table, CodeVector index) {
  const __mmask32 upper = _mm512_test_epi16_mask(index.raw, _mm512_set1_epi16(128));
  return CodeVector{
      _mm512_mask_blend_epi16(upper, Lookup128(table, index).raw, Lookup128(table + 4, index).raw)};
}

template <class Light>
std::size_t DecodeVectors(const std::uint8_t* codes, std::size_t count, const Light* light,
                          std::uint16_t* values) {
  const CodeWords d;
  alignas(64) std::uint16_t decoded[256];
  for (std::size_t code = 0; code < 256; ++code) decoded[code] = static_cast<std::uint16_t>(light[code]);
  CodeVector table[8];
  for (std::size_t i = 0; i < 8; ++i) table[i] = hn::Load(d, decoded + i * code_lanes);
  std::size_t i = 0;
  for (; i + code_lanes <= count; i += code_lanes)
    hn::StoreU(
        Lookup256(table, hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, CodeWords>(), codes + i))), d,
        values + i);
  return i;
}

/// The code of a chord of the curve, which is right or one too small, then the largest value of that code.
HWY_INLINE CodeVector Encode(CodeVector value, const CodeVector* start, const CodeVector* rise,
                             const CodeVector* last) {
  const __mmask32 large = _mm512_cmpge_epu16_mask(value.raw, _mm512_set1_epi16(code_chord_split));
  const __m512i small_piece = _mm512_srli_epi16(value.raw, 7);
  const __m512i large_piece = _mm512_or_si512(_mm512_srli_epi16(value.raw, 11), _mm512_set1_epi16(32));
  const CodeVector piece{_mm512_mask_mov_epi16(small_piece, large, large_piece)};
  const __m512i part = _mm512_mask_slli_epi16(_mm512_slli_epi16(value.raw, 9), large, value.raw, 5);
  const __m512i risen = _mm512_mulhi_epu16(part, Lookup64(rise, piece).raw);
  const __m512i code = _mm512_srli_epi16(_mm512_add_epi16(risen, Lookup64(start, piece).raw), 8);
  const __mmask32 above = _mm512_cmpgt_epu16_mask(value.raw, Lookup256(last, CodeVector{code}).raw);
  return CodeVector{_mm512_mask_add_epi16(code, above, code, _mm512_set1_epi16(1))};
}

template <std::size_t Vectors, std::size_t Entries>
void LoadTable(const std::array<std::uint16_t, Entries>& entries, CodeVector (&table)[Vectors]) {
  static_assert(Vectors * code_lanes == Entries);
  for (std::size_t i = 0; i < Vectors; ++i)
    table[i] = hn::LoadU(CodeWords(), entries.data() + i * code_lanes);
}

/// store(i, values, codes) for vectors of values and their codes, the last of which may overlap the one
/// before.
template <class Store>
HWY_INLINE std::size_t EncodeVectors(const std::uint16_t* values, std::size_t count, const Store& store) {
  if (count < code_lanes) return 0;
  static const CodeChords chords = make_code_chords();
  CodeVector start[2];
  CodeVector rise[2];
  CodeVector last[8];
  LoadTable(chords.start, start);
  LoadTable(chords.rise, rise);
  LoadTable(chords.last, last);
  for (std::size_t next = 0; next < count; next += code_lanes) {
    const std::size_t i = std::min(next, count - code_lanes);
    const CodeVector value = hn::LoadU(CodeWords(), values + i);
    store(i, value, Encode(value, start, rise, last));
  }
  return count;
}
#else
constexpr bool encodes_in_vectors = false;
using CodeWords = hn::CappedTag<std::uint16_t, 1>;
template <class Light>
std::size_t DecodeVectors(const std::uint8_t*, std::size_t, const Light*, std::uint16_t*) {
  return 0;
}
template <class Store>
std::size_t EncodeVectors(const std::uint16_t*, std::size_t, const Store&) {
  return 0;
}
#endif

/// values[i] = light[codes[i]]
template <class Light>
void DecodeBytes(const std::uint8_t* codes, std::size_t count, const Light* light, std::uint16_t* values) {
  for (std::size_t i = DecodeVectors(codes, count, light, values); i < count; ++i)
    values[i] = static_cast<std::uint16_t>(light[codes[i]]);
}

/// values[i] = decode(codes[i], transfer)
inline void DecodeRow(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
                      std::uint16_t* values) {
  DecodeBytes(codes, count, transfer.decode, values);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
/// Between the first codes of two values 256 apart the curve is straight enough for an estimate that errs by
/// at most one; the thresholds of that code and of the next tell.
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
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i);
    const auto pair = gather(firsts, hn::ShiftLeft<1>(hn::ShiftRight<8>(value)));  // this code and the next
    const auto first = hn::And(pair, hn::Set(d, 0xFFFF));
    const auto step = hn::Sub(hn::ShiftRight<16>(pair), first);
    const auto part = hn::And(value, hn::Set(d, 0xFF));
    const auto code = hn::Add(first, hn::ShiftRight<8>(hn::Mul(step, part)));
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
#else
inline std::size_t Encode16Vectors(const std::uint32_t*, std::size_t, const TransferView&, std::uint16_t*) {
  return 0;
}
#endif

/// codes[i] = encode(values[i], transfer), of 24-bit linear light.
inline void EncodeRow16(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                        std::uint16_t* codes) {
  for (std::size_t i = Encode16Vectors(values, count, transfer, codes); i < count; ++i)
    codes[i] = encode(values[i], transfer, std::uint16_t{});
}

/// codes[i] = encode(values[i], transfer). Codes are stored four at a time: what a byte is stored to may be
/// anything for the compiler, the address of the table too.
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
