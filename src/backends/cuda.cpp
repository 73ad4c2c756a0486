// Registers the operations of the GPU, one line for each. The functions are defined in the folder cuda/ of
// their topic.

#include "core/cuda/backend.h"
#include "core/plan_operations.h"
#include "depth/circle_of_confusion.h"
#include "depth/depth_statistics.h"
#include "depth/enlarge_map.h"
#include "depth/enlarge_radii.h"
#include "depth/fill_radii.h"
#include "depth/follow_subject.h"
#include "depth/smooth_steps.h"
#include "depth/soft_depth.h"
#include "extremes/sliding_extreme.h"
#include "guided/local_linear.h"
#include "lens/grain.h"
#include "lens/lamps.h"
#include "lens/layers.h"
#include "lens/splat.h"
#include "light/gain_ratio.h"
#include "light/restore.h"
#include "lobes/lobe_mean.h"
#include "masks/distance.h"
#include "masks/paint.h"
#include "masks/regions.h"
#include "masks/validity_mask.h"
#include "means/box_mean.h"
#include "means/unsharp_residual.h"
#include "order/rank.h"
#include "order/stretch.h"
#include "pixels/cuda/pixelwise.h"
#include "pixels/fixed_threshold.h"
#include "pixels/premultiplied.h"
#include "recursive/recursive.h"
#include "resample/resample.h"
#include "scan/cuda/operations.h"
#include "statistics/box_stats.h"
#include "tables/table.h"

namespace satin::cuda {

Prepared<CopyJob> prepare_copy(Backend& backend, const CopyJob& job);
Prepared<MeasureJob> prepare_measure(Backend& backend, const MeasureJob& job);
Prepared<TableJob> prepare_table(Backend& backend, const TableJob& job);
Prepared<BoxMeanJob> prepare_box_mean(Backend& backend, const BoxMeanJob& job);
Prepared<BoxChainJob> prepare_box_chain(Backend& backend, const BoxChainJob& job);
Prepared<BoxStatsJob> prepare_box_stats(Backend& backend, const BoxStatsJob& job);
Prepared<LensLayersJob> prepare_lens_layers(Backend& backend, const LensLayersJob& job);
Prepared<FixedThresholdJob> prepare_fixed_threshold(Backend& backend, const FixedThresholdJob& job);
Prepared<DistanceJob> prepare_distance(Backend& backend, const DistanceJob& job);
Prepared<SplatJob> prepare_splat(Backend& backend, const SplatJob& job);
Prepared<UnsharpResidualJob> prepare_unsharp_residual(Backend& backend, const UnsharpResidualJob& job);
Prepared<LobeMeanJob> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job);
Prepared<LocalLinearJob> prepare_local_linear(Backend& backend, const LocalLinearJob& job);
Prepared<SlidingExtremeJob> prepare_sliding_extreme(Backend& backend, const SlidingExtremeJob& job);
Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job);
Prepared<RecursiveJob> prepare_recursive(Backend& backend, const RecursiveJob& job);
Prepared<LabelJob> prepare_label(Backend& backend, const LabelJob& job);
Prepared<RegionValuesJob> prepare_region_values(Backend& backend, const RegionValuesJob& job);
Prepared<ActiveTilesJob> prepare_active_tiles(Backend& backend, const ActiveTilesJob& job);
Prepared<SmoothStepsJob> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job);
Prepared<ResampleJob> prepare_resample(Backend& backend, const ResampleJob& job);

void add_operations(Operations& operations) {
  operations.add<CopyJob>(prepare_copy);
  operations.add<MeasureJob>(prepare_measure);
  operations.add<TableJob>(prepare_table);
  operations.add<BoxMeanJob>(prepare_box_mean);
  operations.add<BoxChainJob>(prepare_box_chain);
  operations.add<PremultiplyJob>(prepare_pixelwise);
  operations.add<UnpremultiplyJob>(prepare_pixelwise);
  operations.add<BoxStatsJob>(prepare_box_stats);
  operations.add<LensLayersJob>(prepare_lens_layers);
  operations.add<LensStoreJob>(prepare_pixelwise);
  operations.add<FixedThresholdJob>(prepare_fixed_threshold);
  operations.add<DistanceJob>(prepare_distance);
  operations.add<SplatJob>(prepare_splat);
  operations.add<UnsharpResidualJob>(prepare_unsharp_residual);
  operations.add<LobeMeanJob>(prepare_lobe_mean);
  operations.add<LocalLinearJob>(prepare_local_linear);
  operations.add<SlidingExtremeJob>(prepare_sliding_extreme);
  operations.add<RankJob>(prepare_rank);
  operations.add<RecursiveJob>(prepare_recursive);
  operations.add<LabelJob>(prepare_label);
  operations.add<RelabelJob>(prepare_pixelwise);
  operations.add<RegionValuesJob>(prepare_region_values);
  operations.add<CoverageJob>(prepare_pixelwise);
  operations.add<PaintJob>(prepare_pixelwise);
  operations.add<ActiveTilesJob>(prepare_active_tiles);
  operations.add<ValidityMaskJob>(prepare_pixelwise);
  operations.add<DepthStatisticsJob>(prepare_pixelwise);
  operations.add<ClampedRadiiJob>(prepare_pixelwise);
  operations.add<SoftDepthJob>(prepare_pixelwise);
  operations.add<SnapDepthJob>(prepare_pixelwise);
  operations.add<StretchJob>(prepare_pixelwise);
  operations.add<SmoothStepsJob>(prepare_smooth_steps);
  operations.add<CircleOfConfusionJob>(prepare_pixelwise);
  operations.add<AperturePictureJob>(prepare_pixelwise);
  operations.add<LampsJob>(prepare_pixelwise);
  operations.add<FillUnknownJob>(prepare_pixelwise);
  operations.add<SplitRadiiJob>(prepare_pixelwise);
  operations.add<EnlargeRadiiJob>(prepare_pixelwise);
  operations.add<EnlargeMapJob>(prepare_pixelwise);
  operations.add<GrainJob>(prepare_pixelwise);
  operations.add<FollowSubjectJob>(prepare_pixelwise);
  operations.add<PlanarRadiiJob>(prepare_pixelwise);
  operations.add<ResampleJob>(prepare_resample);
  operations.add<NearestPixelsJob>(prepare_pixelwise);
  operations.add<RestoreJob>(prepare_pixelwise);
  operations.add<GainRatioJob>(prepare_pixelwise);
  operations.add<GainCodesJob>(prepare_pixelwise);
  operations.add_table(scan_operations);
}

}  // namespace satin::cuda
