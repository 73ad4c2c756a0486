#pragma once
// Mean over a box around every pixel: one radius, or a radius per pixel. The operation is semantic: whether a
// table is kept in memory, in fast memory or not made at all is the backend's business; the result is defined
// by core/maths.

#include <array>
#include <cstdint>
#include <span>

#include "core/maths/fixed_point.h"
#include "core/maths/window.h"
#include "core/operation.h"
#include "means/maths/mean.h"
#include "pixels/pixels.h"

namespace satin {

/// One radius along each axis, or a map of one channel (u8, u16, f32) from which both come: `low` at 0,
/// `high` at the type's maximum (1 for floats).
struct RadiusField {
  bool from_map = false;
  Radius256 x = 0;
  Radius256 y = 0;
  Type map_type = Type::u8;
  Radius256 low = 0;
  Radius256 high = 0;
};

struct BoxMeanOperation;

struct BoxMeanJob {
  using Operation = BoxMeanOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;    ///< of `source`
  PixelWrite write;  ///< of `output` and `original`
  RadiusField radius;
  Border border = Border::shrink;
  std::array<std::uint64_t, 4> border_value{};  ///< of Border::constant: working values of the channels
  double border_number = 0;                     ///< the same for floats, whose scale is known at run time
  std::uint32_t mask_maximum = 0;               ///< 255 or 65535; 0: no mask
  bool excludes = false;  ///< only pixels that `included` has count; the source holds 0 at the others
  Accumulator accumulator = Accumulator::u32;
};

/// Views of one run; those that the job does not use are empty.
struct BoxMeanImages {
  ImageView source;    ///< what is averaged: stored pixels, or working values of the pass before
  ImageView original;  ///< stored pixels of the whole filter's input (== source in a single pass)
  ImageView radius_map;
  ImageView mask;
  ImageView included;                  ///< one channel of u8, 0 or 1
  MutableImageView output;             ///< may alias neither source nor the maps
  const Measured* measured = nullptr;  ///< floats: in the backend's memory
};

/// For every pixel, in this order: radius 0 along both axes, or mask weight 0: output = original, byte for
/// byte (for working outputs: the working value, shifted); otherwise store_*_mean() of means/maths/mean.h
/// over the four whole boxes of core/maths/window.h. With `excludes`, the weighted number of pixels is the
/// same sum over `included`, where what a constant border adds counts as 1.
struct BoxMeanOperation : Operation {
  virtual void run(const BoxMeanImages& images, Stream stream) = 0;
  /// Whether the operation itself finds out by the mask which pixels count, in a job that `excludes`. The
  /// source then holds all pixels, and there is no `included`.
  [[nodiscard]] virtual bool selects_by_mask() const noexcept { return false; }
};

/// Successive box means at once, each of what the one before wrote.
struct BoxChainJob {
  using Operation = BoxMeanOperation;

  std::span<const BoxMeanJob> boxes;
};

/// Pixels of the largest whole box that the job can ask for.
[[nodiscard]] std::uint64_t largest_box(std::int64_t width, std::int64_t height, const RadiusField& radius,
                                        Border border);

/// The uniform part of the job (means/maths/mean.h), with a backend's transfer tables. The border values are
/// those of the job; floats, whose scale is known at run time, use fixed_border_value().
[[nodiscard]] MeanRule mean_rule(const BoxMeanJob& job, const TransferView& transfer);

}  // namespace satin
