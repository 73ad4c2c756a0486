#pragma once
// Lamps: samples that are bright and seen by themselves. They are found by the mean of 7 x 7 cells of 7 x 7
// pixels around theirs, 49 x 49 in all, which a pixel must be twice as bright as.

#include <cstdint>

#include "lens/maths/aperture.h"
#include "lens/maths/picture.h"
#include "lens/maths/samples.h"
#include "lens/maths/splat.h"

namespace satin {

inline constexpr int lamp_cell = 7;        ///< pixels
inline constexpr int lamp_cells_away = 3;  ///< cells that are looked at each way
inline constexpr float lamp_begin = 0.8F;  ///< linear light
/// The share of bright pixels around it up to which a clipped lamp gets all of its light back, and from which
/// it is none: the corners of large white areas have more, and what is wider than a disc of 23 pixels hides
/// the steps of the kernels that it is spread by.
inline constexpr float highlight_alone = 0.09F;
inline constexpr float highlight_among_others = 0.18F;
inline constexpr float lamp_times = 2;  ///< the mean around it that a lamp is at least

/// Samples that are drawn by the aperture, in no order. They are counted before the first is added: where
/// there is no room for all there are none, and no pixel depends on which came first.
struct LampList {
  Lamp* lamps = nullptr;
  std::uint32_t* count = nullptr;
  std::uint32_t* wanted = nullptr;
  std::uint32_t capacity = 0;

  [[nodiscard]] SATIN_HD bool fits() const { return *wanted <= capacity; }
};

/// A cell of lamp_cell x lamp_cell pixels, fewer at the picture's end.
struct LampCell {
  std::uint64_t sum = 0;     ///< of the brightest colours of its pixels
  std::uint32_t bright = 0;  ///< pixels that may be lamps
  std::uint32_t lamps = 0;   ///< pixels that are
};

/// The data that the steps share.
template <int Channels>
struct LampScene {
  LensPlanes planes;
  LensList listed;
  const LensUnit* unit;
  LampCell* cells;
  LampList lamps;
  Aperture aperture;
  int colours;            ///< without alpha
  float highlights;       ///< LensStyle::highlights
  bool clipped_if_white;  ///< floats: highlights are clipped where the picture has nothing above white
  const Measured* measured;
  std::uint32_t full;  ///< the weight of a sample that covers its pixel

  [[nodiscard]] SATIN_HD int across() const { return (planes.width + lamp_cell - 1) / lamp_cell; }
  [[nodiscard]] SATIN_HD int down() const { return (planes.height + lamp_cell - 1) / lamp_cell; }

  [[nodiscard]] SATIN_HD std::uint32_t brightest(const std::uint32_t* colour) const {
    std::uint32_t value = 0;
    for (int c = 0; c < Channels; ++c) value = c < colours && colour[c] > value ? colour[c] : value;
    return value;
  }
  [[nodiscard]] SATIN_HD const std::uint32_t* colour_at(std::int64_t at) const {
    return planes.colours + at * Channels;
  }
  /// True if the pixel is bright and out of focus.
  [[nodiscard]] SATIN_HD bool may_be_lamp(std::uint32_t value, std::uint32_t radius) const {
    return radius > lens_focus_radius && static_cast<float>(value) > lamp_begin * unit->white;
  }
  /// The cells around one, with itself.
  struct Around {
    std::uint64_t sum = 0;     ///< of the brightest colours of their pixels
    std::uint64_t pixels = 0;  ///< below 2^12
    std::uint32_t bright = 0;  ///< of these, those that may be lamps

    [[nodiscard]] SATIN_HD float bright_share() const {
      return static_cast<float>(bright) / static_cast<float>(pixels);
    }
    /// True if a bright pixel of the cell is a lamp.
    [[nodiscard]] SATIN_HD bool shows_lamp(std::uint32_t value) const {
      return has_room_for_lamps() &&
             static_cast<float>(value * pixels) / static_cast<float>(sum) > lamp_times;
    }
    [[nodiscard]] SATIN_HD bool has_room_for_lamps() const { return bright_share() < highlight_among_others; }
  };
  SATIN_HD void add_cell(int x, int y, Around& all) const {
    if (x < 0 || y < 0 || x >= across() || y >= down()) return;
    const LampCell& cell = cells[static_cast<std::int64_t>(y) * across() + x];
    all.sum += cell.sum;
    all.bright += cell.bright;
    all.pixels += static_cast<std::uint64_t>(size_of(x, planes.width)) *
                  static_cast<std::uint64_t>(size_of(y, planes.height));
  }
  [[nodiscard]] SATIN_HD Around around(int cell_x, int cell_y) const {
    Around all;
    for (int y = cell_y - lamp_cells_away; y <= cell_y + lamp_cells_away; ++y)
      for (int x = cell_x - lamp_cells_away; x <= cell_x + lamp_cells_away; ++x) add_cell(x, y, all);
    return all;
  }
  /// Pixels of a cell along an axis.
  [[nodiscard]] SATIN_HD static int size_of(int cell, int pixels) {
    return pixels - cell * lamp_cell < lamp_cell ? pixels - cell * lamp_cell : lamp_cell;
  }

  /// The factor by which a lamp was brighter than its pixel shows, if it was clipped.
  [[nodiscard]] SATIN_HD float gain(std::uint32_t value, std::uint32_t radius, float bright) const {
    if (!(highlights > 1)) return 1;
    if (clipped_if_white && double_of(measured->largest[0]) > 1) return 1;
    const float over = (lens_light(value, *unit) - lens_clipped_light) / (1 - lens_clipped_light);
    const float blur = static_cast<float>(radius) * lens_radius_scale - 1;
    const float alone = (highlight_among_others - bright) / (highlight_among_others - highlight_alone);
    return 1 + (highlights - 1) * unit_range(over) * unit_range(blur) * unit_range(alone);
  }
  [[nodiscard]] SATIN_HD static float unit_range(float value) {
    return value < 0 ? 0 : value > 1 ? 1 : value;
  }
  SATIN_HD void brighten(std::uint32_t* colour, float by) const {
    if (!(by > 1)) return;
    for (int c = 0; c < colours; ++c)
      colour[c] = static_cast<std::uint32_t>(static_cast<float>(colour[c]) * by + 0.5F);
  }

  /// Adds a sample that is large enough. Its share is still to come; until then its place in the list of
  /// samples stands there, from 1 on; 0: it is the visible one.
  SATIN_HD void add(const LensSample& sample, std::uint64_t place) const {
    if (sample.radius >= least_lamp_radius) lamps.lamps[add_shared(lamps.count, 1)] = {sample, place};
  }
  [[nodiscard]] SATIN_HD std::uint32_t listed_samples() const {
    return *listed.count < listed.capacity ? *listed.count : listed.capacity;
  }
  [[nodiscard]] SATIN_HD std::uint32_t weight_of(const Lamp& lamp) const {
    return sample_weight(full, lamp.sample.weight);
  }
  /// Gives a lamp its share. Where there is one, nothing else is drawn of its sample.
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

/// Sums the cells of lamps; one place a cell.
template <int Channels>
struct SumLampCells {
  LampScene<Channels> scene;

  SATIN_HD void operator()(int x, int y) const {
    LampCell cell;
    const int right = x * lamp_cell + scene.size_of(x, scene.planes.width);
    const int bottom = y * lamp_cell + scene.size_of(y, scene.planes.height);
    for (int v = y * lamp_cell; v < bottom; ++v)
      for (int u = x * lamp_cell; u < right; ++u) {
        const std::int64_t at = scene.planes.place(u, v);
        const std::uint32_t value = scene.brightest(scene.colour_at(at));
        cell.sum += value;
        cell.bright += scene.may_be_lamp(value, scene.planes.magnitudes[at]) ? 1U : 0U;
      }
    scene.cells[static_cast<std::int64_t>(y) * scene.across() + x] = cell;
  }
};

/// Calls lamp(x, y, gain) if the visible sample there is a lamp. `around` is of its cell, and has room.
template <int Channels, class OfLamp>
SATIN_HD void for_lamp_at(const LampScene<Channels>& scene,
                          const typename LampScene<Channels>::Around& around, int x, int y,
                          const OfLamp& lamp) {
  const std::int64_t at = scene.planes.place(x, y);
  const std::uint32_t radius = scene.planes.magnitudes[at];
  const std::uint32_t value = scene.brightest(scene.colour_at(at));
  if (scene.planes.weights[at] == 0 || !scene.may_be_lamp(value, radius)) return;
  if (around.shows_lamp(value)) lamp(x, y, scene.gain(value, radius, around.bright_share()));
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

/// Lists are looked at by this many columns and rows of threads, in turns.
inline constexpr int lamp_threads_across = 256;
inline constexpr int lamp_threads_down = 256;

/// Calls item(i) for the places of a list of `count` that fall to this thread.
template <class Item>
SATIN_HD void for_places_of_list(std::uint32_t count, int x, int y, const Item& item) {
  for (std::uint64_t i = static_cast<std::uint64_t>(y) * lamp_threads_across + static_cast<std::uint64_t>(x);
       i < count; i += lamp_threads_across * lamp_threads_down)
    item(i);
}

/// Calls lamp(i, gain) if the listed sample at this place is a lamp.
template <int Channels, class OfLamp>
SATIN_HD void for_listed_lamp_at(const LampScene<Channels>& scene, std::uint64_t i, const OfLamp& lamp) {
  const LensSample& sample = scene.listed.samples[i];
  const std::uint32_t value = scene.brightest(sample.colour);
  if (sample.weight == 0 || sample.block != 1 || !scene.may_be_lamp(value, sample.radius)) return;
  const auto around = scene.around(sample.x / lamp_cell, sample.y / lamp_cell);
  if (around.shows_lamp(value)) lamp(i, scene.gain(value, sample.radius, around.bright_share()));
}

/// Calls lamp(i, gain) for the lamps among the listed samples that fall to this thread.
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

/// Brightens the visible lamps, and lists those that are large enough.
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

/// Does the same with the listed samples.
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

/// The shares of the lamps, which are few: steps of their own.
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

}  // namespace satin
