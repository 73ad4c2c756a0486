// Highway compiles this file once for every SIMD target and chooses at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/lens_rows_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "lens/cpu/lens_rows_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

void StoreDepths(const LensPlanes& of_planes, int y, const DepthGroups& of_groups) {
  const LensPlanes planes = of_planes;
  const DepthGroups groups = of_groups;
  const std::int64_t row = planes.place(0, y);
  const int done = StoreDepthVectors(hn::ScalableTag<std::int32_t>(), planes, row, 0, groups);
  StoreDepthVectors(hn::CappedTag<std::int32_t, 1>(), planes, row, done, groups);
  std::fill_n(planes.weights + row, planes.width, static_cast<std::uint16_t>(lens_full_weight));
}

template <class D>
std::size_t HoldVectors(D d, const std::uint32_t* values, std::size_t i, std::size_t count,
                        std::uint16_t* light) {
  const hn::RebindToSigned<D> integers;
  const hn::Rebind<std::uint16_t, D> stored;
  const auto white = hn::Set(d, 0xFFFF);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto held = hn::BitCast(integers, hn::Min(hn::LoadU(d, values + i), white));
    hn::StoreU(hn::DemoteTo(stored, held), stored, light + i);
  }
  return i;
}

void HoldLight(const std::uint32_t* values, std::size_t count, std::uint16_t* light) {
  const std::size_t done = HoldVectors(hn::ScalableTag<std::uint32_t>(), values, 0, count, light);
  HoldVectors(hn::CappedTag<std::uint32_t, 1>(), values, done, count, light);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(StoreDepths);
HWY_EXPORT(HoldLight);

void store_depths(const LensPlanes& planes, int y, const DepthGroups& groups) {
  HWY_DYNAMIC_DISPATCH(StoreDepths)(planes, y, groups);
}
void hold_light(const std::uint32_t* values, std::size_t count, std::uint16_t* light) {
  HWY_DYNAMIC_DISPATCH(HoldLight)(values, count, light);
}

}  // namespace satin::cpu
#endif
