// Bytes with straight alpha to premultiplied values and back, one thread per pixel. All channels of a pixel
// move in one access, and the reciprocal of alpha is computed once for all colours.

#include "kernels/device/exact_division.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/pixels/each_place.cuh"
#include "pixels/premultiplied.h"

namespace satin::kernels {
namespace {

/// Rows of values begin at multiples of a pixel's size; rows of the caller's bytes may begin anywhere.
template <int Channels, class Value>
struct PremultiplyTogether {
  PremultiplyPixels<Channels, Value> step;

  __device__ void operator()(int x, int y) const {
    Vector<Value, Channels> pixel;
    premultiply<Channels>(step.picture.row(y) + std::int64_t{x} * Channels, step.rule, pixel.of);
    reinterpret_cast<Vector<Value, Channels>*>(step.values.row(y))[x] = pixel;
  }
};

template <int Channels, class Value>
struct UnpremultiplyTogether {
  UnpremultiplyPixels<Channels, Value> step;

  __device__ void operator()(int x, int y) const {
    const auto pixel = reinterpret_cast<const Vector<Value, Channels>*>(step.values.row(y))[x];
    const std::uint32_t alpha = pixel.of[Channels - 1];
    const WideDivisor by(max(alpha, 1U));
    const auto colour = [&](int c) {
      const std::uint64_t total = static_cast<std::uint64_t>(pixel.of[c]) * step.rule.white;  // below 2^41
      return alpha == 0 ? 0 : by.rounded(total, __ull2double_rn(total));
    };
    const std::int64_t at = std::int64_t{x} * Channels;
    store_straight<Channels>(colour, alpha, step.original.row(y) + at, step.mask.weight(x, y), step.rule,
                             step.output.row(y) + at);
  }
};

struct TogetherLaunch {
  EachPlace each;

  template <int Channels, class Value>
  void operator()(std::int64_t width, std::int64_t height,
                  const PremultiplyPixels<Channels, Value>& step) const {
    each(width, height, PremultiplyTogether<Channels, Value>{step});
  }
  template <int Channels, class Value>
  void operator()(std::int64_t width, std::int64_t height,
                  const UnpremultiplyPixels<Channels, Value>& step) const {
    each(width, height, UnpremultiplyTogether<Channels, Value>{step});
  }
};

}  // namespace

template <>
void run_pixelwise(const PremultiplyJob& job, const PremultiplyJob::Images& images,
                   const TransferView& transfer, StreamHandle stream) {
  job.each(images, transfer, TogetherLaunch{{stream}});
}

template <>
void run_pixelwise(const UnpremultiplyJob& job, const UnpremultiplyJob::Images& images,
                   const TransferView& transfer, StreamHandle stream) {
  job.each(images, transfer, TogetherLaunch{{stream}});
}

}  // namespace satin::kernels
