#pragma once
// Launches of lens_layers.cu and lens_store.cu, in the manner of launch.h.

#include "core/maths/depth_groups.h"
#include "core/maths/hidden_fill.h"
#include "core/operations/lens_layers.h"
#include "core/operations/lens_store.h"
#include "kernels/launch.h"

namespace satin::kernels {

struct LensLayersArguments {
  LensLayersJob job;
  TransferView transfer;
  LensPlanes planes;
  LensList list;
  GroupWork* work = nullptr;
  LensUnit* unit = nullptr;
};

/// Radii -> visible samples, and those of silhouettes in the list.
void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, StreamHandle stream);

/// What the pixels add to the tables of one group: dense planes.
void make_fill_entries(const LensLayersArguments& arguments, int group, FillColours* colours,
                       FillOthers* others, StreamHandle stream);

/// Adds the hidden samples of one group to the list and completes it.
void fill_hidden(const LensLayersArguments& arguments, int group, const FillTables& tables,
                 StreamHandle stream);

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
