// Registers the operations of the CPU, one line for each. The functions are defined in the folder cpu/ of
// their topic.

#include "core/cpu/backend.h"
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
#include "pixels/cpu/pixelwise-inl.h"
#include "pixels/fixed_threshold.h"
#include "pixels/premultiplied.h"
#include "recursive/recursive.h"
#include "resample/resample.h"
#include "scan/cpu/operations.h"
#include "statistics/box_stats.h"
#include "tables/table.h"

namespace satin::cpu {

using HWY_NAMESPACE::EachRow;
using HWY_NAMESPACE::prepare_pixelwise;

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
Prepared<UnsharpResidualChainJob> prepare_unsharp_residual_chain(Backend& backend,
                                                                 const UnsharpResidualChainJob& job);
Prepared<LobeMeanJob> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job);
Prepared<LocalLinearJob> prepare_local_linear(Backend& backend, const LocalLinearJob& job);
Prepared<SlidingExtremeJob> prepare_sliding_extreme(Backend& backend, const SlidingExtremeJob& job);
Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job);
Prepared<RecursiveJob> prepare_recursive(Backend& backend, const RecursiveJob& job);
Prepared<LabelJob> prepare_label(Backend& backend, const LabelJob& job);
Prepared<RegionValuesJob> prepare_region_values(Backend& backend, const RegionValuesJob& job);
Prepared<ActiveTilesJob> prepare_active_tiles(Backend& backend, const ActiveTilesJob& job);
Prepared<DepthStatisticsJob> prepare_depth_statistics(Backend& backend, const DepthStatisticsJob& job);
Prepared<SoftDepthJob> prepare_soft_depth(Backend& backend, const SoftDepthJob& job);
Prepared<SnapDepthJob> prepare_snap_depth(Backend& backend, const SnapDepthJob& job);
Prepared<SmoothStepsJob> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job);
Prepared<CircleOfConfusionJob> prepare_circle_of_confusion(Backend& backend, const CircleOfConfusionJob& job);
Prepared<PlanarRadiiJob> prepare_planar_radii(Backend& backend, const PlanarRadiiJob& job);
Prepared<LensStoreJob> prepare_lens_store(Backend& backend, const LensStoreJob& job);
Prepared<LampsJob> prepare_lamps(Backend& backend, const LampsJob& job);
Prepared<ResampleJob> prepare_resample(Backend& backend, const ResampleJob& job);
Prepared<RestoreJob> prepare_restore(Backend& backend, const RestoreJob& job);
Prepared<GainRatioJob> prepare_gain_ratio(Backend& backend, const GainRatioJob& job);
Prepared<GainCodesJob> prepare_gain_codes(Backend& backend, const GainCodesJob& job);

void add_operations(Operations& operations) {
  operations.add<CopyJob>(prepare_copy);
  operations.add<MeasureJob>(prepare_measure);
  operations.add<TableJob>(prepare_table);
  operations.add<BoxMeanJob>(prepare_box_mean);
  operations.add<BoxChainJob>(prepare_box_chain);
  operations.add<PremultiplyJob>(prepare_pixelwise<EachRow>);
  operations.add<UnpremultiplyJob>(prepare_pixelwise<EachRow>);
  operations.add<BoxStatsJob>(prepare_box_stats);
  operations.add<LensLayersJob>(prepare_lens_layers);
  operations.add<FixedThresholdJob>(prepare_fixed_threshold);
  operations.add<DistanceJob>(prepare_distance);
  operations.add<SplatJob>(prepare_splat);
  operations.add<UnsharpResidualJob>(prepare_unsharp_residual);
  operations.add<UnsharpResidualChainJob>(prepare_unsharp_residual_chain);
  operations.add<LobeMeanJob>(prepare_lobe_mean);
  operations.add<LocalLinearJob>(prepare_local_linear);
  operations.add<SlidingExtremeJob>(prepare_sliding_extreme);
  operations.add<RankJob>(prepare_rank);
  operations.add<RecursiveJob>(prepare_recursive);
  operations.add<LabelJob>(prepare_label);
  operations.add<RelabelJob>(prepare_pixelwise<EachRow>);
  operations.add<RegionValuesJob>(prepare_region_values);
  operations.add<CoverageJob>(prepare_pixelwise<EachRow>);
  operations.add<PaintJob>(prepare_pixelwise<EachRow>);
  operations.add<ActiveTilesJob>(prepare_active_tiles);
  operations.add<ValidityMaskJob>(prepare_pixelwise<EachRow>);
  operations.add<DepthStatisticsJob>(prepare_depth_statistics);
  operations.add<ClampedRadiiJob>(prepare_pixelwise<EachRow>);
  operations.add<SoftDepthJob>(prepare_soft_depth);
  operations.add<SnapDepthJob>(prepare_snap_depth);
  operations.add<StretchJob>(prepare_pixelwise<EachRow>);
  operations.add<SmoothStepsJob>(prepare_smooth_steps);
  operations.add<CircleOfConfusionJob>(prepare_circle_of_confusion);
  operations.add<PlanarRadiiJob>(prepare_planar_radii);
  operations.add<LensStoreJob>(prepare_lens_store);
  operations.add<AperturePictureJob>(prepare_pixelwise<EachRow>);
  operations.add<LampsJob>(prepare_lamps);
  operations.add<CountUnknownJob>(prepare_pixelwise<EachRow>);
  operations.add<SplitRadiiJob>(prepare_pixelwise<EachRow>);
  operations.add<FillUnknownJob>(prepare_pixelwise<EachRow>);
  operations.add<EnlargeRadiiJob>(prepare_pixelwise<EachRow>);
  operations.add<EnlargeMapJob>(prepare_pixelwise<EachRow>);
  operations.add<GrainJob>(prepare_pixelwise<EachRow>);
  operations.add<FollowSubjectJob>(prepare_pixelwise<EachRow>);
  operations.add<ResampleJob>(prepare_resample);
  operations.add<NearestPixelsJob>(prepare_pixelwise<EachRow>);
  operations.add<RestoreJob>(prepare_restore);
  operations.add<GainRatioJob>(prepare_gain_ratio);
  operations.add<GainCodesJob>(prepare_gain_codes);
  operations.add_table(scan_operations);
}

}  // namespace satin::cpu
