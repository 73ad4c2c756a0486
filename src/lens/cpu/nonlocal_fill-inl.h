// The non-local fill by tiles, for files that Highway compiles once for every SIMD target: windows slide down
// the rows of a tile, whose sums and the rows that leave them stay in the L1 cache.

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
#include <memory>
#include <utility>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/cpu/nonlocal_rows-inl.h"
#include "lens/lens_layers.h"
#include "lens/maths/nonlocal_fill.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The samples of one tile, and the windows that slide over it; of one thread.
class NonlocalTile {
 public:
  /// All sharp hidden samples of the group in the tile take their colours.
  template <int Channels>
  void run(const NonlocalFill& fill, int group, int column, int row) {
    collect(fill, column, row);
    if (count_ == 0) return;
    const LensUnit unit = *fill.unit;
    slide(
        SquareEntry{fill, group},
        [](NonlocalMean& mean, const LensSample&, const KnownEntry& sums) {
          mean = {};
          mean.add_squares(sums);
        },
        fill);
    for (int c = 0; c < fill.colours; ++c)
      slide(
          CodeEntry{fill, group, c},
          [&](NonlocalMean& mean, const LensSample&, const KnownEntry& sums) { mean.add_codes(c, sums); },
          fill);
    slide(
        HalfOfGuard{fill, group, {guard_distance, 0}},
        [&](NonlocalMean& mean, const LensSample&, const KnownEntry& sums) {
          guards_[&mean - means_] = sums;
        },
        fill);
    slide(
        HalfOfGuard{fill, group, {0, guard_distance}},
        [&](NonlocalMean& mean, const LensSample& sample, const KnownEntry& sums) {
          const KnownEntry& half = guards_[&mean - means_];
          mean.begin<Channels>(sample, {half.value + sums.value, half.count + sums.count}, unit);
        },
        fill);
    for (std::uint32_t i = 0; i < 2 * fill.work->offsets; ++i) {
      const Offset best = fill.work->offset[i / 2];
      const Offset offset = i % 2 == 0 ? best : Offset{-best.x, -best.y};
      slide(
          DifferenceEntry{fill, group, offset},
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

  /// Collects the samples of a tile row by row; forgets their places.
  void collect(const NonlocalFill& fill, int column, int row) {
    count_ = 0;
    area_ = {fill.planes.width, fill.planes.height, 0, 0};
    const int right = std::min((column + 1) * nonlocal_side, fill.planes.width);
    const int bottom = std::min((row + 1) * nonlocal_side, fill.planes.height);
    const Words d;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    for (int y = row * nonlocal_side; y < bottom; ++y)
      for (int x = column * nonlocal_side; x < right; ++x) {
        std::uint32_t& place = fill.places[fill.planes.place(x, y)];
        if (place == 0) {
          if (x + lanes <= right && hn::AllTrue(d, hn::Eq(hn::LoadU(d, &place), hn::Zero(d)))) x += lanes - 1;
          continue;
        }
        needed_[count_++] = {x, y, place - 1};
        place = 0;
        area_ = {std::min(area_.left, x), std::min(area_.top, y), std::max(area_.right, x + 1),
                 std::max(area_.bottom, y + 1)};
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

  /// The columns' sums from `first` to `last` - 1 as prefix sums: a value and, 32 bits above it, a count.
  /// Values stay below 2^31 over any window, and a carry of those before is one of both ends.
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

  NonlocalArea area_{};
  int count_ = 0;
  Needed needed_[nonlocal_side * nonlocal_side];
  NonlocalMean means_[nonlocal_side * nonlocal_side];
  KnownEntry guards_[nonlocal_side * nonlocal_side];  ///< one half of the differences
  std::array<KnownRow, window_rows> ring_;
  KnownRow columns_;
  std::uint64_t along_[nonlocal_columns + 1] = {};
};

/// The non-local fill of pictures of one size.
class NonlocalTiles {
 public:
  NonlocalTiles(CpuBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        columns_(static_cast<int>((job.width + nonlocal_side - 1) / nonlocal_side)),
        rows_(static_cast<int>((job.height + nonlocal_side - 1) / nonlocal_side)),
        job_(job),
        work_(1),
        marks_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)),
        tiles_(static_cast<std::size_t>(backend.threads.count())) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(NonlocalWork) + marks_.size() + tiles_.size() * sizeof(NonlocalTile);
  }

  template <class Launch>
  void run(const Launch& launch, const LensScene& scene) {
    const NonlocalFill fill = nonlocal_fill(job_, scene, work_.data(), marks_.data(), nonlocal_side);
    with_channels(job_.channels, [&]<int Channels>() {
      fill_nonlocally(launch, fill, scene.work->groups.count, job_.offset_pairs,
                      [&](int group) { apply<Channels>(fill, group); });
    });
    launch(scene.planes.width, scene.planes.height, RestoreMagnitudes{fill});
  }

 private:
  template <int Channels>
  void apply(const NonlocalFill& fill, int group) {
    backend_.threads.for_rows(columns_ * rows_, 1, [&](std::int64_t first, std::int64_t last, int slot) {
      for (auto tile = static_cast<int>(first); tile < last; ++tile) {
        std::uint8_t& mark = marks_[static_cast<std::size_t>(tile)];
        if (mark == 0) continue;
        mark = 0;
        tiles_[static_cast<std::size_t>(slot)].template run<Channels>(fill, group, tile % columns_,
                                                                      tile / columns_);
      }
    });
  }

  CpuBackend& backend_;
  int columns_;
  int rows_;
  LensLayersJob job_;
  WorkspaceVector<NonlocalWork> work_;
  WorkspaceVector<std::uint8_t> marks_;  ///< of tiles
  WorkspaceVector<NonlocalTile> tiles_;  ///< of each thread
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
