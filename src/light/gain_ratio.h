#pragma once
// The gains that lead from a base picture to its light, averaged over the cells of a new gain map: the
// quotient of the sums of both, so that the light of a cell is kept, as a logarithm. Most maps have one gain
// for all colours; then the cells are marked in which this would lose the tint.

#include <cmath>
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
  static constexpr int at_once = 64;

  BaseLight linear;
  int channels;
  CellAxis across;
  CellAxis down;
  GainOffsets offsets;
  Rows<const T> base;
  Rows<const float> light;
  Rows<const T> base_before;  ///< null without a picture before
  Rows<const float> light_before;
  Rows<float> gains;
  Rows<float> sources;
  Rows<std::uint8_t> changed;
  Rows<std::uint8_t> tints;  ///< null if gains have a channel for each colour
  double share;              ///< cells per pixel, at most 1
  int first_row;             ///< row of cells that is the first of `gains`
  std::int64_t top;          ///< row of pixels that is the first of `base`

  /// Sums of a base picture and of its light over a stretch of cells: those of colours, then all together.
  template <int Most>
  struct Sums {
    static constexpr int count = Colours == 1 ? 1 : Colours + 1;
    double own[std::size_t{count}][std::size_t{Most}];
    double restored[std::size_t{count}][std::size_t{Most}];
    bool is_unchanged[std::size_t{Most}];
  };

  SATIN_HD void operator()(int x, int y) const { columns<1>(x, x + 1, y); }

  /// Computes cells `first` to `last` - 1 of row y, at most `Most`, in loops that compilers vectorize.
  template <int Most = at_once>
  SATIN_HD void columns(int first, int last, int y) const {
    Sums<Most> sums;
    for (int x = first; x < last; ++x) sum(x, y, x - first, sums);
    float stops[std::size_t{Most}];
    const auto find_stops = [&](int plane) {
      const double* own = sums.own[plane];
      const double* restored = sums.restored[plane];
      for (int i = 0; i < last - first; ++i) stops[i] = static_cast<float>(log_of_2(restored[i] / own[i]));
      for (int i = 0; i < last - first; ++i) stops[i] = bounded(stops[i]);
    };
    const int planes = tints.data == nullptr ? Colours : 1;  // of the output
    const int common = tints.data == nullptr ? 0 : Sums<Most>::count - 1;
    for (int plane = 0; plane < planes; ++plane) {
      find_stops(common + plane);
      float* gain = gains.row(y) + std::int64_t{first} * planes + plane;
      float* source = sources.row(y) + std::int64_t{first} * planes + plane;
      for (int i = 0; i < last - first; ++i) gain[i * planes] = stops[i];
      for (int i = 0; i < last - first; ++i)
        source[i * planes] = static_cast<float>(sums.own[common + plane][i]);
    }
    std::uint8_t* change = changed.row(y) + first;
    for (int i = 0; i < last - first; ++i) change[i] = sums.is_unchanged[i] ? 0 : 1;
    if (tints.data == nullptr) return;
    std::uint8_t* tint = tints.row(y) + first;
    for (int i = 0; i < last - first; ++i) tint[i] = change[i] != 0 && may_be_tinted(sums, i) ? 1 : 0;
    for (int i = 0; i < last - first; ++i)
      if (tint[i] != 0) tint[i] = is_tinted(sums, i, stops[i]) ? 1 : 0;
  }

 private:
  /// Sums cell x in double, row after row, into entry i. Planes are red first, and their sum is in an order
  /// that gives the same bits for RGB and BGR.
  template <int Most>
  SATIN_HD void sum(int x, int y, int i, Sums<Most>& sums) const {
    const std::int64_t left = across.first(x) * channels, right = across.last(x) * channels;
    const std::int64_t begin = down.first(first_row + y) - top, end = down.last(first_row + y) - top;
    double own[3] = {}, restored[3] = {};
    for (std::int64_t line = begin; line < end; ++line) {
      const T* own_row = base.row(line);
      const float* light_row = light.row(line);
      for (std::int64_t at = left; at < right; at += channels)
        for (int c = 0; c < Colours; ++c) {
          own[c] = own[c] + linear.of(own_row[at + c]);
          restored[c] = restored[c] + static_cast<double>(light_row[at + c]);
        }
    }
    const auto pixels = static_cast<double>((across.last(x) - across.first(x)) * (end - begin));
    for (int c = 0; c < Colours; ++c) {
      const int colour = linear.is_bgr ? 2 - c : c;
      sums.own[colour][i] = not_below(own[c] + pixels * static_cast<double>(offsets.base[colour]));
      sums.restored[colour][i] = not_below(restored[c] + pixels * static_cast<double>(offsets.light[colour]));
    }
    if constexpr (Colours > 1) {
      const auto all = [i](const auto& planes) { return (planes[0][i] + planes[2][i]) + planes[1][i]; };
      sums.own[Colours][i] = all(sums.own);
      sums.restored[Colours][i] = all(sums.restored);
    }
    sums.is_unchanged[i] = base_before.data != nullptr && is_unchanged(left, right, begin, end);
  }

  SATIN_HD bool is_unchanged(std::int64_t left, std::int64_t right, std::int64_t begin,
                             std::int64_t end) const {
    for (std::int64_t line = begin; line < end; ++line)
      for (std::int64_t at = left; at < right; ++at)
        if (base.row(line)[at] != base_before.row(line)[at] ||
            light.row(line)[at] != light_before.row(line)[at])
          return false;
    return true;
  }

  /// Whether a colour's gain and that of all differ by 1/32 of this one or more. Otherwise they differ by
  /// less than error_of_colour stops.
  template <int Most>
  SATIN_HD bool may_be_tinted(const Sums<Most>& sums, int i) const {
    bool differ = false;
    if constexpr (Colours > 1)
      for (int c = 0; c < Colours; ++c) {
        const double one = sums.restored[c][i] * sums.own[Colours][i];
        const double other = sums.restored[Colours][i] * sums.own[c][i];
        differ |= !(32 * fabs(one - other) < other);
      }
    return differ;
  }

  /// Whether the gain of all colours loses the tint of a cell.
  template <int Most>
  SATIN_HD bool is_tinted(const Sums<Most>& sums, int i, float stops) const {
    if constexpr (Colours > 1) {
      for (int c = 0; c < Colours; ++c) {
        const double own = sums.own[c][i], restored = sums.restored[c][i];
        if (gain_errs(static_cast<double>(bounded(static_cast<float>(log_of_2(restored / own)))),
                      static_cast<double>(stops), static_cast<double>(static_cast<float>(own)) * share,
                      error_of_colour))
          return true;
      }
    }
    return false;
  }

  static SATIN_HD double not_below(double value) { return value > least_light ? value : least_light; }

  static SATIN_HD float bounded(float stops) {
    constexpr auto most = static_cast<float>(most_stops);
    const float held = stops > most ? most : stops;
    return held < -most ? -most : held;
  }
};

/// Positions in the range of a map's gains, by which a table gives their codes.
inline constexpr int gain_places = 65536;

/// The range of a map's gains, red first.
struct GainRange {
  double min[3] = {};
  double scale[3] = {};  ///< places per stop
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
    /// first.
    MutableImageView gains;
    MutableImageView sources;  ///< sums of base + offset in the same channels
    MutableImageView changed;  ///< u8, 0 where no pixel of the cell has changed, and 1 elsewhere
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
                                       Rows<std::uint8_t>(images.changed),
                                       Rows<std::uint8_t>(images.tints),
                                       share,
                                       static_cast<int>(images.first),
                                       rows.first(images.first)});
    });
  }
};

/// Turns the gains of a cell into codes.
struct GainCodeCell {
  int channels;
  int channels_before;
  GainRange range;
  Rows<const float> gains;
  Rows<const std::uint8_t> table;
  Rows<const std::uint8_t> changed;
  Rows<const std::uint8_t> before;  ///< null if all cells get new codes
  Rows<std::uint8_t> codes;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = std::int64_t{x} * channels;
    const bool keeps = before.data != nullptr && changed.row(y)[x] == 0;
    for (int c = 0; c < channels; ++c) {
      if (keeps) {
        codes.row(y)[at + c] =
            before.row(y)[std::int64_t{x} * channels_before + (channels_before == 1 ? 0 : c)];
        continue;
      }
      const double place = (static_cast<double>(gains.row(y)[at + c]) - range.min[c]) * range.scale[c];
      const double held = place > gain_places ? gain_places : place;
      codes.row(y)[at + c] = table.row(c)[held > 0 ? static_cast<int>(held + 0.5) : 0];
    }
  }
};

struct GainCodesJob {
  using Operation = PixelwiseOperation<GainCodesJob>;
  static constexpr const char* doing = "encoding a gain map";

  int channels = 1;         ///< of the map
  int channels_before = 1;  ///< of the map before
  GainRange range;

  struct Images {
    ImageView gains;    ///< as in GainRatioJob
    ImageView table;    ///< u8, the codes of gain_places + 1 places, a row for each channel
    ImageView changed;  ///< as in GainRatioJob
    ImageView before;   ///< u8, a map whose codes stay in cells that have not changed; or empty
    MutableImageView codes;
  };

  template <class Launch>
  void each(const Images& images, const TransferView&, const Launch& launch) const {
    launch(images.codes.shape.width, images.codes.shape.height,
           GainCodeCell{channels, channels_before, range, Rows<const float>(images.gains),
                        Rows<const std::uint8_t>(images.table), Rows<const std::uint8_t>(images.changed),
                        Rows<const std::uint8_t>(images.before), Rows<std::uint8_t>(images.codes)});
  }
};

}  // namespace satin
