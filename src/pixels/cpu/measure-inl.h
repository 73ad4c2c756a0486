// Largest and smallest magnitudes of rows of floats, compiled for every SIMD target. Magnitudes of pixels
// with alpha are products of two floats, which are exact in double.

#if defined(SATIN_MEASURE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_MEASURE_INL_H
#undef SATIN_MEASURE_INL_H
#else
#define SATIN_MEASURE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_SCALABLE
template <std::size_t Channels>
constexpr bool holds_pixels = false;
#else
/// Whether a vector of doubles holds a whole number of pixels with 2 or 4 channels.
template <std::size_t Channels>
constexpr bool holds_pixels = hn::MaxLanes(hn::ScalableTag<double>()) >= Channels;

/// The lanes of alpha, the last channel, in a vector of doubles.
template <std::size_t Channels>
struct PixelLanes {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;

  PixelLanes() {
    alignas(64) std::int64_t last[hn::MaxLanes(D())];
    for (std::size_t lane = 0; lane < hn::MaxLanes(D()); ++lane)
      last[lane] = static_cast<std::int64_t>(lane | (Channels - 1));
    const hn::RebindToSigned<D> integers;
    alpha_lanes = hn::SetTableIndices(D(), last);
    is_alpha = hn::RebindMask(D(), hn::Eq(hn::Iota(integers, 0), hn::Load(integers, last)));
  }

  /// Returns the alpha of every pixel in all of its lanes.
  [[nodiscard]] HWY_INLINE V alpha_of(V values) const { return hn::TableLookupLanes(values, alpha_lanes); }

  decltype(hn::SetTableIndices(D(), static_cast<const std::int64_t*>(nullptr))) alpha_lanes;
  hn::Mask<D> is_alpha;
};
#endif

/// Extremes of the magnitudes of finite values other than 0.
struct Magnitudes {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
};

struct FloatRange {
  Magnitudes colours;
  Magnitudes alphas;
  bool others = false;  ///< whether there are infinities or NaN
};

inline void Include(double magnitude, Magnitudes& found) {
  if (magnitude == 0) return;
  found.largest = std::max(found.largest, magnitude);
  found.smallest = std::min(found.smallest, magnitude);
}

inline void IncludeValue(float value, FloatRange& found) {
  if (!std::isfinite(value)) {
    found.others = true;
  } else {
    Include(std::fabs(static_cast<double>(value)), found.colours);
  }
}

/// Adds the magnitudes of a row's values to those of colours. Compares the bits of positive floats, which
/// order as the floats do.
inline void MeasureRow(const float* values, std::size_t count, FloatRange& found) {
  const hn::ScalableTag<std::uint32_t> d;
  constexpr std::uint32_t infinity = 0x7F800000;
  auto largest = hn::Zero(d);
  auto before_smallest = hn::Set(d, 0xFFFFFFFFU);  // bits minus 1, so that 0 becomes the largest
  auto largest_of_any = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto bits =
        hn::And(hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(values) + i), hn::Set(d, 0x7FFFFFFFU));
    largest_of_any = hn::Max(largest_of_any, bits);
    largest = hn::Max(largest, hn::IfThenElseZero(hn::Lt(bits, hn::Set(d, infinity)), bits));
    before_smallest = hn::Min(before_smallest, hn::Sub(bits, hn::Set(d, 1U)));
  }
  for (; i < count; ++i) IncludeValue(values[i], found);
  found.others = found.others || hn::GetLane(hn::MaxOfLanes(d, largest_of_any)) >= infinity;
  const auto value_of = [](std::uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); };
  Include(value_of(hn::GetLane(hn::MaxOfLanes(d, largest))), found.colours);
  const std::uint32_t smallest = hn::GetLane(hn::MinOfLanes(d, before_smallest)) + 1;
  if (smallest < infinity) Include(value_of(smallest), found.colours);
}

template <std::size_t Channels>
void MeasurePixel(const float* pixel, FloatRange& found) {
  const float alpha = pixel[Channels - 1];
  for (std::size_t c = 0; c < Channels; ++c) {
    if (!std::isfinite(pixel[c])) {
      found.others = true;
    } else if (c == Channels - 1) {
      Include(std::fabs(static_cast<double>(alpha)), found.alphas);
    } else if (std::isfinite(alpha)) {
      Include(std::fabs(static_cast<double>(pixel[c]) * static_cast<double>(alpha)), found.colours);
    }
  }
}

/// Measures whole vectors of pixels. Returns the number of values that are done.
template <std::size_t Channels>
std::size_t MeasurePixels(const float* values, std::size_t count, FloatRange& found) {
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  if constexpr (holds_pixels<Channels>) {
    const PixelLanes<Channels> lanes;
    const auto one = hn::Set(d, 1.0);
    const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    auto largest = hn::Zero(d);
    auto smallest = infinity;
    auto others = hn::Zero(d);
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      const auto value = hn::Abs(hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), values + i)));
      const auto alpha = lanes.alpha_of(value);
      const auto finite = hn::Lt(value, infinity);
      const auto both = hn::And(finite, hn::Lt(alpha, infinity));
      const auto weight = hn::IfThenElse(lanes.is_alpha, one, alpha);
      const auto product = hn::IfThenElseZero(both, hn::Mul(value, weight));
      largest = hn::Max(largest, product);
      smallest = hn::Min(smallest, hn::IfThenElse(hn::Eq(product, hn::Zero(d)), infinity, product));
      others = hn::Or(others, hn::IfThenZeroElse(finite, one));
    }
    const auto include = [&](auto group_lanes, Magnitudes& group) HWY_ATTR {
      const auto most = hn::IfThenElseZero(group_lanes, largest);
      const auto least = hn::IfThenElse(group_lanes, smallest, infinity);
      group.largest = std::max(group.largest, hn::GetLane(hn::MaxOfLanes(d, most)));
      group.smallest = std::min(group.smallest, hn::GetLane(hn::MinOfLanes(d, least)));
    };
    include(lanes.is_alpha, found.alphas);
    include(hn::Not(lanes.is_alpha), found.colours);
    found.others = found.others || !hn::AllTrue(d, hn::Eq(others, hn::Zero(d)));
  }
  return i;
}

template <std::size_t Channels>
void MeasureAllPixels(const float* values, std::size_t pixels, FloatRange& found) {
  for (std::size_t i = MeasurePixels<Channels>(values, pixels * Channels, found); i < pixels * Channels;
       i += Channels)
    MeasurePixel<Channels>(values + i, found);
}

/// Adds the magnitudes of a row of pixels with straight alpha, 2 or 4 channels: of alpha, and of colours
/// times alpha where both are finite.
inline void MeasureWeightedRow(const float* values, std::size_t pixels, int channels, FloatRange& found) {
  channels == 2 ? MeasureAllPixels<2>(values, pixels, found) : MeasureAllPixels<4>(values, pixels, found);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
