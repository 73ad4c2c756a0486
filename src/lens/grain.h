#pragma once
// Grain (`--grain`): blurred areas get back the noise that the blur took from them.
//
// Cells of 8 x 8 pixels are counted by their mean high-pass difference, for each channel and level. The
// lowest tenth of the cells is smooth, and its differences are noise: of the cells in focus among the smooth
// ones if there are enough, otherwise of all. The ratio of differences to the neighbours at distance 1 and 2
// gives the size of the grain, the differences between channels their correlation. Noise of these statistics
// is added, made by an integer hash of the place. Values are stored codes; floats v are codes of v / (1 + v).

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
/// Least number of smooth cells in focus from which the noise is measured.
inline constexpr std::uint32_t least_focus_cells = 16;
/// Least number of cells of a level that has less noise than the levels near it.
inline constexpr std::uint32_t least_level_cells = 32;

enum GrainKind { beside_kind, beyond_kind, between_kind, grain_kinds };
inline constexpr int grain_rows = grain_kinds * 3;  ///< 3 * kind + channel, in the order RGB

/// Statistics of the noise, in the backend's memory.
struct GrainState {
  std::uint32_t counts[grain_rows][grain_levels][2 * grain_bins];  ///< cells out of focus, then in focus
  std::uint32_t cells[grain_rows][grain_levels];
  float tenth[grain_rows][grain_levels];  ///< lowest tenth of the differences, in bins
  float deviation[3][grain_levels];       ///< deviation of the noise, in codes
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

template <class T>
struct GrainSource {
  Rows<const T> picture;
  LensPlanes planes;
  int colours;
  bool blue_first;

  [[nodiscard]] SATIN_HD std::int64_t place(int x, int c) const {
    return std::int64_t{x} * planes.channels + (blue_first ? 2 - c : c);
  }
  [[nodiscard]] SATIN_HD std::int32_t code(int x, int y, int c) const {
    return grain_code(picture.row(y)[place(x, c)]);
  }
  [[nodiscard]] SATIN_HD std::int32_t difference(int x, int y, int c, int away) const {
    return 4 * code(x, y, c) - (code(x - away, y, c) + code(x + away, y, c)) -
           (code(x, y - away, c) + code(x, y + away, c));
  }
};

struct ClearGrain {
  GrainState* state;

  SATIN_HD void operator()(int x, int y) const {
    state->counts[y][x / (2 * grain_bins)][x % (2 * grain_bins)] = 0;
  }
};

/// Counts the cells.
template <class T>
struct MeasureGrain {
  GrainSource<T> source;
  GrainState* state;

  SATIN_HD void operator()(int column, int row) const {
    std::uint32_t sums[grain_rows] = {};
    std::int64_t levels[3] = {};
    bool in_focus = true;
    for (int y = 2 + row * grain_cell; y < 2 + (row + 1) * grain_cell; ++y)
      for (int x = 2 + column * grain_cell; x < 2 + (column + 1) * grain_cell; ++x) {
        const LensPlanes& planes = source.planes;
        in_focus = in_focus && magnitude_of(planes.radii[planes.place(x, y)]) <= lens_focus_radius;
        std::int32_t beside[3] = {};
        for (int c = 0; c < source.colours; ++c) {
          beside[c] = source.difference(x, y, c, 1);
          sums[3 * beside_kind + c] += magnitude_of(beside[c]);
          sums[3 * beyond_kind + c] += magnitude_of(source.difference(x, y, c, 2));
          levels[c] += source.code(x, y, c);
        }
        for (int c = 0; c < source.colours; ++c)
          sums[3 * between_kind + c] += magnitude_of(beside[c] - beside[(c + 1) % 3]);
      }
    constexpr std::int64_t end = std::int64_t{grain_cell} * grain_cell * (grain_white<T> + 1);
    for (int i = 0; i < grain_rows; ++i) {
      if (i % 3 >= source.colours) continue;
      const std::uint32_t bin = sums[i] >> grain_shift<T>;
      std::uint32_t* counts = state->counts[i][levels[i % 3] * grain_levels / end];
      add_shared(counts + (in_focus ? grain_bins : 0) + (bin < grain_bins ? bin : grain_bins - 1), 1);
    }
  }
};

/// Finds the lowest tenth of the cells of level x in row y.
struct FindGrainTenth {
  GrainState* state;

  SATIN_HD void operator()(int x, int y) const {
    std::uint32_t* all = state->counts[y][x];
    const std::uint32_t* in_focus = all + grain_bins;
    for (int i = 0; i < grain_bins; ++i) all[i] += in_focus[i];
    const float of_all = tenth_of(all, grain_bins, state->cells[y][x]);
    const int smooth = 2 * static_cast<int>(of_all) + 2;  // no cell of noise alone is above
    std::uint32_t cells = 0;
    const float of_focus = tenth_of(in_focus, smooth < grain_bins ? smooth : grain_bins, cells);
    state->tenth[y][x] = cells >= least_focus_cells ? of_focus : of_all;
  }

 private:
  [[nodiscard]] SATIN_HD static float tenth_of(const std::uint32_t* counts, int bins, std::uint32_t& cells) {
    cells = 0;
    for (int i = 0; i < bins; ++i) cells += counts[i];
    std::uint32_t rest = cells / 10;
    int bin = 0;
    while (bin + 1 < bins && rest >= counts[bin]) rest -= counts[bin++];
    if (bin == 0 || counts[bin] == 0) return static_cast<float>(bin);
    return static_cast<float>(bin) + static_cast<float>(rest) / static_cast<float>(counts[bin]);
  }
};

/// Computes the noise from the tenths; one thread. `codes`: codes of a bin.
struct ChooseGrain {
  GrainState* state;
  int colours;
  double codes;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    double totals[grain_kinds] = {};
    for (int i = 0; i < grain_rows; ++i)
      for (int level = 0; level < grain_levels && i % 3 < colours; ++level)
        totals[i / 3] = totals[i / 3] + square(i, level) * state->cells[i][level];
    double side = 0;  // white noise of weight 1 at the pixel and `side` beside it
    while (side < most_side && of_beside(side) * totals[beyond_kind] > of_beyond(side) * totals[beside_kind])
      side += side_step;
    const double power = 1 + 4 * side * side;
    state->centre = static_cast<float>(1 / sqrt(power));
    state->beside = static_cast<float>(side / sqrt(power));
    const double scale = codes / normal_tenth / sqrt(of_beside(side) / power);
    const double rounding = of_beside(0) / 12 * power / of_beside(side);
    for (int c = 0; c < colours; ++c)
      for (int level = 0; level < grain_levels; ++level)
        state->deviation[c][level] =
            static_cast<float>(before_rounding(scale * sqrt(square_near(c, level)), rounding));
    const double unlike =
        colours == 3 && totals[beside_kind] > 0 ? totals[between_kind] / (2 * totals[beside_kind]) : 1;
    state->own = static_cast<float>(sqrt(unlike < 1 ? unlike : 1));
    state->shared = static_cast<float>(sqrt(unlike < 1 ? 1 - unlike : 0));
  }

 private:
  /// Lowest tenth of the cells' mean differences, in deviations of a normal distribution, whose mean is
  /// 0.798.
  static constexpr double normal_tenth = 0.68;
  static constexpr double side_step = 1.0 / 32;
  static constexpr double most_side = 11.0 / 32;

  // Variances of the differences, for noise of these weights.
  [[nodiscard]] SATIN_HD static double of_beside(double side) { return 1.25 + 6.25 * side * side - 4 * side; }
  [[nodiscard]] SATIN_HD static double of_beyond(double side) { return 1.25 + 3 * side * side; }
  [[nodiscard]] SATIN_HD double square(int row, int level) const {
    const auto tenth = static_cast<double>(state->tenth[row][level]);
    return tenth * tenth;
  }
  /// Returns the deviation, in codes, of noise that has the deviation `wanted` when codes are rounded once
  /// more, which adds white noise like that of the variance `rounding`, but loses small noise.
  [[nodiscard]] SATIN_HD static double before_rounding(double wanted, double rounding) {
    constexpr double small = 0.35;
    const double least = wanted < small ? wanted : small;
    const double variance = wanted * wanted - rounding;
    return variance > least * least ? sqrt(variance) : least;
  }
  /// Returns the mean over the levels, weighted by their cells and nearness, or that of the level alone if it
  /// is smaller: flat colours stay flat, and texture where a level is never smooth is no noise.
  [[nodiscard]] SATIN_HD double square_near(int c, int level) const {
    double sum = 0;
    double weights = 0;
    for (int other = 0; other < grain_levels; ++other) {
      const double distance = (other - level) * (other - level);
      const double weight = state->cells[c][other] / (1 + 4 * distance * distance);
      sum = sum + weight * square(c, other);
      weights = weights + weight;
    }
    const double mean = weights > 0 ? sum / weights : 0;
    const double own = square(c, level);
    return state->cells[c][level] >= least_level_cells && own < mean ? own : mean;
  }
};

/// Returns noise of mean 0 and deviation 1: the sum of four random bytes.
SATIN_HD float grain_noise(std::int32_t x, std::int32_t y, int channel) {
  std::uint32_t hash =
      static_cast<std::uint32_t>(x) * 0x9E3779B1U ^
      (static_cast<std::uint32_t>(y) * 0x85EBCA77U + static_cast<std::uint32_t>(channel) * 0xC2B2AE3DU);
  hash = (hash ^ (hash >> 16)) * 0x7FEB352DU;
  hash = (hash ^ (hash >> 15)) * 0x846CA68BU;
  hash = hash ^ (hash >> 16);
  const std::uint32_t bytes = (hash & 0xFFU) + (hash >> 8 & 0xFFU) + (hash >> 16 & 0xFFU) + (hash >> 24);
  return (static_cast<float>(bytes) - 510.0F) / 147.8F;
}

template <class T>
struct AddGrain {
  GrainSource<T> source;
  const GrainState* state;
  float amount;
  Alpha alpha;
  MaskRows mask;
  Rows<T> output;

  SATIN_HD void operator()(int x, int y) const {
    T* row = output.row(y);
    const T opacity = row[(std::int64_t{x} + 1) * source.planes.channels - 1];
    float lost = share_lost(source.planes.radii[source.planes.place(x, y)]);
    for (int c = 0; c < source.colours; ++c) {
      const float changed = share_changed(c, source.code(x, y, c), grain_code(row[source.place(x, c)]));
      lost = changed > lost ? changed : lost;
    }
    lost = lost * amount;
    if (mask.maximum != 0)
      lost = lost * static_cast<float>(mask.weight(x, y)) / static_cast<float>(mask.maximum);
    if (!(lost > 0) || (alpha != Alpha::none && !(opacity > 0))) return;
    const float shared = coloured(x, y, 3) * state->shared;
    for (int c = 0; c < source.colours; ++c) {
      T& value = row[source.place(x, c)];
      const float noise = shared + coloured(x, y, c) * state->own;
      add(value, lost * deviation(c, grain_code(value)) * noise, opacity);
    }
  }

 private:
  /// Change that shows the blur of something nearer that spills over the pixel, in deviations of the noise.
  static constexpr float most_changed = 8;

  /// Returns the deviation of what is added, as a share of the noise: a disc keeps 1 / area of its variance.
  [[nodiscard]] SATIN_HD static float share_lost(std::int32_t radius) {
    const std::uint32_t magnitude = magnitude_of(radius);
    if (magnitude <= lens_focus_radius) return 0;
    const float beyond = static_cast<float>(magnitude - lens_focus_radius) * lens_radius_scale;
    const float area = 3.14159274F * beyond * beyond;
    return sqrtf(area / (1 + area));
  }
  [[nodiscard]] SATIN_HD float share_changed(int c, std::int32_t before, std::int32_t after) const {
    const float most = most_changed * deviation(c, after);
    const auto change = static_cast<float>(magnitude_of(after - before));
    return change < most ? change / most : most > 0 ? 1.0F : 0.0F;
  }
  /// Returns noise of deviation 1 with the spectrum that was measured.
  [[nodiscard]] SATIN_HD float coloured(int x, int y, int channel) const {
    const float around = (grain_noise(x - 1, y, channel) + grain_noise(x + 1, y, channel)) +
                         (grain_noise(x, y - 1, channel) + grain_noise(x, y + 1, channel));
    return grain_noise(x, y, channel) * state->centre + around * state->beside;
  }
  [[nodiscard]] SATIN_HD float deviation(int c, std::int32_t code) const {
    return state->deviation[c][static_cast<std::int64_t>(code) * grain_levels / (grain_white<T> + 1)];
  }
  SATIN_HD void add(T& value, float codes, T opacity) const {
    if constexpr (std::is_same_v<T, float>) {
      const float slope = (1 + value) * (1 + value) / static_cast<float>(grain_white<T>);  // of v / (1 + v)
      const float sum = value + codes * slope;
      if (value > 0) value = sum > 0 ? sum : 0;
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
  Alpha alpha = Alpha::none;  ///< meaning of the last channel
  float amount = 1;
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
    launch(std::int64_t{grain_levels * 2 * grain_bins}, std::int64_t{grain_rows}, ClearGrain{images.state});
    with_pixel_type(picture.type, [&]<class T>() {
      const int colours = picture.channels < 3 ? 1 : 3;
      const bool blue_first = picture.order == Order::bgr && colours == 3;
      const GrainSource<T> source{Rows<const T>(images.picture), images.planes, colours, blue_first};
      if (picture.width >= grain_cell + 4 && picture.height >= grain_cell + 4)
        launch((picture.width - 4) / grain_cell, (picture.height - 4) / grain_cell,
               MeasureGrain<T>{source, images.state});
      launch(std::int64_t{grain_levels}, std::int64_t{grain_rows}, FindGrainTenth{images.state});
      constexpr double codes = static_cast<double>(1 << grain_shift<T>) / (4 * grain_cell * grain_cell);
      launch(std::int64_t{1}, std::int64_t{1}, ChooseGrain{images.state, colours, codes});
      launch(picture.width, picture.height,
             AddGrain<T>{source, images.state, amount, alpha, MaskRows(images.mask, mask_maximum),
                         Rows<T>(images.output)});
    });
  }
};

}  // namespace satin
