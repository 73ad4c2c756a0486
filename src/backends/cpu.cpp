// What the CPU can do: one line an operation, which declares the function that its topic's cpu/ defines, and
// adds it.

#include "core/active_tiles.h"
#include "core/copy.h"
#include "core/cpu/backend.h"
#include "extremes/sliding_extreme.h"
#include "guided/local_linear.h"
#include "lens/aperture_picture.h"
#include "lens/lamps.h"
#include "lens/lens_layers.h"
#include "lens/lens_store.h"
#include "lens/radii_steps.h"
#include "lens/smooth_steps.h"
#include "lens/soft_depth.h"
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
#include "order/rank.h"
#include "order/stretch.h"
#include "pixels/cpu/pixelwise.h"
#include "pixels/fixed_threshold.h"
#include "pixels/measure.h"
#include "pixels/premultiplied.h"
#include "recursive/recursive.h"
#include "scan/cpu/operations.h"
#include "statistics/box_stats.h"
#include "tables/table.h"

namespace satin::cpu {

// clang-format off
void add_operations(Operations& operations) {
  { Prepare<CopyJob> prepare_copy; operations.add(prepare_copy); }
  { Prepare<MeasureJob> prepare_measure; operations.add(prepare_measure); }
  { Prepare<TableJob> prepare_table; operations.add(prepare_table); }
  { Prepare<BoxMeanJob> prepare_box_mean; operations.add(prepare_box_mean); }
  { Prepare<BoxChainJob> prepare_box_chain; operations.add(prepare_box_chain); }
  { Prepare<PremultiplyJob> prepare_premultiply; operations.add(prepare_premultiply); }
  { Prepare<UnpremultiplyJob> prepare_unpremultiply; operations.add(prepare_unpremultiply); }
  { Prepare<BoxStatsJob> prepare_box_stats; operations.add(prepare_box_stats); }
  { Prepare<LensLayersJob> prepare_lens_layers; operations.add(prepare_lens_layers); }
  { Prepare<FixedThresholdJob> prepare_fixed_threshold; operations.add(prepare_fixed_threshold); }
  { Prepare<DistanceJob> prepare_distance; operations.add(prepare_distance); }
  { Prepare<SplatJob> prepare_splat; operations.add(prepare_splat); }
  { Prepare<UnsharpResidualJob> prepare_unsharp_residual; operations.add(prepare_unsharp_residual); }
  { Prepare<UnsharpResidualChainJob> prepare_unsharp_residual_chain; operations.add(prepare_unsharp_residual_chain); }
  { Prepare<LobeMeanJob> prepare_lobe_mean; operations.add(prepare_lobe_mean); }
  { Prepare<LocalLinearJob> prepare_local_linear; operations.add(prepare_local_linear); }
  { Prepare<SlidingExtremeJob> prepare_sliding_extreme; operations.add(prepare_sliding_extreme); }
  { Prepare<RankJob> prepare_rank; operations.add(prepare_rank); }
  { Prepare<RecursiveJob> prepare_recursive; operations.add(prepare_recursive); }
  { Prepare<LabelJob> prepare_label; operations.add(prepare_label); }
  operations.add<RelabelJob>(prepare_pixelwise<EachRow>);
  { Prepare<RegionValuesJob> prepare_region_values; operations.add(prepare_region_values); }
  operations.add<CoverageJob>(prepare_pixelwise<EachRow>);
  operations.add<PaintJob>(prepare_pixelwise<EachRow>);
  { Prepare<ActiveTilesJob> prepare_active_tiles; operations.add(prepare_active_tiles); }
  operations.add<ValidityMaskJob>(prepare_pixelwise<EachRow>);
  { Prepare<DepthSpanJob> prepare_depth_span; operations.add(prepare_depth_span); }
  operations.add<HeldRadiiJob>(prepare_pixelwise<EachRow>);
  { Prepare<SoftDepthJob> prepare_soft_depth; operations.add(prepare_soft_depth); }
  { Prepare<SnapDepthJob> prepare_snap_depth; operations.add(prepare_snap_depth); }
  operations.add<StretchJob>(prepare_pixelwise<EachRow>);
  { Prepare<SmoothStepsJob> prepare_smooth_steps; operations.add(prepare_smooth_steps); }
  { Prepare<CircleOfConfusionJob> prepare_circle_of_confusion; operations.add(prepare_circle_of_confusion); }
  { Prepare<PlanarRadiiJob> prepare_planar_radii; operations.add(prepare_planar_radii); }
  { Prepare<LensStoreJob> prepare_lens_store; operations.add(prepare_lens_store); }
  operations.add<AperturePictureJob>(prepare_pixelwise<EachRow>);
  { Prepare<LampsJob> prepare_lamps; operations.add(prepare_lamps); }
  operations.add<CountUnknownJob>(prepare_pixelwise<EachRow>);
  operations.add<SplitRadiiJob>(prepare_pixelwise<EachRow>);
  operations.add<FillUnknownJob>(prepare_pixelwise<EachRow>);
  operations.add<EnlargeRadiiJob>(prepare_pixelwise<EachRow>);
  operations.add_table(scan_operations);
}
// clang-format on

}  // namespace satin::cpu
