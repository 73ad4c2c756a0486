#pragma once
// The order of the steps between a picture with its radii and the splat, the same on every backend. A
// backend brings a launch: launch(width, height, step) calls step(x, y) for every place, on its threads, and
// launch(steps) runs steps that belong together.

#include <cstdint>

#include "lens/maths/depth_groups.h"
#include "lens/maths/depth_ramp.h"
#include "lens/maths/disocclusion_fill.h"
#include "lens/maths/silhouette.h"

namespace satin {

/// Begins a run: the picture's unit; nothing is known of the radii and no sample is in the list. One place a
/// bin.
template <class T>
struct ClearLensWork {
  LensPicture<T> picture;
  const Measured* measured;
  GroupWork* work;
  LensUnit* unit;
  LensList list;

  SATIN_HD void operator()(int x, int /*y*/) const {
    work->clear(x);
    if (x != 0) return;
    *unit = lens_unit(picture, measured);
    *list.count = 0;
    *list.attempted = 0;
  }
};

struct CompleteList {
  LensList list;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const { list.complete(); }
};

// Steps that look at bins alone, which a backend may launch together.

/// The histogram as prefix sums.
struct SumHistogram {
  GroupWork* work;

  template <class Launch>
  SATIN_HD void run(const Launch& launch) const {
    launch(depth_bins, 1, WeighBins{work});
    launch(3, 1, SumBins{work});
  }
};

/// From the costs of all ranges of bins to `most` groups at most.
struct FindBestPartition {
  GroupWork* work;
  int most;

  template <class Launch>
  SATIN_HD void run(const Launch& launch) const {
    for (int groups = 1; groups <= most; ++groups) {
      if (groups > 1) launch(depth_bins + 1, cut_ranges, TryCuts{work, groups});
      launch(depth_bins + 1, 1, PartitionBins{work, groups});
    }
    launch(1, 1, ChooseGroups{work, most});
  }
};

template <class Launch>
void find_depth_groups(const Launch& launch, const LensPlanes& planes, GroupWork* work, int most) {
  const int runs = (planes.width + histogram_run - 1) / histogram_run;
  const int rows = (planes.height + histogram_stride - 1) / histogram_stride;
  launch(runs, rows, FindRadiusRange{planes, work});
  launch(runs, rows, CountRadii{planes, work});
  launch(SumHistogram{work});
  launch(depth_bins + 1, depth_bins, CostOfRanges{work});
  launch(FindBestPartition{work, most});
}

/// Radii -> visible samples, and the list of those behind or before them on silhouettes.
template <int Channels, class T, class Launch>
void make_visible_samples(const Launch& launch, const LensPlanes& planes, const LensPicture<T>& picture,
                          const Measured* measured, LensUnit* unit, GroupWork* work, const LensList& list,
                          const std::uint32_t* soft, int most) {
  launch(depth_bins, 1, ClearLensWork<T>{picture, measured, work, unit, list});
  launch(planes.width, planes.height, SharpenRamp{planes});
  find_depth_groups(launch, planes, work, most);
  launch(planes.width, planes.height, FindSilhouette{planes});
  const StoreVisible<T, Channels> visible{planes, picture, unit, &work->groups};
  launch(planes.width, planes.height, visible);
  launch(planes.width, planes.height, SeparateSilhouettes<T, Channels>{visible, list, soft});
  launch(1, 1, CompleteList{list});
}

}  // namespace satin
