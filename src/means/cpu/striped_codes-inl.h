// Rows of codes to striped rows of linear light and back (means/cpu/stripes-inl.h), compiled for every SIMD
// target.

#if defined(SATIN_STRIPED_CODES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_STRIPED_CODES_INL_H
#undef SATIN_STRIPED_CODES_INL_H
#else
#define SATIN_STRIPED_CODES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/workspace.h"
#include "means/cpu/stripes-inl.h"
#include "pixels/cpu/transfer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
constexpr bool looks_up = true;

inline std::uint64_t LoadEight(const void* from) {
  std::uint64_t eight;
  std::memcpy(&eight, from, sizeof(eight));
  return eight;
}

/// call(constant 0), ..., call(constant Count - 1)
template <std::size_t Count, class Call>
HWY_INLINE void Unrolled(const Call& call) {
  [&]<std::size_t... I>(std::index_sequence<I...>) HWY_ATTR {
    (call(std::integral_constant<std::size_t, I>()), ...);
  }
  (std::make_index_sequence<Count>());
}

/// striped = light of a row's codes. What the table gives goes straight to its place, eight entries of four
/// stripes at a time.
inline void DecodeStripes(const Stripes& stripes, const std::uint8_t* HWY_RESTRICT row,
                          const std::uint16_t* light, std::uint16_t* HWY_RESTRICT striped) {
  const auto begins = Begins(stripes, row);
  InBlocks(stripes.entries(), 8, [&](std::size_t e) HWY_ATTR {
    for (std::size_t k = 0; k < Stripes::lanes; k += 4) {
      const std::uint64_t codes[4] = {LoadEight(begins[k] + e), LoadEight(begins[k + 1] + e),
                                      LoadEight(begins[k + 2] + e), LoadEight(begins[k + 3] + e)};
      Unrolled<8>([&](auto i) HWY_ATTR {
        const auto at = [&](std::size_t stripe) { return light[codes[stripe] >> 8 * i & 0xFF]; };
        __m128i four = _mm_cvtsi32_si128(at(0));
        four = _mm_insert_epi16(four, at(1), 1);
        four = _mm_insert_epi16(four, at(2), 2);
        four = _mm_insert_epi16(four, at(3), 3);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(striped + (e + i) * Stripes::lanes + k), four);
      });
    }
  });
}

/// row = codes of striped light, in the same way.
inline void EncodeStripes(const Stripes& stripes, const std::uint16_t* HWY_RESTRICT striped,
                          const std::uint8_t* table, std::uint8_t* HWY_RESTRICT row) {
  const auto begins = Begins(stripes, row);
  InBlocks(stripes.entries(), 8, [&](std::size_t e) HWY_ATTR {
    for (std::size_t k = 0; k < Stripes::lanes; k += 4) {
      std::uint64_t light[8];
      for (std::size_t i = 0; i < 8; ++i) light[i] = LoadEight(striped + (e + i) * Stripes::lanes + k);
      Unrolled<4>([&](auto stripe) HWY_ATTR {
        const auto at = [&](std::size_t i) { return table[light[i] >> 16 * stripe & 0xFFFF]; };
        __m128i low = _mm_cvtsi32_si128(at(0));
        __m128i high = _mm_cvtsi32_si128(at(4));
        low = _mm_insert_epi8(low, at(1), 1);
        high = _mm_insert_epi8(high, at(5), 1);
        low = _mm_insert_epi8(low, at(2), 2);
        high = _mm_insert_epi8(high, at(6), 2);
        low = _mm_insert_epi8(low, at(3), 3);
        high = _mm_insert_epi8(high, at(7), 3);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(begins[k + stripe] + e), _mm_unpacklo_epi32(low, high));
      });
    }
  });
}
#else
constexpr bool looks_up = false;
inline void DecodeStripes(const Stripes&, const std::uint8_t*, const std::uint16_t*, std::uint16_t*) {}
inline void EncodeStripes(const Stripes&, const std::uint16_t*, const std::uint8_t*, std::uint8_t*) {}
#endif

/// Codes of a row and striped light. Rows are copied to the first cache before they are striped and after:
/// the processor does not see so many streams coming.
class StripedCodes {
 public:
  explicit StripedCodes(const Stripes& stripes) : stripes_(stripes), row_(stripes.width * stripes.channels) {
    if (!looks_up) striped_.resize(stripes.entries() * Stripes::lanes);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return row_.size() + striped_.size(); }

  /// light = table[codes]
  void decode(const std::uint8_t* codes, const std::uint16_t* table, std::uint16_t* light) {
    std::copy_n(codes, row_.size(), row_.data());
    if constexpr (looks_up) {
      DecodeStripes(stripes_, row_.data(), table, light);
    } else {
      ToStripes(stripes_, row_.data(), striped_.data());
      DecodeBytes(striped_.data(), striped_.size(), table, light);
    }
  }

  void encode(const std::uint16_t* light, const TransferView& transfer, std::uint8_t* codes) {
    if constexpr (looks_up) {
      EncodeStripes(stripes_, light, transfer.encode8, row_.data());
    } else {
      EncodeRow(light, striped_.size(), transfer, striped_.data());
      FromStripes(stripes_, striped_.data(), row_.data());
    }
    std::copy_n(row_.data(), row_.size(), codes);
  }

 private:
  Stripes stripes_;
  WorkspaceVector<std::uint8_t> row_;
  WorkspaceVector<std::uint8_t> striped_;  ///< where codes are looked up in vectors
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
