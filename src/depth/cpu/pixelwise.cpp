// Pixelwise operations on depth images and radii, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "depth/cpu/pixelwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "depth/circle_of_confusion.h"
#include "depth/depth_statistics.h"
#include "depth/soft_depth.h"
#include "pixels/cpu/pixelwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Calls step.store(x, y, range) for the pixels of row y with the range of the radii in the window of
/// Step::reach around each. Finds minima and maxima down the columns first, then along the row, for some
/// hundred columns at once: a search for every pixel costs half the time of a filter with soft depth.
template <class Step>
void StoreByRanges(const Step& step, int y) {
  constexpr int reach = Step::reach;
  constexpr int columns = 512;
  std::int32_t low[static_cast<std::size_t>(columns + 2 * reach)];
  std::int32_t high[static_cast<std::size_t>(columns + 2 * reach)];
  std::int32_t lows[columns];
  std::int32_t highs[columns];
  const auto width = static_cast<int>(step.width);
  const auto end_of_rows = std::min(y + reach + 1, static_cast<int>(step.height));
  const int begin = std::min(reach, width);
  const int end = std::max(begin, width - reach);
  for (int x = 0; x < begin; ++x) step(x, y);
  for (int x = end; x < width; ++x) step(x, y);
  for (int first = begin; first < end; first += columns) {
    const int count = std::min(columns, end - first);
    std::copy_n(step.radii.row(y) + first - reach, count + 2 * reach, low);
    std::copy_n(low, count + 2 * reach, high);
    for (int v = std::max(0, y - reach); v < end_of_rows; ++v) {
      const SignedRadius256* row = step.radii.row(v) + first - reach;
      for (int x = 0; x < count + 2 * reach; ++x) {
        low[x] = std::min(low[x], row[x]);
        high[x] = std::max(high[x], row[x]);
      }
    }
    std::copy_n(low, count, lows);
    std::copy_n(high, count, highs);
    for (int i = 1; i <= 2 * reach; ++i)
      for (int x = 0; x < count; ++x) {
        lows[x] = std::min(lows[x], low[x + i]);
        highs[x] = std::max(highs[x], high[x + i]);
      }
    for (int x = 0; x < count; ++x) step.store(first + x, y, {lows[x], highs[x]});
  }
}

struct DepthRadiiRows : EachRow {
  using EachRow::EachRow;

  template <class Step>
  void operator()(std::int64_t width, std::int64_t height, const Step& step) const {
    if constexpr (requires { Step::reach; }) {
      if (!step.idle()) rows(height, [&](int y) HWY_ATTR { StoreByRanges(step, y); });
    } else {
      each(width, height, step);
    }
  }
};

inline std::unique_ptr<CircleOfConfusionJob::Operation> PrepareCircleOfConfusion(
    Backend& backend, const CircleOfConfusionJob& job) {
  return prepare_pixelwise<DepthRadiiRows>(backend, job);
}
inline std::unique_ptr<PlanarRadiiJob::Operation> PreparePlanarRadii(Backend& backend,
                                                                     const PlanarRadiiJob& job) {
  return prepare_pixelwise<DepthRadiiRows>(backend, job);
}
inline std::unique_ptr<DepthStatisticsJob::Operation> PrepareDepthStatistics(Backend& backend,
                                                                             const DepthStatisticsJob& job) {
  return prepare_pixelwise<DepthRadiiRows>(backend, job);
}
inline std::unique_ptr<SoftDepthJob::Operation> PrepareSoftDepth(Backend& backend, const SoftDepthJob& job) {
  return prepare_pixelwise<DepthRadiiRows>(backend, job);
}
inline std::unique_ptr<SnapDepthJob::Operation> PrepareSnapDepth(Backend& backend, const SnapDepthJob& job) {
  return prepare_pixelwise<DepthRadiiRows>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareCircleOfConfusion);
HWY_EXPORT(PreparePlanarRadii);
HWY_EXPORT(PrepareDepthStatistics);
HWY_EXPORT(PrepareSoftDepth);
HWY_EXPORT(PrepareSnapDepth);

std::unique_ptr<CircleOfConfusionJob::Operation> prepare_circle_of_confusion(
    Backend& backend, const CircleOfConfusionJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareCircleOfConfusion)(backend, job);
}
std::unique_ptr<PlanarRadiiJob::Operation> prepare_planar_radii(Backend& backend, const PlanarRadiiJob& job) {
  return HWY_DYNAMIC_DISPATCH(PreparePlanarRadii)(backend, job);
}
std::unique_ptr<DepthStatisticsJob::Operation> prepare_depth_statistics(Backend& backend,
                                                                        const DepthStatisticsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareDepthStatistics)(backend, job);
}
std::unique_ptr<SoftDepthJob::Operation> prepare_soft_depth(Backend& backend, const SoftDepthJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSoftDepth)(backend, job);
}
std::unique_ptr<SnapDepthJob::Operation> prepare_snap_depth(Backend& backend, const SnapDepthJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSnapDepth)(backend, job);
}

}  // namespace satin::cpu
#endif
