#pragma once
// One colour, or the means of the cells of a grid, laid over a picture by weights.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "pixels/maths/divide.h"
#include "pixels/pixels.h"

namespace satin {

struct PaintOperation;

struct PaintJob {
  using Operation = PaintOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;
  PixelWrite write;        ///< the stored type that is read
  std::int64_t cell = 0;   ///< side of a cell; 0: one colour
  WideSum colour[4] = {};  ///< working values of one pixel of it (floats: `estimate`, unscaled)
  Accumulator accumulator = Accumulator::u32;  ///< of the cells' sums
};

struct PaintImages {
  ImageView source;
  ImageView weights;                   ///< u8
  MutableImageView output;             ///< may alias neither
  const Measured* measured = nullptr;  ///< floats: in the backend's memory
};

/// Weight 0: output = source, byte for byte. Otherwise store_*_mean() of means/maths/mean.h over the cell
/// that the pixel lies in, as far as the picture goes, or over the colour; blended by weight / 255.
struct PaintOperation : Operation {
  virtual void run(const PaintImages& images, Stream stream) = 0;
};

}  // namespace satin
