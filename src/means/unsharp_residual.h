#pragma once
// A picture with what it differs by from its means, times an amount.

#include <cstdint>

#include "core/operation.h"
#include "means/box_mean.h"
#include "means/maths/unsharp_residual.h"
#include "pixels/pixels.h"

namespace satin {

struct UnsharpResidualOperation;

struct UnsharpResidualJob {
  using Operation = UnsharpResidualOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead means;   ///< working values: fine_working_pixels()
  PixelWrite write;  ///< of the picture and the output: u8, u16 or f32
  bool keeps_alpha = false;
  double amount = 0;
  double threshold = 0;            ///< in working values
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
};

/// Integers, every value by itself: neither alpha nor a mask is in the way.
[[nodiscard]] inline bool is_plain(const UnsharpResidualJob& job) {
  const bool bytes = job.write.type == Type::u8;
  const bool words = job.write.type == Type::u16 && job.write.transfer == Transfer::identity;
  return (bytes || words) && !job.means.weighted && !job.means.premultiplied && !job.keeps_alpha &&
         job.mask_maximum == 0;
}

/// Views of one run; the output may alias none of the others.
struct UnsharpResidualImages {
  ImageView picture;
  ImageView means;
  ImageView mask;
  MutableImageView output;
  const Measured* measured = nullptr;  ///< floats: what the means were made with
};

/// Every pixel by store_with_residual() of means/maths/unsharp_residual.h.
struct UnsharpResidualOperation : Operation {
  virtual void run(const UnsharpResidualImages& images, Stream stream) = 0;
};

/// The residual beside the means of successive boxes of the picture at once: `means` of its images is empty.
struct UnsharpResidualChainJob {
  using Operation = UnsharpResidualOperation;

  std::span<const BoxMeanJob> boxes;
  UnsharpResidualJob residual;
};

/// Calls call.template operator()<T, Working>() for the types of a picture and of its means.
template <class Call>
void with_residual_types(Type picture, Type means, const Call& call) {
  if (picture == Type::f32) return call.template operator()<float, std::uint64_t>();
  const auto of_means = [&]<class Working>() {
    picture == Type::u8 ? call.template operator()<std::uint8_t, Working>()
                        : call.template operator()<std::uint16_t, Working>();
  };
  if (means == Type::u16) return call.template operator()<std::uint8_t, std::uint16_t>();
  means == Type::u32 ? of_means.template operator()<std::uint32_t>()
                     : of_means.template operator()<std::uint64_t>();
}

/// The uniform part of the job: the same for every backend but for the place of the transfer tables.
[[nodiscard]] inline UnsharpResidualRule residual_rule(const UnsharpResidualJob& job,
                                                       const TransferView& transfer) {
  UnsharpResidualRule rule;
  rule.weighted = job.means.weighted || job.means.premultiplied;
  rule.mask_maximum = job.mask_maximum;
  rule.transfer = transfer;
  rule.amount = job.amount;
  rule.threshold = job.threshold;
  rule.mean_scale = job.means.premultiplied ? static_cast<double>(white_of(job.means))
                    : job.means.weighted    ? 1.0
                                            : power_of_two(-job.means.fraction);
  rule.fixed_bits = job.means.fixed_bits;
  rule.keeps_alpha = job.keeps_alpha;
  return rule;
}

}  // namespace satin
