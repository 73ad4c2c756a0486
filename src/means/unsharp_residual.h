#pragma once
// Unsharp masking: a picture plus an amount of its difference from the means around its pixels. The
// arithmetic of one pixel is shared by host and device.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/operation.h"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "pixels/maths/real_pixel.h"
#include "pixels/pixels.h"

namespace satin {

/// The part of a job that is the same for every pixel.
struct UnsharpResidualRule : StoreRule {
  double amount = 0;
  double threshold = 0;      ///< largest difference that is not amplified, in working values
  double mean_scale = 1;     ///< for integers: factor of a mean, or of its quotient by alpha
  int fixed_bits = 0;        ///< for floats: bits of the fixed point
  bool keeps_alpha = false;  ///< whether the last channel keeps its value
};

/// Returns v + amount (v - m) if |v - m| > threshold, otherwise v.
SATIN_HD double with_detail(double own, double mean, const UnsharpResidualRule& rule) {
  const double difference = own - mean;
  if (rule.amount == 0 || !(fabs(difference) > rule.threshold)) return own;
  return own + rule.amount * difference;
}

/// Stores one pixel. `means` are the working values that a box mean has written. A pixel with no alpha around
/// it is its own mean.
template <int Channels, class T, class Working>
SATIN_HD void store_with_residual(const Working* means, const T* original, std::uint32_t mask,
                                  const UnsharpResidualRule& rule, FixedExponents exponents, T* out) {
  constexpr int last = Channels - 1;
  if (rule.mask_maximum != 0 && mask == 0) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    const auto fixed = [&](int c) { return static_cast<double>(static_cast<std::int64_t>(means[c])); };
    const double scale = power_of_two(rule.weighted ? exponents.alpha - exponents.colour : -exponents.colour);
    const auto colour = [&](int c) {
      const double own = finite_value(original[c]);
      if (rule.keeps_alpha && c == last) return own;
      if (!rule.weighted) return with_detail(own, fixed(c) * scale, rule);
      return fixed(last) > 0 ? with_detail(own, fixed(c) / fixed(last) * scale, rule) : own;
    };
    const double alpha = rule.weighted ? finite_value(original[last]) : 0.0;
    store_floats<Channels>(colour, alpha, original, mask, rule, out);
  } else {
    const std::uint32_t white = decode(static_cast<T>(~T{0}), rule.transfer);
    const auto colour = [&](int c) -> std::uint64_t {
      const std::uint32_t own = decode(original[c], rule.transfer);
      if (rule.keeps_alpha && c == last) return own;
      if (rule.weighted && means[last] == 0) return own;
      double mean = static_cast<double>(means[c]);
      if (rule.weighted) mean = mean / static_cast<double>(means[last]);
      return nearest_integer(with_detail(own, mean * rule.mean_scale, rule), white);
    };
    store_integers<Channels>(colour, original[last], original, mask, rule, out);
  }
}

struct UnsharpResidualOperation;

struct UnsharpResidualJob {
  using Operation = UnsharpResidualOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead means;   ///< working values: fine_working_pixels()
  PixelWrite write;  ///< format of the picture and the output: u8, u16 or f32
  bool keeps_alpha = false;
  double amount = 0;
  double threshold = 0;            ///< in working values
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
};

/// Whether the values are integers and independent of each other: there is neither alpha nor a mask.
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
  const Measured* measured = nullptr;  ///< for floats: the measurement that the means used
};

/// Computes every pixel by store_with_residual().
struct UnsharpResidualOperation : Operation {
  virtual void run(const UnsharpResidualImages& images, Stream stream) = 0;
};

/// The means of successive boxes of the picture and the residual in one operation. `means` of its images is
/// empty.
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

/// Returns the rule of the job with a backend's transfer tables.
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
