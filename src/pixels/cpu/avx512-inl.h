// Tables of 8-bit codes in AVX-512 registers. This is the one file that names AVX-512 targets; on other
// targets the functions process nothing, and callers look up memory instead.

#if defined(SATIN_AVX512_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_AVX512_INL_H
#undef SATIN_AVX512_INL_H
#else
#define SATIN_AVX512_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether the target has AVX-512. Highway 1.0.3 has HWY_AVX3 and HWY_AVX3_DL, newer versions add
/// HWY_AVX3_ZEN4, HWY_AVX3_SPR and HWY_AVX10_2. More capable x86 targets have smaller numbers; targets of
/// other processors have larger ones.
constexpr bool has_avx512 = HWY_TARGET <= HWY_AVX3;
constexpr bool gathers_fast = HWY_TARGET <= HWY_AVX2;
static_assert(has_avx512 == (HWY_ARCH_X86 && hn::MaxLanes(hn::ScalableTag<std::uint8_t>()) == 64));

#if HWY_TARGET <= HWY_AVX3
using CodeWords = hn::ScalableTag<std::uint16_t>;
using CodeVector = hn::Vec<CodeWords>;
constexpr std::size_t code_lanes = 32;

// Lookups in tables of 64, 128 and 256 words. Higher bits of the index are ignored.

inline CodeVector Lookup64(const CodeVector* table, CodeVector index) {
  return CodeVector{_mm512_permutex2var_epi16(table[0].raw, index.raw, table[1].raw)};
}

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

/// Sets values[i] to choose(code, light) for whole vectors of codes. Returns the number of codes that are
/// done.
template <class Light, class Choose>
std::size_t DecodeVectors(const std::uint8_t* codes, std::size_t count, const Light* light,
                          const Choose& choose, std::uint16_t* values) {
  const CodeWords d;
  alignas(64) std::uint16_t decoded[256];
  for (std::size_t code = 0; code < 256; ++code) decoded[code] = static_cast<std::uint16_t>(light[code]);
  CodeVector table[8];
  for (std::size_t i = 0; i < 8; ++i) table[i] = hn::Load(d, decoded + i * code_lanes);
  std::size_t i = 0;
  for (; i + code_lanes <= count; i += code_lanes) {
    const CodeVector code = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, CodeWords>(), codes + i));
    hn::StoreU(choose(code, Lookup256(table, code)), d, values + i);
  }
  return i;
}

/// Chords of the curve from 16-bit linear light to 8-bit sRGB codes. Below `code_chord_split` there are 32
/// chords over 128 values each, from there on chords over 2048 values, of which the first two are unused. For
/// a value at the fraction t / 65536 of its chord, floor((start + high word of t * rise) / 256) is the code
/// or one less: the curve is concave, so no chord lies above it, and none is more than 0.6 codes below it.
struct CodeChords {
  std::array<std::uint16_t, 64> start{};  ///< codes in 1/256
  std::array<std::uint16_t, 64> rise{};   ///< rise over the chord, in 1/256
  std::array<std::uint16_t, 256> last{};  ///< largest value of a code
};

inline constexpr std::uint16_t code_chord_split = 4096;

inline CodeChords make_code_chords() {
  CodeChords chords;
  const auto& first = srgb_tables8().thresholds8;
  for (std::size_t code = 0; code < 255; ++code)
    chords.last[code] = static_cast<std::uint16_t>(first[code + 1] - 1);
  chords.last[255] = 0xFFFF;
  const auto curve = [&](int value) {  // codes, interpolated between thresholds
    std::size_t code = 0;
    while (code < 255 && first[code + 1] <= value) ++code;
    const std::size_t from = std::min(code, std::size_t{254});
    return static_cast<double>(code) +
           static_cast<double>(value - first[code]) / (first[from + 1] - first[from]);
  };
  constexpr double below = 1.0 / 16;  // thresholds are integers, so the curve is not quite concave
  for (std::size_t chord = 0; chord < 64; ++chord) {
    const int length = chord < 32 ? 128 : 2048;
    const int value = static_cast<int>(chord % 32) * length;
    const double start = std::max(0.0, curve(value) - below);
    const double end = std::max(start, curve(value + length) - below);
    chords.start[chord] = static_cast<std::uint16_t>(start * 256);
    chords.rise[chord] = static_cast<std::uint16_t>((end - start) * 256);
  }
  return chords;
}

/// Returns the codes of values: the code of the chord, plus 1 where the value exceeds the largest value of
/// that code.
HWY_INLINE CodeVector Encode(CodeVector value, const CodeVector* start, const CodeVector* rise,
                             const CodeVector* last) {
  const __mmask32 large = _mm512_cmpge_epu16_mask(value.raw, _mm512_set1_epi16(code_chord_split));
  const __m512i small_chord = _mm512_srli_epi16(value.raw, 7);
  const __m512i large_chord = _mm512_or_si512(_mm512_srli_epi16(value.raw, 11), _mm512_set1_epi16(32));
  const CodeVector chord{_mm512_mask_mov_epi16(small_chord, large, large_chord)};
  const __m512i position = _mm512_mask_slli_epi16(_mm512_slli_epi16(value.raw, 9), large, value.raw, 5);
  const __m512i risen = _mm512_mulhi_epu16(position, Lookup64(rise, chord).raw);
  const __m512i code = _mm512_srli_epi16(_mm512_add_epi16(risen, Lookup64(start, chord).raw), 8);
  const __mmask32 above = _mm512_cmpgt_epu16_mask(value.raw, Lookup256(last, CodeVector{code}).raw);
  return CodeVector{_mm512_mask_add_epi16(code, above, code, _mm512_set1_epi16(1))};
}

template <std::size_t Vectors, std::size_t Entries>
void LoadTable(const std::array<std::uint16_t, Entries>& entries, CodeVector (&table)[Vectors]) {
  static_assert(Vectors * code_lanes == Entries);
  for (std::size_t i = 0; i < Vectors; ++i)
    table[i] = hn::LoadU(CodeWords(), entries.data() + i * code_lanes);
}

/// Encodes values. Calls store(i, values, codes) for vectors from value i on; the last vector may overlap the
/// one before. Returns the number of values that are done: all, or none if they do not fill a vector.
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

/// Sets values[i] to words[codes[i]], or to the code if `words` is null, for whole vectors of codes, which
/// load(bytes, i) reads. Returns the number of codes that are done.
template <class Load>
HWY_INLINE std::size_t ReadWords(std::size_t count, const std::uint16_t* words, const Load& load,
                                 float* values) {
  const CodeWords d;
  const hn::Half<CodeWords> half;
  const hn::ScalableTag<float> floats;
  const hn::Rebind<std::int32_t, decltype(floats)> integers;
  const auto store = [&](auto value, float* to) HWY_ATTR {
    hn::StoreU(hn::ConvertTo(floats, hn::PromoteTo(integers, value)), floats, to);
  };
  CodeVector table[8];
  if (words != nullptr)
    for (std::size_t t = 0; t < 8; ++t) table[t] = hn::LoadU(d, words + t * code_lanes);
  std::size_t i = 0;
  for (; i + code_lanes <= count; i += code_lanes) {
    CodeVector value = hn::PromoteTo(d, load(hn::Rebind<std::uint8_t, CodeWords>(), i));
    if (words != nullptr) value = Lookup256(table, value);
    store(hn::LowerHalf(half, value), values + i);
    store(hn::UpperHalf(half, value), values + i + code_lanes / 2);
  }
  return i;
}
#else
using CodeWords = hn::CappedTag<std::uint16_t, 1>;
template <class Light, class Choose>
std::size_t DecodeVectors(const std::uint8_t*, std::size_t, const Light*, const Choose&, std::uint16_t*) {
  return 0;
}
template <class Store>
std::size_t EncodeVectors(const std::uint16_t*, std::size_t, const Store&) {
  return 0;
}
template <class Load>
std::size_t ReadWords(std::size_t, const std::uint16_t*, const Load&, float*) {
  return 0;
}
#endif

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
