#pragma once
// Bytes with straight alpha, 2 or 4 channels, as premultiplied working values, and back.

#include <cstdint>

#include "core/operation.h"
#include "pixels/maths/premultiplied.h"
#include "pixels/pixels.h"

namespace satin {

struct PremultipliedJob {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;                  ///< of the picture: premultiplied
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
};

/// Of the values: u16, or u32 in linear light.
[[nodiscard]] inline Type values_type(const PremultipliedJob& job) { return working_pixels(job.read).type; }

/// Every pixel by premultiply() of pixels/maths/premultiplied.h.
struct PremultiplyOperation : Operation {
  virtual void run(const ImageView& picture, const MutableImageView& values, Stream stream) = 0;
};

struct PremultiplyJob : PremultipliedJob {
  using Operation = PremultiplyOperation;
};

/// Views of one run; the output may alias none of the others.
struct UnpremultiplyImages {
  ImageView values;
  ImageView original;
  ImageView mask;
  MutableImageView output;
};

/// Every pixel by store_premultiplied() of pixels/maths/premultiplied.h.
struct UnpremultiplyOperation : Operation {
  virtual void run(const UnpremultiplyImages& images, Stream stream) = 0;
};

struct UnpremultiplyJob : PremultipliedJob {
  using Operation = UnpremultiplyOperation;
};

/// The uniform part of the job: the same for every backend but for the place of the transfer tables.
[[nodiscard]] inline PremultiplyRule premultiply_rule(const PremultipliedJob& job,
                                                      const TransferView& transfer) {
  PremultiplyRule rule;
  rule.weighted = true;
  rule.mask_maximum = job.mask_maximum;
  rule.transfer = transfer;
  rule.white = static_cast<std::uint32_t>(white_of(job.read));
  return rule;
}

}  // namespace satin
