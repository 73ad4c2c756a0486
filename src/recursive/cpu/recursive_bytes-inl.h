// Pixels of bytes without alpha and mask from the rows of their channels, compiled for every SIMD target.

#if defined(SATIN_RECURSIVE_BYTES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_RECURSIVE_BYTES_INL_H
#undef SATIN_RECURSIVE_BYTES_INL_H
#else
#define SATIN_RECURSIVE_BYTES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "pixels/cpu/transfer-inl.h"
#include "pixels/maths/real_pixel.h"
#include "recursive/cpu/recursive_rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// nearest_integer() of finite values, up to `white`, as words.
template <class D>
HWY_INLINE auto NearestWords(D d, const float* values, float white) {
  const hn::Rebind<std::int32_t, D> integers;
  const auto above = hn::Max(hn::LoadU(d, values), hn::Zero(d));
  const auto bounded = hn::Min(above, hn::Set(d, white));
  return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(),
                      hn::ConvertTo(integers, hn::Add(bounded, hn::Set(d, 0.5F))));
}

/// words[i * Channels + c] = the integer nearest to values[c][i].
template <std::size_t Channels>
void NearestPixels(const std::array<const float*, Channels>& values, std::size_t count, std::uint32_t white,
                   std::uint16_t* words) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> narrow;
  const auto largest = static_cast<float>(white);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto channel = [&](std::size_t c) HWY_ATTR { return NearestWords(d, values[c] + i, largest); };
    std::uint16_t* to = words + i * Channels;
    if constexpr (Channels == 1) hn::StoreU(channel(0), narrow, to);
    if constexpr (Channels == 2) hn::StoreInterleaved2(channel(0), channel(1), narrow, to);
    if constexpr (Channels == 3) hn::StoreInterleaved3(channel(0), channel(1), channel(2), narrow, to);
    if constexpr (Channels == 4)
      hn::StoreInterleaved4(channel(0), channel(1), channel(2), channel(3), narrow, to);
  }
  for (; i < count; ++i)
    for (std::size_t c = 0; c < Channels; ++c)
      words[i * Channels + c] = static_cast<std::uint16_t>(nearest_integer(values[c][i], white));
}

/// Stores at most longest_row pixels as RealRows::store() does.
template <std::size_t Channels>
void StoreBytes(const std::array<const float*, Channels>& values, std::size_t count,
                const TransferView& transfer, std::uint8_t* out) {
  std::uint16_t words[Channels * longest_row];
  NearestPixels(values, count, decode(0xFF, transfer), words);
  if (transfer.decode != nullptr) return EncodeRow(words, count * Channels, transfer, out);
  std::transform(words, words + count * Channels, out,
                 [](std::uint16_t word) { return static_cast<std::uint8_t>(word); });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
