#pragma once
// Reduction that floats need before they are summed: the largest and smallest magnitudes, and whether all is
// finite.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"

namespace satin {

struct MeasureOperation;

struct MeasureJob {
  using Operation = MeasureOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  bool weighted = false;
  bool magnitudes = true;  ///< false: all that counts is whether every value is finite
  std::uint64_t at_least[2] = {0,
                               0};  ///< bits of magnitudes that are summed beside the picture: colour, alpha
};

/// `result` is one Measured in the backend's memory.
struct MeasureOperation : Operation {
  /// Sets *result to the state before anything was measured.
  virtual void clear(Measured* result, Stream stream) = 0;
  /// Float picture: magnitudes (colour * alpha as a double product if weighted) and picture_not_finite.
  /// Values that are not finite count as 0. The largest magnitudes are those of the job at least.
  virtual void measure(const ImageView& picture, Measured* result, Stream stream) = 0;
  /// Float radius map of one channel: map_out_of_range.
  virtual void check_map(const ImageView& map, Measured* result, Stream stream) = 0;
};

}  // namespace satin
