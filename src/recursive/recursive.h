#pragma once
// First-order recursive smoothing along rows and columns, forward and backward, with one coefficient or one
// for every pair of neighbours. The result is defined by recursive/maths/recursive.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "pixels/pixels.h"
#include "recursive/maths/recursive.h"

namespace satin {

enum class Axis : std::uint8_t { x, y };

/// Forward, then backward along one axis: coefficient 2^-(rate d) between neighbours at distance d.
struct RecursivePass {
  Axis axis = Axis::x;
  double rate = 1;        ///< above 0
  double feedback = 0.5;  ///< the coefficient at distance 1, below 1: of all pairs if there is no guide
};

/// A picture whose edges keep neighbours apart: distance 1 + contrast * (sum over the channels of the
/// differences of stored values, colours times alpha if weighted).
struct Guide {
  Type type = Type::u8;
  int channels = 1;
  bool weighted = false;  ///< the last channel is alpha
  double contrast = 1;
};

struct RecursiveOperation;

struct RecursiveJob {
  using Operation = RecursiveOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;                     ///< of `source`; working values are reals here, not fixed point
  PixelWrite write;                   ///< of `output`: the stored type that is read
  std::uint32_t mask_maximum = 0;     ///< 255 or 65535; 0: no mask
  std::vector<RecursivePass> passes;  ///< in this order; none: output = source, byte for byte
  std::optional<Guide> guide;
};

/// Views of one run; those that the job does not use are empty.
struct RecursiveImages {
  ImageView source;
  ImageView guide;  ///< may be the source
  ImageView mask;
  MutableImageView output;       ///< may alias none of them
  Measured* measured = nullptr;  ///< floats: in the backend's memory
};

/// Between passes, working values are f32 for 8-bit pixels and f64 for all others; they are rounded once, in
/// store_real_pixel() of pixels/maths/real_pixel.h. Where the mask is 0, output = source, byte for byte.
/// Floats that are not finite count as 0 and set measured->picture_not_finite or guide_not_finite, which
/// clear() sets to 0.
struct RecursiveOperation : Operation {
  virtual void run(const RecursiveImages& images, Stream stream) = 0;
};

[[nodiscard]] inline Type recursive_working_type(const RecursiveJob& job) {
  return job.read.type == Type::u8 ? Type::f32 : Type::f64;
}

/// What a backend needs of a pass, in working type: the coefficient of all pairs and its kept_product() of 0
/// to recursive_block factors; `end_share` of end_difference(); `rate` with a guide.
template <class Real>
struct PassConstants {
  Real feedback = 0;
  Real rate = 0;
  Real end_share = 0;
  Real products[recursive_block + 1] = {};
};

template <class Real>
PassConstants<Real> pass_constants(const RecursivePass& pass, bool guided) {
  PassConstants<Real> constants;
  constants.rate = static_cast<Real>(pass.rate);
  constants.feedback = guided ? decay(constants.rate) : static_cast<Real>(pass.feedback);
  constants.end_share = constants.feedback / (1 + constants.feedback);
  constants.products[0] = 1;
  for (int i = 0; i < recursive_block; ++i)
    constants.products[i + 1] = kept_product(constants.products[i] * constants.feedback);
  return constants;
}

}  // namespace satin
