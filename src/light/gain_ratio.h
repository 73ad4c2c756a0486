#pragma once
// The gains that lead from a base picture to its light, averaged over the cells of a new gain map: the
// quotient of the sums of both, so that the light of a cell is kept, as a logarithm. Most maps have one gain
// for all colours; then the cells are marked in which this would lose the tint.

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

/// A cell of a new map changes light too much if it errs by more than these shares of its light and of white.
inline constexpr double error_of_light = 1.0 / 64;
inline constexpr double error_of_white = 1.0 / 512;
/// Colours of a map with one channel may err by more.
inline constexpr double error_of_colour = 1.0 / 16;

/// Whether light would err by more than these shares if its gain were another one. `source` is the base's
/// mean light, gains are logarithms to the base 2.
SATIN_HD bool gain_errs(double stops, double other, double source, double of_light) {
  const double difference = other > stops ? other - stops : stops - other;
  if (difference < of_light) return false;  // as 2^d - 1 < d for 0 < d < 1
  const double gain = power_of_2(stops), other_gain = power_of_2(other);
  const double error = other_gain > gain ? other_gain - gain : gain - other_gain;
  return source * error > of_light * source * gain + error_of_white;
}

/// The cells of a map along an axis of a picture. Each covers a share of the pixels, or the nearest one in a
/// map larger than the picture.
struct CellAxis {
  std::int64_t pixels;
  std::int64_t step;  ///< pixels per cell, in units of 2^-24 (rounded up): exact at the end of 2^24 cells

  CellAxis(std::int64_t size, std::int64_t cells) : pixels(size), step(((size << 24) + cells - 1) / cells) {}

  /// Returns the first pixel of a cell, and one past its last.
  [[nodiscard]] SATIN_HD std::int64_t first(std::int64_t cell) const { return at(cell, pixels - 1); }
  [[nodiscard]] SATIN_HD std::int64_t last(std::int64_t cell) const {
    const std::int64_t next = at(cell + 1, pixels);
    return next > first(cell) ? next : first(cell) + 1;
  }
  [[nodiscard]] SATIN_HD std::int64_t at(std::int64_t cell, std::int64_t most) const {
    return cell * step >> 24 < most ? cell * step >> 24 : most;
  }
};

template <class T, int Colours>
struct GainRatioCell {
  BaseLight linear;
  int channels;
  CellAxis columns;
  CellAxis rows;
  GainOffsets offsets;
  Rows<const T> base;
  Rows<const float> light;
  Rows<const T> base_before;  ///< null without a picture before
  Rows<const float> light_before;
  Rows<float> gains;
  Rows<float> sources;
  Rows<std::uint8_t> tints;  ///< null if gains have a channel for each colour
  double share;              ///< cells per pixel, at most 1
  int first;                 ///< row of cells that is the first of `gains`
  std::int64_t top;          ///< row of pixels that is the first of `base`

  /// Sums the cell in double, row after row.
  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t left = columns.first(x) * channels, right = columns.last(x) * channels;
    double own[3] = {}, restored[3] = {};
    bool is_unchanged = base_before.data != nullptr;
    const std::int64_t begin = rows.first(first + y) - top, end = rows.last(first + y) - top;
    for (std::int64_t line = begin; line < end; ++line) {
      const T* own_row = base.row(line);
      const float* light_row = light.row(line);
      for (std::int64_t i = left; i < right; i += channels)
        for (int c = 0; c < Colours; ++c) {
          own[c] = own[c] + linear.of(own_row[i + c]);
          restored[c] = restored[c] + static_cast<double>(light_row[i + c]);
        }
      if (!is_unchanged) continue;
      for (std::int64_t i = left; i < right; ++i)
        is_unchanged = is_unchanged && own_row[i] == base_before.row(line)[i] &&
                       light_row[i] == light_before.row(line)[i];
    }
    const auto pixels = static_cast<double>((columns.last(x) - columns.first(x)) * (end - begin));
    for (int c = 0; c < Colours; ++c) {
      const int colour = linear.is_bgr ? 2 - c : c;
      own[c] = not_below(own[c] + pixels * static_cast<double>(offsets.base[colour]));
      restored[c] = not_below(restored[c] + pixels * static_cast<double>(offsets.light[colour]));
    }
    if constexpr (Colours == 1) {
      store(own[0], restored[0], is_unchanged, gains.row(y) + x, sources.row(y) + x);
    } else {
      // in an order that gives the same bits for RGB and BGR
      const double all_own = (own[0] + own[2]) + own[1],
                   all_restored = (restored[0] + restored[2]) + restored[1];
      const std::int64_t plane = std::int64_t{x} * (tints.data == nullptr ? Colours + 1 : 1);
      float* gain = gains.row(y) + plane;
      float* source = sources.row(y) + plane;
      if (tints.data == nullptr) {
        for (int c = 0; c < Colours; ++c) {
          const int colour = linear.is_bgr ? 2 - c : c;
          store(own[c], restored[c], is_unchanged, gain + colour, source + colour);
        }
        store(all_own, all_restored, is_unchanged, gain + Colours, source + Colours);
        return;
      }
      store(all_own, all_restored, is_unchanged, gain, source);
      bool is_tinted = false;
      for (int c = 0; c < Colours && !is_unchanged && !is_tinted; ++c) {
        // Gains that differ by less than 1/32 of themselves differ by less than error_of_colour stops.
        const double one = restored[c] * all_own, other = all_restored * own[c];
        if (32 * (one > other ? one - other : other - one) < other) continue;
        float own_gain = 0, own_source = 0;
        store(own[c], restored[c], false, &own_gain, &own_source);
        is_tinted = gain_errs(static_cast<double>(own_gain), static_cast<double>(*gain),
                              static_cast<double>(own_source) * share, error_of_colour);
      }
      tints.row(y)[x] = is_tinted ? 1 : 0;
    }
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
  double share = 1;  ///< cells per pixel, at most 1

  struct Images {
    ImageView base;         ///< rows of the picture, those under the cells
    ImageView light;        ///< f32
    ImageView base_before;  ///< pictures of these shapes, or empty
    ImageView light_before;
    /// log2 of the gains as f32: one for all colours, or, without `tints`, a channel for each colour, red
    /// first, and with several another one for all.
    MutableImageView gains;
    /// Sums of base + offset in the same channels, negative where no pixel of the cell has changed.
    MutableImageView sources;
    /// u8, 1 where one gain for all colours loses the tint of a cell that has changed. Or empty.
    MutableImageView tints;
    std::int64_t first = 0;  ///< row of cells that is the first of `gains`
  };

  [[nodiscard]] StoredCodes codes() const { return {base.type, Transfer::srgb}; }

  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_colours(base, [&]<class T, int Colours>() {
      const CellAxis rows(base.height, height);
      launch(width, images.gains.shape.height,
             GainRatioCell<T, Colours>{{base, transfer},
                                       base.channels,
                                       {base.width, width},
                                       rows,
                                       offsets,
                                       Rows<const T>(images.base),
                                       Rows<const float>(images.light),
                                       Rows<const T>(images.base_before),
                                       Rows<const float>(images.light_before),
                                       Rows<float>(images.gains),
                                       Rows<float>(images.sources),
                                       Rows<std::uint8_t>(images.tints),
                                       share,
                                       static_cast<int>(images.first),
                                       rows.first(images.first)});
    });
  }
};

}  // namespace satin
