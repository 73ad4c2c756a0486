// Operations of the lens on each pixel alone that have rows of SIMD, compiled for every target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/pixelwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "lens/cpu/depth_rows-inl.h"
#include "lens/cpu/equal_bytes.h"
#include "lens/cpu/lamp_rows-inl.h"
#include "lens/cpu/soft_rows-inl.h"
#include "lens/lamps.h"
#include "lens/lens_store.h"
#include "lens/radii_steps.h"
#include "lens/soft_depth.h"
#include "pixels/cpu/pixelwise.h"
#include "pixels/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Rows of depth that are counted together.
constexpr std::int64_t band_rows = 16;

/// CountDepthDigits of rows `first` to `last` - 1 of codes of 8 bits, which are their only digit. Counts of
/// neighbours are apart, as equal ones would wait for each other, and eight equal ones are counted at once.
inline void CountCodes(const CountDepthDigits<std::uint8_t>& step, std::int64_t first, std::int64_t last) {
  constexpr int apart = 4;
  std::uint32_t counts[apart][span_digits] = {};
  for (std::int64_t y = first; y < last; ++y) {
    const std::uint8_t* row = step.depth.row(y);
    std::int64_t x = 0;
    for (; step.depth.channels == 1 && x + 8 <= step.width; x += 8) {
      if (eight_equal(row + x, row[x])) {
        counts[0][row[x]] += 8;
        continue;
      }
      for (int i = 0; i < 8; ++i) ++counts[i % apart][row[x + i]];
    }
    for (; x < step.width; ++x) ++counts[x % apart][row[x * step.depth.channels]];
  }
  for (int code = 0; code < span_digits; ++code) {
    std::uint32_t count = 0;
    for (const auto& own : counts) count += own[code];
    if (count != 0 && depth_value(code, step.rule).known) add_shared(step.span->counts[0] + code, count);
  }
}

struct LensRows : EachRow {
  using EachRow::EachRow;
  using EachRow::operator();

  void operator()(std::int64_t width, std::int64_t height, const RadiiOfPlane& step) const {
    rows(height, [&](int y) { FindPlanarRadii(y, width, step.focus, step.radii.row(y)); });
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t height, const RadiiOfDepth<T>& step) const {
    if (step.depth.channels != 1) return each(width, height, step);
    rows(height,
         [&](int y) { FindCircles(step.depth.row(y), width, step.rule, *step.state, step.radii.row(y)); });
  }
  void operator()(std::int64_t /*width*/, std::int64_t height,
                  const CountDepthDigits<std::uint8_t>& step) const {
    rows((height + band_rows - 1) / band_rows, [&](int band) {
      const std::int64_t first = std::int64_t{band} * band_rows;
      CountCodes(step, first, std::min(first + band_rows, height));
    });
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t rows_of_runs, const CountRamps<T>& step) const {
    if (step.depth.channels != 1) return each(width, rows_of_runs, step);
    rows(rows_of_runs, [&](int run_row) { CountRampsRow(step, run_row); });
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t height, const RadiiOfSoftDepth<T>& step) const {
    if (step.span->soft != 0) (*this)(width, height, step.step);
  }
  void operator()(std::int64_t /*width*/, std::int64_t height, const RejectThinExtremes& step) const {
    if (step.span->soft != 0) rows(height, [&](int y) { RejectThinRow(step, y); });
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t height, const ColourSoftSamples<T>& step) const {
    if (step.span->soft != 0) each(width, height, step.step);
  }
  template <class Colours>
  void operator()(std::int64_t /*width*/, std::int64_t height, const SnapToColours<Colours>& step) const {
    if (step.span->soft != 0) rows(height, [&](int y) { SnapRow(step, y); });
  }
  void operator()(std::int64_t width, std::int64_t height, const SumLampCells<3>& step) const {
    if (step.scene.colours != 3) return each(width, height, step);
    rows(height, [&](int y) { SumLampCellsRow(step, y); });
  }
  /// A row of bytes in linear light, without alpha and mask: what the picture has there is encoded to its
  /// bytes.
  template <int Channels>
  void operator()(std::int64_t width, std::int64_t height,
                  const StoreLens<Channels, std::uint8_t>& step) const {
    const LensStoreRule& rule = step.rule;
    if (rule.weighted || rule.keeps_last || rule.mask_maximum != 0 || rule.transfer.decode == nullptr)
      return each(width, height, step);
    rows(height, [&](int y) {
      EncodeWorking(step.values + y * width * Channels, static_cast<std::size_t>(width * Channels),
                    rule.transfer, step.output.row(y));
    });
  }
};

inline std::unique_ptr<CircleOfConfusionJob::Operation> PrepareCircleOfConfusion(
    Backend& backend, const CircleOfConfusionJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}
inline std::unique_ptr<LampsJob::Operation> PrepareLamps(Backend& backend, const LampsJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}
inline std::unique_ptr<LensStoreJob::Operation> PrepareLensStore(Backend& backend, const LensStoreJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}
inline std::unique_ptr<PlanarRadiiJob::Operation> PreparePlanarRadii(Backend& backend,
                                                                     const PlanarRadiiJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}
inline std::unique_ptr<DepthSpanJob::Operation> PrepareDepthSpan(Backend& backend, const DepthSpanJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}
inline std::unique_ptr<SoftDepthJob::Operation> PrepareSoftDepth(Backend& backend, const SoftDepthJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}
inline std::unique_ptr<SnapDepthJob::Operation> PrepareSnapDepth(Backend& backend, const SnapDepthJob& job) {
  return prepare_pixelwise<LensRows>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareCircleOfConfusion);
HWY_EXPORT(PrepareLamps);
HWY_EXPORT(PrepareLensStore);
HWY_EXPORT(PreparePlanarRadii);
HWY_EXPORT(PrepareDepthSpan);
HWY_EXPORT(PrepareSoftDepth);
HWY_EXPORT(PrepareSnapDepth);

std::unique_ptr<CircleOfConfusionJob::Operation> prepare_circle_of_confusion(
    Backend& backend, const CircleOfConfusionJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareCircleOfConfusion)(backend, job);
}
std::unique_ptr<LampsJob::Operation> prepare_lamps(Backend& backend, const LampsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLamps)(backend, job);
}
std::unique_ptr<LensStoreJob::Operation> prepare_lens_store(Backend& backend, const LensStoreJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLensStore)(backend, job);
}
std::unique_ptr<PlanarRadiiJob::Operation> prepare_planar_radii(Backend& backend, const PlanarRadiiJob& job) {
  return HWY_DYNAMIC_DISPATCH(PreparePlanarRadii)(backend, job);
}
std::unique_ptr<DepthSpanJob::Operation> prepare_depth_span(Backend& backend, const DepthSpanJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareDepthSpan)(backend, job);
}
std::unique_ptr<SoftDepthJob::Operation> prepare_soft_depth(Backend& backend, const SoftDepthJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSoftDepth)(backend, job);
}
std::unique_ptr<SnapDepthJob::Operation> prepare_snap_depth(Backend& backend, const SnapDepthJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSnapDepth)(backend, job);
}

}  // namespace satin::cpu
#endif
