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

template <class T, int Colours>
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

  SATIN_HD void operator()(int column, int line) const {
    const unsigned place_x = x.at(column), place_y = y.at(first + line);
    const unsigned right_weight = place_x % gain_steps, below_weight = place_y % gain_steps;
    const std::int64_t left = std::int64_t{place_x / gain_steps} * map_channels;
    const std::int64_t right = right_weight == 0 ? left : left + map_channels;
    const std::uint8_t* above = map.row(place_y / gain_steps);
    const std::uint8_t* below = below_weight == 0 ? above : map.row(place_y / gain_steps + 1);
    const T* own = base.row(line) + std::int64_t{column} * channels;
    float* out = light.row(line) + std::int64_t{column} * channels;
    float gain = 0;
    for (int c = 0; c < Colours; ++c) {
      const int colour = linear.is_bgr ? 2 - c : c;
      if (c == 0 || map_channels != 1 || curves != 1) {  // otherwise one gain for all colours
        const std::int64_t m = map_channels == 1 ? 0 : colour;
        const unsigned upper =
            above[left + m] * (gain_steps - right_weight) + above[right + m] * right_weight;
        const unsigned lower =
            below[left + m] * (gain_steps - right_weight) + below[right + m] * right_weight;
        // At most 255 * 2^16, so that the index is at most 255 * 256.
        const unsigned sum = upper * (gain_steps - below_weight) + lower * below_weight;
        gain = gains.row(curves == 1 ? 0 : colour)[(sum + gain_steps / 2) / gain_steps];
      }
      const auto sdr = static_cast<float>(linear.of(own[c]));
      const float restored = (sdr + offsets.base[colour]) * gain - offsets.light[colour];
      out[c] = restored > 0 ? restored : 0.0F;
    }
    if (Colours != channels) out[Colours] = static_cast<float>(static_cast<double>(own[Colours]) * opacity);
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
      launch(base.width, images.light.shape.height,
             RestorePixel<T, Colours>{{base, transfer},
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
    });
  }
};

}  // namespace satin
