// The steps of depth of field before the deposit but the hidden samples: one thread a pixel.

#include "core/maths/lens_debug.h"
#include "core/maths/lens_layers_steps.h"
#include "core/operations/with_type.h"
#include "kernels/each_place.cuh"
#include "kernels/lens.h"

namespace satin::kernels {

void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, StreamHandle stream) {
  EachPlace launch{stream};
  with_plane_type(arguments.job.type, [&](auto type) {
    const auto stored = lens_picture<decltype(type)>(arguments.job, picture, arguments.transfer);
    with_channels(arguments.job.channels, [&]<int Channels>() {
      satin::make_visible_samples<Channels>(launch, arguments.planes, stored, measured, arguments.unit,
                                            arguments.work, arguments.list, arguments.job.most_groups);
    });
  });
}

void show_lens(const LensLayersArguments& arguments, const LensShow& shown, StreamHandle stream) {
  const EachPlace launch{stream};
  const LensPlanes& planes = arguments.planes;
  const LensLayersJob& job = arguments.job;
  const ShadeUnit shade{arguments.unit, shown.opacity, job.weighted && job.type == Type::f32};
  if (shown.what == LensDebug::hidden)
    return show_hidden(launch, planes, shade, arguments.list, arguments.job.most_groups, shown.values);
  launch(planes.width, planes.height,
         ShowShades{planes, shade, shown.what == LensDebug::groups, shown.order == Order::bgr,
                    shown.largest_radius, shown.values});
}

}  // namespace satin::kernels
