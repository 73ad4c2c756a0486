// Rows of the steps of depth of field that look at all pixels, for files that Highway compiles once for every
// SIMD target.

#if defined(SATIN_LENS_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LENS_ROWS_INL_H
#undef SATIN_LENS_ROWS_INL_H
#else
#define SATIN_LENS_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "lens/maths/depth_groups.h"
#include "lens/maths/depth_ramp.h"
#include "lens/maths/disocclusion_fill.h"
#include "lens/maths/lens_planes.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Radii = hn::ScalableTag<std::int32_t>;

/// on_ramp() of all lanes along one axis, `step` values from neighbour to neighbour.
template <class D>
HWY_INLINE auto OnRamp(D d, const std::int32_t* own, std::int64_t step) {
  const auto radii = hn::LoadU(d, own);
  const auto a = hn::Sub(radii, hn::LoadU(d, own - step));
  const auto b = hn::Sub(hn::LoadU(d, own + step), radii);
  return hn::Or(hn::Gt(hn::Min(a, b), hn::Set(d, ramp_step)), hn::Lt(hn::Max(a, b), hn::Set(d, -ramp_step)));
}

/// SharpenRamp of every pixel of row y.
inline void SharpenRow(const LensPlanes& planes, int y) {
  const Radii d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t* radii = planes.radii + planes.place(0, y);
  std::copy_n(radii, planes.width, planes.sharpened + planes.place(0, y));
  if (y == 0 || y + 1 == planes.height) return;
  const SharpenRamp sharpen{planes};
  int x = 1;
  for (; x + lanes < planes.width; x += lanes) {
    if (hn::AllFalse(d, hn::Or(OnRamp(d, radii + x, 1), OnRamp(d, radii + x, planes.width)))) continue;
    for (int i = x; i < x + lanes; ++i) sharpen(i, y);
  }
  for (; x + 1 < planes.width; ++x) sharpen(x, y);
}

/// FindRadiusRange of all runs of row y.
inline void FindRangeRow(const FindRadiusRange& step, int y) {
  const Radii d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t* row = step.planes.sharpened + step.planes.place(0, y * histogram_stride);
  static_assert(histogram_stride == 2);
  auto lows = hn::Set(d, row[0]);
  auto highs = lows;
  int x = 0;
  if constexpr (hn::MaxLanes(Radii()) > 1)
    for (; x + lanes <= step.planes.width; x += lanes) {
      const auto radii = hn::DupEven(hn::LoadU(d, row + x));
      lows = hn::Min(lows, radii);
      highs = hn::Max(highs, radii);
    }
  std::int32_t low = hn::GetLane(hn::MinOfLanes(d, lows));
  std::int32_t high = hn::GetLane(hn::MaxOfLanes(d, highs));
  for (; x < step.planes.width; x += histogram_stride) {
    low = std::min(low, row[x]);
    high = std::max(high, row[x]);
  }
  raise_shared(&step.work->highest, high);
  raise_shared(&step.work->negative_lowest, -low);
}

/// The bins of radii. An estimate errs by one at most, as the radii differ by less than 2^24; its remainder
/// corrects it.
template <class D, class V>
HWY_INLINE V BinsOf(D d, V radii, std::int32_t lowest, std::int32_t width) {
  const hn::RebindToFloat<D> real;
  const auto above = hn::Sub(radii, hn::Set(d, lowest));
  const auto scaled = hn::Mul(hn::ConvertTo(real, above), hn::Set(real, 1.0F / static_cast<float>(width)));
  const auto estimate = hn::ConvertTo(d, scaled);
  const auto rest = hn::Sub(above, hn::Mul(estimate, hn::Set(d, width)));
  const auto one = hn::Set(d, 1);
  const auto more = hn::IfThenElseZero(hn::Gt(rest, hn::Set(d, width - 1)), one);
  const auto less = hn::IfThenElseZero(hn::Lt(rest, hn::Zero(d)), one);
  return hn::Sub(hn::Add(estimate, more), less);
}
static_assert(2 * largest_fill_radius <= 1 << 24);

/// CountRadii of all runs of rows `first` to `last` - 1.
inline void CountRadiiRows(const CountRadii& step, int first, int last) {
  const Radii d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t lowest = step.work->lowest();
  const std::int32_t width = step.work->step();
  std::uint32_t counts[depth_bins] = {};
  alignas(64) std::int32_t bins[hn::MaxLanes(Radii())];
  for (int y = first; y < last; ++y) {
    const std::int32_t* row = step.planes.sharpened + step.planes.place(0, y * histogram_stride);
    int x = 0;
    if constexpr (hn::MaxLanes(Radii()) > 1)
      for (; x + lanes <= step.planes.width; x += lanes) {
        const auto own = BinsOf(d, hn::DupEven(hn::LoadU(d, row + x)), lowest, width);
        const std::int32_t bin = hn::GetLane(own);
        if (hn::AllTrue(d, hn::Eq(own, hn::Set(d, bin)))) {
          counts[bin] += static_cast<std::uint32_t>(lanes / histogram_stride);
          continue;
        }
        hn::Store(own, d, bins);
        for (int i = 0; i < lanes; i += histogram_stride) ++counts[bins[i]];
      }
    for (; x < step.planes.width; x += histogram_stride) ++counts[(row[x] - lowest) / width];
  }
  for (int bin = 0; bin < depth_bins; ++bin)
    if (counts[bin] != 0) add_shared(&step.work->counts[bin], counts[bin]);
}

/// FindSilhouette of every pixel of row y.
inline void SilhouetteRow(const LensPlanes& planes, int y) {
  const Radii d;
  const hn::Rebind<std::uint8_t, Radii> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  std::uint8_t* edges = planes.edges + planes.place(0, y);
  if (y == 0 || y + 1 == planes.height) {
    std::fill_n(edges, planes.width, std::uint8_t{0});
    return;
  }
  const std::int32_t* above = planes.sharpened + planes.place(0, y - 1);
  const FindSilhouette find{planes};
  find(0, y);
  int x = 1;
  for (; x + lanes < planes.width; x += lanes) {
    auto low = hn::LoadU(d, above + x);
    auto high = low;
    for (int row = 0; row < 3; ++row)
      for (int column = -1; column <= 1; ++column) {
        const auto radii = hn::LoadU(d, above + std::int64_t{row} * planes.width + x + column);
        low = hn::Min(low, radii);
        high = hn::Max(high, radii);
      }
    const auto apart = hn::Gt(hn::Sub(high, low), hn::Set(d, silhouette_step));
    hn::StoreU(hn::DemoteTo(bytes, hn::IfThenElseZero(apart, hn::Set(d, 1))), bytes, edges + x);
  }
  for (; x < planes.width; ++x) find(x, y);
}

/// DepthGroups::group_of() of all lanes.
template <class D, class V>
HWY_INLINE V GroupsOf(D d, V radii, const DepthGroups& groups) {
  auto farther = hn::Eq(radii, radii);
  auto group = hn::Zero(d);
  for (int i = 0; i + 1 < groups.count; ++i) {
    farther = hn::And(farther, hn::Lt(radii, hn::Set(d, groups.limits[i])));
    group = hn::Add(group, hn::IfThenElseZero(farther, hn::Set(d, 1)));
  }
  return group;
}

template <class D>
int StoreDepthVectors(D d, const LensPlanes& planes, std::int64_t row, int x, const DepthGroups& groups) {
  const hn::RebindToUnsigned<D> words;
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (; x + lanes <= planes.width; x += lanes) {
    const auto radii = hn::LoadU(d, planes.sharpened + row + x);
    hn::StoreU(radii, d, planes.radii + row + x);
    hn::StoreU(hn::BitCast(words, hn::Abs(radii)), words, planes.magnitudes + row + x);
    hn::StoreU(hn::DemoteTo(bytes, GroupsOf(d, radii, groups)), bytes, planes.groups + row + x);
  }
  return x;
}

/// All of StoreVisible but the colours, of every pixel of row y.
inline void StoreDepths(const LensPlanes& of_planes, int y, const DepthGroups& of_groups) {
  const LensPlanes planes = of_planes;
  const DepthGroups groups = of_groups;
  const std::int64_t row = planes.place(0, y);
  const int done = StoreDepthVectors(hn::ScalableTag<std::int32_t>(), planes, row, 0, groups);
  StoreDepthVectors(hn::CappedTag<std::int32_t, 1>(), planes, row, done, groups);
  std::fill_n(planes.weights + row, planes.width, static_cast<std::uint16_t>(lens_full_weight));
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
