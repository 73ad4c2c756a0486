// Rows of soft depth, for files that Highway compiles once for every SIMD target: few pixels lie near a
// silhouette, and vectors of radii tell which.

#if defined(SATIN_SOFT_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SOFT_ROWS_INL_H
#undef SATIN_SOFT_ROWS_INL_H
#else
#define SATIN_SOFT_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lens/cpu/depth_rows-inl.h"
#include "lens/maths/soft_depth.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using SoftTag = hn::ScalableTag<std::int32_t>;

/// Columns that are looked at together.
inline constexpr std::int64_t soft_columns = 512;

/// The least and the largest radius of the squares around the pixels of a run of columns, as far as the
/// squares lie in the image.
template <int Reach>
class RangesOfRun {
 public:
  /// Columns `first` to `last` - 1 of row y, soft_columns at most.
  void find(const Rows<const SignedRadius256>& radii, std::int64_t width, std::int64_t height, std::int64_t y,
            std::int64_t first, std::int64_t last) {
    first_ = first;
    const std::int64_t left = std::max<std::int64_t>(first - Reach, 0);
    const std::int64_t right = std::min(last + Reach, width);
    const std::int64_t top = std::max<std::int64_t>(y - Reach, 0);
    const std::int64_t bottom = std::min(y + Reach + 1, height);
    const std::int64_t place = left - first + Reach;
    const std::int64_t count = right - left;
    std::copy_n(radii.row(top) + left, count, low_ + place);
    std::copy_n(low_ + place, count, high_ + place);
    for (std::int64_t v = top + 1; v < bottom; ++v) add(radii.row(v) + left, count, place);
    const std::int64_t end = last - first + 2 * Reach;
    for (std::int32_t* values : {low_, high_}) {  // what lies outside counts as what lies beside it
      std::fill_n(values, place, values[place]);
      std::fill(values + place + count, values + end + hn::Lanes(SoftTag()), values[place + count - 1]);
    }
  }

  /// The ranges of the pixels from column x of the run on.
  template <class D>
  HWY_INLINE void at(D d, std::int64_t x, hn::VFromD<D>& low, hn::VFromD<D>& high) const {
    low = hn::LoadU(d, low_ + (x - first_));
    high = hn::LoadU(d, high_ + (x - first_));
    for (int i = 1; i <= 2 * Reach; ++i) {
      low = hn::Min(low, hn::LoadU(d, low_ + (x - first_) + i));
      high = hn::Max(high, hn::LoadU(d, high_ + (x - first_) + i));
    }
  }

 private:
  void add(const SignedRadius256* row, std::int64_t count, std::int64_t place) {
    const SoftTag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t u = 0;
    for (; u + lanes <= count; u += lanes) {
      const auto radii = hn::LoadU(d, row + u);
      hn::StoreU(hn::Min(hn::LoadU(d, low_ + place + u), radii), d, low_ + place + u);
      hn::StoreU(hn::Max(hn::LoadU(d, high_ + place + u), radii), d, high_ + place + u);
    }
    for (; u < count; ++u) {
      low_[place + u] = std::min(low_[place + u], row[u]);
      high_[place + u] = std::max(high_[place + u], row[u]);
    }
  }

  static constexpr std::int64_t size =
      soft_columns + 2 * Reach + 2 * static_cast<std::int64_t>(HWY_MAX_BYTES / 4);
  std::int64_t first_ = 0;
  HWY_ALIGN std::int32_t low_[static_cast<std::size_t>(size)];
  HWY_ALIGN std::int32_t high_[static_cast<std::size_t>(size)];
};

/// Calls take(x, valid, low, high) for vectors of columns of row y, with the lanes that lie in the image and
/// the ranges of the squares around them.
template <int Reach, class Take>
HWY_INLINE void ForRangesOfRow(const Rows<const SignedRadius256>& radii, std::int64_t width,
                               std::int64_t height, std::int64_t y, const Take& take) {
  const SoftTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  RangesOfRun<Reach> ranges;
  for (std::int64_t first = 0; first < width; first += soft_columns) {
    const std::int64_t last = std::min(first + soft_columns, width);
    ranges.find(radii, width, height, y, first, last);
    for (std::int64_t x = first; x < last; x += lanes) {
      auto low = hn::Zero(d);
      auto high = low;
      ranges.at(d, x, low, high);
      take(x, hn::FirstN(d, static_cast<std::size_t>(last - x)), low, high);
    }
  }
}

/// Calls take(x) for the columns from x on whose lanes are set.
template <class D, class M, class Take>
HWY_INLINE void ForLanes(D d, M mask, std::int64_t x, const Take& take) {
  HWY_ALIGN std::uint8_t bits[8 * ((HWY_MAX_BYTES / 4 + 63) / 64)] = {};
  hn::StoreMaskBits(d, mask, bits);
  std::uint64_t word = 0;
  std::copy_n(bits, sizeof word, reinterpret_cast<std::uint8_t*>(&word));
  for (; word != 0; word &= word - 1) take(x + __builtin_ctzll(word));
}

/// CountRamps of a row of one channel, with run_row: few pixels rise enough to be looked at.
template <class T>
void CountRampsRow(const CountRamps<T>& step, int run_row) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t y = std::int64_t{run_row} * soft_stride;
  const DepthRule rule = step.rule;
  const auto strength = hn::Set(d, step.state->strength);
  const auto radii = [&](const T* stored) HWY_ATTR {
    const auto [inverse, known] = InverseOf(d, StoredDepth(d, stored), rule);
    return hn::Mul(strength, hn::IfThenElse(known, inverse, hn::Set(d, NAN)));
  };
  const auto rises = [&](const T* before, const T* after) HWY_ATTR {
    const auto rise = hn::Abs(hn::Sub(radii(after), radii(before)));
    return hn::Gt(rise, hn::Set(d, static_cast<double>(silhouette_step)));
  };
  RampCounts counts;
  const T* row = step.depth.row(y);
  const bool inside = y >= surface_reach && y + surface_reach < step.height;
  const T* above = inside ? step.depth.row(y - 1) : row;
  const T* below = inside ? step.depth.row(y + 1) : row;
  std::int64_t x = 0;
  for (; x < std::min(surface_reach, step.width); ++x) step.count_down(x, y, counts);
  for (; x + lanes + surface_reach <= step.width; x += lanes) {
    ForLanes(d, rises(row + x - 1, row + x + 1), x, [&](std::int64_t u) { step.count_across(u, y, counts); });
    ForLanes(d, rises(above + x, below + x), x, [&](std::int64_t u) { step.count_down(u, y, counts); });
  }
  for (; x < step.width; ++x) {
    step.count_across(x, y, counts);
    step.count_down(x, y, counts);
  }
  step.add(counts);
}

/// RejectThinExtremes of row y.
inline void RejectThinRow(const RejectThinExtremes& of_step, int y) {
  const RejectThinExtremes step = of_step;
  const SoftTag d;
  std::copy_n(step.radii.row(y), step.width, step.result.row(y));
  const auto take = [&](std::int64_t x, auto valid, auto low, auto high) HWY_ATTR {
    const auto apart = hn::And(hn::Gt(hn::Sub(high, low), hn::Set(d, silhouette_step)), valid);
    ForLanes(d, apart, x, [&](std::int64_t u) { step(static_cast<int>(u), y); });
  };
  ForRangesOfRow<thin_reach>(step.radii, step.width, step.height, y, take);
}

/// Lanes of `own`, the radii from column x of row y on, that SoftRim::may_be_near() is true of.
template <class D, class V>
HWY_INLINE auto MayBeNear(D d, const Rows<const SignedRadius256>& radii, std::int64_t height, int y, int rim,
                          std::int64_t x, V own) {
  const auto least = hn::Add(own, hn::Set(d, rim_step));
  const SignedRadius256* row = radii.row(y) + x;
  auto near = hn::Or(hn::Gt(hn::LoadU(d, row - rim), least), hn::Gt(hn::LoadU(d, row + rim), least));
  if (y >= rim) near = hn::Or(near, hn::Gt(hn::LoadU(d, radii.row(y - rim) + x), least));
  if (y + rim < height) near = hn::Or(near, hn::Gt(hn::LoadU(d, radii.row(y + rim) + x), least));
  return near;
}

/// SnapToColours of row y: where nothing is near enough the radius stays.
template <class Colours>
void SnapRow(const SnapToColours<Colours>& of_step, int y) {
  const SnapToColours<Colours> step = of_step;
  const SoftTag d;
  const hn::RebindToFloat<SoftTag> real;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const SignedRadius256* radii = step.radii.row(y);
  std::copy_n(radii, step.width, step.result.row(y));
  const int rim = rim_of(step.width);
  const auto take = [&](std::int64_t x, auto valid, auto low, auto high) HWY_ATTR {
    auto look =
        hn::RebindMask(d, hn::Gt(hn::ConvertTo(real, hn::Sub(high, low)), hn::Set(real, least_beside)));
    if (rim > 0) {
      const bool inside = x >= rim && x + lanes + rim <= step.width;
      look = inside ? hn::Or(look, MayBeNear(d, step.radii, step.height, y, rim, x, hn::LoadU(d, radii + x)))
                    : valid;
    }
    ForLanes(d, hn::And(look, valid), x, [&](std::int64_t u) { step(static_cast<int>(u), y); });
  };
  ForRangesOfRow<snap_beside>(step.radii, step.width, step.height, y, take);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
