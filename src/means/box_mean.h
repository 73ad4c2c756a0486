#pragma once
// The mean over a box around every pixel, with one radius for the picture or a radius per pixel. A job says
// what to compute; means/maths/mean.h and core/maths/window.h define the result. Each backend decides how:
// with a summed-area table in memory, with one in a cache, or with sliding windows and no table.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/maths/fixed_point.h"
#include "core/maths/window.h"
#include "core/operation.h"
#include "means/maths/mean.h"
#include "pixels/pixels.h"

namespace satin {

/// A radius along each axis, or a map of one channel (u8, u16, f32) that gives the radius along both axes:
/// `low` at 0, `high` at the type's maximum (1 for floats).
struct RadiusField {
  bool from_map = false;
  Radius256 x = 0;
  Radius256 y = 0;
  Type map_type = Type::u8;
  Radius256 low = 0;
  Radius256 high = 0;
};

inline Radius256 radius_at(const RadiusField& field, const ImageView& map, std::int64_t x, std::int64_t y) {
  switch (field.map_type) {
    case Type::u8:
      return radius_from_map(map.row<std::uint8_t>(y)[x], 0xFF, field.low, field.high);
    case Type::u16:
      return radius_from_map(map.row<std::uint16_t>(y)[x], 0xFFFF, field.low, field.high);
    default:
      return radius_from_map(map.row<float>(y)[x], field.low, field.high);
  }
}

struct BoxMeanOperation;

struct BoxMeanJob {
  using Operation = BoxMeanOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;    ///< format of `source`
  PixelWrite write;  ///< format of `output` and `original`
  RadiusField radius;
  Border border = Border::shrink;
  std::array<std::uint64_t, 4> border_value{};  ///< working values outside the picture for Border::constant
  double border_number = 0;        ///< value outside for floats, whose scale is known at run time
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask
  bool excludes = false;           ///< whether pixels with `included` = 0 are left out; the source is 0 there
  Accumulator accumulator = Accumulator::u32;
};

/// Views of one run. Views that the job does not use are empty.
struct BoxMeanImages {
  ImageView source;    ///< stored pixels, or working values of the pass before
  ImageView original;  ///< stored pixels of the filter's input; the source in a single pass
  ImageView radius_map;
  ImageView mask;
  ImageView included;                  ///< validity mask: one channel of u8, 0 or 1
  MutableImageView output;             ///< may alias neither source nor the maps
  const Measured* measured = nullptr;  ///< for floats: in the backend's memory
};

/// Computes every pixel as follows. If the radius is 0 along both axes or the mask weight is 0, output =
/// original, byte for byte (for working outputs: the working value, shifted). Otherwise store_*_mean() of
/// means/maths/mean.h over the four whole boxes of core/maths/window.h. With `excludes`, the weighted
/// number of pixels is the same sum over `included`, which is 1 in a constant border.
struct BoxMeanOperation : Operation {
  virtual void run(const BoxMeanImages& images, Stream stream) = 0;
  /// Whether the operation of a job that `excludes` reads the mask itself to decide which pixels count. The
  /// source then holds all pixels, and `included` is empty.
  [[nodiscard]] virtual bool selects_by_mask() const noexcept { return false; }
  /// Whether source and output may have the layout of this view.
  [[nodiscard]] virtual bool accepts(const ImageView& view) const noexcept { return view.interleaved(); }
};

/// Successive box means in one operation, each of the result of the one before.
struct BoxChainJob {
  using Operation = BoxMeanOperation;

  std::span<const BoxMeanJob> boxes;
};

/// Returns the number of pixels in the largest whole box of a job.
[[nodiscard]] inline std::uint64_t largest_box(std::int64_t width, std::int64_t height,
                                               const RadiusField& radius, Border border) {
  const auto extent = [border](Radius256 r, std::int64_t size) {
    const std::int64_t reach = (static_cast<std::int64_t>(r) + radius_one - 1) / radius_one;
    const std::int64_t window = 2 * reach + 1;
    return static_cast<std::uint64_t>(border == Border::shrink ? std::min(window, size) : window);
  };
  const Radius256 largest = std::max(radius.low, radius.high);
  return extent(radius.from_map ? largest : radius.x, width) *
         extent(radius.from_map ? largest : radius.y, height);
}

/// Returns the rule that is the same for all pixels of the job, with a backend's transfer tables. Its border
/// values are those of the job; floats, whose scale is known at run time, use fixed_border_value().
[[nodiscard]] inline MeanRule mean_rule(const BoxMeanJob& job, const TransferView& transfer) {
  MeanRule rule;
  rule.weighted = job.read.weighted;
  rule.fixed_point = job.read.fixed_point;
  rule.read_fraction = job.read.fraction;
  rule.working = job.write.working;
  rule.write_shift = std::max(0, job.write.fraction - job.read.fraction);
  rule.mask_maximum = job.mask_maximum;
  rule.transfer = transfer;
  std::copy(job.border_value.begin(), job.border_value.end(), rule.border_value);
  return rule;
}

}  // namespace satin
