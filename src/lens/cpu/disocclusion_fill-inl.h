// Step 3 of depth of field: the samples of every group but the nearest that nearer pixels hide, by tiles
// whose tables stay in the L2 cache. Tiles that hold nothing to fill in, or nothing to fill in from, cost
// nothing. For files that Highway compiles once for every SIMD target.

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
#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/cpu/disocclusion_tables-inl.h"
#include "lens/cpu/own_list.h"
#include "lens/lens_layers.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// With the reach of the windows around them tables have 192 x 192 x 24 bytes.
constexpr int tile_side = 128;
constexpr int table_side = tile_side + 2 * fill_reach;

inline int tiles_of(int size) { return (size + tile_side - 1) / tile_side; }

/// The pixels of a tile along one axis.
inline Range tile_range(int number, int size) {
  return Range{number * tile_side, (number + 1) * tile_side}.both({0, size});
}

struct FillArea {
  Range columns;
  Range rows;

  [[nodiscard]] bool empty() const { return columns.first >= columns.last || rows.first >= rows.last; }
};

/// Whether the eight bytes from `bytes` on are all `value`.
inline bool eight_equal(const std::uint8_t* bytes, std::uint8_t value) {
  constexpr std::uint64_t every_byte = 0x0101010101010101U;
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return eight == value * every_byte;
}

/// The first place behind x, up to `last`, that differs from the one at x.
inline int end_of_equal(const std::uint8_t* values, int x, int last) {
  const std::uint8_t own = values[x];
  while (x + 8 <= last && eight_equal(values + x, own)) x += 8;
  while (x < last && values[x] == own) ++x;
  return x;
}

/// The smallest area that holds what `holds` is true of, of the groups in `area`.
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

/// The nearest pixel along one direction that is of the group or behind it: its distance, 0 if there is none
/// within reach or it is behind.
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

/// Blocks of 2 x 2 pixels begin at even places: a reach further at most by the odd pixel of either side.
inline Range whole_blocks(Range range, int size) {
  return {range.first / 2 * 2, std::min(size, (range.last + 1) / 2 * 2)};
}

/// One bit a group, of the groups that tiles hold.
class TileGroups {
 public:
  TileGroups(int width, int height);

  void find(CpuBackend& backend, const LensPlanes& planes);
  [[nodiscard]] bool holds_nearer(int column, int row, int group) const;
  /// Whether the tile, or one of those around it, holds the group.
  [[nodiscard]] bool holds_around(int column, int row, int group) const;

  const int columns;
  const int rows;

 private:
  [[nodiscard]] std::size_t place(int column, int row) const;

  WorkspaceVector<std::uint8_t> bits_;
};

class DisocclusionFill {
 public:
  DisocclusionFill(CpuBackend& backend, int width, int height);

  /// Adds the fill of every group but the nearest to the list, which it completes after
  /// each of them.
  void run(const LensScene& scene);
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  template <int Channels>
  void fill_group(const FillDisocclusions<Channels>& fill);
  template <int Channels>
  void fill_tile(const FillDisocclusions<Channels>& of_fill, int column, int row, FillTables& tables,
                 OwnList& own) const;

  CpuBackend& backend_;
  TileGroups tile_groups_;
  WorkspaceVector<FillTables> tables_;  ///< of each thread
  WorkspaceVector<OwnList> lists_;      ///< of each thread, with room for a row of blocks of a tile
};

inline TileGroups::TileGroups(int width, int height)
    : columns(tiles_of(width)),
      rows(tiles_of(height)),
      bits_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

inline std::size_t TileGroups::place(int column, int row) const {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
}

inline void TileGroups::find(CpuBackend& backend, const LensPlanes& planes) {
  parallel_rows(backend, rows, 1, [&](std::int64_t first, std::int64_t last) {
    for (auto row = static_cast<int>(first); row < last; ++row)
      for (int column = 0; column < columns; ++column)
        bits_[place(column, row)] =
            groups_of_tile(planes, tile_range(column, planes.width), tile_range(row, planes.height));
  });
}

inline bool TileGroups::holds_nearer(int column, int row, int group) const {
  return (bits_[place(column, row)] & ((1U << group) - 1U)) != 0;
}

inline bool TileGroups::holds_around(int column, int row, int group) const {
  for (int v = std::max(0, row - 1); v <= std::min(rows - 1, row + 1); ++v)
    for (int u = std::max(0, column - 1); u <= std::min(columns - 1, column + 1); ++u)
      if ((bits_[place(u, v)] >> group & 1U) != 0) return true;
  return false;
}

inline DisocclusionFill::DisocclusionFill(CpuBackend& backend, int width, int height)
    : backend_(backend), tile_groups_(width, height) {
  for (int thread = 0; thread < backend.threads.count(); ++thread) {
    tables_.emplace_back(table_side);
    lists_.emplace_back(std::size_t{2 * (tile_side + 2)});
  }
}

inline std::size_t DisocclusionFill::bytes() const noexcept {
  return tables_.size() * (tables_.front().bytes() + lists_.front().bytes());
}

inline void DisocclusionFill::run(const LensScene& scene) {
  tile_groups_.find(backend_, scene.planes);
  with_channels(scene.planes.channels, [&]<int Channels>() {
    for (int group = 1; group < scene.work->groups.count; ++group) {
      fill_group(FillDisocclusions<Channels>{scene.planes, scene.unit, group, scene.list});
      scene.list.complete();
    }
  });
}

template <int Channels>
void DisocclusionFill::fill_group(const FillDisocclusions<Channels>& fill) {
  const int tiles = tile_groups_.columns * tile_groups_.rows;
  backend_.threads.for_rows(tiles, 1, [&](std::int64_t first, std::int64_t last, int slot) {
    for (auto tile = static_cast<int>(first); tile < last; ++tile) {
      const int column = tile % tile_groups_.columns;
      const int row = tile / tile_groups_.columns;
      if (tile_groups_.holds_nearer(column, row, fill.group) &&
          tile_groups_.holds_around(column, row, fill.group))
        fill_tile(fill, column, row, tables_[static_cast<std::size_t>(slot)],
                  lists_[static_cast<std::size_t>(slot)]);
    }
  });
}

template <int Channels>
void DisocclusionFill::fill_tile(const FillDisocclusions<Channels>& of_fill, int column, int row,
                                 FillTables& tables, OwnList& own) const {
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
  tables.build<Channels>(planes, *fill.unit, fill.group, columns.with_reach(width), rows.with_reach(height));
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
        if (nearer_here[i]) hidden[i] = fill.hidden_at(u, v, tables.find<Channels>(planes, u, v), nearest);
      }
      fill.add_block(x / 2, y / 2, hidden);
    }
    own.flush(of_fill.list);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
