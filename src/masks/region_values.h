#pragma once
// Sums of a picture's values under every label: a segmented reduce whose segments lie anywhere.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "masks/maths/region.h"

namespace satin {

struct RegionValuesOperation;

struct RegionValuesJob {
  using Operation = RegionValuesOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;  ///< u8, u16 or f32
  int fixed_bits = 0;    ///< of floats: fixed_bits_for() the pixels of the picture
};

struct RegionValuesOperation : Operation {
  /// Fills sums[(label - 1) * channels + channel] for labels 1 to `count`, in the backend's memory; `labels`
  /// is u32, 0 counts nowhere. Floats are read with the exponent of *measured, and must be finite.
  virtual void run(const ImageView& labels, const ImageView& picture, const Measured* measured,
                   std::uint32_t count, RegionSums* sums, Stream stream) = 0;
};

}  // namespace satin
