// Selects what visible and transparent pixels get in rows with straight alpha, compiled for every SIMD
// target.

#if defined(SATIN_VISIBLE_PIXELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_VISIBLE_PIXELS_INL_H
#undef SATIN_VISIBLE_PIXELS_INL_H
#else
#define SATIN_VISIBLE_PIXELS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns, for every byte of a block of 16, the index of the byte of alpha that is at the same place in its
/// key.
template <std::size_t Channels, std::size_t KeyBytes>
constexpr std::array<std::uint8_t, 16> BytesOfAlpha() {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 16; ++i)
    bytes[i] = static_cast<std::uint8_t>((i / KeyBytes | (Channels - 1)) * KeyBytes + i % KeyBytes);
  return bytes;
}

/// Does the work of SelectVisible() for as many vectors of D as fit, from key i. Returns the first key that
/// is left.
template <std::size_t Channels, class D, class Key, class Candidates>
std::size_t SelectVectors([[maybe_unused]] D d, std::size_t i, [[maybe_unused]] std::size_t count,
                          [[maybe_unused]] const Candidates& candidates, [[maybe_unused]] const Key* keys,
                          [[maybe_unused]] Key* out) {
#if HWY_TARGET != HWY_SCALAR
  alignas(16) static constexpr auto bytes_of_alpha = BytesOfAlpha<Channels, sizeof(Key)>();
  const hn::Repartition<std::uint8_t, D> bytes;
  const auto alpha_bytes = hn::LoadDup128(bytes, bytes_of_alpha.data());
  const auto own_bytes = hn::And(hn::Iota(bytes, 0), hn::Set(bytes, 15));
  const auto is_alpha = hn::Eq(hn::BitCast(d, alpha_bytes), hn::BitCast(d, own_bytes));
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto own = hn::LoadU(d, keys + i);
    const auto alpha = hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, own), alpha_bytes));
    const auto [visible, hidden] = candidates(d, i, own);
    hn::StoreU(hn::IfThenElse(hn::Or(is_alpha, hn::Gt(alpha, hn::Zero(d))), visible, hidden), d, out + i);
  }
#endif
  return i;
}

/// Stores keys of 2 or 4 channels. candidates(d, i, keys) returns the new colours of a visible pixel, with
/// its alpha, and those of a transparent one. `out` may be `keys`. Returns the number of keys that are done:
/// those in whole blocks of 16 bytes, of which the last one overlaps the one before if `out` is not `keys`.
template <class Key, class Candidates>
std::size_t SelectVisible(std::size_t count, std::size_t channels, const Candidates& candidates,
                          const Key* keys, Key* out) {
  const hn::ScalableTag<Key> d;
  const hn::CappedTag<Key, 16 / sizeof(Key)> block;
  const auto select = [&]<std::size_t Channels>() HWY_ATTR {
    const std::size_t done = SelectVectors<Channels>(d, 0, count, candidates, keys, out);
    const bool overlaps = out != keys && count >= hn::Lanes(block);
    const std::size_t next = overlaps ? std::min(done, count - hn::Lanes(block)) : done;
    return SelectVectors<Channels>(block, next, count, candidates, keys, out);
  };
  return channels == 2 ? select.template operator()<2>() : select.template operator()<4>();
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
