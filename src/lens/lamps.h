#pragma once
// Lamps: bright samples that stand alone. Out of focus they are drawn by the aperture (aperture.h), and where
// white clipped them they get part of their light back.
//
// A pixel is a lamp if it is bright, out of focus, twice as bright as the mean of 49 x 49 pixels around it,
// and few of these are bright. The means come from cells of 7 x 7 pixels, 7 x 7 of which are averaged.
//
// A lamp gets light back unless it looks like a texture or a gap: unless the 49 x 49 pixels hold many bright
// spots, or a wide surface beside it has its colour. Surfaces are blocks of 3 x 3 cells, larger than a lamp.
//
// Steps: sum the cells; find the surfaces; count the lamps; brighten and list them if the list has room for
// all; give each its share of light.
//
// The aperture comes from a LensStyle, by aperture_table(), or from a picture, by AperturePictureJob.

#include <cstdint>

#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/layers.h"
#include "lens/maths/aperture.h"
#include "lens/maths/picture.h"
#include "lens/maths/samples.h"
#include "lens/splat.h"
#include "pixels/pixelwise.h"
#include "satin/lens_style.h"

namespace satin {

/// Aperture in host memory.
struct ApertureTable {
  WorkspaceVector<ApertureRow> rows;
  WorkspaceVector<ApertureEdge> edges;
  float reach = 1;     ///< Aperture::reach
  bool simple = true;  ///< Aperture::simple
  float cut = 0;       ///< Aperture::cut of a picture whose corner is one pixel from its centre
  int peak_bits = 0;   ///< a pixel gets at most 2^peak_bits times its share of a disc of that reach
};

/// Makes the aperture of a style, with the variance of a disc of radius 1: a disc, or a regular polygon that
/// stands on a side and whose sides are arcs; turned, squeezed to the same area, and with rings. Throws
/// Error(usage) for values out of range.
[[nodiscard]] ApertureTable aperture_table(const LensStyle& style);

/// Returns the outline of the opening, row by row.
[[nodiscard]] std::vector<OutlineRow> outline_of(const ApertureTable& table);

[[nodiscard]] int peak_bits_of(const LensStyle& style);

/// Number of blades of the opening, or 0 if it is round.
[[nodiscard]] int blades_of(const LensStyle& style);

struct AperturePictureJob {
  using Operation = PixelwiseOperation<AperturePictureJob>;
  static constexpr const char* doing = "reading the picture of an aperture";

  Shape picture;  ///< one channel of u8, u16 or f32

  struct Images {
    ImageView picture;
    ApertureCells* cells = nullptr;  ///< workspace, aperture_picture_side; all in the backend's memory
    ApertureRow* rows = nullptr;     ///< aperture_picture_rows
    ApertureEdge* edges = nullptr;   ///< most_aperture_edges per row of cells
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(picture.type, [&]<class T>() {
      const AperturePicture<T> values{Rows<const T>(images.picture), picture.width, picture.height};
      launch(std::int64_t{aperture_picture_side}, std::int64_t{aperture_picture_side},
             FindApertureMeans<T>{values, images.edges});
    });
    launch(std::int64_t{aperture_picture_side}, std::int64_t{1},
           FindApertureEdges{images.cells, images.edges});
    launch(std::int64_t{aperture_picture_rows}, std::int64_t{1},
           CentreAperture{images.cells, images.rows, images.edges});
  }
};

inline constexpr int lamp_cell = 7;         ///< side in pixels
inline constexpr int lamp_cells_away = 3;   ///< reach of the mean in cells
inline constexpr float lamp_begin = 0.8F;   ///< least linear light of a lamp
inline constexpr int lamp_block = 3;        ///< side of a block in cells
inline constexpr int lamp_blocks_away = 4;  ///< distance in blocks of the surfaces that a lamp is compared to
/// Share of bright pixels around a lamp from which it is no lamp. Objects wider than a disc of 23 pixels need
/// no aperture: they hide the steps of the staircases.
inline constexpr float most_bright_share = 0.18F;

// Limits between which a lamp's gain fades: all of its light comes back at the first, none at the second. On
// ray-traced scenes 9 of 10 lamps are inside the first limits; textures, lit hair and gaps in foliage are
// mostly beyond the second ones.
inline constexpr float lamp_radius_all = 8;  ///< pixels
inline constexpr float lamp_radius_none = 4;
inline constexpr float lamp_rows_all = 28;  ///< rows of bright pixels in 49 x 49: spots, by their heights
inline constexpr float lamp_rows_none = 44;
inline constexpr float lamp_surface_all = 0.42F;  ///< light of the brightest surface around over the lamp's
inline constexpr float lamp_surface_none = 0.48F;
inline constexpr float lamp_times = 2;  ///< least ratio to the mean around

/// Returns 1 at `all` and before it, 0 at `none` and beyond.
SATIN_HD float lamp_fade(float value, float all, float none) {
  return clamped_to_unit((none - value) / (none - all));
}

/// Samples that the aperture draws, in no order. They are counted before the first is added. If they do not
/// all fit, there are none, so that the result does not depend on which came first.
struct LampList {
  Lamp* lamps = nullptr;
  std::uint32_t* count = nullptr;
  std::uint32_t* wanted = nullptr;
  std::uint32_t capacity = 0;

  [[nodiscard]] SATIN_HD bool fits() const { return *wanted <= capacity; }
};

/// A cell of lamp_cell x lamp_cell pixels, fewer at the right and bottom border.
struct LampCell {
  std::uint64_t sum = 0;         ///< sum of the pixels' brightest channels
  std::uint32_t colour[3] = {};  ///< sums of the first channels, divided by 2^lamp_colour_shift
  std::uint16_t bright = 0;      ///< pixels that may be lamps
  std::uint16_t rows = 0;        ///< those of them that have none on their left
  std::uint32_t lamps = 0;       ///< pixels that are lamps
};
inline constexpr int lamp_colour_shift = 6;  ///< sums of 49 pixels of 32 bits fit 32 bits

/// Mean colour of a block of cells, in the unit of the samples.
struct LampSurface {
  float colour[3];
};

struct LampRule {
  int colours = 3;                ///< channels without alpha
  float highlights = 1;           ///< LensStyle::highlights
  bool clipped_if_white = false;  ///< floats: lamps are clipped only if no pixel is above white
  std::uint32_t full = 0;         ///< weight of a sample that covers its whole pixel
};

template <int Channels>
struct LampScene {
  LensPlanes planes;
  LensList listed;
  const LensUnit* unit;
  LampCell* cells;
  LampSurface* surfaces;            ///< one for each block
  LampSurface* brightest_surfaces;  ///< largest channels of the surfaces around each block
  LampList lamps;
  Aperture aperture;
  const Measured* measured;
  LampRule rule;

  /// Channels that are compared with surfaces.
  [[nodiscard]] SATIN_HD int compared() const { return rule.colours < 3 ? rule.colours : 3; }
  [[nodiscard]] SATIN_HD int blocks_across() const { return (across() + lamp_block - 1) / lamp_block; }
  [[nodiscard]] SATIN_HD int blocks_down() const { return (down() + lamp_block - 1) / lamp_block; }

  [[nodiscard]] SATIN_HD int across() const { return (planes.width + lamp_cell - 1) / lamp_cell; }
  [[nodiscard]] SATIN_HD int down() const { return (planes.height + lamp_cell - 1) / lamp_cell; }

  [[nodiscard]] SATIN_HD std::uint32_t brightest(const std::uint32_t* colour) const {
    std::uint32_t value = 0;
    for (int c = 0; c < Channels; ++c) value = c < rule.colours && colour[c] > value ? colour[c] : value;
    return value;
  }
  [[nodiscard]] SATIN_HD const std::uint32_t* colour_at(std::int64_t at) const {
    return planes.colours + at * Channels;
  }
  [[nodiscard]] SATIN_HD bool may_be_lamp(std::uint32_t value, std::uint32_t radius) const {
    return radius > lens_focus_radius && static_cast<float>(value) > lamp_begin * unit->white;
  }
  /// Sums over a cell and the cells around it.
  struct Around {
    std::uint64_t sum = 0;     ///< sum of the pixels' brightest channels
    std::uint64_t pixels = 0;  ///< below 2^12
    std::uint32_t bright = 0;  ///< pixels that may be lamps
    std::uint32_t rows = 0;    ///< rows of such pixels

    [[nodiscard]] SATIN_HD float bright_share() const {
      return static_cast<float>(bright) / static_cast<float>(pixels);
    }
    [[nodiscard]] SATIN_HD bool shows_lamp(std::uint32_t value) const {
      return has_room_for_lamps() &&
             static_cast<float>(value * pixels) / static_cast<float>(sum) > lamp_times;
    }
    [[nodiscard]] SATIN_HD bool has_room_for_lamps() const { return bright_share() < most_bright_share; }
  };
  SATIN_HD void add_cell(int x, int y, Around& all) const {
    if (x < 0 || y < 0 || x >= across() || y >= down()) return;
    const LampCell& cell = cells[static_cast<std::int64_t>(y) * across() + x];
    all.sum += cell.sum;
    all.bright += cell.bright;
    all.rows += cell.rows;
    all.pixels += static_cast<std::uint64_t>(size_of(x, planes.width)) *
                  static_cast<std::uint64_t>(size_of(y, planes.height));
  }
  [[nodiscard]] SATIN_HD Around around(int cell_x, int cell_y) const {
    Around all;
    for (int y = cell_y - lamp_cells_away; y <= cell_y + lamp_cells_away; ++y)
      for (int x = cell_x - lamp_cells_away; x <= cell_x + lamp_cells_away; ++x) add_cell(x, y, all);
    return all;
  }
  /// Number of pixels of a cell along an axis.
  [[nodiscard]] SATIN_HD static int size_of(int cell, int pixels) {
    return pixels - cell * lamp_cell < lamp_cell ? pixels - cell * lamp_cell : lamp_cell;
  }

  /// Light of the brightest surface around a sample over the sample's, in the channel where this is least.
  [[nodiscard]] SATIN_HD float likeness_to_surface(const std::uint32_t* colour, int x, int y) const {
    constexpr int side = lamp_cell * lamp_block;
    const LampSurface& surface =
        brightest_surfaces[static_cast<std::int64_t>(y / side) * blocks_across() + x / side];
    float least = 1;
    for (int c = 0; c < Channels && c < compared(); ++c) {
      const auto own = static_cast<float>(colour[c]);
      if (least * own > surface.colour[c]) least = surface.colour[c] / own;
    }
    return least;
  }
  /// Factor by which the lamp at (x, y) was brighter than its pixel shows, if white clipped it.
  [[nodiscard]] SATIN_HD float gain(const std::uint32_t* colour, int x, int y, std::uint32_t radius,
                                    const Around& around) const {
    if (!(rule.highlights > 1)) return 1;
    if (rule.clipped_if_white && double_of(measured->largest[0]) > 1) return 1;
    const float over = (lens_light(brightest(colour), *unit) - lens_clipped_light) / (1 - lens_clipped_light);
    const float share =
        clamped_to_unit(over) *
        lamp_fade(static_cast<float>(radius) * lens_radius_scale, lamp_radius_all, lamp_radius_none) *
        lamp_fade(static_cast<float>(around.rows), lamp_rows_all, lamp_rows_none);
    return share > 0
               ? 1 + (rule.highlights - 1) * share *
                         lamp_fade(likeness_to_surface(colour, x, y), lamp_surface_all, lamp_surface_none)
               : 1;
  }
  SATIN_HD void brighten(std::uint32_t* colour, float by) const {
    if (!(by > 1)) return;
    for (int c = 0; c < rule.colours; ++c)
      colour[c] = static_cast<std::uint32_t>(static_cast<float>(colour[c]) * by + 0.5F);
  }

  /// Lists a sample that is large enough. Until set_share(), its `share` holds `place`: 0 for the visible
  /// sample of its pixel, or 1 + its index in the list of samples.
  SATIN_HD void add(const LensSample& sample, std::uint64_t place) const {
    if (sample.radius >= least_lamp_radius) lamps.lamps[add_shared(lamps.count, 1)] = {sample, place};
  }
  [[nodiscard]] SATIN_HD std::uint32_t listed_samples() const {
    return *listed.count < listed.capacity ? *listed.count : listed.capacity;
  }
  [[nodiscard]] SATIN_HD std::uint32_t weight_of(const Lamp& lamp) const {
    return sample_weight(rule.full, lamp.sample.weight);
  }
  /// Stores the share of a lamp. If it is not 0, the sample itself is not spread any more.
  SATIN_HD void set_share(Lamp& lamp, std::uint64_t share) const {
    const std::uint64_t place = lamp.share;
    lamp.share = share;
    if (share == 0) return;
    if (place == 0)
      planes.weights[planes.place(lamp.sample.x, lamp.sample.y)] = 0;
    else
      listed.samples[place - 1].weight = 0;
  }
};

struct ClearLamps {
  LampList lamps;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const { *lamps.count = *lamps.wanted = 0; }
};

/// Place (x, y) is a cell.
template <int Channels>
struct SumLampCells {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    LampCell cell;
    const int right = x * lamp_cell + scene.size_of(x, scene.planes.width);
    const int bottom = y * lamp_cell + scene.size_of(y, scene.planes.height);
    std::uint64_t sums[3] = {};
    for (int v = y * lamp_cell; v < bottom; ++v) {
      bool before = x > 0 && is_bright(scene.planes.place(x * lamp_cell - 1, v));
      for (int u = x * lamp_cell; u < right; ++u) {
        const std::int64_t at = scene.planes.place(u, v);
        const std::uint32_t* colour = scene.colour_at(at);
        const bool bright = is_bright(at);
        cell.sum += scene.brightest(colour);
        for (int c = 0; c < Channels && c < 3; ++c) sums[c] += colour[c];
        if (bright) ++cell.bright;
        if (bright && !before) ++cell.rows;
        before = bright;
      }
    }
    for (int c = 0; c < 3; ++c) cell.colour[c] = static_cast<std::uint32_t>(sums[c] >> lamp_colour_shift);
    scene.cells[static_cast<std::int64_t>(y) * scene.across() + x] = cell;
  }
  [[nodiscard]] SATIN_HD bool is_bright(std::int64_t at) const {
    return scene.may_be_lamp(scene.brightest(scene.colour_at(at)), scene.planes.magnitudes[at]);
  }
};

/// Place (x, y) is a block.
template <int Channels>
struct FindLampSurfaces {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    std::uint64_t sums[3] = {};
    int pixels = 0;
    for (int v = y * lamp_block; v < (y + 1) * lamp_block && v < scene.down(); ++v)
      for (int u = x * lamp_block; u < (x + 1) * lamp_block && u < scene.across(); ++u) {
        const LampCell& cell = scene.cells[static_cast<std::int64_t>(v) * scene.across() + u];
        for (int c = 0; c < 3; ++c) sums[c] += cell.colour[c];
        pixels += scene.size_of(u, scene.planes.width) * scene.size_of(v, scene.planes.height);
      }
    LampSurface& surface = scene.surfaces[static_cast<std::int64_t>(y) * scene.blocks_across() + x];
    for (int c = 0; c < 3; ++c)
      surface.colour[c] = static_cast<float>(sums[c]) * (1 << lamp_colour_shift) / static_cast<float>(pixels);
  }
};

/// Place (x, y) is a block.
template <int Channels>
struct FindBrightestSurfaces {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    LampSurface brightest{};
    for (int v = y - lamp_blocks_away; v <= y + lamp_blocks_away; ++v)
      for (int u = x - lamp_blocks_away; u <= x + lamp_blocks_away; ++u) {
        if (u < 0 || v < 0 || u >= scene.blocks_across() || v >= scene.blocks_down()) continue;
        const LampSurface& own = scene.surfaces[static_cast<std::int64_t>(v) * scene.blocks_across() + u];
        for (int c = 0; c < 3; ++c)
          brightest.colour[c] = own.colour[c] > brightest.colour[c] ? own.colour[c] : brightest.colour[c];
      }
    scene.brightest_surfaces[static_cast<std::int64_t>(y) * scene.blocks_across() + x] = brightest;
  }
};

/// Calls lamp(x, y, gain) if a pixel's visible sample is a lamp. `around` belongs to its cell and has room.
template <int Channels, class OfLamp>
SATIN_HD void for_lamp_at(const LampScene<Channels>& scene,
                          const typename LampScene<Channels>::Around& around, int x, int y,
                          const OfLamp& lamp) {
  const std::int64_t at = scene.planes.place(x, y);
  const std::uint32_t radius = scene.planes.magnitudes[at];
  const std::uint32_t value = scene.brightest(scene.colour_at(at));
  if (scene.planes.weights[at] == 0 || !scene.may_be_lamp(value, radius)) return;
  if (around.shows_lamp(value)) lamp(x, y, scene.gain(scene.colour_at(at), x, y, radius, around));
}

/// Calls lamp(x, y, gain) for the lamps among the visible samples of a cell.
template <int Channels, class OfLamp>
SATIN_HD void for_lamps_of_cell(const LampScene<Channels>& scene, int x, int y, const OfLamp& lamp) {
  const auto around = scene.around(x, y);
  if (!around.has_room_for_lamps()) return;
  const int right = x * lamp_cell + scene.size_of(x, scene.planes.width);
  const int bottom = y * lamp_cell + scene.size_of(y, scene.planes.height);
  for (int v = y * lamp_cell; v < bottom; ++v)
    for (int u = x * lamp_cell; u < right; ++u) for_lamp_at(scene, around, u, v, lamp);
}

/// Threads that share a list, across and down.
inline constexpr int lamp_threads_across = 256;
inline constexpr int lamp_threads_down = 256;

/// Calls item(i) for the entries of a list of `count` that belong to thread (x, y).
template <class Item>
SATIN_HD void for_places_of_list(std::uint32_t count, int x, int y, const Item& item) {
  for (std::uint64_t i = static_cast<std::uint64_t>(y) * lamp_threads_across + static_cast<std::uint64_t>(x);
       i < count; i += lamp_threads_across * lamp_threads_down)
    item(i);
}

/// Calls lamp(i, gain) if listed sample i is a lamp.
template <int Channels, class OfLamp>
SATIN_HD void for_listed_lamp_at(const LampScene<Channels>& scene, std::uint64_t i, const OfLamp& lamp) {
  const LensSample& sample = scene.listed.samples[i];
  const std::uint32_t value = scene.brightest(sample.colour);
  if (sample.weight == 0 || sample.block != 1 || !scene.may_be_lamp(value, sample.radius)) return;
  const auto around = scene.around(sample.x / lamp_cell, sample.y / lamp_cell);
  if (around.shows_lamp(value)) lamp(i, scene.gain(sample.colour, sample.x, sample.y, sample.radius, around));
}

/// Calls lamp(i, gain) for the lamps among the listed samples of thread (x, y).
template <int Channels, class OfLamp>
SATIN_HD void for_listed_lamps(const LampScene<Channels>& scene, int x, int y, const OfLamp& lamp) {
  for_places_of_list(scene.listed_samples(), x, y,
                     [&](std::uint64_t i) { for_listed_lamp_at(scene, i, lamp); });
}

template <int Channels>
struct CountLamps {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    LampCell& cell = scene.cells[static_cast<std::int64_t>(y) * scene.across() + x];
    if (cell.bright == 0) return;
    std::uint32_t lamps = 0;
    for_lamps_of_cell(scene, x, y, [&](int, int, float) { ++lamps; });
    cell.lamps = lamps;
    if (lamps > 0) add_shared(scene.lamps.wanted, lamps);
  }
};

template <int Channels>
struct CountListedLamps {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    for_listed_lamps(scene, x, y, [&](std::uint64_t, float) { count(); });
  }
  SATIN_HD void count() const { add_shared(scene.lamps.wanted, 1); }
};

/// Brightens the visible lamps and lists those that are large enough.
template <int Channels>
struct TakeLamps {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    if (scene.cells[static_cast<std::int64_t>(y) * scene.across() + x].lamps == 0 || !scene.lamps.fits())
      return;
    for_lamps_of_cell(scene, x, y, [&](int u, int v, float gain) { take(u, v, gain); });
  }
  SATIN_HD void take(int u, int v, float gain) const {
    const LensPlanes& planes = scene.planes;
    const std::int64_t at = planes.place(u, v);
    scene.brighten(planes.colours + at * Channels, gain);
    LensSample sample{};
    for (int c = 0; c < Channels; ++c) sample.colour[c] = planes.colours[at * Channels + c];
    sample.x = u;
    sample.y = v;
    sample.radius = planes.magnitudes[at];
    sample.weight = planes.weights[at];
    sample.block = 1;
    sample.group = planes.groups[at];
    scene.add(sample, 0);
  }
};

template <int Channels>
struct TakeListedLamps {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    if (!scene.lamps.fits()) return;
    for_listed_lamps(scene, x, y, [&](std::uint64_t i, float gain) { take(i, gain); });
  }
  SATIN_HD void take(std::uint64_t i, float gain) const {
    LensSample& sample = scene.listed.samples[i];
    scene.brighten(sample.colour, gain);
    scene.add(sample, i + 1);
  }
};

/// Computes the shares. Lamps are few, so it is a step of its own.
template <int Channels>
struct ShareLamps {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    for_places_of_list(*scene.lamps.count, x, y, [&](std::uint64_t i) {
      Lamp& lamp = scene.lamps.lamps[i];
      scene.set_share(lamp, lamp_share(LampShape(scene.aperture, lamp.sample), scene.weight_of(lamp)));
    });
  }
};

struct LampsJob {
  using Operation = PixelwiseOperation<LampsJob>;
  static constexpr const char* doing = "looking for lamps";

  int channels = 3;
  LampRule rule;

  struct Images {
    LensScene scene;
    const Measured* measured = nullptr;  ///< null for integers
    LampCell* cells = nullptr;           ///< in the backend's memory, as `surfaces` and `lamps`
    LampSurface* surfaces = nullptr;     ///< two for each block of cells
    LampList lamps;
    Aperture aperture;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_channels(channels, [&]<int Channels>() {
      LampScene<Channels> scene{
          images.scene.planes, images.scene.list, images.scene.unit, images.cells,    images.surfaces,
          images.surfaces,     images.lamps,      images.aperture,   images.measured, rule};
      const std::int64_t blocks = std::int64_t{scene.blocks_across()} * scene.blocks_down();
      scene.brightest_surfaces += blocks;
      launch(std::int64_t{1}, std::int64_t{1}, ClearLamps{images.lamps});
      launch(std::int64_t{scene.across()}, std::int64_t{scene.down()}, SumLampCells<Channels>{scene});
      if (rule.highlights > 1) {
        launch(std::int64_t{scene.blocks_across()}, std::int64_t{scene.blocks_down()},
               FindLampSurfaces<Channels>{scene});
        launch(std::int64_t{scene.blocks_across()}, std::int64_t{scene.blocks_down()},
               FindBrightestSurfaces<Channels>{scene});
      }
      launch(std::int64_t{scene.across()}, std::int64_t{scene.down()}, CountLamps<Channels>{scene});
      launch(std::int64_t{lamp_threads_across}, std::int64_t{lamp_threads_down},
             CountListedLamps<Channels>{scene});
      launch(std::int64_t{scene.across()}, std::int64_t{scene.down()}, TakeLamps<Channels>{scene});
      launch(std::int64_t{lamp_threads_across}, std::int64_t{lamp_threads_down},
             TakeListedLamps<Channels>{scene});
      launch(std::int64_t{lamp_threads_across}, std::int64_t{lamp_threads_down}, ShareLamps<Channels>{scene});
    });
  }
};

}  // namespace satin
