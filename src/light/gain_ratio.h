#pragma once
// The gains that lead from a base picture to its light, averaged over the cells of a new gain map: the
// quotient of the sums of both, so that the light of a cell is kept, as a logarithm.

#include <cstdint>

#include "core/maths/hd.h"
#include "light/maths/gain.h"
#include "light/maths/powers.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Bound of a gain's logarithm, which GainMapMetadata::check() requires, and the smallest light in a
/// quotient.
inline constexpr double most_stops = 24;
inline constexpr double least_light = 1.0 / (1 << 24);

/// The pixels of an axis that a cell covers: a share of them, or the nearest one in a map larger than the
/// picture.
struct CellPixels {
  std::int64_t first;
  std::int64_t last;  ///< one past the last

  SATIN_HD CellPixels(std::int64_t cell, std::int64_t cells, std::int64_t pixels)
      : first(cell * pixels / cells), last((cell + 1) * pixels / cells) {
    last = last > first ? last : first + 1;
  }
};

template <class T, int Colours>
struct GainRatioCell {
  static constexpr int planes = Colours == 1 ? 1 : Colours + 1;

  BaseLight linear;
  Shape shape;
  std::int64_t cells_x;
  std::int64_t cells_y;
  GainOffsets offsets;
  Rows<const T> base;
  Rows<const float> light;
  Rows<const T> base_before;  ///< null without a picture before
  Rows<const float> light_before;
  Rows<float> gains;
  Rows<float> sources;

  /// Sums the cell in double, row after row.
  SATIN_HD void operator()(int x, int y) const {
    const CellPixels columns(x, cells_x, shape.width), rows(y, cells_y, shape.height);
    const std::int64_t channels = shape.channels;
    double own[3] = {}, restored[3] = {};
    bool is_unchanged = base_before.data != nullptr;
    for (std::int64_t line = rows.first; line < rows.last; ++line) {
      const T* own_row = base.row(line);
      const float* light_row = light.row(line);
      for (std::int64_t i = columns.first * channels; i < columns.last * channels; i += channels)
        for (int c = 0; c < Colours; ++c) {
          own[c] = own[c] + linear.of(own_row[i + c]);
          restored[c] = restored[c] + static_cast<double>(light_row[i + c]);
        }
      if (!is_unchanged) continue;
      for (std::int64_t i = columns.first * channels; i < columns.last * channels; ++i)
        is_unchanged = is_unchanged && own_row[i] == base_before.row(line)[i] &&
                       light_row[i] == light_before.row(line)[i];
    }
    const double share = 1 / static_cast<double>((columns.last - columns.first) * (rows.last - rows.first));
    float* gain = gains.row(y) + std::int64_t{x} * planes;
    float* source = sources.row(y) + std::int64_t{x} * planes;
    for (int c = 0; c < Colours; ++c) {
      const int colour = linear.is_bgr ? 2 - c : c;
      own[c] = not_below(own[c] * share + static_cast<double>(offsets.base[colour]));
      restored[c] = not_below(restored[c] * share + static_cast<double>(offsets.light[colour]));
      store(own[c], restored[c], is_unchanged, gain + colour, source + colour);
    }
    if constexpr (Colours == 3)  // in an order that gives the same bits for RGB and BGR
      store((own[0] + own[2]) + own[1], (restored[0] + restored[2]) + restored[1], is_unchanged, gain + 3,
            source + 3);
  }

  static SATIN_HD double not_below(double value) { return value > least_light ? value : least_light; }

  static SATIN_HD void store(double own, double restored, bool is_unchanged, float* gain, float* source) {
    const double stops = log_of_2(restored / own);
    const double bounded = stops > most_stops ? most_stops : stops;
    *gain = static_cast<float>(bounded < -most_stops ? -most_stops : bounded);
    *source = static_cast<float>(is_unchanged ? -own : own);
  }
};

struct GainRatioJob {
  using Operation = PixelwiseOperation<GainRatioJob>;
  static constexpr const char* doing = "computing a gain map";

  Shape base;              ///< as in RestoreJob
  std::int64_t width = 0;  ///< cells in a row
  std::int64_t height = 0;
  GainOffsets offsets;

  struct Images {
    ImageView base;
    ImageView light;        ///< f32
    ImageView base_before;  ///< pictures of these shapes, or empty
    ImageView light_before;
    /// log2 of the gains as f32, a channel for each colour, red first, and with several another one for all.
    MutableImageView gains;
    /// base + offset in the same channels, negative where no pixel of the cell has changed.
    MutableImageView sources;
  };

  [[nodiscard]] StoredCodes codes() const { return {base.type, Transfer::srgb}; }

  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_colours(base, [&]<class T, int Colours>() {
      launch(width, height,
             GainRatioCell<T, Colours>{{base, transfer},
                                       base,
                                       width,
                                       height,
                                       offsets,
                                       Rows<const T>(images.base),
                                       Rows<const float>(images.light),
                                       Rows<const T>(images.base_before),
                                       Rows<const float>(images.light_before),
                                       Rows<float>(images.gains),
                                       Rows<float>(images.sources)});
    });
  }
};

}  // namespace satin
