#pragma once
// Launches of lens_layers.cu, depth_ramp.cu, depth_groups.cu, disocclusion_fill.cu and lens_store.cu, in the
// manner of launch.h.

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "lens/lens_layers.h"
#include "lens/lens_store.h"
#include "lens/maths/disocclusion_fill.h"
#include "lens/maths/lens_layers_steps.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

struct LensLayersArguments {
  LensLayersJob job;
  TransferView transfer;
  LensPlanes planes;
  LensList list;
  GroupWork* work = nullptr;
  LensUnit* unit = nullptr;
  void* fill_workspace = nullptr;
  int multiprocessors = 1;
};

/// Radii -> visible samples, and those of silhouettes in the list.
void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, StreamHandle stream);

// Steps of make_visible_samples() that are not one thread a place.

void sharpen_ramps(const SharpenRamp& step, StreamHandle stream);
void find_silhouettes(const FindSilhouette& step, StreamHandle stream);
void find_radius_range(const FindRadiusRange& step, StreamHandle stream);
void count_radii(const CountRadii& step, StreamHandle stream);
void sum_histogram(const SumHistogram& steps, StreamHandle stream);
void find_best_partition(const FindBestPartition& steps, StreamHandle stream);

/// Lets fill_disocclusions() have its shared memory; the code of a cudaError_t.
[[nodiscard]] int prepare_fill_disocclusions(int channels);
[[nodiscard]] std::size_t fill_workspace_bytes(const LensLayersJob& job);

/// Adds the hidden samples of all groups to the list and completes it after each of them.
void fill_disocclusions(const LensLayersArguments& arguments, StreamHandle stream);

/// A picture of what was seen.
void show_lens(const LensLayersArguments& arguments, const LensShow& shown, StreamHandle stream);

struct LensStoreArguments {
  LensStoreJob job;
  LensStoreRule rule;
  const std::uint32_t* values = nullptr;
  const Measured* measured = nullptr;
  ImageView picture;
  Source mask;
  Target output;
};

void store_lens(const LensStoreArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
