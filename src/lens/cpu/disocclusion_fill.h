#pragma once
// Step 3 of depth of field: the samples of every group but the nearest that nearer pixels hide, by tiles
// whose tables stay in the L2 cache. Tiles that hold nothing to fill in, or nothing to fill in from, cost
// nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "lens/lens_layers.h"
#include "lens/maths/disocclusion_fill.h"

namespace satin::cpu {

/// [first, last)
struct Range {
  int first;
  int last;

  /// With what the largest window reaches, in a picture of `size`.
  [[nodiscard]] Range with_reach(int size) const {
    return {std::max(0, first - fill_reach), std::min(size, last + fill_reach)};
  }
  [[nodiscard]] Range both(Range other) const {
    return {std::max(first, other.first), std::min(last, other.last)};
  }
};

/// Summed-area tables of one tile of one group of depth, and what the windows of a filled sample hold by
/// them.
class FillTables {
 public:
  /// Tables have at most side x side pixels. Memory is not touched before it is built in.
  explicit FillTables(int side)
      : side_(side),
        size_(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)),
        colours_(std::make_unique_for_overwrite<Colours[]>(size_)),
        others_(std::make_unique_for_overwrite<Others[]>(size_)) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * (sizeof(Colours) + sizeof(Others)); }

  template <int Channels>
  void build(const LensPlanes& planes, const LensUnit& unit, int group, Range columns, Range rows) {
    left_ = columns.first;
    top_ = rows.first;
    for (int y = rows.first; y < rows.last; ++y) {
      Colours* colours = colours_.get() + std::ptrdiff_t{side_} * (y - top_);
      Others* others = others_.get() + std::ptrdiff_t{side_} * (y - top_);
      Colours colour_sum{};
      Others other_sum{};
      for (int x = columns.first; x < columns.last; ++x, ++colours, ++others) {
        const std::int64_t at = planes.place(x, y);
        const int own = planes.groups[at];
        other_sum.counts += fill_count(own == group ? 1U : 0U, own >= group ? 1U : 0U);
        if (own == group) {
          for (int c = 0; c < Channels; ++c)
            colour_sum.value[c] += compressed(lens_light(planes.colours[at * Channels + c], unit));
          other_sum.radius += static_cast<std::uint32_t>(planes.radii[at]);
        }
        *colours = colour_sum;
        *others = other_sum;
        if (y == top_) continue;
        for (int c = 0; c < Channels; ++c) colours->value[c] += (colours - side_)->value[c];
        others->radius += (others - side_)->radius;
        others->counts += (others - side_)->counts;
      }
    }
  }

  /// The group is somewhere in the windows of the block of 2 x 2 pixels at (x, y).
  [[nodiscard]] bool holds_around_block(const LensPlanes& planes, int x, int y) const {
    const Window first = window(planes, x, y, fill_reach);
    const Window last = window(planes, x + 1, y + 1, fill_reach);
    return (counts({first.left, first.top, last.right, last.bottom}) & 0xFFFFU) != 0;
  }

  template <int Channels>
  [[nodiscard]] FillFound<Channels> find(const LensPlanes& planes, int x, int y) const {
    FillFound<Channels> found;
    // a window holds all smaller ones: nothing in it, nothing in them
    if ((counts(window(planes, x, y, fill_reach)) & 0xFFFFU) == 0) return found;
    found.first = fill_windows - 1;
    while (found.first > 0 && counts(window(planes, x, y, fill_window(found.first - 1).reach)) != 0)
      --found.first;
    for (int i = found.first; i < fill_windows; ++i)
      add<Channels>(window(planes, x, y, fill_window(i).reach), i, found);
    return found;
  }

 private:
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

  [[nodiscard]] bool holds(int x, int y) const { return x >= left_ && y >= top_; }
  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y - top_) * static_cast<std::size_t>(side_) +
           static_cast<std::size_t>(x - left_);
  }

  [[nodiscard]] std::uint32_t counts_at(int x, int y) const {
    return holds(x, y) ? others_[place(x, y)].counts : 0;
  }
  [[nodiscard]] std::uint32_t counts(const Window& w) const {
    return counts_at(w.right, w.bottom) - counts_at(w.left - 1, w.bottom) - counts_at(w.right, w.top - 1) +
           counts_at(w.left - 1, w.top - 1);
  }

  template <int Channels>
  void add(const Window& w, int number, FillFound<Channels>& found) const {
    std::uint32_t colour[4] = {};
    std::uint32_t radius = 0;
    std::uint32_t count = 0;
    const auto add_corner = [&](int x, int y, std::uint32_t sign) {
      if (!holds(x, y)) return;
      const Colours& colours = colours_[place(x, y)];
      const Others& others = others_[place(x, y)];
      for (int c = 0; c < Channels; ++c) colour[c] += sign * colours.value[c];
      radius += sign * others.radius;
      count += sign * others.counts;
    };
    add_corner(w.right, w.bottom, 1U);
    add_corner(w.left - 1, w.bottom, ~0U);
    add_corner(w.right, w.top - 1, ~0U);
    add_corner(w.left - 1, w.top - 1, 1U);
    found.add_counts(number, count);
    found.add_radius(number, radius);
    for (int c = 0; c < Channels; ++c) found.add_colour(number, c, colour[c]);
  }

  int side_;
  std::size_t size_;
  std::unique_ptr<Colours[]> colours_;
  std::unique_ptr<Others[]> others_;
  int left_ = 0;
  int top_ = 0;
};

/// One bit a group, of the groups that tiles hold.
class TileGroups {
 public:
  TileGroups(int width, int height);

  void find(CpuBackend& backend, const LensPlanes& planes);
  [[nodiscard]] bool holds_nearer(int column, int row, int group) const;
  /// In the tile or those around it.
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
  void fill_tile(const FillDisocclusions<Channels>& fill, int column, int row, FillTables& tables) const;

  CpuBackend& backend_;
  TileGroups tile_groups_;
  WorkspaceVector<FillTables> tables_;  ///< of each thread
};

}  // namespace satin::cpu
