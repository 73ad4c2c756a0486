// The transfer between codes and linear light that Highway compiles once for every SIMD target. AVX-512 holds
// the tables in registers; other targets look them up in memory.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/transfer_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "pixels/cpu/code_chords.h"
#include "pixels/cpu/transfer_simd.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
using Words = hn::ScalableTag<std::uint16_t>;
using Vector = hn::Vec<Words>;
constexpr std::size_t lanes = 32;

/// Bits of the index above the sixth are ignored.
inline Vector Lookup64(const Vector* table, Vector index) {
  return Vector{_mm512_permutex2var_epi16(table[0].raw, index.raw, table[1].raw)};
}

/// Bits of the index above the seventh are ignored.
inline Vector Lookup128(const Vector* table, Vector index) {
  const __mmask32 upper = _mm512_test_epi16_mask(index.raw, _mm512_set1_epi16(64));
  return Vector{_mm512_mask_blend_epi16(upper, Lookup64(table, index).raw, Lookup64(table + 2, index).raw)};
}

inline Vector Lookup256(const Vector* table, Vector index) {
  const __mmask32 upper = _mm512_test_epi16_mask(index.raw, _mm512_set1_epi16(128));
  return Vector{_mm512_mask_blend_epi16(upper, Lookup128(table, index).raw, Lookup128(table + 4, index).raw)};
}

std::size_t DecodeVectors(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
                          std::uint16_t* values) {
  const Words d;
  alignas(64) std::uint16_t decoded[256];
  for (std::size_t code = 0; code < 256; ++code)
    decoded[code] = static_cast<std::uint16_t>(transfer.decode[code]);
  Vector table[8];
  for (std::size_t i = 0; i < 8; ++i) table[i] = hn::Load(d, decoded + i * lanes);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(Lookup256(table, hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, Words>(), codes + i))), d,
               values + i);
  return i;
}

/// The code of a chord of the curve, which is right or one too small, then the largest value of that code.
HWY_INLINE Vector Encode(Vector value, const Vector* start, const Vector* rise, const Vector* last) {
  const __mmask32 large = _mm512_cmpge_epu16_mask(value.raw, _mm512_set1_epi16(code_chord_split));
  const __m512i small_piece = _mm512_srli_epi16(value.raw, 7);
  const __m512i large_piece = _mm512_or_si512(_mm512_srli_epi16(value.raw, 11), _mm512_set1_epi16(32));
  const Vector piece{_mm512_mask_mov_epi16(small_piece, large, large_piece)};
  const __m512i part = _mm512_mask_slli_epi16(_mm512_slli_epi16(value.raw, 9), large, value.raw, 5);
  const __m512i risen = _mm512_mulhi_epu16(part, Lookup64(rise, piece).raw);
  const __m512i code = _mm512_srli_epi16(_mm512_add_epi16(risen, Lookup64(start, piece).raw), 8);
  const __mmask32 above = _mm512_cmpgt_epu16_mask(value.raw, Lookup256(last, Vector{code}).raw);
  return Vector{_mm512_mask_add_epi16(code, above, code, _mm512_set1_epi16(1))};
}

template <std::size_t Vectors, std::size_t Entries>
void LoadTable(const std::array<std::uint16_t, Entries>& entries, Vector (&table)[Vectors]) {
  static_assert(Vectors * lanes == Entries);
  for (std::size_t i = 0; i < Vectors; ++i) table[i] = hn::LoadU(Words(), entries.data() + i * lanes);
}

std::size_t EncodeVectors(const std::uint16_t* values, std::size_t count, const TransferView& /*transfer*/,
                          std::uint8_t* codes) {
  if (count < lanes) return 0;
  static const CodeChords chords = make_code_chords();
  const Words d;
  const hn::Rebind<std::uint8_t, Words> bytes;
  Vector start[2];
  Vector rise[2];
  Vector last[8];
  LoadTable(chords.start, start);
  LoadTable(chords.rise, rise);
  LoadTable(chords.last, last);
  for (std::size_t next = 0; next < count; next += lanes) {
    const std::size_t i = std::min(next, count - lanes);  // the last vector may overlap the one before
    hn::StoreU(hn::TruncateTo(bytes, Encode(hn::LoadU(d, values + i), start, rise, last)), bytes, codes + i);
  }
  return count;
}
#else
std::size_t DecodeVectors(const std::uint8_t*, std::size_t, const TransferView&, std::uint16_t*) { return 0; }
std::size_t EncodeVectors(const std::uint16_t*, std::size_t, const TransferView&, std::uint8_t*) { return 0; }
#endif

void DecodeRow(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
               std::uint16_t* values) {
  for (std::size_t i = DecodeVectors(codes, count, transfer, values); i < count; ++i)
    values[i] = static_cast<std::uint16_t>(transfer.decode[codes[i]]);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
/// Between the first codes of two values 256 apart the curve is straight enough for an estimate that errs by
/// at most one; the thresholds of that code and of the next tell.
std::size_t Encode16Vectors(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                            std::uint16_t* codes) {
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
std::size_t Encode16Vectors(const std::uint32_t*, std::size_t, const TransferView&, std::uint16_t*) {
  return 0;
}
#endif

void EncodeRow16(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                 std::uint16_t* codes) {
  for (std::size_t i = Encode16Vectors(values, count, transfer, codes); i < count; ++i)
    codes[i] = encode(values[i], transfer, std::uint16_t{});
}

void EncodeRow(const std::uint16_t* values, std::size_t count, const TransferView& transfer,
               std::uint8_t* codes) {
  for (std::size_t i = EncodeVectors(values, count, transfer, codes); i < count; ++i)
    codes[i] = transfer.encode8[values[i]];
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(DecodeRow);
HWY_EXPORT(EncodeRow);
HWY_EXPORT(EncodeRow16);

void decode_row(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
                std::uint16_t* values) {
  HWY_DYNAMIC_DISPATCH(DecodeRow)(codes, count, transfer, values);
}
void encode_row16(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                  std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeRow16)(values, count, transfer, codes);
}
void encode_row(const std::uint16_t* values, std::size_t count, const TransferView& transfer,
                std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeRow)(values, count, transfer, codes);
}

}  // namespace satin::cpu
#endif
