// Magnitudes and finiteness of pictures of floats on the CPU, compiled for every SIMD target. Magnitudes of
// pixels with alpha are products of two floats, which are exact in double.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/measure.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "core/cpu/backend.h"
#include "core/plan_operations.h"

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

/// Adds the magnitudes of a row of pixels with straight alpha: of alpha, and of colours times alpha where
/// both are finite.
template <std::size_t Channels>
void MeasureWeightedRow(const float* values, std::size_t count, FloatRange& found) {
  for (std::size_t i = MeasurePixels<Channels>(values, count, found); i < count; i += Channels)
    MeasurePixel<Channels>(values + i, found);
}

constexpr Measured nothing_measured{{0, 0}, {~0ULL, ~0ULL}, 0, 0, 0};

inline void include(Measured& found, int group, const Magnitudes& magnitudes) {
  if (magnitudes.largest == 0) return;
  found.largest[group] = std::max(found.largest[group], bits_of(magnitudes.largest));
  found.smallest[group] = std::min(found.smallest[group], bits_of(magnitudes.smallest));
}

inline void merge(Measured& into, const Measured& from) {
  for (int group = 0; group < 2; ++group) {
    into.largest[group] = std::max(into.largest[group], from.largest[group]);
    into.smallest[group] = std::min(into.smallest[group], from.smallest[group]);
  }
  into.picture_not_finite |= from.picture_not_finite;
  into.map_out_of_range |= from.map_out_of_range;
}

class Measure final : public MeasureOperation {
 public:
  Measure(CpuBackend& backend, const MeasureJob& job) : backend_(backend), job_(job) {}

  void clear(Measured* result, Stream) override { *result = nothing_measured; }

  void measure(const ImageView& picture, Measured* result, Stream) override {
    for (int group = 0; group < 2; ++group)
      result->largest[group] = std::max(result->largest[group], job_.at_least[group]);
    reduce(result, job_.height, [&](Measured& found, std::int64_t y) {
      const float* row = picture.row<float>(y);
      if (!job_.magnitudes) return check_finite(found, row);
      measure_magnitudes(found, row);
    });
  }

  void check_map(const ImageView& map, Measured* result, Stream) override {
    reduce(result, map.shape.height, [&](Measured& found, std::int64_t y) {
      const float* row = map.row<float>(y);
      for (std::int64_t x = 0; x < map.shape.width; ++x)
        if (!(row[x] >= 0.0F && row[x] <= 1.0F)) found.map_out_of_range = 1;
    });
  }

 private:
  void check_finite(Measured& found, const float* row) const {
    unsigned others = 0;
    for (std::int64_t i = 0; i < job_.width * job_.channels; ++i)
      others |= static_cast<unsigned>(!(std::fabs(row[i]) <= std::numeric_limits<float>::max()));
    found.picture_not_finite |= others;
  }

  void measure_magnitudes(Measured& found, const float* row) const {
    const auto count = static_cast<std::size_t>(job_.width * job_.channels);
    FloatRange range;
    if (!job_.weighted) {
      MeasureRow(row, count, range);
    } else if (job_.channels == 2) {
      MeasureWeightedRow<2>(row, count, range);
    } else {
      MeasureWeightedRow<4>(row, count, range);
    }
    include(found, 0, range.colours);
    include(found, 1, range.alphas);
    found.picture_not_finite |= range.others ? 1U : 0U;
  }

  template <class Row>
  void reduce(Measured* result, std::int64_t height, const Row& row) {
    std::mutex mutex;
    parallel_rows(backend_, height, 16, [&](std::int64_t first, std::int64_t last) {
      Measured found = nothing_measured;
      for (std::int64_t y = first; y < last; ++y) row(found, y);
      const std::lock_guard lock(mutex);
      merge(*result, found);
    });
  }

  CpuBackend& backend_;
  MeasureJob job_;
};

inline Prepared<MeasureJob> PrepareMeasure(Backend& backend, const MeasureJob& job) {
  return std::make_unique<Measure>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareMeasure);

Prepared<MeasureJob> prepare_measure(Backend& backend, const MeasureJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareMeasure)(backend, job);
}

}  // namespace satin::cpu
#endif
