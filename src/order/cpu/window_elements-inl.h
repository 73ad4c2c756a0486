// Which elements of sorted keys lie in a window, compiled for every SIMD target.

#if defined(SATIN_WINDOW_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_WINDOW_ELEMENTS_INL_H
#undef SATIN_WINDOW_ELEMENTS_INL_H
#else
#define SATIN_WINDOW_ELEMENTS_INL_H
#endif

#include <hwy/highway.h>
#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

#include <array>

#include "order/cpu/rank_codes.h"
#include "pixels/cpu/avx512-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The places of the set bits of every byte, from the lowest on.
inline constexpr auto bits_of_bytes = [] {
  std::array<std::array<std::uint8_t, 8>, 256> places{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0, rank = 0; bit < 8; ++bit)
      if ((byte >> bit & 1U) != 0) places[byte][rank++] = static_cast<std::uint8_t>(bit);
  return places;
}();

/// The place of the rank-th set bit, counted from 1; at least so many are set. Without an instruction that is
/// fast, sums of bytes are compared all at once, so no branch waits for them (Vigna, Broadword implementation
/// of rank/select queries, 2008).
HWY_INLINE std::size_t SelectBit(std::uint64_t bits, std::uint64_t rank) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  if (deposits_bits_fast)
    return static_cast<std::size_t>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << (rank - 1), bits)));
#endif
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t tops = ones << 7;
  std::uint64_t sums = bits - (bits >> 1 & 0x5555555555555555);
  sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333);
  sums = ((sums + (sums >> 4)) & 0x0F0F0F0F0F0F0F0F) * ones;  // of this byte and those below: at most 64
  const std::uint64_t below =
      ((rank * ones | tops) - sums - ones) & tops;  // bytes whose sum is less than rank
  const std::size_t byte = 8 * hwy::PopCount(below);
  const std::uint64_t before = sums << 8 >> byte & 0xFF;
  return byte + bits_of_bytes[bits >> byte & 0xFF][rank - before - 1];
}

template <class D, class Mask>
HWY_INLINE std::uint64_t BitsOf(D d, const Mask& mask) {
  std::uint64_t bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

/// The place of a window in its region.
struct WindowPlace {
  std::int64_t x = 0;  ///< its first column
  std::int64_t y = 0;
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
};

/// Which of the elements that are sorted from `first` on lie in the window.
template <class Coordinate>
HWY_INLINE std::uint64_t ElementsInWindow(const KeyGroups::Places<Coordinate>& places, std::size_t first,
                                          const WindowPlace& window) {
  const hn::CappedTag<Coordinate, window_bits> d;
  const auto set = [&](std::int64_t value) HWY_ATTR { return hn::Set(d, static_cast<Coordinate>(value)); };
  const auto x = set(window.x);
  const auto y = set(window.y);
  const auto most_x = set(2 * window.reach_x);
  const auto most_y = set(2 * window.reach_y);
  std::uint64_t inside = 0;
  for (std::size_t lane = 0; lane < window_bits; lane += hn::Lanes(d)) {
    const auto column = hn::Sub(hn::LoadU(d, places.columns.data() + first + lane), x);
    const auto row = hn::Sub(hn::LoadU(d, places.rows.data() + first + lane), y);
    const auto within =
        has_avx512 ? hn::Not(hn::Or(hn::Gt(column, most_x), hn::Gt(row, most_y)))
                   : hn::And(hn::Eq(hn::Min(column, most_x), column), hn::Eq(hn::Min(row, most_y), row));
    inside |= BitsOf(d, within) << lane;
  }
  return inside;
}

/// The `rest`-th element in the window of those that are sorted from `first` on, in the order of keys.
template <class Coordinate>
HWY_INLINE std::size_t ElementInWindow(const KeyGroups::Places<Coordinate>& places, std::size_t first,
                                       std::size_t rest, const WindowPlace& window) {
  for (std::size_t i = first;; i += window_bits) {
    const std::uint64_t inside = ElementsInWindow(places, i, window);
    const std::size_t met = hwy::PopCount(inside);
    if (met >= rest) return i + SelectBit(inside, rest);
    rest -= met;
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
