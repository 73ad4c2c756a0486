#pragma once
// Redaction: boxes and masks as weights, and a colour or the means of the cells of a grid laid over a picture
// by these weights.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "means/maths/mean.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"
#include "satin/pixel_box.h"
#include "tables/maths/gather.h"

namespace satin {

struct CoverByMask {
  MaskRows mask;
  Rows<std::uint8_t> weights;

  SATIN_HD void operator()(int x, int y) const { weights.row(y)[x] = mask.weight(x, y) != 0 ? 255 : 0; }
};

struct CoverBox {
  std::int64_t left;
  std::int64_t top;
  Rows<std::uint8_t> weights;

  SATIN_HD void operator()(int x, int y) const { weights.row(top + y)[left + x] = 255; }
};

struct CoverageJob {
  using Operation = PixelwiseOperation<CoverageJob>;
  static constexpr const char* doing = "covering boxes";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type mask_type = Type::u8;    ///< u8 or u16, if there is a mask
  std::vector<PixelBox> boxes;  ///< inside the picture, one pixel or more

  struct Images {
    ImageView mask;            ///< empty if there is none
    MutableImageView weights;  ///< u8: 255 in the boxes and where the mask is not 0, 0 elsewhere
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const Rows<std::uint8_t> weights(images.weights);
    const std::uint32_t maximum = images.mask.empty() ? 0 : mask_type == Type::u8 ? 0xFF : 0xFFFF;
    launch(width, height, CoverByMask{MaskRows(images.mask, maximum), weights});
    for (const PixelBox& box : boxes) launch(box.width, box.height, CoverBox{box.x, box.y, weights});
  }
};

/// Paints pixels over with a colour, or with the mean of the grid cell that they are in.
template <class T, int Channels, class Sum>
struct PaintPixels {
  MeanRule rule;
  int fixed_bits = 0;
  std::int64_t cell = 0;  ///< side of a cell; 0: one colour
  WideSum colour[4];
  const Measured* measured = nullptr;  ///< for cells of floats
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
  PixelWrite write;                            ///< the stored type that is read
  std::int64_t cell = 0;                       ///< side of a cell; 0: one colour
  WideSum colour[4] = {};                      ///< working values of one pixel (floats: `estimate`, unscaled)
  Accumulator accumulator = Accumulator::u32;  ///< type of the table

  struct Images {
    ImageView source;
    ImageView weights;                   ///< u8
    MutableImageView output;             ///< may alias neither
    const Measured* measured = nullptr;  ///< floats: in the backend's memory
    ImageView table;                     ///< for cells: the table of the source, densely packed
  };

  [[nodiscard]] StoredCodes codes() const { return {write.type, write.transfer}; }

  /// Pixels of weight 0 keep their bytes. The others get store_*_mean() (means/maths/mean.h) of their cell,
  /// as far as it is inside the picture, or of the colour, blended by weight / 255.
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
