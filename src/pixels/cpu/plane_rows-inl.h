// Rows of one plane of a picture, a channel or the luminance, compiled for every SIMD target.

#if defined(SATIN_PLANE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_PLANE_ROWS_INL_H
#undef SATIN_PLANE_ROWS_INL_H
#else
#define SATIN_PLANE_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/with_type.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/maths/plane.h"
#include "satin/image.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int Channels, class D>
HWY_INLINE void LoadColours(D d, const hn::TFromD<D>* pixels, hn::Vec<D>& c0, hn::Vec<D>& c1,
                            hn::Vec<D>& c2) {
  if constexpr (Channels == 3) {
    hn::LoadInterleaved3(d, pixels, c0, c1, c2);
  } else {
    hn::Vec<D> alpha;
    hn::LoadInterleaved4(d, pixels, c0, c1, c2, alpha);
  }
}

/// Extracts one of the first three channels in whole vectors. Returns the number of pixels that are done.
template <int Channels, class T>
std::size_t TakeChannel(const T* pixels, std::size_t count, int channel, T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<decltype(d)> c0, c1, c2;
    LoadColours<Channels>(d, pixels + i * Channels, c0, c1, c2);
    hn::StoreU(channel == 0 ? c0 : channel == 1 ? c1 : c2, d, out + i);
  }
  return i;
}

#if HWY_TARGET == HWY_SCALAR
template <int Channels>
std::size_t TakeLuminance(const std::uint8_t* /*pixels*/, std::size_t /*count*/, Order /*order*/,
                          std::uint8_t* /*out*/) {
  return 0;
}
#else
/// Loads blocks of 16 bytes, each `step` bytes after the one before.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const std::uint8_t* from, std::size_t step) {
  if constexpr (hn::MaxLanes(D()) <= 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, from + hn::Lanes(half) / 16 * step, step),
                       LoadBlocks(half, from, step));
  }
}

/// Shuffle indices that put one channel of a block of four pixels into the low bytes of four words.
template <int Channels>
struct alignas(16) WordsOfChannel {
  std::uint8_t index[16];

  explicit constexpr WordsOfChannel(int channel) : index{} {
    for (int i = 0; i < 16; ++i)
      index[i] = static_cast<std::uint8_t>(i % 4 == 0 ? i / 4 * Channels + channel : 0x80);
  }
};

/// Computes luminance709() in whole vectors of floats, and returns the number of pixels that are done. Floats
/// hold the weighted sums exactly. The half of 5000.5 keeps quotients 5e-5 away from integers, and they err
/// by at most 2.2e-5: 255.6 times the error of 0.0001 and of a product.
template <int Channels>
std::size_t TakeLuminance(const std::uint8_t* pixels, std::size_t count, Order order,
                          std::uint8_t* HWY_RESTRICT out) {
  static constexpr WordsOfChannel<Channels> channels[3] = {
      WordsOfChannel<Channels>(0), WordsOfChannel<Channels>(1), WordsOfChannel<Channels>(2)};
  constexpr std::size_t behind =
      Channels == 3 ? 2 : 0;  // pixels that a block of three channels reads beyond its own
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::int32_t, decltype(d)> integers;
  const hn::RebindToFloat<decltype(integers)> real;
  const hn::Rebind<std::uint8_t, decltype(integers)> bytes;
  const auto channel_of = [&](auto blocks, int channel) HWY_ATTR {
    const auto words = hn::TableLookupBytesOr0(blocks, hn::LoadDup128(d, channels[channel].index));
    return hn::ConvertTo(real, hn::BitCast(integers, words));
  };
  const auto weight_of_first = hn::Set(real, order == Order::rgb ? 2126.0F : 722.0F);
  const auto weight_of_last = hn::Set(real, order == Order::rgb ? 722.0F : 2126.0F);
  const std::size_t lanes = hn::Lanes(integers);
  std::size_t i = 0;
  for (; i + lanes + behind <= count; i += lanes) {
    const auto blocks = LoadBlocks(d, pixels + i * Channels, 4 * Channels);
    auto sum = hn::MulAdd(channel_of(blocks, 0), weight_of_first, hn::Set(real, 5000.5F));
    sum = hn::MulAdd(channel_of(blocks, 1), hn::Set(real, 7152.0F), sum);
    sum = hn::MulAdd(channel_of(blocks, 2), weight_of_last, sum);
    const auto luminance = hn::ConvertTo(integers, hn::Mul(sum, hn::Set(real, 0.0001F)));
    hn::StoreU(hn::DemoteTo(bytes, luminance), bytes, out + i);
  }
  return i;
}
#endif

/// Computes luminance709() of floats in whole vectors, and returns the number of pixels that are done.
template <int Channels>
std::size_t TakeLuminance(const float* pixels, std::size_t count, Order order, float* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const auto weighted = [&](double weight, auto colour)
                            HWY_ATTR { return hn::Mul(hn::Set(d, weight), hn::PromoteTo(d, colour)); };
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::Vec<decltype(floats)> red, green, blue;
    order == Order::rgb ? LoadColours<Channels>(floats, pixels + i * Channels, red, green, blue)
                        : LoadColours<Channels>(floats, pixels + i * Channels, blue, green, red);
    const auto sum = hn::Add(weighted(0.2126, red), weighted(0.7152, green));
    hn::StoreU(hn::DemoteTo(floats, hn::Add(sum, weighted(0.0722, blue))), floats, out + i);
  }
  return i;
}

template <int Channels, class T>
std::size_t TakeVectors(const T* pixels, std::size_t count, const PlaneRead& plane, T* out) {
  if constexpr (sizeof(T) != 2)
    if (plane.channel == PlaneRead::weighted) return TakeLuminance<Channels>(pixels, count, plane.order, out);
  return plane.channel < 0 || plane.channel > 2 ? 0
                                                : TakeChannel<Channels>(pixels, count, plane.channel, out);
}

/// Sets out[i] to plane_value() of pixel i.
template <class T>
void TakePlane(const T* pixels, std::size_t count, const PlaneRead& plane, T* out) {
  std::size_t i = plane.channels == 3   ? TakeVectors<3>(pixels, count, plane, out)
                  : plane.channels == 4 ? TakeVectors<4>(pixels, count, plane, out)
                                        : 0;
  const auto channels = static_cast<std::size_t>(plane.channels);
  for (; i < count; ++i) out[i] = plane_value(pixels + i * channels, plane);
}

constexpr std::size_t plane_range = 512;  ///< pixels whose values fit the L1 cache

/// Calls work(first, values, count) with plane_value() of the pixels of a row, plane_range at a time.
template <class Work>
void WithPlaneRow(const PlaneRead& plane, const ImageView& picture, std::int64_t y, const Work& work) {
  with_pixel_type(plane.type, [&]<class T>() {
    T values[plane_range];
    const auto width = static_cast<std::size_t>(picture.shape.width);
    const T* row = picture.row<T>(y);
    for (std::size_t first = 0; first < width; first += plane_range) {
      const std::size_t count = std::min(plane_range, width - first);
      TakePlane(row + first * static_cast<std::size_t>(plane.channels), count, plane, values);
      work(first, values, count);
    }
  });
}

/// Sets out[x] to the quantised value of pixel x of a row. Integer holds the plane's values.
template <class Integer>
void ReadQuantised(const PlaneRead& plane, int exponent, const ImageView& picture, std::int64_t y,
                   Integer* out) {
  if constexpr (sizeof(Integer) == 1) {
    TakePlane(picture.row<Integer>(y), static_cast<std::size_t>(picture.shape.width), plane, out);
  } else {
    WithPlaneRow(plane, picture, y, [&](std::size_t first, const auto* values, std::size_t count) {
      if constexpr (std::is_same_v<decltype(values), const float*>) {
        std::uint64_t wholes[plane_range];
        FixFloats(values, count, exponent, wholes);
        const std::uint64_t zero = std::uint64_t{1} << plane.float_bits;
        std::transform(wholes, wholes + count, out + first,
                       [zero](std::uint64_t whole) { return static_cast<Integer>(zero + whole); });
      } else {
        std::copy_n(values, count, out + first);
      }
    });
  }
}

/// Sets out[x] to the stored value of pixel x of a row.
inline void ReadValues(const PlaneRead& plane, const ImageView& picture, std::int64_t y, double* out) {
  WithPlaneRow(plane, picture, y, [&](std::size_t first, const auto* values, std::size_t count) {
    std::copy_n(values, count, out + first);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
