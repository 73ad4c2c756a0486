#pragma once
// Launches of coverage.cu and paint.cu, in the manner of launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "masks/coverage.h"
#include "masks/paint.h"
#include "means/maths/mean.h"

namespace satin::kernels {

struct CoverageArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  Type mask_type = Type::u8;
  Source mask;  ///< null: no mask
  const PixelBox* boxes = nullptr;
  std::int64_t box_count = 0;
  Target weights;
};

void coverage(const CoverageArguments& arguments, StreamHandle stream);

struct PaintArguments {
  PaintJob job;
  MeanRule rule;
  const Measured* measured = nullptr;  ///< floats, for cells
  const void* table = nullptr;         ///< of the source, for cells; dense rows
  Source source;
  Source weights;
  Target output;
};

void paint(const PaintArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
