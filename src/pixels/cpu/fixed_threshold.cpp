// One threshold for all pixels, and the histogram that it is chosen from. Compiled for every SIMD target; the
// compiler vectorizes the comparisons.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/fixed_threshold.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/cpu/backend.h"
#include "core/windows.h"
#include "core/with_type.h"
#include "pixels/cpu/plane_rows-inl.h"
#include "pixels/fixed_threshold.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Returns the level as the type of the values: an integer is above the level if it is above the level's
/// floor.
template <class T>
auto LimitOf(double level) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::min<double>(level, std::numeric_limits<T>::max()));
  } else {
    return level;
  }
}

/// Sets out[x] to side_of() of value_at(x), which has type T.
template <class T, class ValueAt>
void StoreSides(std::int64_t width, const FixedThresholdRule& rule, std::uint8_t* out,
                const ValueAt& value_at) {
  const auto above = static_cast<std::uint8_t>(rule.inverted ? 0 : 255);
  const auto below = static_cast<std::uint8_t>(255 - above);
  if (std::is_integral_v<T> && rule.level < 0) {
    std::fill_n(out, width, above);
    return;
  }
  const auto limit = LimitOf<T>(rule.level);
  for (std::int64_t x = 0; x < width; ++x) out[x] = value_at(x) > limit ? above : below;
}

/// Compares the pixels of a row, which do not overlap `out`.
template <class T>
void CompareRow(const T* pixels, std::int64_t width, const FixedThresholdRule& rule, std::uint8_t* out) {
  const PlaneRead plane =
      rule.plane;  // a copy: the compiler must assume that stores of bytes change the rule
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (plane.channels >= 3) {
      TakePlane(pixels, static_cast<std::size_t>(width), plane, out);
      return StoreSides<T>(width, rule, out, [out](std::int64_t x) { return out[x]; });
    }
  if (plane.channels == 1)
    return StoreSides<T>(width, rule, out, [pixels](std::int64_t x) { return pixels[x]; });
  StoreSides<T>(width, rule, out,
                [pixels, plane](std::int64_t x) { return plane_value(pixels + x * plane.channels, plane); });
}

class FixedThreshold final : public FixedThresholdOperation {
 public:
  FixedThreshold(CpuBackend& backend, const FixedThresholdJob& job) : backend_(backend), job_(job) {}

  Quantised count(const ImageView& picture, const Measured* measured, std::uint64_t* counts,
                  Stream) override {
    const int exponent = plane_exponent(job_.plane, measured);
    const std::size_t codes = codes_of(job_.plane.type);
    std::fill_n(counts, codes, 0);
    std::mutex mutex;
    parallel_rows(backend_, picture.shape.height, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<std::uint64_t> own(codes);
      if (job_.plane.type == Type::u8) {
        count_rows<std::uint8_t>(picture, exponent, first, last, own);
      } else {
        count_rows<std::uint32_t>(picture, exponent, first, last, own);
      }
      const std::lock_guard lock(mutex);
      std::transform(own.begin(), own.end(), counts, counts, std::plus<>());
    });
    return quantised(job_.plane, exponent);
  }

  void run(const ImageView& picture, double level, const MutableImageView& output, Stream) override {
    const FixedThresholdRule rule{job_.plane, level, job_.inverted};
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y)
        with_pixel_type(job_.plane.type, [&]<class T>() {
          CompareRow(picture.row<T>(y), job_.width, rule, output.row<std::uint8_t>(y));
        });
    });
  }

 private:
  static constexpr std::int64_t chunk = 1024;  ///< pixels that stay in the L1

  /// Adds the codes of the rows [first, last) to the counts. Integer holds the plane's values.
  template <class Integer>
  void count_rows(const ImageView& picture, int exponent, std::int64_t first, std::int64_t last,
                  std::vector<std::uint64_t>& counts) const {
    Integer values[chunk];
    for (std::int64_t y = first; y < last; ++y)
      for (std::int64_t x = 0; x < picture.shape.width; x += chunk) {
        const std::int64_t end = std::min(x + chunk, picture.shape.width);
        ReadQuantised(job_.plane, exponent, part_of(picture, {{x, end}, {y, y + 1}}), 0, values);
        for (std::int64_t i = 0; i < end - x; ++i) ++counts[code_of(values[i])];
      }
  }

  CpuBackend& backend_;
  FixedThresholdJob job_;
};

inline Prepared<FixedThresholdJob> PrepareFixedThreshold(Backend& backend, const FixedThresholdJob& job) {
  return std::make_unique<FixedThreshold>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareFixedThreshold);

Prepared<FixedThresholdJob> prepare_fixed_threshold(Backend& backend, const FixedThresholdJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareFixedThreshold)(backend, job);
}

}  // namespace satin::cpu
#endif
