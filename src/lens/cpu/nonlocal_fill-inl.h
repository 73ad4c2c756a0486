// The non-local fill on the CPU, compiled for every SIMD target.
//
// Tiles of 64 x 64 pixels that have sharp samples run one pass per quantity. A pass slides a window of 25
// rows down the tile: a row of entries enters, and the row that leaves is subtracted from the column sums.
// Where a row has samples, a prefix sum over the column sums gives their windows. The ring of rows stays in
// the L1 cache.

#if defined(SATIN_NONLOCAL_FILL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_NONLOCAL_FILL_INL_H
#undef SATIN_NONLOCAL_FILL_INL_H
#else
#define SATIN_NONLOCAL_FILL_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/layers.h"
#include "lens/maths/nonlocal_fill.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;

/// packed_difference() of all lanes. Bits above a code do not matter: squares are exact modulo 2^32.
template <class D, class V>
HWY_INLINE V PackedDifference(D d, V a, V b) {
  const auto largest = hn::Set(d, packed_largest);
  const auto squared = [&](V x, V y) HWY_ATTR {
    const auto apart = hn::Sub(hn::And(x, largest), hn::And(y, largest));
    return hn::Mul(apart, apart);
  };
  const auto first = squared(a, b);
  const auto second = squared(hn::ShiftRight<9>(a), hn::ShiftRight<9>(b));
  return hn::Add(hn::Add(first, second), squared(hn::ShiftRight<18>(a), hn::ShiftRight<18>(b)));
}

inline constexpr int nonlocal_side = 64;
inline constexpr int nonlocal_columns = nonlocal_side + 2 * known_reach;
inline constexpr int window_rows = 2 * known_reach + 1;

/// Entries of one row of a tile and its surroundings, or their sums over the rows of a window, joined(). Rows
/// are whole vectors; unused entries stay 0.
inline constexpr std::size_t known_places = (nonlocal_columns + 15) / 16 * 16;
using KnownRow = std::array<std::uint32_t, known_places>;
template <class D, class M, class V>
HWY_INLINE V PackedEntries(D d, M known, V values) {
  return hn::IfThenElseZero(known, hn::Add(values, hn::Set(d, 1U << value_bits)));
}

/// Calls vector(x) for vectors that cover `from` to `to` - 1, the last ones overlapping, or one(x) for each
/// index if there are fewer than a vector has.
template <class Vector, class One>
HWY_INLINE void ForVectorsOf(int from, int to, const Vector& vector, const One& one) {
  const auto lanes = static_cast<int>(hn::Lanes(Words()));
  int x = from;
  for (; x + lanes <= to; x += lanes) vector(x);
  if (x == to) return;
  if (x > from) return vector(to - lanes);
  for (; x < to; ++x) one(x);
}

// EntryRow() writes the entries of row y, columns `left` to `right` - 1.

/// Clears the row unless columns `from` to `to` - 1 are all of it.
inline void ClearIncompleteRow(int left, int right, int from, int to, KnownRow& row) {
  if (from != left || to != right) std::fill_n(row.data(), right - left, 0U);
}

inline void EntryRow(const DifferenceEntry& entry, int left, int right, int y, KnownRow& row) {
  const NonlocalFill& fill = entry.fill;
  const int from = std::max({left, 0, -entry.offset.x});
  const int to = std::min({right, fill.planes.width, fill.planes.width - entry.offset.x});
  const int other = y + entry.offset.y;
  const bool inside =
      y >= 0 && other >= 0 && y < fill.planes.height && other < fill.planes.height && from < to;
  ClearIncompleteRow(left, right, from, inside ? to : from, row);
  if (!inside) return;
  const Words d;
  const auto group = hn::Set(d, static_cast<std::uint32_t>(entry.fill.group));
  const std::uint32_t* own = fill.words + fill.planes.place(0, y);
  const std::uint32_t* there = fill.words + fill.planes.place(entry.offset.x, other);
  std::uint32_t* to_row = row.data();
  ForVectorsOf(
      from, to,
      [&](int x) HWY_ATTR {
        const auto a = hn::LoadU(d, own + x);
        const auto b = hn::LoadU(d, there + x);
        const auto known =
            hn::And(hn::Eq(hn::ShiftRight<27>(a), group), hn::Eq(hn::ShiftRight<27>(b), group));
        hn::StoreU(PackedEntries(d, known, PackedDifference(d, a, b)), d, to_row + (x - left));
      },
      [&](int x) { to_row[x - left] = joined(entry(x, y)); });
}

/// Entries of the group's own pixels; value_of(d, words) makes their values.
template <class Entry, class ValueOf>
void OwnRow(const Entry& entry, int left, int right, int y, KnownRow& row, const ValueOf& value_of) {
  const NonlocalFill& fill = entry.fill;
  const int from = std::max(left, 0);
  const int to = std::min(right, fill.planes.width);
  const bool inside = y >= 0 && y < fill.planes.height && from < to;
  ClearIncompleteRow(left, right, from, inside ? to : from, row);
  if (!inside) return;
  const Words d;
  const auto group = hn::Set(d, static_cast<std::uint32_t>(entry.fill.group));
  const std::uint32_t* own = fill.words + fill.planes.place(0, y);
  std::uint32_t* to_row = row.data();
  ForVectorsOf(
      from, to,
      [&](int x) HWY_ATTR {
        const auto words = hn::LoadU(d, own + x);
        const auto known = hn::Eq(hn::ShiftRight<27>(words), group);
        hn::StoreU(PackedEntries(d, known, value_of(d, words)), d, to_row + (x - left));
      },
      [&](int x) { to_row[x - left] = joined(entry(x, y)); });
}

inline void EntryRow(const SquareEntry& entry, int left, int right, int y, KnownRow& row) {
  OwnRow(entry, left, right, y, row,
         [](auto d, auto words) HWY_ATTR { return PackedDifference(d, words, hn::Zero(d)); });
}

inline void EntryRow(const CodeEntry& entry, int left, int right, int y, KnownRow& row) {
  const int shift = 9 * entry.colour;
  OwnRow(entry, left, right, y, row, [shift](auto d, auto words) HWY_ATTR {
    return hn::And(hn::ShiftRightSame(words, shift), hn::Set(d, packed_largest));
  });
}

/// The guard's differences along one axis: those at an offset and at its opposite.
struct GuardEntry {
  NonlocalFill fill;
  Offset offset;
};

inline void EntryRow(const GuardEntry& entry, int left, int right, int y, KnownRow& row) {
  const Offset opposite{-entry.offset.x, -entry.offset.y};
  KnownRow other;
  EntryRow(DifferenceEntry{entry.fill, entry.offset}, left, right, y, row);
  EntryRow(DifferenceEntry{entry.fill, opposite}, left, right, y, other);
  for (int x = 0; x < right - left; ++x)
    row[static_cast<std::size_t>(x)] += other[static_cast<std::size_t>(x)];
}

/// Adds the entering row to the sums, subtracts the row it replaces, and stores it.
inline void ExchangeRows(const KnownRow& entering, int count, KnownRow& leaving, KnownRow& to) {
  const Words d;
  static_assert(known_places % hn::MaxLanes(d) == 0);
  for (int x = 0; x < count; x += static_cast<int>(hn::Lanes(d))) {
    const auto own = hn::LoadU(d, entering.data() + x);
    const auto sums = hn::Add(hn::LoadU(d, to.data() + x), own);
    hn::StoreU(hn::Sub(sums, hn::LoadU(d, leaving.data() + x)), d, to.data() + x);
    hn::StoreU(own, d, leaving.data() + x);
  }
}

/// Pixels of a tile: columns [left, right) and rows [top, bottom).
struct TileArea {
  int left, top, right, bottom;
};
inline TileArea tile_area(const LensPlanes& planes, int column, int row) {
  const int left = column * nonlocal_side;
  const int top = row * nonlocal_side;
  return {left, top, std::min(left + nonlocal_side, planes.width),
          std::min(top + nonlocal_side, planes.height)};
}

/// The samples of one tile and the window that slides over it. Each thread has one.
class NonlocalTile {
 public:
  template <int Channels>
  void run(const NonlocalFill& fill, const TileArea& area) {
    collect(fill, area);
    if (count_ == 0) return;
    const LensUnit unit = *fill.unit;
    slide(
        SquareEntry{fill},
        [](NonlocalMean& mean, const LensSample&, const KnownEntry& sums) {
          mean = {};
          mean.add_squares(sums);
        },
        fill);
    for (int c = 0; c < fill.colours; ++c)
      slide(
          CodeEntry{fill, c},
          [&](NonlocalMean& mean, const LensSample&, const KnownEntry& sums) { mean.add_codes(c, sums); },
          fill);
    slide(
        GuardEntry{fill, {guard_distance, 0}},
        [&](NonlocalMean& mean, const LensSample&, const KnownEntry& sums) {
          guards_[&mean - means_] = sums;
        },
        fill);
    slide(
        GuardEntry{fill, {0, guard_distance}},
        [&](NonlocalMean& mean, const LensSample& sample, const KnownEntry& sums) {
          const KnownEntry& half = guards_[&mean - means_];
          mean.begin<Channels>(sample, sum_of(half, sums), unit);
        },
        fill);
    for (std::uint32_t i = 0; i < 2 * fill.work->offsets; ++i) {
      const Offset best = fill.work->offset[i / 2];
      const Offset offset = i % 2 == 0 ? best : Offset{-best.x, -best.y};
      slide(
          DifferenceEntry{fill, offset},
          [&](NonlocalMean& mean, const LensSample& sample, const KnownEntry& sums) {
            mean.add_offset<Channels>(fill, sample, offset, sums, unit);
          },
          fill);
    }
    for (int i = 0; i < count_; ++i)
      means_[i].template store<Channels>(fill.list.samples[needed_[i].sample], unit);
  }

 private:
  struct Needed {
    int x, y;
    std::uint32_t sample;
  };

  /// Collects the samples of a tile row by row, and restores the magnitudes.
  void collect(const NonlocalFill& fill, const TileArea& own) {
    const LensPlanes& planes = fill.planes;
    count_ = 0;
    area_ = {planes.width, planes.height, 0, 0};
    const Words d;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    for (int y = own.top; y < own.bottom; ++y) {
      std::uint32_t* places = planes.magnitudes + planes.place(0, y);
      for (int x = own.left; x < own.right; ++x) {
        if (places[x] == 0) {
          if (x + lanes <= own.right && hn::AllTrue(d, hn::Eq(hn::LoadU(d, places + x), hn::Zero(d))))
            x += lanes - 1;
          continue;
        }
        needed_[count_++] = {x, y, places[x] - 1};
        area_ = {std::min(area_.left, x), std::min(area_.top, y), std::max(area_.right, x + 1),
                 std::max(area_.bottom, y + 1)};
      }
      const std::int32_t* radii = planes.radii + planes.place(0, y);
      for (int x = own.left; x < own.right; ++x) places[x] = magnitude_of(radii[x]);
    }
  }

  template <class Entry, class Take>
  void slide(const Entry& entry, const Take& take, const NonlocalFill& fill) {
    const int left = area_.left - known_reach;
    const int right = area_.right + known_reach;
    columns_ = {};
    ring_ = {};
    KnownRow entering{};
    int next = 0;
    for (int y = area_.top - known_reach; y < area_.bottom + known_reach; ++y) {
      EntryRow(entry, left, right, y, entering);
      ExchangeRows(entering, right - left,
                   ring_[static_cast<std::size_t>((y - area_.top + known_reach) % window_rows)], columns_);
      const int middle = y - known_reach;
      if (next == count_ || needed_[next].y != middle || middle < area_.top) continue;
      int end = next;
      while (end < count_ && needed_[end].y == middle) ++end;
      integrate(needed_[next].x - known_reach - left, needed_[end - 1].x + known_reach + 1 - left);
      for (; next < end; ++next) {
        const Needed& needed = needed_[next];
        take(means_[next], fill.list.samples[needed.sample], window(needed.x - left));
      }
    }
  }

  /// Turns the column sums `first` to `last` - 1 into prefix sums: the value in the low 32 bits, the count
  /// above. Values of a window are below 2^31, so carries cancel in the difference.
  void integrate(int first, int last) {
    std::uint64_t sum = 0;
    along_[first] = 0;
    for (int x = first; x < last; ++x) {
      const std::uint32_t column = columns_[static_cast<std::size_t>(x)];
      sum += (column & ((1U << value_bits) - 1)) + (std::uint64_t{column >> value_bits} << 32);
      along_[x + 1] = sum;
    }
  }
  [[nodiscard]] KnownEntry window(int x) const {
    const std::uint64_t sum = along_[x + known_reach + 1] - along_[x - known_reach];
    return {static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(sum >> 32)};
  }

  TileArea area_{};  ///< bounds of the samples
  int count_ = 0;
  Needed needed_[nonlocal_side * nonlocal_side];
  NonlocalMean means_[nonlocal_side * nonlocal_side];
  KnownEntry guards_[nonlocal_side * nonlocal_side];  ///< sums of the guard's first axis
  std::array<KnownRow, window_rows> ring_;
  KnownRow columns_;
  std::uint64_t along_[nonlocal_columns + 1] = {};
};

class NonlocalTiles {
 public:
  NonlocalTiles(CpuBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        job_(job),
        columns_(static_cast<int>((job.width + nonlocal_side - 1) / nonlocal_side)),
        rows_(static_cast<int>((job.height + nonlocal_side - 1) / nonlocal_side)),
        work_(1),
        marks_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)),
        tiles_(static_cast<std::size_t>(backend.threads.count())) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(NonlocalWork) + marks_.size() + tiles_.size() * sizeof(NonlocalTile);
  }

  template <class Launch>
  void run(const Launch& launch, const LensScene& scene) {
    NonlocalFill fill = nonlocal_fill(job_, scene, work_.data());
    count_samples(fill);
    if (!fill.work->needs_any()) return;
    with_channels(job_.channels, [&]<int Channels>() {
      launch(job_.width, job_.height, PackColours<Channels>{fill});
      for (fill.group = 1; fill.group < scene.work->groups.count; ++fill.group) {
        if (!fill.group_needs_samples()) continue;
        fill.work->points = fill.work->candidates = fill.work->offsets = 0;
        launch(point_cells, point_cells, ChoosePoints{fill});
        launch(1, offset_rows, SumDifferences{fill});
        launch(offset_columns, offset_rows, FindCandidates{fill});
        launch(most_candidates, 1, RankCandidates{fill, job_.offset_pairs});
        place_samples(fill);
        for_marked_tiles(fill.planes, [&](const TileArea& area, std::uint8_t& mark, int thread) {
          mark = 0;
          tiles_[static_cast<std::size_t>(thread)].template run<Channels>(fill, area);
        });
      }
    });
  }

 private:
  /// Whether a listed sample is hidden and sharp. Samples of silhouettes are of their pixel's group or a
  /// nearer one.
  static bool is_needed(const LensPlanes& planes, const LensSample& sample) {
    if (sample.radius >= nonlocal_radius) return false;
    return sample.block == 2 || sample.group > planes.groups[planes.place(sample.x, sample.y)];
  }

  /// Calls range(first, last) for ranges of the list, by threads.
  template <class Ranges>
  void for_ranges_of_list(const NonlocalFill& fill, const Ranges& range) const {
    constexpr std::int64_t least_samples = 8192;
    parallel_rows(backend_, *fill.list.count, least_samples, range);
  }

  void count_samples(const NonlocalFill& fill) const {
    std::fill_n(fill.work->needed, lens_most_groups, 0U);
    for_ranges_of_list(fill, [&](std::int64_t first, std::int64_t last) {
      std::uint32_t counts[lens_most_groups] = {};
      for (std::int64_t i = first; i < last; ++i)
        if (is_needed(fill.planes, fill.list.samples[i])) ++counts[fill.list.samples[i].group];
      for (int group = 0; group < lens_most_groups; ++group)
        if (counts[group] != 0) add_shared(&fill.work->needed[group], counts[group]);
    });
  }

  /// Marks the tiles that have sharp hidden samples of the group. In these, the plane of the magnitudes
  /// becomes 1 + the index of the pixel's sample, or 0.
  void place_samples(const NonlocalFill& fill) {
    const LensPlanes& planes = fill.planes;
    const auto for_samples = [&](const auto& use) {
      for_ranges_of_list(fill, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const LensSample& sample = fill.list.samples[i];
          if (sample.group == fill.group && is_needed(planes, sample)) use(i, sample);
        }
      });
    };
    for_samples([&](std::int64_t, const LensSample& sample) {
      set_shared(
          &marks_[static_cast<std::size_t>(sample.y / nonlocal_side * columns_ + sample.x / nonlocal_side)]);
    });
    for_marked_tiles(fill.planes, [&](const TileArea& area, std::uint8_t&, int) {
      for (int y = area.top; y < area.bottom; ++y)
        std::fill_n(planes.magnitudes + planes.place(area.left, y), area.right - area.left, 0U);
    });
    for_samples([&](std::int64_t i, const LensSample& sample) {
      planes.magnitudes[planes.place(sample.x, sample.y)] = static_cast<std::uint32_t>(i) + 1;
    });
  }

  /// Calls use(area, mark, thread) for the marked tiles, by threads.
  template <class Use>
  void for_marked_tiles(const LensPlanes& planes, const Use& use) {
    backend_.threads.for_rows(columns_ * rows_, 1, [&](std::int64_t first, std::int64_t last, int thread) {
      for (auto tile = static_cast<int>(first); tile < last; ++tile)
        if (std::uint8_t& mark = marks_[static_cast<std::size_t>(tile)]; mark != 0)
          use(tile_area(planes, tile % columns_, tile / columns_), mark, thread);
    });
  }

  CpuBackend& backend_;
  LensLayersJob job_;
  int columns_;  ///< tiles across
  int rows_;     ///< tiles down
  WorkspaceVector<NonlocalWork> work_;
  WorkspaceVector<std::uint8_t> marks_;  ///< a tile each
  WorkspaceVector<NonlocalTile> tiles_;  ///< one per thread
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
