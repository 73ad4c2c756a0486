// The disocclusion fill on the CPU, compiled for every SIMD target.
//
// The picture is cut into tiles of 128 x 128 pixels, a group at a time. A tile that holds nearer pixels, with
// the group in reach, builds summed-area tables of the bounding rectangle of these pixels and its
// surroundings. They stay in the L2 cache. Each sample then reads its windows from them. Other tiles are
// skipped.

#if defined(SATIN_DISOCCLUSION_FILL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DISOCCLUSION_FILL_INL_H
#undef SATIN_DISOCCLUSION_FILL_INL_H
#else
#define SATIN_DISOCCLUSION_FILL_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "core/cpu/backend.h"
#include "core/cpu/cache.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/layers.h"
#include "lens/maths/disocclusion_fill.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// compressed(lens_light()) of `count` values below 2^31, as they are before lamps are brightened.
inline void CompressColours(const std::uint32_t* values, int count, float white, std::uint32_t* codes) {
  const auto compress = [&](auto d, int i) HWY_ATTR {
    const hn::RebindToFloat<decltype(d)> real;
    const hn::RebindToSigned<decltype(d)> integers;
    const auto all =
        hn::Div(hn::ConvertTo(real, hn::BitCast(integers, hn::LoadU(d, values + i))), hn::Set(real, white));
    const auto light = hn::Min(all, hn::Set(real, lens_largest_light));
    const auto share = hn::Div(light, hn::Add(hn::Set(real, 1.0F), light));
    const auto code = hn::Add(hn::Mul(share, hn::Set(real, 65535.0F)), hn::Set(real, 0.5F));
    hn::StoreU(hn::BitCast(d, hn::ConvertTo(integers, code)), d, codes + i);
  };
  const hn::ScalableTag<std::uint32_t> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= count; i += lanes) compress(d, i);
  for (; i < count; ++i) compress(hn::CappedTag<std::uint32_t, 1>(), i);
}

/// Interval [first, last) of pixels along an axis.
struct Range {
  int first;
  int last;

  /// Extended by the reach of the largest window, within a picture of `size` pixels.
  [[nodiscard]] Range with_reach(int size) const {
    return {std::max(0, first - fill_reach), std::min(size, last + fill_reach)};
  }
  [[nodiscard]] Range both(Range other) const {
    return {std::max(first, other.first), std::min(last, other.last)};
  }
};

/// Summed-area tables of one group in one tile, and the window sums of its samples.
class FillTables {
 public:
  /// Allocates room for side x side pixels and a row and a column of zeros. Memory is first touched by
  /// build().
  explicit FillTables(int side)
      : side_(side + 1),
        size_(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_)),
        colours_(size_),
        others_(size_),
        codes_(4 * static_cast<std::size_t>(side_)) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return size_ * (sizeof(Colours) + sizeof(Others)) + codes_.size() * sizeof(std::uint32_t);
  }

  template <int Channels>
  void build(const LensPlanes& planes, const LensUnit& unit, int group, Range columns, Range rows) {
    left_ = columns.first - 1;
    top_ = rows.first - 1;
    const std::int64_t side = side_;
    std::uint32_t largest = 0;
    const int count = columns.last - columns.first;
    std::fill_n(colours_.data(), count + 1, Colours{});
    std::fill_n(others_.data(), count + 1, Others{});
    const hn::CappedTag<std::uint32_t, 4> d;
    static constexpr std::uint32_t all = ~0U;
    alignas(16) static constexpr std::uint32_t masks[2][4] = {
        {}, {all, Channels > 1 ? all : 0, Channels > 2 ? all : 0, Channels > 3 ? all : 0}};
    for (int y = rows.first; y < rows.last; ++y) {
      Colours* colours = colours_.data() + place(left_, y);
      Others* others = others_.data() + place(left_, y);
      *colours++ = {};
      *others++ = {};
      Colours colour_sum{};
      Others other_sum{};
      const std::int64_t begin = planes.place(columns.first, y);
      const std::uint8_t* groups = planes.groups + begin;
      const std::int32_t* radii = planes.radii + begin;
      if (y + 1 < rows.last) {
        fetch_values(planes.colours + (begin + planes.width) * Channels, count * Channels);
        fetch_values(radii + planes.width, count);
      }
      CompressColours(planes.colours + begin * Channels, count * Channels, unit.white, codes_.data());
      const std::uint32_t* code = codes_.data();
      for (int x = 0; x < count; ++x, ++colours, ++others, code += Channels) {
        const int own = groups[x];
        const bool in_group = own == group;
        for (std::size_t c = 0; c < 4; c += hn::Lanes(d)) {
          const auto added = hn::And(hn::LoadU(d, code + c), hn::LoadU(d, masks[in_group ? 1 : 0] + c));
          const auto sum = hn::Add(hn::LoadU(d, colour_sum.value + c), added);
          hn::StoreU(sum, d, colour_sum.value + c);
          hn::StoreU(hn::Add(sum, hn::LoadU(d, (colours - side)->value + c)), d, colours->value + c);
        }
        const std::uint32_t kept = in_group ? all : 0;
        other_sum.counts += fill_count(in_group ? 1U : 0U, own >= group ? 1U : 0U);
        other_sum.radius += static_cast<std::uint32_t>(radii[x]) & kept;
        largest = std::max(largest, magnitude_of(radii[x]) & kept);
        others->radius = other_sum.radius + (others - side)->radius;
        others->counts = other_sum.counts + (others - side)->counts;
      }
    }
    largest_ = largest;
  }

  /// Returns the number of the group's pixels in the window of this half side.
  [[nodiscard]] std::uint32_t count(const LensPlanes& planes, int x, int y, int reach) const {
    return counts(window(planes, x, y, reach)) & 0xFFFFU;
  }

  /// Whether a pixel of the 2 x 2 block at (x, y) may show a sample. If not, FillDisocclusions::shows() is
  /// false for all four: no window that is as small as a pixel's radius plus the group's largest holds the
  /// group. One pixel more covers the rounding of mean radii below 2^18.
  [[nodiscard]] bool shows_in_block(const LensPlanes& planes, int x, int y) const {
    const int right = std::min(x + 1, planes.width - 1);
    const int bottom = std::min(y + 1, planes.height - 1);
    const auto radius = [&](int u, int v) { return magnitude_of(planes.radii[planes.place(u, v)]); };
    const std::uint32_t own =
        std::max({radius(x, y), radius(right, y), radius(x, bottom), radius(right, bottom)});
    int number = 0;
    while (number + 1 < fill_windows && !is_beyond(number, own)) ++number;
    const Window first = window(planes, x, y, fill_window(number).reach);
    const Window last = window(planes, right, bottom, fill_window(number).reach);
    return counts({first.left, first.top, last.right, last.bottom}) != 0;
  }

  template <int Channels>
  [[nodiscard]] FillFound<Channels> find(const LensPlanes& planes, int x, int y) const {
    FillFound<Channels> found;
    // If the largest window is empty, so are the smaller ones.
    if ((counts(window(planes, x, y, fill_reach)) & 0xFFFFU) == 0) return found;
    found.first = fill_windows - 1;
    while (found.first > 0 && counts(window(planes, x, y, fill_window(found.first - 1).reach)) != 0)
      --found.first;
    const std::uint32_t own = magnitude_of(planes.radii[planes.place(x, y)]);
    if (found.first > 0 && is_beyond(found.first - 1, own)) {
      found.first = fill_windows;
      return found;
    }
    for (int i = found.first; i < fill_windows; ++i)
      add<Channels>(window(planes, x, y, fill_window(i).reach), i, found);
    return found;
  }

 private:
  /// Whether a window reaches farther than this radius and the group's largest together.
  [[nodiscard]] bool is_beyond(int number, std::uint32_t own) const {
    return static_cast<std::uint32_t>(fill_window(number).reach) * 256 > own + largest_ + 2 * 256;
  }

  struct alignas(16) Colours {
    std::uint32_t value[4];
  };
  struct alignas(8) Others {
    std::uint32_t radius;
    std::uint32_t counts;
  };
  struct Window {
    int left, top, right, bottom;
  };

  [[nodiscard]] static Window window(const LensPlanes& planes, int x, int y, int reach) {
    return {std::max(0, x - reach), std::max(0, y - reach), std::min(x + reach, planes.width - 1),
            std::min(y + reach, planes.height - 1)};
  }

  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y - top_) * static_cast<std::size_t>(side_) +
           static_cast<std::size_t>(x - left_);
  }

  [[nodiscard]] std::uint32_t counts_at(int x, int y) const { return others_[place(x, y)].counts; }
  [[nodiscard]] std::uint32_t counts(const Window& w) const {
    return counts_at(w.right, w.bottom) - counts_at(w.left - 1, w.bottom) - counts_at(w.right, w.top - 1) +
           counts_at(w.left - 1, w.top - 1);
  }

  template <int Channels>
  void add(const Window& w, int number, FillFound<Channels>& found) const {
    const std::size_t corners[] = {place(w.right, w.bottom), place(w.left - 1, w.bottom),
                                   place(w.right, w.top - 1), place(w.left - 1, w.top - 1)};
    const auto sum = [&](const auto& value_at) HWY_ATTR {
      return value_at(corners[0]) - value_at(corners[1]) - value_at(corners[2]) + value_at(corners[3]);
    };
    found.add_counts(number, sum([&](std::size_t at) { return others_[at].counts; }));
    found.add_radius(number, sum([&](std::size_t at) { return others_[at].radius; }));
    const hn::CappedTag<std::int32_t, 4> d;
    const hn::RebindToFloat<decltype(d)> real;
    const auto factor = hn::Set(real, fill_window(number).factor);
    for (std::size_t c = 0; c < Channels; c += hn::Lanes(d)) {
      const auto at = [&](std::size_t corner) HWY_ATTR {
        return hn::LoadU(d, reinterpret_cast<const std::int32_t*>(colours_[corner].value) + c);
      };
      const auto colours =
          hn::Add(hn::Sub(at(corners[0]), at(corners[1])), hn::Sub(at(corners[3]), at(corners[2])));
      const auto weighted = hn::Mul(factor, hn::ConvertTo(real, colours));
      hn::StoreU(hn::Add(hn::LoadU(real, found.colour + c), weighted), real, found.colour + c);
    }
  }

  int side_;
  std::size_t size_;
  WorkspaceVector<Colours> colours_;
  WorkspaceVector<Others> others_;
  WorkspaceVector<std::uint32_t> codes_;  ///< compressed colours of one row
  std::uint32_t largest_ = 0;             ///< largest radius of the group, 1/256 pixel
  int left_ = 0;                          ///< coordinates of the zeros
  int top_ = 0;
};

class OwnList {
 public:
  /// `most`: number of samples between two flushes.
  explicit OwnList(std::size_t most) : samples_(most) {}

  [[nodiscard]] LensList list() {
    return {samples_.data(), &none_, &attempted_, static_cast<std::uint32_t>(samples_.size())};
  }
  void flush(const LensList& to) {
    if (attempted_ == 0) return;
    const std::uint64_t first = std::uint64_t{*to.count} + add_shared(to.attempted, attempted_);
    if (first < to.capacity)
      std::copy_n(samples_.data(), std::min<std::uint64_t>(attempted_, to.capacity - first),
                  to.samples + first);
    attempted_ = 0;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return samples_.size() * sizeof(LensSample); }

 private:
  WorkspaceVector<LensSample> samples_;
  std::uint32_t none_ = 0;
  std::uint32_t attempted_ = 0;
};

/// Tables have 192 x 192 x 24 bytes: 64 pixels more than a tile on either axis.
constexpr int tile_side = 128;
constexpr int table_side = tile_side + 2 * fill_reach;

inline int tiles_of(int size) { return (size + tile_side - 1) / tile_side; }

inline Range tile_range(int number, int size) {
  return Range{number * tile_side, (number + 1) * tile_side}.both({0, size});
}

struct FillArea {
  Range columns;
  Range rows;

  [[nodiscard]] bool empty() const { return columns.first >= columns.last || rows.first >= rows.last; }
};

inline bool eight_equal(const std::uint8_t* bytes, std::uint8_t value) {
  constexpr std::uint64_t every_byte = 0x0101010101010101U;
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return eight == value * every_byte;
}

/// Returns the first index after x, up to `last`, whose value differs from that at x.
inline int end_of_equal(const std::uint8_t* values, int x, int last) {
  const std::uint8_t own = values[x];
  while (x + 8 <= last && eight_equal(values + x, own)) x += 8;
  while (x < last && values[x] == own) ++x;
  return x;
}

/// Smallest rectangle in `area` that has all pixels whose group satisfies `holds`.
template <class Holds>
FillArea bounds_of(const LensPlanes& planes, const FillArea& area, const Holds& holds) {
  FillArea result{{area.columns.last, area.columns.first}, {area.rows.last, area.rows.first}};
  for (int y = area.rows.first; y < area.rows.last; ++y) {
    const std::uint8_t* groups = planes.groups + planes.place(0, y);
    int left = area.columns.first;
    while (left < area.columns.last && !holds(groups[left]))
      left = end_of_equal(groups, left, area.columns.last);
    if (left == area.columns.last) continue;
    int right = area.columns.last;
    while (right > result.columns.last && !holds(groups[right - 1])) --right;
    result.columns = {std::min(result.columns.first, left), std::max(result.columns.last, right)};
    result.rows = {std::min(result.rows.first, y), y + 1};
  }
  return result;
}

inline std::uint8_t groups_of_tile(const LensPlanes& planes, Range columns, Range rows) {
  unsigned bits = 0;
  for (int y = rows.first; y < rows.last; ++y) {
    const std::uint8_t* groups = planes.groups + planes.place(0, y);
    for (int x = columns.first; x < columns.last;) {
      bits |= 1U << groups[x];
      x = end_of_equal(groups, x, columns.last);
    }
  }
  return static_cast<std::uint8_t>(bits);
}

/// Searches along a direction for FillDisocclusions::hidden_at(): returns the distance to the nearest pixel
/// that is in the group or behind it, or 0 if there is none within reach or it is behind.
struct NearestAlong {
  const LensPlanes& planes;
  int group;

  int operator()(int x, int y, int step_x, int step_y) const {
    for (int i = 1; i <= refined_reach; ++i) {
      const int u = x + i * step_x;
      const int v = y + i * step_y;
      if (!planes.holds(u, v)) return 0;
      const int own = planes.groups[planes.place(u, v)];
      if (own >= group) return own == group ? i : 0;
    }
    return 0;
  }
};

/// Extends an interval to whole 2 x 2 blocks, which begin at even coordinates.
inline Range whole_blocks(Range range, int size) {
  return {range.first / 2 * 2, std::min(size, (range.last + 1) / 2 * 2)};
}

/// A bit per group for each tile: whether the tile holds the group.
class TileGroups {
 public:
  TileGroups(int width, int height)
      : columns(tiles_of(width)),
        rows(tiles_of(height)),
        bits_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  void find(CpuBackend& backend, const LensPlanes& planes) {
    parallel_rows(backend, rows, 1, [&](std::int64_t first, std::int64_t last) {
      for (auto row = static_cast<int>(first); row < last; ++row)
        for (int column = 0; column < columns; ++column)
          bits_[place(column, row)] =
              groups_of_tile(planes, tile_range(column, planes.width), tile_range(row, planes.height));
    });
  }
  [[nodiscard]] bool holds_nearer(int column, int row, int group) const {
    return (bits_[place(column, row)] & ((1U << group) - 1U)) != 0;
  }
  /// Whether the tile or one of its eight neighbours holds the group.
  [[nodiscard]] bool holds_around(int column, int row, int group) const {
    for (int v = std::max(0, row - 1); v <= std::min(rows - 1, row + 1); ++v)
      for (int u = std::max(0, column - 1); u <= std::min(columns - 1, column + 1); ++u)
        if ((bits_[place(u, v)] >> group & 1U) != 0) return true;
    return false;
  }

  const int columns;
  const int rows;

 private:
  [[nodiscard]] std::size_t place(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  }

  WorkspaceVector<std::uint8_t> bits_;
};

class DisocclusionFill {
 public:
  DisocclusionFill(CpuBackend& backend, int width, int height)
      : backend_(backend), tile_groups_(width, height) {
    for (int thread = 0; thread < backend.threads.count(); ++thread) {
      tables_.emplace_back(table_side);
      lists_.emplace_back(std::size_t{2 * (tile_side + 2)});
    }
  }

  /// Adds the hidden samples of each group but the nearest to the list, and merges more of them if they do
  /// not fit.
  void run(const LensScene& scene, float merged_radius) {
    const LensPlanes& planes = scene.planes;
    parallel_rows(backend_, planes.height, 16, [&](std::int64_t first, std::int64_t last) {
      std::fill(planes.exposed + first * planes.width, planes.exposed + last * planes.width, std::uint8_t{0});
    });
    tile_groups_.find(backend_, planes);
    with_channels(scene.planes.channels, [&]<int Channels>() {
      const auto fill = [&](int group, float radius) {
        fill_group(FillDisocclusions<Channels>{scene.planes, scene.unit, group, scene.list, radius});
      };
      const int groups = scene.work->groups.count;
      for (const float radius : {merged_radius, lower_merged_radius}) {
        for (int group = 1; group < groups; ++group) fill(group, radius);
        if (scene.list.complete()) return;
      }
      for (int group = 1; group < groups; ++group) {
        fill(group, every_merged_radius);
        scene.list.complete();
      }
    });
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return tables_.size() * (tables_.front().bytes() + lists_.front().bytes());
  }

 private:
  template <int Channels>
  void fill_group(const FillDisocclusions<Channels>& fill) {
    const int tiles = tile_groups_.columns * tile_groups_.rows;
    backend_.threads.for_rows(tiles, 1, [&](std::int64_t first, std::int64_t last, int thread) {
      for (auto tile = static_cast<int>(first); tile < last; ++tile) {
        const int column = tile % tile_groups_.columns;
        const int row = tile / tile_groups_.columns;
        if (tile_groups_.holds_nearer(column, row, fill.group) &&
            tile_groups_.holds_around(column, row, fill.group))
          fill_tile(fill, column, row, tables_[static_cast<std::size_t>(thread)],
                    lists_[static_cast<std::size_t>(thread)]);
      }
    });
  }

  template <int Channels>
  void fill_tile(const FillDisocclusions<Channels>& of_fill, int column, int row, FillTables& tables,
                 OwnList& own) const {
    FillDisocclusions<Channels> fill = of_fill;
    fill.list = own.list();
    const LensPlanes& planes = fill.planes;
    const int width = planes.width;
    const int height = planes.height;
    const FillArea tile{tile_range(column, width), tile_range(row, height)};
    const FillArea around{tile.columns.with_reach(width), tile.rows.with_reach(height)};
    const FillArea nearer = bounds_of(planes, tile, [&](int group) { return group < fill.group; });
    const FillArea behind = bounds_of(planes, around, [&](int group) { return group == fill.group; });
    if (nearer.empty() || behind.empty()) return;
    const FillArea filled{nearer.columns.both(behind.columns.with_reach(width)),
                          nearer.rows.both(behind.rows.with_reach(height))};
    if (filled.empty()) return;
    const Range columns = whole_blocks(filled.columns, width);
    const Range rows = whole_blocks(filled.rows, height);
    tables.build<Channels>(planes, *fill.unit, fill.group, columns.with_reach(width),
                           rows.with_reach(height));
    const NearestAlong nearest{planes, fill.group};
    for (int y = rows.first; y < rows.last; y += 2) {
      for (int x = columns.first; x < columns.last; x += 2) {
        const bool nearer_here[4] = {fill.is_nearer(x, y), fill.is_nearer(x + 1, y), fill.is_nearer(x, y + 1),
                                     fill.is_nearer(x + 1, y + 1)};
        if (std::ranges::none_of(nearer_here, std::identity{})) continue;
        if (!tables.shows_in_block(planes, x, y)) continue;
        Hidden hidden[4] = {};
        for (int i = 0; i < 4; ++i) {
          const int u = x + (i & 1);
          const int v = y + (i >> 1);
          if (!nearer_here[i]) continue;
          const std::int64_t at = fill.planes.place(u, v);
          fill.expose(at, fill.planes.magnitudes[at],
                      [&](int reach) { return tables.count(planes, u, v, reach); });
          hidden[i] = fill.hidden_at(u, v, tables.find<Channels>(planes, u, v), nearest);
        }
        fill.add_block(x / 2, y / 2, hidden);
      }
      own.flush(of_fill.list);
    }
  }

  CpuBackend& backend_;
  TileGroups tile_groups_;
  WorkspaceVector<FillTables> tables_;  ///< one per thread
  WorkspaceVector<OwnList> lists_;      ///< one per thread, for a row of blocks of a tile
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
