// Pixels of bytes as rows of their channels, and back without alpha and mask, compiled for every SIMD target.

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

/// A block of at most longest_row rows of as many pixels.
struct ByteBlock {
  std::size_t rows;
  std::size_t width;
  std::ptrdiff_t pitch;  ///< from stored row to stored row
};

/// Stores a block of bytes as RealRows::store() does. values[c] is the first row of channel c, `step` is from
/// row to row.
template <std::size_t Channels>
void StoreBytes(const std::array<const float*, 4>& values, std::size_t step, const ByteBlock& block,
                const TransferView& transfer, std::uint8_t* out) {
  constexpr std::size_t most = Channels * longest_row * longest_row;
  const std::size_t row_bytes = Channels * block.width;
  std::uint16_t words[most];
  std::uint8_t codes[most];
  const std::uint32_t white = decode(0xFF, transfer);
  for (std::size_t r = 0; r < block.rows; ++r) {
    std::array<const float*, Channels> row;
    for (std::size_t c = 0; c < Channels; ++c) row[c] = values[c] + r * step;
    NearestPixels(row, block.width, white, words + r * row_bytes);
  }
  const std::size_t count = block.rows * row_bytes;
  if (transfer.decode != nullptr)
    EncodeRow(words, count, transfer, codes);
  else
    std::transform(words, words + count, codes,
                   [](std::uint16_t word) { return static_cast<std::uint8_t>(word); });
  for (std::size_t r = 0; r < block.rows; ++r, out += block.pitch)
    std::copy_n(codes + r * row_bytes, row_bytes, out);
}

#if HWY_TARGET != HWY_SCALAR
/// Channel c of as many pixels as a vector of bytes has lanes.
template <class D>
HWY_INLINE hn::Vec<D> LoadChannel(D d, const std::uint8_t* pixels, int channels, int c) {
  hn::Vec<D> v0, v1, v2, v3;
  if (channels == 1) return hn::LoadU(d, pixels);
  if (channels == 2) {
    hn::LoadInterleaved2(d, pixels, v0, v1);
    return c == 0 ? v0 : v1;
  }
  if (channels == 3) {
    hn::LoadInterleaved3(d, pixels, v0, v1, v2);
    return c == 0 ? v0 : c == 1 ? v1 : v2;
  }
  hn::LoadInterleaved4(d, pixels, v0, v1, v2, v3);
  return c == 0 ? v0 : c == 1 ? v1 : c == 2 ? v2 : v3;
}
#endif

/// Working values of channel c of the first pixels of a row, by vectors; returns how many pixels these are.
/// `words` are the values of the 256 codes; null: codes are values.
inline std::size_t ReadVectors([[maybe_unused]] const std::uint8_t* pixels,
                               [[maybe_unused]] std::size_t count, [[maybe_unused]] int channels,
                               [[maybe_unused]] int c, [[maybe_unused]] const std::uint16_t* words,
                               [[maybe_unused]] const float* decoded, [[maybe_unused]] float* values) {
  std::size_t i = 0;
  if constexpr (has_avx512)
    return ReadWords(
        count, words,
        [&](auto d, std::size_t at) HWY_ATTR {
          return LoadChannel(d, pixels + at * static_cast<std::size_t>(channels), channels, c);
        },
        values);
#if HWY_TARGET != HWY_SCALAR
  if (words != nullptr && !gathers_fast) return 0;
  const hn::CappedTag<std::uint8_t, longest_row> d;
  const hn::ScalableTag<float> floats;
  const hn::Rebind<std::uint8_t, decltype(floats)> few;
  const hn::Rebind<std::int32_t, decltype(floats)> integers;
  std::uint8_t codes[longest_row];
  for (; i + hn::Lanes(d) <= count && hn::Lanes(floats) <= hn::Lanes(d); i += hn::Lanes(d)) {
    hn::StoreU(LoadChannel(d, pixels + i * static_cast<std::size_t>(channels), channels, c), d, codes);
    for (std::size_t j = 0; j < hn::Lanes(d); j += hn::Lanes(floats)) {
      const auto code = hn::PromoteTo(integers, hn::LoadU(few, codes + j));
      hn::StoreU(words == nullptr ? hn::ConvertTo(floats, code) : hn::GatherIndex(floats, decoded, code),
                 floats, values + i + j);
    }
  }
#endif
  return i;
}

#if HWY_TARGET != HWY_SCALAR
/// |a - b|
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ByteDifference(D /*bytes*/, V a, V b) {
  return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
}

/// Sums over the channels of |p - q| of as many pixels as `sums` has lanes.
template <int Channels, class D>
HWY_INLINE hn::Vec<D> ByteDifferences(D sums, const std::uint8_t* p, const std::uint8_t* q) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto of = [&](auto a, auto b) HWY_ATTR { return hn::PromoteTo(sums, ByteDifference(bytes, a, b)); };
  hn::Vec<decltype(bytes)> p0, p1, p2, p3, q0, q1, q2, q3;
  if constexpr (Channels == 1) {
    return of(hn::LoadU(bytes, p), hn::LoadU(bytes, q));
  } else if constexpr (Channels == 2) {
    hn::LoadInterleaved2(bytes, p, p0, p1);
    hn::LoadInterleaved2(bytes, q, q0, q1);
    return hn::Add(of(p0, q0), of(p1, q1));
  } else if constexpr (Channels == 3) {
    hn::LoadInterleaved3(bytes, p, p0, p1, p2);
    hn::LoadInterleaved3(bytes, q, q0, q1, q2);
    return hn::Add(hn::Add(of(p0, q0), of(p1, q1)), of(p2, q2));
  } else {
    hn::LoadInterleaved4(bytes, p, p0, p1, p2, p3);
    hn::LoadInterleaved4(bytes, q, q0, q1, q2, q3);
    return hn::Add(hn::Add(of(p0, q0), of(p1, q1)), hn::Add(of(p2, q2), of(p3, q3)));
  }
}
#endif

/// transformed_distance() between the first pixels p and q of bytes that are not weighted, by vectors;
/// returns how many pixels these are. The sums are integers, so that their order does not matter.
template <int Channels>
std::size_t ByteDistances([[maybe_unused]] const std::uint8_t* p, [[maybe_unused]] const std::uint8_t* q,
                          [[maybe_unused]] double contrast, [[maybe_unused]] std::size_t count,
                          [[maybe_unused]] float* along) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64
  const hn::ScalableTag<std::uint16_t> d;
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<std::uint16_t, decltype(doubles)> few;
  const hn::Rebind<std::int32_t, decltype(doubles)> integers;
  const hn::Rebind<float, decltype(doubles)> floats;
  HWY_ALIGN std::uint16_t sums[hn::MaxLanes(d)];
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    hn::Store(ByteDifferences<Channels>(d, p + i * Channels, q + i * Channels), d, sums);
    for (std::size_t j = 0; j < lanes; j += hn::Lanes(doubles)) {
      const auto sum = hn::PromoteTo(doubles, hn::PromoteTo(integers, hn::LoadU(few, sums + j)));
      const auto distance = hn::Add(hn::Set(doubles, 1.0), hn::Mul(sum, hn::Set(doubles, contrast)));
      hn::StoreU(hn::DemoteTo(floats, hn::Min(distance, hn::Set(doubles, largest_distance))), floats,
                 along + i + j);
    }
  }
#endif
  return i;
}

/// read_distances() of recursive/cpu/recursive_rows.h for a row of bytes that are not weighted.
inline void ReadByteDistances(const Guide& guide, const std::uint8_t* p, const std::uint8_t* q,
                              std::size_t count, float* along) {
  with_channels(guide.channels, [&]<int Channels>() {
    const std::size_t done = ByteDistances<Channels>(p, q, guide.contrast, count, along);
    read_distances<Channels, false>(p + done * Channels, q + done * Channels, guide.contrast, count - done,
                                    along + done);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
