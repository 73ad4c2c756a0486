// Linear integers of the lens -> stored pixels: one thread a pixel.

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "kernels/lens/lens.h"
#include "kernels/pixels/each_place.cuh"
#include "lens/lens_layers.h"

namespace satin::kernels {
namespace {

template <int Channels, class T>
struct StorePixel {
  LensPicture<T> picture;
  LensStoreRule rule;
  const std::uint32_t* values;
  const Measured* measured;
  Source mask;
  Target output;
  std::int64_t width;

  __device__ void operator()(int x, int y) const {
    const LensUnit unit = lens_unit(picture, measured);
    const std::byte* mask_row = mask.data + y * mask.row;
    const std::uint32_t weight = rule.mask_maximum == 0 ? 0
                                 : rule.mask_maximum == 0xFF
                                     ? reinterpret_cast<const std::uint8_t*>(mask_row)[x]
                                     : reinterpret_cast<const std::uint16_t*>(mask_row)[x];
    T* out = reinterpret_cast<T*>(output.data + y * output.row) + static_cast<std::int64_t>(x) * Channels;
    store_lens_pixel<Channels>(values + (y * width + x) * Channels, picture, picture.at(x, y), weight, rule,
                               unit, out);
  }
};

template <int Channels, class T>
void store(const LensStoreArguments& arguments, StreamHandle stream) {
  const LensLayersJob& job = arguments.job.picture;
  const auto picture = lens_picture<T>(job, arguments.picture, arguments.rule.transfer);
  EachPlace{stream}(static_cast<int>(job.width), static_cast<int>(job.height),
                    StorePixel<Channels, T>{picture, arguments.rule, arguments.values, arguments.measured,
                                            arguments.mask, arguments.output, job.width});
}

}  // namespace

void store_lens(const LensStoreArguments& arguments, StreamHandle stream) {
  with_plane_type(arguments.job.picture.type, [&](auto type) {
    using T = decltype(type);
    with_channels(arguments.job.picture.channels,
                  [&]<int Channels>() { store<Channels, T>(arguments, stream); });
  });
}

}  // namespace satin::kernels
