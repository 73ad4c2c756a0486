#pragma once
// Visible samples: how a picture and its radii become one sample per pixel.
//
// Ramp sharpening. Resampling and anti-aliasing leave ramps of depth between two surfaces. A pixel on a ramp
// whose 5 x 5 neighbourhood spans two surfaces gets the closer of the two extreme radii around it.
//
// Unmixing. A pixel on a silhouette mixes two surfaces: I = alpha F + (1 - alpha) B. F and B are weighted
// means of near and far pixels around; alpha is the least-squares solution, regularised towards the share by
// depth. Both surfaces become samples, so that each spreads by its own radius. What F and B leave unexplained
// goes to the surface that the pixel's depth belongs to, or to the lamp that it is.
//
// The groups between both steps are found by depth_groups.h. make_visible_samples() runs all of it.

#include <bit>
#include <cstdint>

#include "depth/maths/signed_radius.h"
#include "lens/maths/border_steps.h"
#include "lens/maths/depth_groups.h"
#include "lens/maths/picture.h"
#include "lens/maths/samples.h"
#include "pixels/maths/pixel.h"

namespace satin {

/// Range of the radii within `reach` pixels each way.
SATIN_HD RadiusRange radius_range(const std::int32_t* radii, const LensPlanes& planes, int x, int y,
                                  int reach) {
  const std::int32_t own = radii[planes.place(x, y)];
  RadiusRange range{own, own};
  const int left = x < reach ? 0 : x - reach;
  const int right = x + reach < planes.width ? x + reach : planes.width - 1;
  const int bottom = y + reach < planes.height ? y + reach : planes.height - 1;
  for (int v = y < reach ? 0 : y - reach; v <= bottom; ++v) {
    const std::int32_t* row = radii + planes.place(0, v);
    for (int u = left; u <= right; ++u) {
      range.low = row[u] < range.low ? row[u] : range.low;
      range.high = row[u] > range.high ? row[u] : range.high;
    }
  }
  return range;
}

/// Whether both one-sided differences have one sign and exceed the step.
SATIN_HD bool on_ramp(std::int32_t before, std::int32_t own, std::int32_t after) {
  const std::int32_t a = own - before;
  const std::int32_t b = after - own;
  return (a < b ? a : b) > ramp_step || (a < b ? b : a) < -ramp_step;
}

/// Row y of a plane of radii, for steps that compare neighbours. In the first and last row of the picture
/// at() returns the pixel itself. Beyond the ends of other rows it may be called only with j = 0, and returns
/// some pixel of the picture.
struct RadiusRow {
  const std::int32_t* own;
  std::int64_t across;
  std::int64_t down;

  SATIN_HD RadiusRow(const std::int32_t* radii, const LensPlanes& planes, int y)
      : own(radii + planes.place(0, y)),
        across(y > 0 && y + 1 < planes.height ? 1 : 0),
        down(across * planes.width) {}
  /// Radius beside pixel x; i and j are -1, 0 or 1.
  [[nodiscard]] SATIN_HD std::int32_t at(int x, int i, int j) const { return own[x + i * across + j * down]; }
};

/// Sharpens ramps of `radii` into `sharpened`.
struct SharpenRamp {
  LensPlanes planes;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = planes.place(x, y);
    const std::int32_t* radii = planes.radii;
    const std::int32_t own = radii[at];
    planes.sharpened[at] = own;
    if (x == 0 || y == 0 || x + 1 == planes.width || y + 1 == planes.height) return;
    if (!on_ramp(radii[at - 1], own, radii[at + 1]) &&
        !on_ramp(radii[at - planes.width], own, radii[at + planes.width]))
      return;
    const RadiusRange range = radius_range(radii, planes, x, y, 2);
    if (range.high - range.low > silhouette_step)
      planes.sharpened[at] = own - range.low < range.high - own ? range.low : range.high;
  }

  struct Row {
    const SharpenRamp& step;
    RadiusRow radii;
    std::int32_t* sharpened;
    int y;

    SATIN_HD void operator()(int x) const { step(x, y); }
    [[nodiscard]] SATIN_HD bool is_rare(int x) const {
      return on_ramp(radii.at(x, -1, 0), radii.at(x, 0, 0), radii.at(x, 1, 0)) ||
             on_ramp(radii.at(x, 0, -1), radii.at(x, 0, 0), radii.at(x, 0, 1));
    }
    SATIN_HD void usual(int x) const { sharpened[x] = radii.at(x, 0, 0); }
  };
  SATIN_HD Row row(int y) const {
    return {*this, {planes.radii, planes, y}, planes.sharpened + planes.place(0, y), y};
  }
};

/// Marks the edges of the sharpened radii: 3 x 3 pixels span two surfaces.
struct FindSilhouette {
  LensPlanes planes;

  struct Row {
    RadiusRow radii;
    std::uint8_t* edges;
    int width;

    SATIN_HD void operator()(int x) const {
      if (x == 0 || x + 1 == width)
        edges[x] = 0;
      else
        inner(x);
    }
    SATIN_HD void inner(int x) const {
      RadiusRange range{radii.at(x, 0, 0), radii.at(x, 0, 0)};
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          const std::int32_t radius = radii.at(x, i, j);
          range.low = radius < range.low ? radius : range.low;
          range.high = radius > range.high ? radius : range.high;
        }
      edges[x] = range.high - range.low > silhouette_step ? 1 : 0;
    }
  };
  SATIN_HD Row row(int y) const {
    return {{planes.sharpened, planes, y}, planes.edges + planes.place(0, y), planes.width};
  }
};

inline constexpr int silhouette_reach = 2;         ///< colours of both sides come from 5 x 5 pixels
inline constexpr float prior_least = 0.05F;        ///< regularisation lambda in a flat neighbourhood
inline constexpr float prior_by_variance = 20.0F;  ///< increase of lambda per variance of the two sides
inline constexpr float least_share = 0.5F;         ///< least divisor of the unexplained light
inline constexpr float visible_share = 0.02F;      ///< smaller shares of the nearer surface are dropped
/// A clipped lamp is more than this many times as bright as either side.
inline constexpr float clipped_lamp_times = 2;
inline constexpr float least_lamp = 0.5F;        ///< more unexplained light than this is a lamp's
inline constexpr float least_lamp_share = 0.1F;  ///< least divisor of a lamp's light on the farther side

/// Range of each channel over some pixels. Unmixed colours are held to the range of the pixels around: where
/// both sides are textured, they would be noise.
template <int Channels>
struct ColourRange {
  std::uint32_t low[4] = {~0U, ~0U, ~0U, ~0U};
  std::uint32_t high[4] = {};

  SATIN_HD void add(const std::uint32_t* values) {
    for (int c = 0; c < Channels; ++c) {
      low[c] = values[c] < low[c] ? values[c] : low[c];
      high[c] = values[c] > high[c] ? values[c] : high[c];
    }
  }
  [[nodiscard]] SATIN_HD std::uint32_t held(int c, std::uint32_t value) const {
    return value < low[c] ? low[c] : value > high[c] ? high[c] : value;
  }
};

/// Index of the lowest set bit of a number that is not 0.
SATIN_HD int lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}

/// Colours and radius of one side of a silhouette, weighted means. Colours are relative to the pixel's own,
/// so that a constant picture is unmixed into exactly itself.
template <int Channels>
struct SilhouetteSide {
  float colour[4] = {};
  float radius = 0;
  float squares = 0;  ///< squared colours, without alpha
  float weight = 0;
  ColourRange<Channels> range;  ///< absolute colours

  SATIN_HD void add(const std::uint32_t* values, const float* own, int colours, std::int32_t own_radius,
                    float by, const LensUnit& unit) {
    float terms[4] = {};
    for (int c = 0; c < Channels; ++c) {
      const float light = lens_light(values[c], unit) - own[c];
      colour[c] = colour[c] + by * light;
      terms[c] = by * light * light;
    }
    squares = squares + sum_of_colours<Channels>(terms, colours);
    radius = radius + by * static_cast<float>(own_radius);
    weight = weight + by;
    range.add(values);
  }
  SATIN_HD void divide() {
    for (int c = 0; c < Channels; ++c) colour[c] = colour[c] / weight;
    radius = radius / weight;
    squares = squares / weight;
  }
  SATIN_HD float variance(int colours) const {
    float terms[4] = {};
    for (int c = 0; c < Channels; ++c) terms[c] = colour[c] * colour[c];
    const float result = squares - sum_of_colours<Channels>(terms, colours);
    return result > 0 ? result : 0;
  }
  SATIN_HD std::int32_t rounded_radius() const {
    return static_cast<std::int32_t>(radius < 0 ? radius - 0.5F : radius + 0.5F);
  }
};

/// Adds linear light to an integer: rounded to nearest, held to [0, largest].
SATIN_HD std::uint32_t lens_moved(std::uint32_t value, float light, const LensUnit& unit) {
  const double moved = static_cast<double>(value) + static_cast<double>(light * unit.white);
  if (!(moved > 0)) return 0;
  const double largest = static_cast<double>(unit.largest);
  return static_cast<std::uint32_t>((moved < largest ? moved : largest) + 0.5);
}

// Constants of samples on the picture's border, with a flat optimum on ray-traced scenes and on photographs
// that were cut.

inline constexpr int band_rows = 8;                     ///< each of three bands has a pixel in so many rows
inline constexpr int rows_in_radius = 6;                ///< so that the bands reach four radii inwards
inline constexpr float largest_guess = 0.375F;          ///< share of the mean where the kernel is large
inline constexpr float half_guess_radius = 6 * 256.0F;  ///< radius with half of that share, 1/256 pixel

/// Stores the visible samples of all pixels as if none mixed two surfaces.
template <class T, int Channels>
struct StoreVisible {
  LensPlanes planes;
  LensPicture<T> picture;
  const LensUnit* known_unit;
  const DepthGroups* groups;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = planes.place(x, y);
    std::uint32_t own[4];
    read_lens_pixel<Channels>(picture.at(x, y), picture, *known_unit, own);
    store(at, own, planes.sharpened[at], lens_full_weight);
  }

  [[nodiscard]] SATIN_HD int colours() const { return picture.weighted ? Channels - 1 : Channels; }

  SATIN_HD void store(std::int64_t at, const std::uint32_t* colour, std::int32_t radius,
                      std::uint32_t weight) const {
    for (int c = 0; c < Channels; ++c) planes.colours[at * Channels + c] = colour[c];
    planes.radii[at] = radius;
    planes.magnitudes[at] = magnitude_of(radius);
    planes.groups[at] = static_cast<std::uint8_t>(groups->group_of(radius));
    planes.weights[at] = static_cast<std::uint16_t>(weight);
  }
};

/// Stores the samples on the border again, with guesses of what lies beyond it. It is a step of its own
/// because few pixels need it. Place (x, y) is pixel columns * y + x of the first row, the last row, the
/// first column and the last column, one after the other.
template <class T, int Channels>
struct GuessBeyondBorder {
  static constexpr int columns = 256;

  StoreVisible<T, Channels> visible;

  [[nodiscard]] SATIN_HD int rows() const {
    return (2 * (planes().width + planes().height) + columns - 1) / columns;
  }

  SATIN_HD void operator()(int x, int y) const {
    const int width = planes().width;
    const int height = planes().height;
    const int i = columns * y + x;
    if (i < 2 * width) {
      const bool last = i >= width;
      if (!last || height > 1) guess(last ? i - width : i, last ? height - 1 : 0);
    } else if (const int j = i - 2 * width; j < 2 * height) {
      const bool last = j >= height;
      const int row = last ? j - height : j;
      if (row > 0 && row + 1 < height && (!last || width > 1)) guess(last ? width - 1 : 0, row);
    }
  }

 private:
  [[nodiscard]] SATIN_HD const LensPlanes& planes() const { return visible.planes; }

  SATIN_HD void guess(int x, int y) const {
    const std::int64_t at = planes().place(x, y);
    std::uint32_t own[4];
    read_lens_pixel<Channels>(visible.picture.at(x, y), visible.picture, *visible.known_unit, own);
    guess_beyond(x, y, own);
    for (int c = 0; c < Channels; ++c) planes().colours[at * Channels + c] = own[c];
  }

  /// Reads linear light. Returns whether it is below lens_clipped_light.
  SATIN_HD bool light_at(int x, int y, float* light) const {
    std::uint32_t values[4];
    read_lens_pixel<Channels>(visible.picture.at(x, y), visible.picture, *visible.known_unit, values);
    float brightest = 0;
    for (int c = 0; c < Channels; ++c) {
      light[c] = lens_light(values[c], *visible.known_unit);
      if (c < visible.colours() && light[c] > brightest) brightest = light[c];
    }
    return brightest < lens_clipped_light;
  }

  /// Moves the colour of a sample on the border, which stands for all pixels beyond it, towards the mean of
  /// its group farther inwards: texture is forgotten with the distance, slow changes go on. Their shares
  /// follow from three bands along the border, as in a Wiener filter. Clipped light is left out.
  SATIN_HD void guess_beyond(int x, int y, std::uint32_t* own) const {
    const std::int32_t radius = planes().sharpened[planes().place(x, y)];
    const auto magnitude = static_cast<std::int32_t>(magnitude_of(radius));
    float light[4];
    if (magnitude_of(radius) <= lens_focus_radius || !light_at(x, y, light)) return;
    const int right = x == 0 ? 1 : x + 1 == planes().width ? -1 : 0;
    const int down = y == 0 ? 1 : y + 1 == planes().height ? -1 : 0;
    float sums[3][4] = {};  // a sum for each band, relative to the border pixel
    float counts[3] = {};
    float squares[4] = {};  // sums of squares in the first band
    for (int i = 1; i <= 3 * band_rows; ++i) {
      const int distance = magnitude * i / (rows_in_radius * 256) + i / band_rows;
      const int aside = (i <= band_rows ? 1 : 2) * magnitude * (i * 7 % 16 - 8) / (4 * 256);
      const int u = x + (right != 0 ? right * distance : aside);
      const int v = y + (down != 0 ? down * distance : aside);
      float there[4];
      if (!planes().holds(u, v) || !light_at(u, v, there)) continue;
      if (visible.groups->group_of(planes().sharpened[planes().place(u, v)]) !=
          visible.groups->group_of(radius))
        continue;
      const int band = (i - 1) / band_rows;
      counts[band] = counts[band] + 1;
      for (int c = 0; c < Channels; ++c) {
        const float apart = there[c] - light[c];
        sums[band][c] = sums[band][c] + apart;
        if (band == 0) squares[c] = squares[c] + apart * apart;
      }
    }
    if (!(counts[0] > 0 && counts[1] > 0 && counts[2] > 0)) return;
    float textures[4];
    float changes[4];
    float mean[4];
    for (int c = 0; c < Channels; ++c) {
      const float near = sums[0][c] / counts[0];
      const float middle = sums[1][c] / counts[1];
      const float far = sums[2][c] / counts[2];
      const float a = near - middle;
      const float b = near - far;
      mean[c] = (middle + far) / 2;
      textures[c] = squares[c] / counts[0] - near * near;
      changes[c] = a * a + b * b + (a - b) * (a - b);
    }
    const float texture = sum_of_channels(textures, Channels);
    if (!(texture > 0)) return;
    const auto beyond = static_cast<float>(magnitude_of(radius) - lens_focus_radius);
    const float like_texture = texture / (texture + 2 * sum_of_channels(changes, Channels));
    const float share = largest_guess * (beyond / (beyond + half_guess_radius)) * like_texture;
    for (int c = 0; c < Channels; ++c) own[c] = lens_moved(own[c], share * mean[c], *visible.known_unit);
  }
};

/// Unmixes the pixels on silhouettes. It is a step of its own because few pixels need it.
template <class T, int Channels>
struct SeparateSilhouettes {
  StoreVisible<T, Channels> visible;
  LensList list;
  /// 1 if depth is soft: the pixel may belong to either side, and each colour is held to the range of its
  /// side.
  const std::uint32_t* soft;

  SATIN_HD void operator()(int x, int y) const {
    if (visible.planes.edges[visible.planes.place(x, y)] != 0) separate(x, y);
  }

  struct Row {
    const SeparateSilhouettes& step;
    const std::uint8_t* edges;
    int y;

    SATIN_HD void operator()(int x) const { step(x, y); }
    [[nodiscard]] SATIN_HD bool is_rare(int x) const { return edges[x] != 0; }
    SATIN_HD void usual(int /*x*/) const {}
  };
  SATIN_HD Row row(int y) const { return {*this, planes().edges + planes().place(0, y), y}; }

 private:
  using Side = SilhouetteSide<Channels>;
  using Range = ColourRange<Channels>;

  [[nodiscard]] SATIN_HD bool depth_is_soft() const { return soft != nullptr && *soft != 0; }
  [[nodiscard]] SATIN_HD int colours() const { return visible.colours(); }
  [[nodiscard]] SATIN_HD const LensPlanes& planes() const { return visible.planes; }
  [[nodiscard]] SATIN_HD int group_of(std::int32_t radius) const { return visible.groups->group_of(radius); }

  SATIN_HD void add(int x, int y, const std::uint32_t* colour, std::int32_t radius, std::uint32_t weight,
                    int group) const {
    LensSample sample{};
    for (int c = 0; c < Channels; ++c) sample.colour[c] = colour[c];
    sample.x = x;
    sample.y = y;
    sample.radius = magnitude_of(radius);
    sample.weight = static_cast<std::uint16_t>(weight);
    sample.block = 1;
    sample.group = static_cast<std::uint8_t>(group);
    list.add(sample);
  }

  static constexpr int across = 2 * silhouette_reach + 1;

  /// Pixels around, a bit each, row by row. A pixel belongs to a side if it is closer to that side's extreme
  /// radius than to the middle.
  struct Around {
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::uint32_t edges = 0;
    Range seen;  ///< all pixels
    Range far;   ///< pixels of `back`

    /// Drops edge pixels, unless the side has no others.
    [[nodiscard]] SATIN_HD std::uint32_t used(std::uint32_t side) const {
      return (side & ~edges) != 0 ? side & ~edges : side;
    }
  };

  SATIN_HD void look_around(int x, int y, const RadiusRange& range, const LensUnit& unit,
                            Around& found) const {
    const std::int32_t twice_middle = range.low + range.high;
    const std::int32_t farthest_off = (range.high - range.low) / 2;
    std::uint32_t bit = 1;
    for (int v = y - silhouette_reach; v <= y + silhouette_reach; ++v)
      for (int u = x - silhouette_reach; u <= x + silhouette_reach; ++u, bit <<= 1) {
        if (!planes().holds(u, v)) continue;
        const std::int64_t at = planes().place(u, v);
        const std::int32_t radius = planes().sharpened[at];
        const bool near = 2 * radius > twice_middle;
        const std::int32_t off = radius - (near ? range.high : range.low);
        const bool counts = 2 * (off < 0 ? -off : off) <= farthest_off;
        std::uint32_t values[4];
        read(u, v, unit, values);
        found.seen.add(values);
        if (counts && !near) found.far.add(values);
        found.front |= counts && near ? bit : 0;
        found.back |= counts && !near ? bit : 0;
        found.edges |= planes().edges[at] != 0 ? bit : 0;
      }
  }

  SATIN_HD void read(int x, int y, const LensUnit& unit, std::uint32_t* values) const {
    read_lens_pixel<Channels>(visible.picture.at(x, y), visible.picture, unit, values);
  }

  /// Returns 1 / (d^2 + 1/2)^2 at offset (i, j).
  [[nodiscard]] SATIN_HD static float weight_at(int i, int j) {
    constexpr float weights[] = {weight(0), weight(1), weight(2), 0, weight(4), weight(5), 0, 0, weight(8)};
    static_assert(silhouette_reach == 2);
    return weights[i * i + j * j];
  }
  [[nodiscard]] SATIN_HD static constexpr float weight(int square) {
    const float distance = static_cast<float>(square) + 0.5F;
    return 1.0F / (distance * distance);
  }

  [[nodiscard]] SATIN_HD Side side_of(int x, int y, std::uint32_t pixels, const float* own,
                                      const LensUnit& unit) const {
    Side side;
    for (; pixels != 0; pixels &= pixels - 1) {
      const int place = lowest_bit(pixels);
      const int i = place % across - silhouette_reach;
      const int j = place / across - silhouette_reach;
      std::uint32_t values[4];
      read(x + i, y + j, unit, values);
      side.add(values, own, colours(), planes().sharpened[planes().place(x + i, y + j)], weight_at(i, j),
               unit);
    }
    side.divide();
    return side;
  }

  [[nodiscard]] SATIN_HD float brightest(const Range& range, const LensUnit& unit) const {
    std::uint32_t value = 0;
    for (int c = 0; c < Channels; ++c)
      if (c < colours() && range.high[c] > value) value = range.high[c];
    return lens_light(value, unit);
  }

  /// Share of the nearer side by depth alone: [1 2 1]^2 mean of the pixels nearer than the middle.
  SATIN_HD float share_by_depth(int x, int y, const RadiusRange& range) const {
    int sum = 0;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i)
        if (2 * planes().sharpened[planes().place(x + i, y + j)] > range.low + range.high)
          sum += (i == 0 ? 2 : 1) * (j == 0 ? 2 : 1);
    return static_cast<float>(sum) / 16.0F;
  }

  /// Unmixes one pixel. Where one side has no pixels it stays as it is. Edge pixels never lie on the
  /// picture's border.
  SATIN_HD void separate(int x, int y) const {
    const LensUnit unit = *visible.known_unit;
    std::uint32_t own_values[4];
    read_lens_pixel<Channels>(visible.picture.at(x, y), visible.picture, unit, own_values);
    const RadiusRange range = radius_range(planes().sharpened, planes(), x, y, 1);
    float own[4];
    for (int c = 0; c < Channels; ++c) own[c] = lens_light(own_values[c], unit);
    Around sides;
    look_around(x, y, range, unit, sides);
    if (sides.front == 0 || sides.back == 0) return;
    const float far_light = brightest(sides.far, unit);
    const Side front = side_of(x, y, sides.used(sides.front), own, unit);
    const Side back = side_of(x, y, sides.used(sides.back), own, unit);
    const float by_depth = share_by_depth(x, y, range);
    const bool is_front = 2 * planes().sharpened[planes().place(x, y)] > range.low + range.high;
    const bool clipped = far_light > lens_clipped_light && shows_clipped_lamp(own, front, back, unit);
    const float share = clipped ? by_depth : share_of_front(front, back, by_depth);
    const bool lamp = clipped || (!unit.ends_at_white && shows_lamp(front, back, share));
    const float front_light = brightest(front.range, unit);
    const bool front_shines = (sides.front & ~sides.edges) != 0 && front_light > 1 && front_light > far_light;
    const bool front_is_off = lamp ? front_shines : is_front;
    store_both(x, y, own_values, {front, back, share, is_front, front_is_off, lamp}, unit, sides.seen);
  }

  /// Whether neither side explains the pixel's light: a lamp. It belongs to the nearer side if pixels inside
  /// that side are above white and above the farther side, otherwise to the farther side.
  SATIN_HD bool shows_lamp(const Side& front, const Side& back, float share) const {
    for (int c = 0; c < Channels; ++c)
      if (c < colours() && -(share * front.colour[c]) - (1 - share) * back.colour[c] > least_lamp)
        return true;
    return false;
  }

  /// Whether the pixel shows a lamp of the farther side that was clipped at white: far brighter than either
  /// side. Its light says nothing about the share of the nearer side. With soft depth it is unknown which
  /// side the pixel is of.
  SATIN_HD bool shows_clipped_lamp(const float* own, const Side& front, const Side& back,
                                   const LensUnit& unit) const {
    if (!unit.ends_at_white || depth_is_soft()) return false;
    for (int c = 0; c < Channels; ++c)
      if (c < colours() && own[c] > clipped_lamp_times * lens_light(front.range.high[c], unit) &&
          own[c] > clipped_lamp_times * lens_light(back.range.high[c], unit))
        return true;
    return false;
  }

  SATIN_HD float share_of_front(const Side& front, const Side& back, float by_depth) const {
    const float prior =
        prior_least + prior_by_variance * (front.variance(colours()) + back.variance(colours()));
    float along[4] = {};
    float length[4] = {};
    for (int c = 0; c < Channels; ++c) {
      const float apart = front.colour[c] - back.colour[c];
      along[c] = -back.colour[c] * apart;
      length[c] = apart * apart;
    }
    const float share = (sum_of_colours<Channels>(along, colours()) + prior * by_depth) /
                        (sum_of_colours<Channels>(length, colours()) + prior);
    return clamped_to_unit(share);
  }

  struct Mixture {
    const Side& front;
    const Side& back;
    float share;        ///< share of the nearer surface
    bool is_front;      ///< the pixel's depth is that of the nearer surface
    bool front_is_off;  ///< unexplained light belongs to the nearer surface
    bool lamp;          ///< unexplained light is a lamp's
  };

  SATIN_HD void store_both(int x, int y, const std::uint32_t* own, const Mixture& mixture,
                           const LensUnit& unit, const Range& seen) const {
    const auto& [front, back, share, is_front, front_is_off, lamp] = mixture;
    const bool by_sides = depth_is_soft();
    const float least_far = lamp ? least_lamp_share : least_share;
    std::uint32_t near_colour[4];
    std::uint32_t far_colour[4];
    for (int c = 0; c < Channels; ++c) {
      const float error = -(share * front.colour[c]) - (1 - share) * back.colour[c];
      float f = front.colour[c];
      float b = back.colour[c];
      if (front_is_off)
        f = f + error / (share > least_share ? share : least_share);
      else
        b = b + error / (1 - share > least_far ? 1 - share : least_far);
      const std::uint32_t near_value = lens_moved(own[c], f, unit);
      const std::uint32_t far_value = lens_moved(own[c], b, unit);
      near_colour[c] = by_sides && !lamp ? front.range.held(c, near_value) : seen.held(c, near_value);
      // A lamp behind the nearer surface is brighter than every pixel that shows a part of it.
      far_colour[c] = lamp && !front_is_off && !unit.ends_at_white ? far_value
                      : by_sides && !lamp                          ? back.range.held(c, far_value)
                                                                   : seen.held(c, far_value);
    }
    const std::int32_t near_radius = front.rounded_radius();
    const std::int32_t far_radius = back.rounded_radius();
    const auto weight = static_cast<std::uint32_t>(share * lens_full_weight + 0.5F);
    const std::int64_t at = planes().place(x, y);
    const int near_group = group_of(near_radius);
    if (near_group == group_of(far_radius)) {
      std::uint32_t own_colour[4];
      std::uint32_t other_colour[4];
      for (int c = 0; c < Channels; ++c) own_colour[c] = is_front ? near_colour[c] : far_colour[c];
      for (int c = 0; c < Channels; ++c) other_colour[c] = is_front ? far_colour[c] : near_colour[c];
      visible.store(at, own_colour, is_front ? near_radius : far_radius,
                    is_front ? weight : lens_full_weight - weight);
      add(x, y, other_colour, is_front ? far_radius : near_radius,
          is_front ? lens_full_weight - weight : weight, near_group);
    } else if (is_front) {
      visible.store(at, near_colour, near_radius, weight);
    } else {
      visible.store(at, far_colour, far_radius, lens_full_weight);
      if (share > visible_share) add(x, y, near_colour, near_radius, weight, near_group);
    }
  }
};

/// Begins a run: computes the unit, clears the histogram and the list. Place (x, 0) is bin x.
template <class T>
struct ClearLensWork {
  LensPicture<T> picture;
  const Measured* measured;
  GroupWork* work;
  LensUnit* unit;
  LensList list;

  SATIN_HD void operator()(int x, int /*y*/) const {
    work->clear(x);
    if (x != 0) return;
    *unit = lens_unit(picture, measured);
    *list.count = 0;
    *list.attempted = 0;
  }
};

struct CompleteList {
  LensList list;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const { list.complete(); }
};

/// Makes the visible samples, and lists the second samples of silhouettes. A backend brings a launch:
/// launch(width, height, step) calls step(x, y) for every place on its threads.
template <int Channels, class T, class Launch>
void make_visible_samples(const Launch& launch, const LensPlanes& planes, const LensPicture<T>& picture,
                          const Measured* measured, LensUnit* unit, GroupWork* work, const LensList& list,
                          const std::uint32_t* soft, int most) {
  launch(depth_bins, 1, ClearLensWork<T>{picture, measured, work, unit, list});
  launch(planes.width, planes.height, SharpenRamp{planes});
  find_depth_groups(launch, planes, work, most);
  launch(planes.width, planes.height, FindSilhouette{planes});
  const StoreVisible<T, Channels> visible{planes, picture, unit, &work->groups};
  launch(planes.width, planes.height, visible);
  const GuessBeyondBorder<T, Channels> border{visible};
  launch(border.columns, border.rows(), border);
  launch(planes.width, planes.height, SeparateSilhouettes<T, Channels>{visible, list, soft});
  launch(1, 1, CompleteList{list});
}

}  // namespace satin
