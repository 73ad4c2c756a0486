// What a GPU can do: one line an operation, which declares the function that its topic's cuda/ defines, and
// adds it.

#include "core/active_tiles.h"
#include "core/copy.h"
#include "core/cuda/backend.h"
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
#include "pixels/cuda/pixelwise.h"
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
  { Prepare<CopyJob> prepare_copy; operations.add(prepare_copy); }
  { Prepare<MeasureJob> prepare_measure; operations.add(prepare_measure); }
  { Prepare<TableJob> prepare_table; operations.add(prepare_table); }
  { Prepare<BoxMeanJob> prepare_box_mean; operations.add(prepare_box_mean); }
  operations.add<PremultiplyJob>(prepare_pixelwise);
  operations.add<UnpremultiplyJob>(prepare_pixelwise);
  { Prepare<BoxStatsJob> prepare_box_stats; operations.add(prepare_box_stats); }
  { Prepare<LensLayersJob> prepare_lens_layers; operations.add(prepare_lens_layers); }
  operations.add<LensStoreJob>(prepare_pixelwise);
  { Prepare<FixedThresholdJob> prepare_fixed_threshold; operations.add(prepare_fixed_threshold); }
  { Prepare<DistanceJob> prepare_distance; operations.add(prepare_distance); }
  { Prepare<SplatJob> prepare_splat; operations.add(prepare_splat); }
  { Prepare<UnsharpResidualJob> prepare_unsharp_residual; operations.add(prepare_unsharp_residual); }
  { Prepare<LobeMeanJob> prepare_lobe_mean; operations.add(prepare_lobe_mean); }
  { Prepare<LocalLinearJob> prepare_local_linear; operations.add(prepare_local_linear); }
  { Prepare<SlidingExtremeJob> prepare_sliding_extreme; operations.add(prepare_sliding_extreme); }
  { Prepare<RankJob> prepare_rank; operations.add(prepare_rank); }
  { Prepare<RecursiveJob> prepare_recursive; operations.add(prepare_recursive); }
  { Prepare<LabelJob> prepare_label; operations.add(prepare_label); }
  operations.add<RelabelJob>(prepare_pixelwise);
  { Prepare<RegionValuesJob> prepare_region_values; operations.add(prepare_region_values); }
  operations.add<CoverageJob>(prepare_pixelwise);
  operations.add<PaintJob>(prepare_pixelwise);
  { Prepare<ActiveTilesJob> prepare_active_tiles; operations.add(prepare_active_tiles); }
  operations.add<ValidityMaskJob>(prepare_pixelwise);
  operations.add<DepthSpanJob>(prepare_pixelwise);
  operations.add<HeldRadiiJob>(prepare_pixelwise);
  operations.add<SoftDepthJob>(prepare_pixelwise);
  operations.add<SnapDepthJob>(prepare_pixelwise);
  operations.add<StretchJob>(prepare_pixelwise);
  { Prepare<SmoothStepsJob> prepare_smooth_steps; operations.add(prepare_smooth_steps); }
  operations.add<CircleOfConfusionJob>(prepare_pixelwise);
  operations.add<AperturePictureJob>(prepare_pixelwise);
  operations.add<LampsJob>(prepare_pixelwise);
  operations.add<FillUnknownJob>(prepare_pixelwise);
  operations.add<SplitRadiiJob>(prepare_pixelwise);
  operations.add<EnlargeRadiiJob>(prepare_pixelwise);
  operations.add<PlanarRadiiJob>(prepare_pixelwise);
  operations.add_table(scan_operations);
}
// clang-format on

}  // namespace satin::cuda
