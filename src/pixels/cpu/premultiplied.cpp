// The CPU's operations on bytes with straight alpha (pixels/premultiplied.h), compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/premultiplied.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "pixels/cpu/pixelwise-inl.h"
#include "pixels/cpu/premultiplied-inl.h"
#include "pixels/premultiplied.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr std::int64_t at_once = 1024;  ///< pixels of a row
using Scratch = std::array<std::uint16_t, at_once * 4>;

/// Calls run(first, count) for ranges of a row whose scratch fits the L1.
template <class Run>
void ForRanges(std::int64_t width, const Run& run) {
  for (std::int64_t x = 0; x < width; x += at_once)
    run(x, static_cast<std::size_t>(std::min(at_once, width - x)));
}

struct PremultipliedRows : EachRow {
  using EachRow::EachRow;

  template <int Channels, class Value>
  void operator()(std::int64_t width, std::int64_t height,
                  const PremultiplyPixels<Channels, Value>& step) const {
    rows(height, [&](int y) {
      Scratch scratch;
      ForRanges(width, [&](std::int64_t x, std::size_t count) {
        WeighPixels<Channels>(step.picture.row(y) + x * Channels, count, step.rule.transfer, scratch.data(),
                              step.rule.white, step.values.row(y) + x * Channels);
      });
    });
  }

  template <int Channels, class Value>
  void operator()(std::int64_t width, std::int64_t height,
                  const UnpremultiplyPixels<Channels, Value>& step) const {
    if (step.rule.mask_maximum != 0) return each(width, height, step);
    rows(height, [&](int y) {
      Scratch scratch;
      ForRanges(width, [&](std::int64_t x, std::size_t count) {
        const std::int64_t at = x * Channels;
        StorePixels<Channels>(step.values.row(y) + at, step.original.row(y) + at, count, step.rule,
                              scratch.data(), step.output.row(y) + at);
      });
    });
  }
};

inline Prepared<PremultiplyJob> PreparePremultiply(Backend& backend, const PremultiplyJob& job) {
  return prepare_pixelwise<PremultipliedRows>(backend, job);
}

inline Prepared<UnpremultiplyJob> PrepareUnpremultiply(Backend& backend, const UnpremultiplyJob& job) {
  return prepare_pixelwise<PremultipliedRows>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PreparePremultiply);
HWY_EXPORT(PrepareUnpremultiply);

Prepared<PremultiplyJob> prepare_premultiply(Backend& backend, const PremultiplyJob& job) {
  return HWY_DYNAMIC_DISPATCH(PreparePremultiply)(backend, job);
}

Prepared<UnpremultiplyJob> prepare_unpremultiply(Backend& backend, const UnpremultiplyJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareUnpremultiply)(backend, job);
}

}  // namespace satin::cpu
#endif
