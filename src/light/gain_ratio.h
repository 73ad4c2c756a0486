#pragma once
// The gains that lead from a base picture to its light, averaged over the cells of a new gain map: the
// quotient of the sums of both, so that the light of a cell is kept, as a logarithm.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/with_type.h"
#include "light/maths/gain.h"
#include "light/maths/powers.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Bound of a gain's logarithm, and the smallest light in a quotient. GainMapMetadata allows no more.
inline constexpr double most_stops = 24;
inline constexpr double least_light = 1.0 / (1 << 24);

template <class T>
struct GainRatioCell {
  std::int64_t cells_x;
  std::int64_t cells_y;
  std::int64_t width;
  std::int64_t height;
  int channels;
  int colours;
  bool is_bgr;
  GainOffsets offsets;
  TransferView transfer;
  float white;
  Rows<const T> base;
  Rows<const float> light;
  Rows<const T> base_before;  ///< null without a picture before
  Rows<const float> light_before;
  Rows<float> gains;
  Rows<float> sources;

  /// Sums the cell in double, row after row.
  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t left = first_of_cell(x, cells_x, width);
    const std::int64_t top = first_of_cell(y, cells_y, height);
    std::int64_t right = first_of_cell(x + 1, cells_x, width);
    std::int64_t bottom = first_of_cell(y + 1, cells_y, height);
    right = right > left ? right : left + 1;  // a map larger than the picture
    bottom = bottom > top ? bottom : top + 1;
    double own[3] = {};
    double restored[3] = {};
    bool is_unchanged = base_before.data != nullptr;
    for (std::int64_t line = top; line < bottom; ++line) {
      const T* own_row = base.row(line);
      const float* light_row = light.row(line);
      for (std::int64_t i = left * channels; i < right * channels; i += channels)
        for (int c = 0; c < colours; ++c) {
          own[c] = own[c] + static_cast<double>(base_light(own_row[i + c], transfer, white));
          restored[c] = restored[c] + static_cast<double>(light_row[i + c]);
        }
      if (!is_unchanged) continue;
      const T* own_before = base_before.row(line);
      const float* before = light_before.row(line);
      for (std::int64_t i = left * channels; i < right * channels; ++i)
        is_unchanged = is_unchanged && own_row[i] == own_before[i] && light_row[i] == before[i];
    }
    const auto pixels = static_cast<double>((right - left) * (bottom - top));
    const int planes = colours == 1 ? 1 : colours + 1;
    float* gain = gains.row(y) + std::int64_t{x} * planes;
    float* source = sources.row(y) + std::int64_t{x} * planes;
    double all_own = 0;
    double all_restored = 0;
    for (int c = 0; c < colours; ++c) {
      const int colour = is_bgr ? 2 - c : c;
      own[c] = not_below(own[c] / pixels + static_cast<double>(offsets.base[colour]));
      restored[c] = not_below(restored[c] / pixels + static_cast<double>(offsets.light[colour]));
      store(own[c], restored[c], is_unchanged, gain + colour, source + colour);
    }
    if (colours == 1) return;
    for (int colour = 0; colour < colours; ++colour) {  // red first, for the same bits of RGB and BGR
      const int c = is_bgr ? 2 - colour : colour;
      all_own = all_own + own[c];
      all_restored = all_restored + restored[c];
    }
    store(all_own, all_restored, is_unchanged, gain + colours, source + colours);
  }

  static SATIN_HD void store(double own, double restored, bool is_unchanged, float* gain, float* source) {
    const double stops = log_of_2(restored / own);
    const double bounded = stops > most_stops ? most_stops : stops;
    *gain = static_cast<float>(bounded < -most_stops ? -most_stops : bounded);
    *source = static_cast<float>(is_unchanged ? -own : own);
  }

  static SATIN_HD double not_below(double value) { return value > least_light ? value : least_light; }
};

struct GainRatioJob {
  using Operation = PixelwiseOperation<GainRatioJob>;
  static constexpr const char* doing = "computing a gain map";

  Shape base;
  std::int64_t width = 0;  ///< cells in a row
  std::int64_t height = 0;
  GainOffsets offsets;

  struct Images {
    ImageView base;         ///< u8 or u16, encoded by sRGB's curve, or f32 in linear light
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
    with_pixel_type(base.type, [&]<class T>() {
      launch(width, height,
             GainRatioCell<T>{width, height, base.width, base.height, base.channels,
                              base.alpha == Alpha::none ? base.channels : base.channels - 1,
                              base.order == Order::bgr && base.channels >= 3, offsets, transfer,
                              white_of_light(base.type), Rows<const T>(images.base),
                              Rows<const float>(images.light), Rows<const T>(images.base_before),
                              Rows<const float>(images.light_before), Rows<float>(images.gains),
                              Rows<float>(images.sources)});
    });
  }
};

}  // namespace satin
