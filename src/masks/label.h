#pragma once
// Connected components of a mask.

#include <cstdint>

#include "core/operation.h"
#include "masks/maths/region.h"

namespace satin {

struct LabelOperation;

struct LabelJob {
  using Operation = LabelOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int connectivity = 8;  ///< 4: pixels that share a side; 8: or a corner
  bool zeros = false;    ///< the pixels that are 0 are labelled instead of the others
};

/// The mask is one channel of u8: every value but 0 is inside. Labels are one channel of u32: 0 outside, and
/// from 1 on, without gaps, in the raster order of the first pixel of each component. They are the same on
/// every device.
struct LabelOperation : Operation {
  /// Fills `labels`; returns the number of components. Waits.
  virtual std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream stream) = 0;
  /// Place and size of every component of the last run, in the order of the labels, in the backend's memory;
  /// valid until the next run.
  [[nodiscard]] virtual const RegionShape* describe(Stream stream) = 0;
};

/// Throws Error(usage) for masks without pixels, and for those of 2^32 pixels or more, where every row counts
/// as the next multiple of 32.
void check_label_size(std::int64_t width, std::int64_t height);

}  // namespace satin
