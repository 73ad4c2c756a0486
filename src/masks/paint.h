#pragma once
// One colour, or the means of the cells of a grid, laid over a picture by weights.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "means/maths/mean.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"
#include "tables/maths/gather.h"

namespace satin {

// One pixel that is painted over: with a colour, or the mean of the cell of a grid that it lies in.

template <class T, int Channels, class Sum>
struct PaintPixels {
  MeanRule rule;
  int fixed_bits = 0;
  std::int64_t cell = 0;  ///< its side; 0: one colour
  WideSum colour[4];
  const Measured* measured = nullptr;  ///< of floats, for cells
  TableView<Sum> table;
  Rows<const T> source;
  Rows<const std::uint8_t> weights;
  Rows<T> output;

  struct Row {
    const PaintPixels& step;
    FixedExponents exponents;
    int y;

    SATIN_HD void operator()(int x) const {
      const std::uint32_t weight = step.weights.row(y)[x];
      const T* original = step.source.row(y) + std::int64_t{x} * Channels;
      T* out = step.output.row(y) + std::int64_t{x} * Channels;
      if (weight == 0) {
        for (int c = 0; c < Channels; ++c) out[c] = original[c];
        return;
      }
      WideSum sums[4];
      std::uint64_t count = 1;
      if (step.cell == 0)
        for (int c = 0; c < Channels; ++c) sums[c] = step.colour[c];
      else
        count = cell_sums<Channels>(step.table, x, y, step.cell, step.rule.fixed_point, sums);
      if constexpr (std::is_same_v<T, float>)
        store_float_mean<Channels>(sums, count, original, weight, step.rule, exponents, out);
      else
        store_integer_mean<Channels>(sums, count, original, weight, step.rule, out);
    }
  };
  SATIN_HD Row row(int y) const {
    return {*this, measured == nullptr ? FixedExponents{} : fixed_exponents(*measured, fixed_bits), y};
  }
};

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
