#pragma once
// Restores the light of a picture from its gain map: a float picture in linear light where white of the base
// is 1. light = (base + offset) * gain - other offset, where the gain of a pixel comes from a table by the
// code of the map there. The map is enlarged bilinearly in integers, to 1/256 of a code.

#include <cstdint>

#include "core/maths/hd.h"
#include "light/maths/gain.h"
#include "pixels/maths/rows.h"
#include "pixels/pixels.h"
#include "pixels/pixelwise.h"

namespace satin {

/// `Gains`: 1 if all colours have one gain and the offsets of red, or a gain for each colour.
template <class T, int Colours, int Gains>
struct RestorePixel {
  BaseLight linear;
  MapAxis x;
  MapAxis y;
  GainOffsets offsets;
  double opacity;  ///< 1 / the largest alpha
  int channels;
  int map_channels;  ///< 1 or 3
  int curves;        ///< rows of `gains`: 1 or 3
  int first;         ///< row of the picture that is the first of `base` and `light`
  Rows<const T> base;
  Rows<const std::uint8_t> map;
  Rows<const float> gains;
  Rows<float> light;

  struct Row {
    BaseLight linear;
    MapAxis x;
    GainOffsets offsets;
    double opacity;
    int channels;
    int map_channels;
    const std::uint8_t* above;
    const std::uint8_t* below;
    unsigned below_weight;
    const float* curve[std::size_t{Gains}];  ///< red first
    const T* base;
    float* light;

    SATIN_HD void operator()(int column) const {
      const unsigned place = x.at(column), right_weight = place % gain_steps;
      const auto step = static_cast<std::int64_t>(map_channels);
      const std::int64_t left = std::int64_t{place / gain_steps} * step;
      const std::int64_t right = right_weight == 0 ? left : left + step;
      const T* own = base + std::int64_t{column} * channels;
      float* out = light + std::int64_t{column} * channels;
      float gain = 0;
      for (int c = 0; c < Colours; ++c) {
        const int colour = Gains == 1 ? 0 : linear.is_bgr ? 2 - c : c;
        if (c < Gains) {
          const std::int64_t m = map_channels == 1 ? 0 : colour;
          const unsigned upper =
              above[left + m] * (gain_steps - right_weight) + above[right + m] * right_weight;
          const unsigned lower =
              below[left + m] * (gain_steps - right_weight) + below[right + m] * right_weight;
          // At most 255 * 2^16, so that the index is at most 255 * 256.
          const unsigned sum = upper * (gain_steps - below_weight) + lower * below_weight;
          gain = curve[colour][(sum + gain_steps / 2) / gain_steps];
        }
        const auto sdr = static_cast<float>(linear.of(own[c]));
        const float restored = (sdr + offsets.base[colour]) * gain - offsets.light[colour];
        out[c] = restored > 0 ? restored : 0.0F;
      }
      if (Colours != channels) out[Colours] = static_cast<float>(static_cast<double>(own[Colours]) * opacity);
    }
  };

  SATIN_HD Row row(int line) const {
    const unsigned place = y.at(first + line), below_weight = place % gain_steps;
    const std::uint8_t* above = map.row(place / gain_steps);
    Row row{linear,         x,
            offsets,        opacity,
            channels,       map_channels,
            above,          below_weight == 0 ? above : map.row(place / gain_steps + 1),
            below_weight,   {},
            base.row(line), light.row(line)};
    for (int c = 0; c < Gains; ++c) row.curve[c] = gains.row(curves == 1 ? 0 : c);
    return row;
  }
};

struct RestoreJob {
  using Operation = PixelwiseOperation<RestoreJob>;
  static constexpr const char* doing = "restoring light by a gain map";

  Shape base;  ///< u8 or u16, encoded by sRGB's curve, or f32 in linear light; one or three colours
  Shape map;
  int curves = 1;
  GainOffsets offsets;

  struct Images {
    ImageView base;  ///< rows of the picture
    ImageView map;
    ImageView gains;  ///< f32, gain_entries wide, a row for each curve
    MutableImageView light;
    std::int64_t first = 0;  ///< row of the picture that is the first of `base` and `light`
  };

  [[nodiscard]] StoredCodes codes() const { return {base.type, Transfer::srgb}; }

  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_colours(base, [&]<class T, int Colours>() {
      const auto restore = [&]<int Gains>() {
        launch(base.width, images.light.shape.height,
               RestorePixel<T, Colours, Gains>{{base, transfer},
                                               {map.width, base.width},
                                               {map.height, base.height},
                                               offsets,
                                               1 / white_of(base.type),
                                               base.channels,
                                               map.channels,
                                               curves,
                                               static_cast<int>(images.first),
                                               Rows<const T>(images.base),
                                               Rows<const std::uint8_t>(images.map),
                                               Rows<const float>(images.gains),
                                               Rows<float>(images.light)});
      };
      map.channels == 1 && curves == 1 ? restore.template operator()<1>()
                                       : restore.template operator()<Colours>();
    });
  }
};

}  // namespace satin
