// What a GPU can do: one line an operation, which declares the function that its topic's cuda/ defines, and
// adds it.

#include "core/active_tiles.h"
#include "core/copy.h"
#include "core/cuda/backend.h"
#include "extremes/sliding_extreme.h"
#include "guided/local_linear.h"
#include "lens/circle_of_confusion.h"
#include "lens/enlarge_radii.h"
#include "lens/fill_radii.h"
#include "lens/lens_layers.h"
#include "lens/lens_store.h"
#include "lens/planar_radii.h"
#include "lens/smooth_steps.h"
#include "lens/splat.h"
#include "lobes/lobe_mean.h"
#include "masks/coverage.h"
#include "masks/distance.h"
#include "masks/label.h"
#include "masks/paint.h"
#include "masks/region_values.h"
#include "masks/relabel.h"
#include "masks/validity_mask.h"
#include "means/box_mean.h"
#include "means/unsharp_residual.h"
#include "pixels/fixed_threshold.h"
#include "pixels/measure.h"
#include "pixels/premultiplied.h"
#include "recursive/recursive.h"
#include "scan/cuda/operations.h"
#include "statistics/box_stats.h"
#include "tables/table.h"

namespace satin::cuda {

// clang-format off
void add_operations(Operations& operations) {
  { Prepare<CopyJob> prepare_copy; operations.add<CopyJob>(prepare_copy); }
  { Prepare<MeasureJob> prepare_measure; operations.add<MeasureJob>(prepare_measure); }
  { Prepare<TableJob> prepare_table; operations.add<TableJob>(prepare_table); }
  { Prepare<BoxMeanJob> prepare_box_mean; operations.add<BoxMeanJob>(prepare_box_mean); }
  { Prepare<PremultiplyJob> prepare_premultiply; operations.add<PremultiplyJob>(prepare_premultiply); }
  { Prepare<UnpremultiplyJob> prepare_unpremultiply; operations.add<UnpremultiplyJob>(prepare_unpremultiply); }
  { Prepare<BoxStatsJob> prepare_box_stats; operations.add<BoxStatsJob>(prepare_box_stats); }
  { Prepare<LensLayersJob> prepare_lens_layers; operations.add<LensLayersJob>(prepare_lens_layers); }
  { Prepare<LensStoreJob> prepare_lens_store; operations.add<LensStoreJob>(prepare_lens_store); }
  { Prepare<FixedThresholdJob> prepare_fixed_threshold; operations.add<FixedThresholdJob>(prepare_fixed_threshold); }
  { Prepare<DistanceJob> prepare_distance; operations.add<DistanceJob>(prepare_distance); }
  { Prepare<SplatJob> prepare_splat; operations.add<SplatJob>(prepare_splat); }
  { Prepare<UnsharpResidualJob> prepare_unsharp_residual; operations.add<UnsharpResidualJob>(prepare_unsharp_residual); }
  { Prepare<LobeMeanJob> prepare_lobe_mean; operations.add<LobeMeanJob>(prepare_lobe_mean); }
  { Prepare<LocalLinearJob> prepare_local_linear; operations.add<LocalLinearJob>(prepare_local_linear); }
  { Prepare<SlidingExtremeJob> prepare_sliding_extreme; operations.add<SlidingExtremeJob>(prepare_sliding_extreme); }
  { Prepare<RecursiveJob> prepare_recursive; operations.add<RecursiveJob>(prepare_recursive); }
  { Prepare<LabelJob> prepare_label; operations.add<LabelJob>(prepare_label); }
  { Prepare<RelabelJob> prepare_relabel; operations.add<RelabelJob>(prepare_relabel); }
  { Prepare<RegionValuesJob> prepare_region_values; operations.add<RegionValuesJob>(prepare_region_values); }
  { Prepare<CoverageJob> prepare_coverage; operations.add<CoverageJob>(prepare_coverage); }
  { Prepare<PaintJob> prepare_paint; operations.add<PaintJob>(prepare_paint); }
  { Prepare<ActiveTilesJob> prepare_active_tiles; operations.add<ActiveTilesJob>(prepare_active_tiles); }
  { Prepare<ValidityMaskJob> prepare_validity_mask; operations.add<ValidityMaskJob>(prepare_validity_mask); }
  { Prepare<SmoothStepsJob> prepare_smooth_steps; operations.add<SmoothStepsJob>(prepare_smooth_steps); }
  { Prepare<CircleOfConfusionJob> prepare_circle_of_confusion; operations.add<CircleOfConfusionJob>(prepare_circle_of_confusion); }
  { Prepare<FillRadiiJob> prepare_fill_radii; operations.add<FillRadiiJob>(prepare_fill_radii); }
  { Prepare<EnlargeRadiiJob> prepare_enlarge_radii; operations.add<EnlargeRadiiJob>(prepare_enlarge_radii); }
  { Prepare<PlanarRadiiJob> prepare_planar_radii; operations.add<PlanarRadiiJob>(prepare_planar_radii); }
  operations.add_table(scan_operations);
}
// clang-format on

}  // namespace satin::cuda
