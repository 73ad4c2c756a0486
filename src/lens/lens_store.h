#pragma once
// The last step of depth of field: linear integers -> the pixels that are stored.

#include "lens/lens_layers.h"
#include "lens/maths/lens_store.h"

namespace satin {

struct LensStoreOperation;

struct LensStoreJob {
  using Operation = LensStoreOperation;

  LensLayersJob picture;
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
  bool keeps_last = false;         ///< the last channel is data, whose bytes stay
};

struct LensStoreImages {
  const std::uint32_t* values = nullptr;  ///< dense, interleaved
  ImageView picture;
  ImageView mask;
  MutableImageView output;
  const Measured* measured = nullptr;
};

/// Every pixel by store_lens_pixel(). The output may alias none of the others.
struct LensStoreOperation : Operation {
  virtual void run(const LensStoreImages& images, Stream stream) = 0;
};

[[nodiscard]] inline LensStoreRule lens_store_rule(const LensStoreJob& job, const TransferView& transfer) {
  return {{job.picture.weighted, job.mask_maximum, transfer}, job.keeps_last};
}

}  // namespace satin
