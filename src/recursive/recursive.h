#pragma once
// First-order recursive smoothing along rows and columns, forward and backward, with one coefficient for all
// pairs of neighbours or one for each. recursive/maths/recursive.h defines the arithmetic.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "pixels/pixels.h"
#include "recursive/maths/recursive.h"

namespace satin {

enum class Axis : std::uint8_t { x, y };

/// A scan forward, then backward, along one axis.
struct RecursivePass {
  Axis axis = Axis::x;
  double rate = 1;        ///< with a guide: the coefficient at distance d is 2^-(rate d); above 0
  double feedback = 0.5;  ///< without a guide: the coefficient of all pairs, below 1
};

/// A picture whose edges increase the distance of neighbours: 1 + contrast * (sum over the channels of the
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
  PixelRead read;                     ///< how to read the source; working values are floating-point here
  PixelWrite write;                   ///< how to write the output; the stored type is the source's
  std::uint32_t mask_maximum = 0;     ///< 255 or 65535; 0: no mask
  std::vector<RecursivePass> passes;  ///< none: the output is the source, byte for byte
  std::optional<Guide> guide;
};

/// Views of one run; unused ones are empty.
struct RecursiveImages {
  ImageView source;
  ImageView guide;  ///< may be the source
  ImageView mask;
  MutableImageView output;       ///< no alias of the others
  Measured* measured = nullptr;  ///< for floats, in the backend's memory
};

/// Between passes, working values are f32 for 8-bit pixels and f64 for all others. They are rounded once, by
/// store_real_pixel(). Where the mask is 0, the source's bytes are kept. Floats that are not finite count as
/// 0 and set measured->picture_not_finite or guide_not_finite.
struct RecursiveOperation : Operation {
  virtual void run(const RecursiveImages& images, Stream stream) = 0;
};

[[nodiscard]] inline Type recursive_working_type(const RecursiveJob& job) {
  return job.read.type == Type::u8 ? Type::f32 : Type::f64;
}

/// The numbers of a pass in the working type.
template <class Real>
struct PassConstants {
  Real feedback = 0;                        ///< coefficient at distance 1
  Real rate = 0;                            ///< see RecursivePass
  Real end_share = 0;                       ///< `share` of end_difference()
  Real products[recursive_block + 1] = {};  ///< kept_product() of 0 to recursive_block coefficients
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
