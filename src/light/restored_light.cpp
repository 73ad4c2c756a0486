// Restored light and new gain maps on a device. The device computes light and gains; the host builds the
// tables of gains, chooses the parameters of a new map and turns gains into codes.

#include "satin/restored_light.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "light/gain_ratio.h"
#include "light/maths/powers.h"
#include "light/restore.h"
#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Returns the view in the device's memory, copied to `copy` if it is not there.
ImageView on_device(const Device& device, const ImageView& view, Image& copy) {
  if (view.empty() || !device.is_cuda() || view.memory == Memory::device) return view;
  copy = device.upload(view);
  return copy.view();
}

/// Returns the view in host memory, copied to `copy` if it is not there.
ImageView on_host(const Device& device, const ImageView& view, Image& copy) {
  if (view.empty() || view.memory == Memory::host) return view;
  copy = device.download(view);
  return copy.view();
}

/// Returns rows `first` to `last` - 1 of a view, which may be empty.
template <class View>
View rows_of(View view, std::int64_t first, std::int64_t last) {
  if (view.empty()) return view;
  view.data = view.at(0, first);
  view.shape.height = last - first;
  return view;
}

Renderings rows_of(const Renderings& pictures, std::int64_t first, std::int64_t last) {
  return {rows_of(pictures.base, first, last), rows_of(pictures.light, first, last)};
}

void check_base(const ImageView& base) {
  const Shape& shape = base.shape;
  const bool has_type = shape.type == Type::u8 || shape.type == Type::u16 || shape.type == Type::f32;
  if (!has_type || (colours_of(shape) != 1 && colours_of(shape) != 3))
    refuse("A picture with a gain map has one or three colours of u8, u16 or f32, but this one is " +
           describe(shape) + ".");
  if (shape.frames != 1 || !base.interleaved() || shape.alpha == Alpha::premultiplied)
    refuse("A picture with a gain map is one frame of interleaved pixels without premultiplied alpha.");
}

/// Throws unless light belongs to the base.
void check(const Renderings& pictures) {
  check_base(pictures.base);
  Shape wanted = pictures.base.shape;
  wanted.type = Type::f32;
  if (pictures.light.shape != wanted || !pictures.light.interleaved())
    refuse("The light of a base picture has " + describe(pictures.light.shape) + ", but needs " +
           describe(wanted) + ", interleaved.");
}

GainOffsets offsets_of(const GainMapMetadata& metadata) {
  GainOffsets offsets;
  for (std::size_t c = 0; c < 3; ++c) {
    offsets.base[c] = static_cast<float>(metadata.channels[c].offset_sdr);
    offsets.light[c] = static_cast<float>(metadata.channels[c].offset_hdr);
  }
  return offsets;
}

/// Returns t^exponent for t from 0 to 1.
double power_of(double t, double exponent) {
  if (exponent == 1) return t;
  return t > 0 ? power_of_2(exponent * log_of_2(t)) : 0;
}

/// Returns the gains of all codes and of the steps between them, a row for each curve.
Image gains_of(const GainMapMetadata& metadata) {
  Image table({gain_entries, metadata.is_uniform() ? 1 : 3, 1, Type::f32});
  for (std::int64_t row = 0; row < table.shape().height; ++row) {
    const GainMapChannel& channel = metadata.channels[static_cast<std::size_t>(row)];
    float* gains = table.view().row<float>(row);
    for (unsigned i = 0; i < gain_entries; ++i) {
      const double code = power_of(static_cast<double>(i) / (gain_entries - 1), 1 / channel.gamma);
      gains[i] = static_cast<float>(power_of_2(channel.min + (channel.max - channel.min) * code));
    }
  }
  return table;
}

/// Returns the offsets for quotients. Both are increased where that of the base is too small: gains of a map
/// without offsets are then 1 where a picture is black, in place of those of noise.
GainOffsets offsets_of_quotients(const GainMapMetadata& metadata) {
  constexpr float least_offset = 1.0F / 4096;
  GainOffsets offsets = offsets_of(metadata);
  for (std::size_t c = 0; c < 3; ++c) {
    const float more = std::max(least_offset - offsets.base[c], 0.0F);
    offsets.base[c] += more;
    offsets.light[c] += more;
  }
  return offsets;
}

/// A map keeps one channel while at most one cell in this many would lose its tint.
constexpr std::int64_t cells_of_one_tint = 4096;

/// Rows of a result and, if that has the size of the picture before, of that picture.
struct Compared {
  Renderings result;
  Renderings before;
};

/// Returns rows `top` to `bottom` - 1. Calls follow each other from the top down, once or twice.
using ComparedRows = std::function<Compared(std::int64_t top, std::int64_t bottom)>;

/// Returns the codes of all places in the range of each channel.
Image codes_of_places(const GainMapMetadata& metadata, int channels) {
  Image table({gain_places + 1, channels, 1, Type::u8});
  for (int c = 0; c < channels; ++c) {
    auto* codes = table.view().row<std::uint8_t>(c);
    if (c > 0 && metadata.is_uniform()) {
      std::copy_n(table.view().row<std::uint8_t>(0), gain_places + 1, codes);
      continue;
    }
    const double gamma = metadata.channels[static_cast<std::size_t>(c)].gamma;
    for (int i = 0; i <= gain_places; ++i)
      codes[i] = static_cast<std::uint8_t>(255 * power_of(static_cast<double>(i) / gain_places, gamma) + 0.5);
  }
  return table;
}

GainRange range_of(const GainMapMetadata& metadata) {
  GainRange range;
  for (std::size_t c = 0; c < 3; ++c) {
    const GainMapChannel& channel = metadata.channels[c];
    range.min[c] = channel.min;
    if (channel.max > channel.min) range.scale[c] = gain_places / (channel.max - channel.min);
  }
  return range;
}

/// The gains of a new map of this shape by GainRatioJob, and the parameters of the map, which are those given
/// with a range that is widened to gains that it would clip visibly. On the host they are computed a few rows
/// at a time, until it is known that the map needs a channel for each colour, and this one has none.
class Gains {
 public:
  Gains(const Device& device, const Shape& base, const ComparedRows& read, const Shape& map,
        const GainMapMetadata& metadata)
      : device_(device),
        map_(map),
        metadata_(metadata),
        share_(std::min(1.0, static_cast<double>(map.width * map.height) /
                                 static_cast<double>(base.width * base.height))) {
    const GainRatioJob job{base, map.width, map.height, offsets_of_quotients(metadata), share_};
    const auto operation = device.backend().prepare(job);
    const std::int64_t at_once = device.is_cuda() ? map.height : std::min(rows_at_once, map.height);
    gains_ = device.allocate({map.width, map.height, map.channels, Type::f32});
    changed_ = device.allocate({map.width, map.height, 1, Type::u8});
    Image sources = device.allocate({map.width, at_once, map.channels, Type::f32}), tints;
    if (map.channels < colours_of(base)) tints = device.allocate({map.width, at_once, 1, Type::u8});
    const CellAxis rows(base.height, map.height);
    for (std::int64_t first = 0, last = 0; last < map.height && !needs_colours(); first = last) {
      last = std::min(first + at_once, map.height);
      const Compared compared = read(rows.first(first), rows.last(last - 1));
      Image copies[8];
      const MutableImageView gains = rows_of(gains_.view(), first, last);
      const MutableImageView changed = rows_of(changed_.view(), first, last);
      operation->run(
          {on_device(device, compared.result.base, copies[0]),
           on_device(device, compared.result.light, copies[1]),
           on_device(device, compared.before.base, copies[2]),
           on_device(device, compared.before.light, copies[3]), gains,
           rows_of(sources.view(), 0, last - first), changed, rows_of(tints.view(), 0, last - first), first},
          {});
      device.synchronize();
      look_at(on_host(device, gains, copies[4]), on_host(device, sources.view(), copies[5]),
              on_host(device, changed, copies[6]), on_host(device, tints.view(), copies[7]));
    }
    if (metadata.is_uniform() || map.channels == 1) make_uniform();
  }

  [[nodiscard]] const GainMapMetadata& metadata() const noexcept { return metadata_; }
  /// Whether a cell has changed.
  [[nodiscard]] bool has_changed() const noexcept { return has_changed_; }
  /// Whether one gain for all colours, as these are, would lose the tint of too many cells.
  [[nodiscard]] bool needs_colours() const noexcept {
    return tinted_ * cells_of_one_tint > map_.width * map_.height;
  }

  /// Returns the codes of all cells. With `kept`, a map of the same size, cells that have not changed keep
  /// its codes.
  [[nodiscard]] Image codes(const Image* kept) const {
    const GainCodesJob job{map_.channels, kept == nullptr ? 1 : kept->shape().channels, range_of(metadata_)};
    const Image table = codes_of_places(metadata_, map_.channels);
    Image codes = device_.allocate(map_), copies[2];
    device_.backend().prepare(job)->run(
        {gains_.view(), on_device(device_, table, copies[0]), changed_.view(),
         kept == nullptr ? ImageView() : on_device(device_, *kept, copies[1]), codes.view()},
        {});
    device_.synchronize();
    return device_.is_cuda() ? device_.download(codes.view()) : std::move(codes);
  }

 private:
  static constexpr std::int64_t rows_at_once = 32;  ///< so that two threads share them

  /// Takes note of rows of cells in host memory.
  void look_at(const ImageView& gains, const ImageView& sources, const ImageView& changed,
               const ImageView& tints) {
    const std::int64_t cells = gains.shape.width * gains.shape.height;
    const auto* changes = changed.row<std::uint8_t>(0);
    has_changed_ = has_changed_ || std::find(changes, changes + cells, 1) != changes + cells;
    if (!tints.empty()) {
      const auto* marks = tints.row<std::uint8_t>(0);
      tinted_ += std::accumulate(marks, marks + cells, std::uint32_t{0});
    }
    const auto* stops = gains.row<float>(0);
    if (are_in_range(stops, cells * map_.channels)) return;
    for (int c = 0; c < map_.channels; ++c) {
      GainMapChannel& channel = metadata_.channels[static_cast<std::size_t>(c)];
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        const std::int64_t at = cell * map_.channels + c;
        const auto wanted = static_cast<double>(stops[at]);
        const double clipped = std::clamp(wanted, channel.min, channel.max);
        if (clipped == wanted || changes[cell] == 0 ||
            !gain_errs(wanted, clipped, static_cast<double>(sources.row<float>(0)[at]) * share_,
                       error_of_light))
          continue;
        channel.min = std::min(channel.min, wanted);
        channel.max = std::max(channel.max, wanted);
      }
    }
  }

  /// Whether all of these gains are certainly in the range of every channel: a loop that compilers vectorize.
  [[nodiscard]] bool are_in_range(const float* stops, std::int64_t count) const {
    double least = -most_stops, most = most_stops;
    for (const GainMapChannel& channel : metadata_.channels) {
      least = std::max(least, channel.min);
      most = std::min(most, channel.max);
    }
    constexpr float inwards = 1.0F / (1 << 18);  // more than the rounding of a float below 24
    const float first = static_cast<float>(least) + inwards, last = static_cast<float>(most) - inwards;
    unsigned outside = 0;
    for (std::int64_t i = 0; i < count; ++i)
      outside |= static_cast<unsigned>(stops[i] < first) | static_cast<unsigned>(stops[i] > last);
    return outside == 0;
  }

  /// Gives all colours the widest range of any.
  void make_uniform() {
    for (const GainMapChannel other : metadata_.channels)
      for (GainMapChannel& channel : metadata_.channels) {
        channel.min = std::min(channel.min, other.min);
        channel.max = std::max(channel.max, other.max);
      }
  }

  Device device_;
  Shape map_;
  GainMapMetadata metadata_;
  double share_;  ///< cells per pixel, at most 1
  Image gains_;   ///< in the device's memory, as `changed_`
  Image changed_;
  std::int64_t tinted_ = 0;  ///< cells that lose their tint, as far as they are known
  bool has_changed_ = false;
};

/// Returns the gains of a new map of this size, which becomes one of three channels if one would lose tints.
Gains gains_for(const Device& device, const Shape& base, const ComparedRows& read,
                const GainMapMetadata& metadata, Shape size) {
  Gains gains(device, base, read, size, metadata);
  if (!gains.needs_colours()) return gains;
  size.channels = 3;
  return {device, base, read, size, metadata};
}

/// Returns a new map by the map of the picture before, whose size is `before`, as gain_map_of() describes.
GainMap new_map(const Device& device, const Shape& shape, const Shape& before, const ComparedRows& read,
                const GainMap& map) {
  const bool keeps_size = shape == before;
  Shape size = map.pixels.shape();
  const auto follow = [](std::int64_t& samples, std::int64_t pixels, std::int64_t pixels_before) {
    samples =
        std::clamp<std::int64_t>((2 * samples * pixels + pixels_before) / (2 * pixels_before), 1, pixels);
  };
  if (!keeps_size) {
    follow(size.width, shape.width, before.width);
    follow(size.height, shape.height, before.height);
  }
  if (colours_of(shape) == 1) size.channels = 1;
  const Gains gains = gains_for(device, shape, read, map.metadata, size);
  if (!gains.has_changed()) return {map.metadata, map.pixels.clone(), map.origin, map.alternate_icc};
  const bool widened = gains.metadata() != map.metadata;
  return {gains.metadata(), gains.codes(keeps_size && !widened ? &map.pixels : nullptr), map.origin,
          map.alternate_icc};
}

/// Reads the next rows of a source into `held`, which grows.
ImageView read_rows(RowSource& source, Image& held, std::int64_t count) {
  Shape rows = source.shape();
  rows.height = count;
  if (held.empty() || held.shape().height < count) held = Image(rows);
  const MutableImageView view = rows_of(held.view(), 0, count);
  source.read(view);
  return view;
}

/// The cells of a map over its picture.
struct CellGrid {
  CellAxis columns;
  CellAxis rows;
  std::int64_t width;  ///< cells in a row

  /// Whether two pictures are equal in a cell. They are given from row `top`, where a cell begins.
  [[nodiscard]] bool have_equal_cell(const ImageView& a, const ImageView& b, std::int64_t top) const {
    for (std::int64_t y = (top << 24) / rows.step; rows.last(y) <= top + a.shape.height; ++y) {
      if (rows.first(y) < top) continue;
      for (std::int64_t x = 0; x < width; ++x)
        if (are_equal(a, b, x, rows.first(y) - top, rows.last(y) - top)) return true;
      if (rows.last(y) == rows.pixels) break;
    }
    return false;
  }

 private:
  [[nodiscard]] bool are_equal(const ImageView& a, const ImageView& b, std::int64_t x, std::int64_t first,
                               std::int64_t last) const {
    const std::int64_t left = columns.first(x);
    if (*a.at(left, first) != *b.at(left, first)) return false;
    const auto bytes = static_cast<std::size_t>((columns.last(x) - left) * a.strides.pixel);
    while (first < last && std::memcmp(a.at(left, first), b.at(left, first), bytes) == 0) ++first;
    return first == last;
  }
};

/// Sets the first pixel of `out` to the largest value of each channel in rows `first` to `last` - 1.
template <class T>
void find_largest(const ImageView& picture, std::int64_t first, std::int64_t last, T* out) {
  const auto channels = static_cast<std::size_t>(picture.shape.channels);
  std::vector<T> row(static_cast<std::size_t>(picture.shape.width) * channels);
  for (std::int64_t y = first; y < last; ++y) {
    const T* values = picture.row<T>(y);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::max(row[i], values[i]);
  }
  std::fill_n(out, channels, T{0});
  for (std::size_t i = 0; i < row.size(); ++i) out[i % channels] = std::max(out[i % channels], row[i]);
}

/// Restores light on a device. `map` must outlive the object.
class Restorer {
 public:
  Restorer(const Device& device, const ImageView& base, const GainMap& map) : device_(device) {
    check_base(base);
    map.check(base.shape);
    if (!restores_light(map))
      refuse("The gain map does not lead from SDR to HDR in the picture's own primaries.");
    table_ = gains_of(map.metadata);
    gains_ = on_device(device, table_, copies_[0]);
    codes_ = on_device(device, map.pixels, copies_[1]);
    job_ = {base.shape, map.pixels.shape(), static_cast<int>(table_.shape().height),
            offsets_of(map.metadata)};
    operation_ = device.backend().prepare(job_);
  }

  /// Restores rows from `first` on, in the device's memory.
  void run(const ImageView& base, const MutableImageView& light, std::int64_t first) {
    operation_->run({base, codes_, gains_, light, first}, {});
    device_.synchronize();
  }

  /// Returns the largest value of the light of a whole picture, all in host memory. Light grows with the base
  /// and with the gain, so the largest values of both in some rows give a bound for these rows. Only rows
  /// whose bound is above all that was found are restored. Nothing if there is alpha, or such a bound is
  /// none.
  [[nodiscard]] std::optional<double> largest(const ImageView& base) {
    const Shape& shape = base.shape;
    const bool grows = std::ranges::all_of(job_.offsets.base, [](float offset) { return offset >= 0; });
    if (shape.type == Type::f32 || shape.alpha != Alpha::none || !grows) return std::nullopt;
    constexpr std::int64_t at_once = 32;
    const std::int64_t parts = (shape.height + at_once - 1) / at_once;
    const auto last_of = [&](std::int64_t part) { return std::min((part + 1) * at_once, shape.height); };
    RestoreJob job = job_;
    job.base.width = job.map.width = 1;
    job.base.height = job.map.height = parts;
    Shape light = shape;
    light.type = Type::f32;
    light.height = std::min(at_once, shape.height);
    Image bases(job.base), codes(job.map), bounds({1, parts, shape.channels, Type::f32}), restored(light);
    const MapAxis rows(job_.map.height, shape.height);
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t first = part * at_once, last = last_of(part);
      const auto row_of_map = [&](std::int64_t y) { return rows.at(static_cast<int>(y)) / gain_steps; };
      find_largest(codes_, row_of_map(first),
                   std::min<std::int64_t>(row_of_map(last - 1) + 2, job_.map.height),
                   codes.view().row<std::uint8_t>(part));
      if (shape.type == Type::u8)
        find_largest(base, first, last, bases.view().row<std::uint8_t>(part));
      else
        find_largest(base, first, last, bases.view().row<std::uint16_t>(part));
    }
    device_.backend().prepare(job)->run({bases.view(), codes.view(), gains_, bounds.view(), 0}, {});
    const auto bound_of = [&](std::int64_t part) {
      const float* values = bounds.view().row<float>(part);
      return *std::max_element(values, values + shape.channels);
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(parts));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, std::greater(), bound_of);
    float found = 0;
    for (const std::int64_t part : order) {
      if (bound_of(part) <= found) break;
      const std::int64_t first = part * at_once, last = last_of(part);
      const MutableImageView out = rows_of(restored.view(), 0, last - first);
      run(rows_of(base, first, last), out, first);
      const float* values = out.row<float>(0);
      found =
          std::max(found, *std::max_element(values, values + (last - first) * shape.width * shape.channels));
    }
    return static_cast<double>(found);
  }

 private:
  Device device_;
  RestoreJob job_;
  Image table_;
  Image copies_[2];
  ImageView gains_;
  ImageView codes_;
  std::unique_ptr<RestoreJob::Operation> operation_;
};

}  // namespace

Image restore_light(const Device& device, const ImageView& base, const GainMap& map) {
  Restorer restorer(device, base, map);
  Shape shape = base.shape;
  shape.type = Type::f32;
  Image light = device.allocate(shape), copy;
  restorer.run(on_device(device, base, copy), light.view(), 0);
  return light;
}

struct LightRows::State {
  ImageView base;
  Shape shape;
  Restorer restorer;
  std::int64_t next = 0;
};

LightRows::LightRows(const Device& device, const ImageView& base, const GainMap& map) {
  if (device.is_cuda() || base.memory != Memory::host)
    refuse("Light is restored row by row in host memory: open the device cpu.");
  state_ = std::make_unique<State>(State{base, base.shape, {device, base, map}});
  state_->shape.type = Type::f32;
}

LightRows::~LightRows() = default;

const Shape& LightRows::shape() const noexcept { return state_->shape; }

void LightRows::skip_to(std::int64_t row) { state_->next = row; }

std::optional<double> LightRows::largest() { return state_->restorer.largest(state_->base); }

void LightRows::read(const MutableImageView& rows) {
  const std::int64_t first = std::exchange(state_->next, state_->next + rows.shape.height);
  state_->restorer.run(rows_of(state_->base, first, state_->next), rows, first);
}

GainMap gain_map_of(const Device& device, const Renderings& result) {
  check(result);
  const Shape& shape = result.base.shape;
  GainMap map;
  for (GainMapChannel& channel : map.metadata.channels) channel.max = 0;
  Shape size{(shape.width + 1) / 2, (shape.height + 1) / 2, 1, Type::u8};
  const auto read = [&](std::int64_t top, std::int64_t bottom) {
    return Compared{rows_of(result, top, bottom), {}};
  };
  const Gains gains = gains_for(device, shape, read, map.metadata, size);
  map.metadata = gains.metadata();
  constexpr double least_headroom = 0.125;
  map.metadata.alternate_headroom = least_headroom;
  for (const GainMapChannel& channel : map.metadata.channels)
    map.metadata.alternate_headroom = std::max(map.metadata.alternate_headroom, channel.max);
  map.pixels = gains.codes(nullptr);
  return map;
}

GainMap gain_map_of(const Device& device, const Renderings& result, const Renderings& before,
                    const GainMap& map) {
  check(result);
  check(before);
  const bool keeps_size = result.base.shape == before.base.shape;
  const auto read = [&](std::int64_t top, std::int64_t bottom) {
    return Compared{rows_of(result, top, bottom), keeps_size ? rows_of(before, top, bottom) : Renderings()};
  };
  return new_map(device, result.base.shape, before.base.shape, read, map);
}

GainMap gain_map_of(const Device& device, const ImageView& result, RowSource& light, const ImageView& before,
                    const GainMap& map) {
  check_base(result);
  check_base(before);
  const bool keeps_size = result.shape == before.shape;
  const Shape& cells = map.pixels.shape();
  const CellGrid grid{{before.shape.width, cells.width}, {before.shape.height, cells.height}, cells.width};
  if (keeps_size && cells.height > before.shape.height)
    refuse("A gain map with more rows than its picture has is not made row by row.");
  LightRows restored(device, before, map);
  Image after, own;
  const auto read = [&](std::int64_t top, std::int64_t bottom) {
    if (top == 0) light.rewind();
    Compared compared;
    compared.result = {rows_of(result, top, bottom), read_rows(light, after, bottom - top)};
    if (!keeps_size) return compared;
    compared.before.base = rows_of(before, top, bottom);
    if (!grid.have_equal_cell(compared.result.base, compared.before.base, top)) {
      compared.before = {};
      return compared;
    }
    restored.skip_to(top);
    compared.before.light = read_rows(restored, own, bottom - top);
    return compared;
  };
  return new_map(device, result.shape, before.shape, read, map);
}

}  // namespace satin
