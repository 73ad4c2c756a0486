#pragma once
// One colour, or the means of the cells of a grid, laid over a picture by weights.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "masks/maths/paint.h"
#include "pixels/pixelwise.h"

namespace satin {

struct PaintJob {
  using Operation = PixelwiseOperation<PaintJob>;
  static constexpr const char* doing = "painting over a picture";

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;
  PixelWrite write;        ///< the stored type that is read
  std::int64_t cell = 0;   ///< side of a cell; 0: one colour
  WideSum colour[4] = {};  ///< working values of one pixel of it (floats: `estimate`, unscaled)
  Accumulator accumulator = Accumulator::u32;  ///< of the cells' sums

  struct Images {
    ImageView source;
    ImageView weights;                   ///< u8
    MutableImageView output;             ///< may alias neither
    const Measured* measured = nullptr;  ///< floats: in the backend's memory
    ImageView table;                     ///< of the source, for cells: its sums, densely packed
  };

  [[nodiscard]] StoredCodes codes() const { return {write.type, write.transfer}; }

  /// Weight 0: output = source, byte for byte. Otherwise store_*_mean() of means/maths/mean.h over the cell
  /// that the pixel lies in, as far as the picture goes, or over the colour; blended by weight / 255.
  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_pixel_type(write.type, [&]<class T>() {
      with_channels(read.channels, [&]<int Channels>() {
        const auto paint = [&]<class Sum>(Sum) {
          launch(width, height, step<T, Channels, Sum>(images, transfer));
        };
        if constexpr (!std::is_same_v<T, float>)
          if (accumulator == Accumulator::u32) return paint(std::uint32_t{});
        paint(std::uint64_t{});
      });
    });
  }

 private:
  template <class T, int Channels, class Sum>
  [[nodiscard]] PaintPixels<T, Channels, Sum> step(const Images& images, const TransferView& transfer) const {
    PaintPixels<T, Channels, Sum> paint;
    paint.rule.weighted = read.weighted;
    paint.rule.fixed_point = read.fixed_point;
    paint.rule.mask_maximum = 0xFF;
    paint.rule.transfer = transfer;
    paint.fixed_bits = read.fixed_bits;
    paint.cell = cell;
    for (int c = 0; c < Channels; ++c) paint.colour[c] = colour[c];
    paint.measured = cell != 0 && read.fixed_point ? images.measured : nullptr;
    paint.table = {reinterpret_cast<const Sum*>(images.table.data), width * Channels, width, height};
    paint.source = Rows<const T>(images.source);
    paint.weights = Rows<const std::uint8_t>(images.weights);
    paint.output = Rows<T>(images.output);
    return paint;
  }
};

}  // namespace satin
