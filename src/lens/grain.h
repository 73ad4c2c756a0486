#pragma once
// Grain (`--grain`): blurred areas get back the noise that the blur took from them.
//
// MeasureGrain takes the mean high-pass difference of every cell of 8 x 8 pixels, and counts it by channel
// and level. The lowest tenth of the cells is smooth, and their differences are noise. The whole picture
// counts: what is in focus may have no smooth cell. The ratio of differences to the neighbours at distance 1
// and 2 gives the size of the grain, and the differences between channels give their correlation. AddGrain
// adds noise of these statistics, made by an integer hash of the place. It works on stored codes; floats v
// are codes of v / (1 + v).

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/maths/atomics.h"
#include "core/maths/hd.h"
#include "core/with_type.h"
#include "lens/maths/samples.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

inline constexpr int grain_levels = 16;
inline constexpr int grain_bins = 256;
inline constexpr int grain_cell = 8;
inline constexpr std::uint32_t least_grain_cells = 16;

enum GrainKind { beside_kind, beyond_kind, between_kind, grain_kinds };

/// What is measured, in the backend's memory.
struct GrainState {
  std::uint32_t counts[grain_kinds][3][grain_levels][grain_bins];
  std::uint32_t cells[grain_kinds][3][grain_levels];
  float tenth[grain_kinds][3][grain_levels];  ///< of the differences, in bins
  float deviation[3][grain_levels];           ///< of the noise, in codes
  float centre, beside;  ///< weights of white noise at the pixel and its four neighbours, for deviation 1
  float shared, own;     ///< weights of noise that channels share, and of their own
};

/// Shift from a cell's sum of differences, in quarters of a code, to a bin.
template <class T>
inline constexpr int grain_shift = sizeof(T) == 1 ? 3 : 11;
template <class T>
inline constexpr int grain_white = sizeof(T) == 1 ? 0xFF : 0xFFFF;

template <class T>
SATIN_HD std::int32_t grain_code(T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (!(value > 0.0F)) return 0;
    const double light = static_cast<double>(value);
    return static_cast<std::int32_t>(light / (1 + light) * grain_white<T> + 0.5);
  } else {
    return value;
  }
}

struct ClearGrain {
  GrainState* state;

  SATIN_HD void operator()(int x, int y) const {
    state->counts[y / 3][y % 3][x / grain_bins][x % grain_bins] = 0;
  }
};

template <class T>
struct MeasureGrain {
  int channels;
  int colours;
  Rows<const T> picture;
  GrainState* state;

  SATIN_HD void operator()(int column, int row) const {
    std::uint32_t sums[grain_kinds][3] = {};
    std::int64_t levels[3] = {};
    for (int y = 2 + row * grain_cell; y < 2 + (row + 1) * grain_cell; ++y)
      for (int x = 2 + column * grain_cell; x < 2 + (column + 1) * grain_cell; ++x) {
        std::int32_t beside[3] = {};
        for (int c = 0; c < colours; ++c) {
          const std::int32_t own = code(x, y, c);
          beside[c] = 4 * own - around(x, y, c, 1);
          sums[beside_kind][c] += magnitude_of(beside[c]);
          sums[beyond_kind][c] += magnitude_of(4 * own - around(x, y, c, 2));
          levels[c] += own;
        }
        for (int c = 0; colours == 3 && c < 3; ++c)
          sums[between_kind][c] += magnitude_of(beside[c] - beside[(c + 1) % 3]);
      }
    constexpr std::int64_t end = std::int64_t{grain_cell} * grain_cell * (grain_white<T> + 1);
    for (int c = 0; c < colours; ++c)
      // All pairs have the level of the middle channel, so that BGR gives the same as RGB
      for (int kind = 0; kind < (colours == 3 ? grain_kinds : 2); ++kind) {
        const std::uint32_t bin = sums[kind][c] >> grain_shift<T>;
        add_shared(&state->counts[kind][c][levels[kind == between_kind ? 1 : c] * grain_levels / end]
                                 [bin < grain_bins ? bin : grain_bins - 1],
                   1);
      }
  }

 private:
  [[nodiscard]] SATIN_HD std::int32_t code(int x, int y, int c) const {
    return grain_code(picture.row(y)[std::int64_t{x} * channels + c]);
  }
  [[nodiscard]] SATIN_HD std::int32_t around(int x, int y, int c, int away) const {
    return code(x - away, y, c) + code(x + away, y, c) + code(x, y - away, c) + code(x, y + away, c);
  }
};

/// Finds the lowest tenth; place (x, y) is level x of channel y % 3 and kind y / 3.
struct FindGrainTenth {
  GrainState* state;

  SATIN_HD void operator()(int x, int y) const {
    const std::uint32_t* counts = state->counts[y / 3][y % 3][x];
    std::uint32_t total = 0;
    for (int i = 0; i < grain_bins; ++i) total += counts[i];
    std::uint32_t rest = total / 10;
    int bin = 0;
    while (bin + 1 < grain_bins && rest >= counts[bin]) rest -= counts[bin++];
    const float part = counts[bin] == 0 ? 0.0F : static_cast<float>(rest) / static_cast<float>(counts[bin]);
    state->cells[y / 3][y % 3][x] = total;
    state->tenth[y / 3][y % 3][x] = bin == 0 ? 0 : static_cast<float>(bin) + part;
  }
};

/// Computes the noise from the tenths; one thread. `codes`: codes of a bin.
struct ChooseGrain {
  GrainState* state;
  int colours;
  float codes;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    const double near = total(beside_kind);
    const double far = total(beyond_kind);
    double side = 0;  // white noise of weight 1 at the pixel and `side` beside it
    while (side < most_side && far > 0 && of_beside(side) / of_beyond(side) > near / far) side += side_step;
    const double power = 1 + 4 * side * side;
    state->centre = static_cast<float>(1 / sqrt(power));
    state->beside = static_cast<float>(side / sqrt(power));
    const double scale = static_cast<double>(codes) / normal_tenth / sqrt(of_beside(side) / power);
    for (int c = 0; c < colours; ++c)
      for (int level = 0; level < grain_levels; ++level)
        state->deviation[c][level] = static_cast<float>(scale * static_cast<double>(tenth_near(c, level)));
    const double both = total(between_kind);
    double share = colours == 3 && near > 0 ? 1 - both / (2 * near) : 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    state->shared = static_cast<float>(sqrt(share));
    state->own = static_cast<float>(sqrt(1 - share));
  }

 private:
  /// Lowest tenth of the cells' mean differences, in deviations of a normal distribution, whose mean is
  /// 0.798.
  static constexpr double normal_tenth = 0.68;
  static constexpr double side_step = 1.0 / 32;
  static constexpr double most_side = 11.0 / 32;

  // Variances of the differences, for noise of these weights.
  [[nodiscard]] SATIN_HD static double of_beside(double side) {
    return 1.25 * (1 + 4 * side * side) + 1.25 * side * side - 4 * side;
  }
  [[nodiscard]] SATIN_HD static double of_beyond(double side) {
    return 1.25 * (1 + 4 * side * side) - 2 * side * side;
  }
  /// Returns the sum of squared tenths over channels and levels. Channels are added so that BGR gives the
  /// same bits as RGB.
  [[nodiscard]] SATIN_HD double total(GrainKind kind) const {
    double sums[3] = {};
    for (int c = 0; c < colours; ++c)
      for (int level = 0; level < grain_levels; ++level) {
        const auto tenth = static_cast<double>(state->tenth[kind][c][level]);
        sums[c] = sums[c] + tenth * tenth * static_cast<double>(state->cells[kind][c][level]);
      }
    if (kind == between_kind) return (sums[0] + sums[1]) + sums[2];
    return (sums[0] + sums[2]) + sums[1];
  }
  /// Returns the tenth of the nearest level that has enough samples; 0 if none has.
  [[nodiscard]] SATIN_HD float tenth_near(int c, int level) const {
    for (int away = 0; away < grain_levels; ++away)
      for (int other = level - away; other <= level + away; other += away == 0 ? 1 : 2 * away)
        if (other >= 0 && other < grain_levels && state->cells[beside_kind][c][other] >= least_grain_cells)
          return state->tenth[beside_kind][c][other];
    return 0;
  }
};

/// Returns noise of mean 0 and deviation 1: the sum of four random bytes.
SATIN_HD float grain_noise(std::int32_t x, std::int32_t y, std::uint32_t channel) {
  std::uint32_t hash = static_cast<std::uint32_t>(x) * 0x9E3779B1U ^
                       (static_cast<std::uint32_t>(y) * 0x85EBCA77U + channel * 0xC2B2AE3DU);
  hash = (hash ^ (hash >> 16)) * 0x7FEB352DU;
  hash = (hash ^ (hash >> 15)) * 0x846CA68BU;
  hash = hash ^ (hash >> 16);
  const std::uint32_t bytes = (hash & 0xFFU) + (hash >> 8 & 0xFFU) + (hash >> 16 & 0xFFU) + (hash >> 24);
  return (static_cast<float>(bytes) - 510.0F) / 147.8F;
}

template <class T>
struct AddGrain {
  LensPlanes planes;
  int colours;
  float amount;
  Alpha alpha;
  bool blue_first;
  MaskRows mask;
  const GrainState* state;
  Rows<T> output;

  SATIN_HD void operator()(int x, int y) const {
    T* pixel = output.row(y) + std::int64_t{x} * planes.channels;
    const float lost = share_lost(planes.radii[planes.place(x, y)]) * amount * weight(x, y);
    if (!(lost > 0) || (alpha != Alpha::none && !(pixel[planes.channels - 1] > 0))) return;
    const float shared = coloured(x, y, 3) * state->shared;
    for (int c = 0; c < colours; ++c) {
      const auto seed = static_cast<std::uint32_t>(blue_first ? 2 - c : c);
      const float noise = shared + coloured(x, y, seed) * state->own;
      add(pixel[c], lost * deviation(c, grain_code(pixel[c])) * noise, pixel[planes.channels - 1]);
    }
  }

 private:
  [[nodiscard]] SATIN_HD float weight(int x, int y) const {
    if (mask.maximum == 0) return 1;
    return static_cast<float>(mask.weight(x, y)) / static_cast<float>(mask.maximum);
  }
  /// Returns the deviation of what is added, as a share of the noise: a disc keeps 1 / area of its variance.
  [[nodiscard]] SATIN_HD static float share_lost(std::int32_t radius) {
    const std::uint32_t magnitude = magnitude_of(radius);
    if (magnitude <= lens_focus_radius) return 0;
    const float beyond = static_cast<float>(magnitude - lens_focus_radius) * lens_radius_scale;
    const float area = 3.14159274F * beyond * beyond;
    return sqrtf(area / (1 + area));
  }
  /// Returns noise of deviation 1 with the spectrum that was measured.
  [[nodiscard]] SATIN_HD float coloured(int x, int y, std::uint32_t channel) const {
    const float around = (grain_noise(x - 1, y, channel) + grain_noise(x + 1, y, channel)) +
                         (grain_noise(x, y - 1, channel) + grain_noise(x, y + 1, channel));
    return grain_noise(x, y, channel) * state->centre + around * state->beside;
  }
  /// Interpolates between the centres of levels.
  [[nodiscard]] SATIN_HD float deviation(int c, std::int32_t code) const {
    const float place =
        static_cast<float>(code) * grain_levels / static_cast<float>(grain_white<T> + 1) - 0.5F;
    const int level = place < 0 ? 0 : static_cast<int>(place);
    const float part = place < 0 ? 0 : place - static_cast<float>(level);
    const float* levels = state->deviation[c];
    const float next = level + 1 < grain_levels ? levels[level + 1] : levels[level];
    return levels[level] + (next - levels[level]) * part;
  }
  SATIN_HD void add(T& value, float codes, T opacity) const {
    if constexpr (std::is_same_v<T, float>) {
      if (!(value > 0.0F)) return;
      const float slope = (1 + value) * (1 + value) / static_cast<float>(grain_white<T>);  // of v / (1 + v)
      const float sum = value + codes * slope;
      value = sum > 0 ? sum : 0;
    } else {
      const float sum = static_cast<float>(value) + codes + 0.5F;
      const T most = alpha == Alpha::premultiplied ? opacity : static_cast<T>(grain_white<T>);
      value = sum < 0 ? T{0} : sum < static_cast<float>(most) ? static_cast<T>(sum) : most;
    }
  }
};

/// Gives blurred parts the grain of the picture. Runs after the result is stored.
struct GrainJob {
  using Operation = PixelwiseOperation<GrainJob>;
  static constexpr const char* doing = "adding grain";

  Shape picture;
  int colours = 1;  ///< the last channel is none if channels are even
  float amount = 1;
  bool has_opacity = false;
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0 without a mask

  struct Images {
    LensPlanes planes;
    GrainState* state = nullptr;
    ImageView picture;
    ImageView mask;
    MutableImageView output;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    constexpr int rows = grain_kinds * 3;
    const std::int64_t width = picture.width;
    const std::int64_t height = picture.height;
    launch(std::int64_t{grain_levels * grain_bins}, std::int64_t{rows}, ClearGrain{images.state});
    with_pixel_type(picture.type, [&]<class T>() {
      if (width >= grain_cell + 4 && height >= grain_cell + 4)
        launch((width - 4) / grain_cell, (height - 4) / grain_cell,
               MeasureGrain<T>{picture.channels, colours, Rows<const T>(images.picture), images.state});
      launch(std::int64_t{grain_levels}, std::int64_t{rows}, FindGrainTenth{images.state});
      launch(std::int64_t{1}, std::int64_t{1},
             ChooseGrain{images.state, colours,
                         static_cast<float>(1 << grain_shift<T>) / (4 * grain_cell * grain_cell)});
      launch(width, height,
             AddGrain<T>{images.planes, colours, amount, has_opacity ? picture.alpha : Alpha::none,
                         picture.order == Order::bgr && colours == 3, MaskRows(images.mask, mask_maximum),
                         images.state, Rows<T>(images.output)});
    });
  }
};

}  // namespace satin
