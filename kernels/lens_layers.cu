// The steps of depth of field before the deposit: one thread a pixel, or a block of 2 x 2 hidden pixels.

#include "core/maths/lens_debug.h"
#include "core/maths/lens_layers_steps.h"
#include "core/operations/with_type.h"
#include "kernels/each_place.cuh"
#include "kernels/lens.h"

namespace satin::kernels {
namespace {

struct WriteFillEntry {
  FillEntry entry;
  const DepthGroups* groups;
  FillColours* colours;
  FillOthers* others;

  __device__ void operator()(int x, int y) const {
    if (entry.group >= groups->count) return;
    const std::int64_t at = entry.planes.place(x, y);
    FillColours colour;
    FillOthers other;
    entry(x, y, colour, other);
    colours[at] = colour;
    others[at] = other;
  }
};

template <int Channels>
struct FillKnownGroup {
  FillHidden<Channels> fill;
  const DepthGroups* groups;

  __device__ void operator()(int x, int y) const {
    if (fill.group < groups->count) fill(x, y);
  }
};

}  // namespace

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

void make_fill_entries(const LensLayersArguments& arguments, int group, FillColours* colours,
                       FillOthers* others, StreamHandle stream) {
  const FillEntry entry{arguments.planes, arguments.unit, group};
  EachPlace{stream}(arguments.planes.width, arguments.planes.height,
                    WriteFillEntry{entry, &arguments.work->groups, colours, others});
}

void fill_hidden(const LensLayersArguments& arguments, int group, const FillTables& tables,
                 StreamHandle stream) {
  const EachPlace launch{stream};
  with_channels(arguments.job.channels, [&]<int Channels>() {
    const FillHidden<Channels> fill{arguments.planes, tables, arguments.unit, group, arguments.list};
    launch((arguments.planes.width + 1) / 2, (arguments.planes.height + 1) / 2,
           FillKnownGroup<Channels>{fill, &arguments.work->groups});
  });
  launch(1, 1, CompleteList{arguments.list});
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
