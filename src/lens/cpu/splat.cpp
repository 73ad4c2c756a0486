// The splat on the CPU, compiled for every SIMD target.
//
// The picture is cut into tall tiles. A window slides down a tile: for each output row, the samples of one
// more row are spread into rings of delta rows, one ring per group (splat_spread-inl.h); the output row,
// which no later sample reaches, is then integrated, composited and stored (splat_composite-inl.h). Sums
// never leave the cache. Tiles are as wide as the ring of the picture's largest reach allows.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/splat.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/cache.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "lens/cpu/splat_composite-inl.h"
#include "lens/cpu/splat_spread-inl.h"
#include "lens/splat.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Largest size of the ring of one group, for the last-level cache, and least width of a tile: samples beyond
/// its left and right border are spread twice.
constexpr std::int64_t ring_bytes = std::int64_t{4} << 20;
constexpr std::int64_t least_tile_width = 256;
/// Least height of a tile, in pixels and in reaches. A thread that does not continue the tile above spreads
/// the samples above its tile again.
constexpr std::int64_t least_tile_height = 64;
constexpr std::int64_t least_tile_reaches = 2;
/// Tiles per thread, so that all threads end at about the same time.
constexpr std::int64_t tiles_of_thread = 8;

/// Rows that the samples of one row reach, and one more below blocks.
inline std::int64_t ring_rows(std::int64_t reach) { return 2 * reach + 3; }

struct Tiling {
  std::int64_t columns = 1;
  std::int64_t rows = 1;
};

inline Tiling TilingOf(const SplatJob& job, std::int64_t reach, int threads) {
  const std::int64_t column_bytes = ring_rows(reach) * cell_size(job.channels) * 8;
  const std::int64_t least_height = std::max(least_tile_height, least_tile_reaches * reach);
  const std::int64_t rows = std::max<std::int64_t>(1, job.height / least_height);
  const std::int64_t wanted = (tiles_of_thread * threads + rows - 1) / rows;
  const std::int64_t width =
      std::max(std::min(ring_bytes / column_bytes, job.width / wanted), least_tile_width);
  return {(job.width + width - 1) / width, rows};
}

struct Tile {
  std::int64_t left, right, top, bottom;
};

/// Largest sizes of a job's windows, over all reaches that a picture may have.
struct WindowSizes {
  std::int64_t reach = 0;  ///< largest reach
  std::int64_t width = 0;  ///< width of a tile
  std::size_t ring = 0;    ///< values of all rings and of the unread row

  static std::size_t row_size(const SplatJob& job, std::int64_t width) {
    return whole_cache_lines<std::uint64_t>(static_cast<std::size_t>((width + 1) * cell_size(job.channels)));
  }
  /// Number of rows in a ring.
  static std::int64_t slots(const SplatJob& job, std::int64_t reach) {
    return std::min(ring_rows(reach), job.height);
  }

  WindowSizes(const SplatJob& job, std::int64_t farthest, int threads) : reach(farthest) {
    for (std::int64_t nearer = 0; nearer <= farthest; ++nearer) {
      const Tiling tiling = TilingOf(job, nearer, threads);
      const std::int64_t tile_width = (job.width + tiling.columns - 1) / tiling.columns;
      const auto rows = static_cast<std::size_t>(slots(job, nearer) * job.groups + 1);
      width = std::max(width, tile_width);
      ring = std::max(ring, row_size(job, tile_width) * rows);
    }
  }
};

/// Reach of the samples in each row of a picture. Tiles are chosen by it, as most pictures have smaller radii
/// than the job allows.
class RowReaches {
 public:
  RowReaches(const SplatJob& job, const LensKernels& kernels)
      : job_(job), of_radii_(reaches_of(kernels)), of_rows_(static_cast<std::size_t>(job.height)) {}

  void set(const LensKernels& kernels) { of_radii_ = reaches_of(kernels); }

  [[nodiscard]] std::int64_t largest() const {
    const bool opens = job_.most_lamps > 0 || job_.opening;
    return std::max<std::int64_t>(of_radii_.back(), opens ? opening_reach(job_, job_.largest_radius) : 0);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return of_radii_.size() * 2 + of_rows_.size() * 4; }

  void find(CpuBackend& backend, const SplatImages& images) {
    parallel_rows(backend, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y)
        of_rows_[static_cast<std::size_t>(y)] =
            of_radius(LargestOf(images.radii.row<std::uint32_t>(y), job_.width));
    });
    if (job_.most_listed > 0)
      for (std::uint32_t i = 0; i < std::min(*images.count, job_.most_listed); ++i)
        raise(images.listed[i], of_radius(images.listed[i].radius));
    if (job_.most_lamps > 0)
      for (std::uint32_t i = 0; i < std::min(*images.lamp_count, job_.most_lamps); ++i)
        raise(images.lamps[i].sample,
              static_cast<std::int32_t>(
                  opening_reach(job_, std::min(images.lamps[i].sample.radius, job_.largest_radius))));
  }

  /// Largest reach of rows `first` to `last` - 1 within the picture.
  [[nodiscard]] std::int64_t farthest(std::int64_t first, std::int64_t last) const {
    const auto begin = of_rows_.begin() + std::max<std::int64_t>(first, 0);
    return *std::max_element(begin, of_rows_.begin() + std::min(last, job_.height));
  }

 private:
  [[nodiscard]] std::int32_t of_radius(std::uint32_t radius) const {
    return of_radii_[std::min<std::size_t>(radius / 256, of_radii_.size() - 1)];
  }
  void raise(const LensSample& sample, std::int32_t reach) {
    if (sample.y < 0 || sample.y >= job_.height) return;
    std::int32_t& own = of_rows_[static_cast<std::size_t>(sample.y)];
    own = std::max(own, reach);
  }
  static std::uint32_t LargestOf(const std::uint32_t* radii, std::int64_t count) {
    const hn::ScalableTag<std::uint32_t> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    auto most = hn::Zero(d);
    std::int64_t x = 0;
    for (; x + lanes <= count; x += lanes) most = hn::Max(most, hn::LoadU(d, radii + x));
    std::uint32_t largest = hn::GetLane(hn::MaxOfLanes(d, most));
    for (; x < count; ++x) largest = std::max(largest, radii[x]);
    return largest;
  }

  const SplatJob& job_;
  WorkspaceVector<std::uint16_t> of_radii_;
  WorkspaceVector<std::int32_t> of_rows_;
};

/// Indices of listed samples or lamps by row, in the order of the list.
class ListedRows {
 public:
  ListedRows(const SplatJob& job, std::uint32_t most)
      : job_(job), ends_(most == 0 ? 0 : static_cast<std::size_t>(job.height) + 1), places_(most) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return (ends_.size() + places_.size()) * 4; }

  /// Counting sort by rows; sample(i) returns entry i.
  template <class Sample>
  void sort(std::uint32_t count, const Sample& sample) {
    if (ends_.empty()) return;
    std::fill(ends_.begin(), ends_.end(), 0U);
    const auto row = [&](std::uint32_t i) { return static_cast<std::size_t>(sample(i).y); };
    for (std::uint32_t i = 0; i < count; ++i)
      if (inside(sample(i))) ++ends_[row(i) + 1];
    for (std::size_t y = 1; y < ends_.size(); ++y) ends_[y] += ends_[y - 1];
    for (std::uint32_t i = 0; i < count; ++i)
      if (inside(sample(i))) places_[ends_[row(i)]++] = i;
  }

  [[nodiscard]] std::span<const std::uint32_t> row(std::int64_t y) const {
    if (ends_.empty()) return {};
    const std::uint32_t begin = y == 0 ? 0 : ends_[static_cast<std::size_t>(y) - 1];
    return std::span(places_).subspan(begin, ends_[static_cast<std::size_t>(y)] - begin);
  }

 private:
  [[nodiscard]] bool inside(const LensSample& sample) const {
    return sample.x >= 0 && sample.x < job_.width && sample.y >= 0 && sample.y < job_.height;
  }

  const SplatJob& job_;
  WorkspaceVector<std::uint32_t> ends_;
  WorkspaceVector<std::uint32_t> places_;
};

inline VisibleRow VisibleRowOf(const SplatImages& images, std::int64_t y) {
  return {images.colours.shape.width,
          images.colours.row<std::uint32_t>(y),
          images.radii.row<std::uint32_t>(y),
          images.groups.row<std::uint8_t>(y),
          images.weights.row<std::uint16_t>(y),
          images.exposed.data == nullptr ? nullptr : images.exposed.row<std::uint8_t>(y)};
}

struct ListsByRows {
  ListedRows samples;
  ListedRows lamps;

  void sort(const SplatJob& job, const SplatImages& images) {
    if (job.most_listed > 0)
      samples.sort(std::min(*images.count, job.most_listed),
                   [&](std::uint32_t i) -> const LensSample& { return images.listed[i]; });
    if (job.most_lamps > 0)
      lamps.sort(std::min(*images.lamp_count, job.most_lamps),
                 [&](std::uint32_t i) -> const LensSample& { return images.lamps[i].sample; });
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return samples.bytes() + lamps.bytes(); }
};

template <int Channels>
class SlidingWindow {
 public:
  SlidingWindow(const SplatJob& job, const SplatRule& rule, const WindowSizes& sizes, std::size_t row_size)
      : job_(job),
        rule_(rule),
        deltas_(sizes.ring),
        columns_(row_size * static_cast<std::size_t>(job.groups)),
        slot_of_(static_cast<std::size_t>(ring_rows(sizes.reach))),
        free_slots_(slot_of_.size()),
        rows_(static_cast<std::size_t>(ring_rows(sizes.reach) * job.groups)),
        spread_until_(static_cast<std::size_t>(job.groups)),
        focused_(static_cast<std::size_t>(ring_rows(sizes.reach))),
        sums_(row_size),
        state_(row_size),
        colours_(job.stores_codes ? row_size : 0),
        transfer_(host_transfer(Type::u8, true)) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (deltas_.size() + columns_.size() + rows_.size() + sums_.size() + state_.size()) * 8 +
           colours_.size() * 4;
  }

  /// Begins a run in which nothing reaches farther than `farthest`.
  void begin(std::int64_t farthest) {
    slots_ = WindowSizes::slots(job_, farthest);
    next_ = {};
  }

  /// Processes a tile, and continues from the tile above if that was the last one. Nothing that is spread
  /// into the tile reaches farther than `reach`.
  void run(const SplatImages& images, const ListsByRows& lists, const Tile& tile, std::int64_t reach) {
    reach_ = reach;
    if (tile.left != next_.left || tile.right != next_.right || tile.top != next_.top) restart(tile);
    for (std::int64_t y = tile.top; y < tile.bottom; ++y) {
      for (; source_ <= std::min(y + reach_, job_.height - 1); ++source_) spread_row(images, lists, tile, y);
      finish_row(images, tile, y);
    }
    next_ = {tile.left, tile.right, tile.bottom, tile.bottom};
  }

 private:
  void restart(const Tile& tile) {
    row_size_ = WindowSizes::row_size(job_, tile.right - tile.left);
    std::fill_n(deltas_.begin(), row_size_ * static_cast<std::size_t>(slots_ * job_.groups), 0);
    std::fill(columns_.begin(), columns_.end(), 0);
    std::fill(spread_until_.begin(), spread_until_.end(), 0);
    source_ = std::max<std::int64_t>(0, tile.top - reach_ - 1);
    entered_ = tile.top;
    free_ = 0;
    for (std::int64_t slot = 0; slot < slots_; ++slot) give_back(slot);
  }

  [[nodiscard]] std::int64_t& slot_of(std::int64_t y) {
    return slot_of_[static_cast<std::size_t>(y % slots_)];
  }
  void give_back(std::int64_t slot) { free_slots_[static_cast<std::size_t>(free_++)] = slot; }
  /// Gives slots to the rows before `last`. Slots that were freed last are reused first, as they are in the
  /// cache.
  void enter_rows(std::int64_t last) {
    for (; entered_ < std::min(last, job_.height); ++entered_)
      slot_of(entered_) = free_slots_[static_cast<std::size_t>(--free_)];
  }

  [[nodiscard]] std::uint64_t* ring_slot(std::int64_t group, std::int64_t slot) {
    return deltas_.data() + row_size_ * static_cast<std::size_t>(group * slots_ + slot);
  }
  [[nodiscard]] std::uint64_t* unread_row() { return ring_slot(job_.groups, 0); }

  /// Finds the rows that samples of row y reach. Rows above `top` are finished; deltas above count in row
  /// `top`.
  void find_rows(std::int64_t y, std::int64_t top) {
    const std::int64_t reached = ring_rows(reach_);
    enter_rows(std::max(y - reach_ + reached, top + 1));
    std::int64_t row = std::max(y - reach_, top);
    for (std::int64_t i = 0; i < reached; ++i) {
      if (y - reach_ + i > row) ++row;
      for (std::int64_t group = 0; group < job_.groups; ++group)
        rows_[static_cast<std::size_t>(group * reached + i)] =
            row < entered_ ? ring_slot(group, slot_of(row)) : unread_row();
    }
  }

  void spread_row(const SplatImages& images, const ListsByRows& lists, const Tile& tile, std::int64_t top) {
    const std::int64_t y = source_;
    find_rows(y, top);
    const DeltaRows rows{tile.left,         tile.right, rows_.data(), reach_,
                         ring_rows(reach_), y,          job_.width,   job_.height};
    const std::int64_t begin = std::max<std::int64_t>(0, tile.left - reach_ - 1);
    GroupsOfRow found = SpreadVisible<Channels>(rule_, VisibleRowOf(images, y), begin,
                                                std::min(job_.width, tile.right + reach_), rows);
    focused_[static_cast<std::size_t>(y % slots_)] = found.focused;
    const std::span<const std::uint32_t> places = lists.samples.row(y);
    if (!places.empty())
      found.spread |= SpreadListed<Channels>(rule_, images.listed, places.data(), places.size(), rows).spread;
    for (const std::uint32_t place : lists.lamps.row(y))
      found.spread |= SpreadLamp<Channels>(rule_, images.aperture, images.lamps[place], rows);
    for (std::size_t group = 0; group < spread_until_.size(); ++group)
      if ((found.spread >> group & 1U) != 0)
        spread_until_[group] = std::max(spread_until_[group], y + reach_ + 3);
  }

  void finish_row(const SplatImages& images, const Tile& tile, std::int64_t y) {
    const auto pixels = static_cast<std::size_t>(tile.right - tile.left);
    const VisibleRow row = VisibleRowOf(images, y);
    bool first = true;
    for (std::int64_t i = 0; i < job_.groups; ++i) {
      GroupRow group;
      group.group = static_cast<std::uint32_t>(i);
      group.spread = y < spread_until_[static_cast<std::size_t>(i)];
      group.focused = (focused_[static_cast<std::size_t>(y % slots_)] >> i & 1U) != 0;
      group.deltas = ring_slot(i, slot_of(y));
      group.columns = columns_.data() + row_size_ * static_cast<std::size_t>(i);
      if (!group.spread && !group.focused) continue;
      group.first = std::exchange(first, false);
      CompositeGroup<Channels>(rule_, group, row, tile.left, tile.right, sums_.data(), state_.data());
    }
    give_back(slot_of(y));
    if (first) ClearState(state_.data(), tile.right - tile.left, cell_size(Channels));
    const std::int64_t at = tile.left * Channels;
    const std::uint32_t* source = images.source.row<std::uint32_t>(y) + at;
    if (!job_.stores_codes)
      return StoreComposite<Channels>(rule_, state_.data(), source, pixels,
                                      images.output.row<std::uint32_t>(y) + at);
    StoreComposite<Channels>(rule_, state_.data(), source, pixels, colours_.data());
    EncodeWorking(colours_.data(), pixels * Channels, transfer_, images.output.row<std::uint8_t>(y) + at);
  }

  const SplatJob& job_;
  const SplatRule& rule_;
  std::int64_t reach_ = 0;
  std::int64_t slots_ = 0;  ///< rows in a ring
  std::size_t row_size_ = 0;
  Tile next_{};                             ///< where the last tile ended, without rows
  std::int64_t entered_ = 0;                ///< first row without a slot
  std::int64_t free_ = 0;                   ///< number of free slots
  std::int64_t source_ = 0;                 ///< next row of samples
  WorkspaceVector<std::uint64_t> deltas_;   ///< rings of all groups, and the unread row
  WorkspaceVector<std::uint64_t> columns_;  ///< sums of the deltas so far in each column
  WorkspaceVector<std::int64_t> slot_of_;   ///< slot of a row
  WorkspaceVector<std::int64_t> free_slots_;
  WorkspaceVector<std::uint64_t*> rows_;
  WorkspaceVector<std::int64_t> spread_until_;  ///< first row without deltas of a group
  WorkspaceVector<std::uint32_t> focused_;      ///< groups in focus of each row in the ring
  WorkspaceVector<std::uint64_t> sums_;
  WorkspaceVector<double> state_;
  WorkspaceVector<std::uint32_t> colours_;  ///< a row's colours, if codes are stored
  TransferView transfer_;
};

template <int Channels>
class Splat final : public SplatOperation {
 public:
  Splat(CpuBackend& backend, const SplatJob& job)
      : backend_(backend),
        job_(job),
        kernels_(lens_kernels(job)),
        ranges_(kernels_),
        rule_{.kernels = kernels_.view(),
              .ranges = &ranges_,
              .colour_bits = job.colour_bits,
              .last_group = static_cast<std::uint32_t>(job.groups - 1)},
        reaches_(job_, kernels_),
        lists_{{job_, job.most_listed}, {job_, job.most_lamps}} {
    const WindowSizes sizes(job_, reaches_.largest(), backend.threads.count());
    for (int thread = 0; thread < backend.threads.count(); ++thread)
      windows_.push_back(std::make_unique<SlidingWindow<Channels>>(job_, rule_, sizes,
                                                                   WindowSizes::row_size(job_, sizes.width)));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return windows_.front()->bytes() * windows_.size() + lists_.bytes() + reaches_.bytes() + ranges_.bytes() +
           kernels_.kernels.size() * sizeof(LensKernel) + kernels_.staircases.size() * sizeof(Staircase) +
           kernels_.outlines.size() * sizeof(KernelBox);
  }

  void run(const SplatImages& images, Stream) override {
    lists_.sort(job_, images);
    reaches_.find(backend_, images);
    const std::int64_t reach = reaches_.farthest(0, job_.height);
    const Tiling tiling = TilingOf(job_, reach, backend_.threads.count());
    for (const auto& window : windows_) window->begin(reach);
    backend_.threads.for_rows(
        tiling.columns * tiling.rows, 1, [&](std::int64_t first, std::int64_t last, int thread) {
          SlidingWindow<Channels>& window = *windows_[static_cast<std::size_t>(thread)];
          for (std::int64_t i = first; i < last; ++i) {
            const Tile own = tile_at(tiling, i);
            window.run(images, lists_, own, reaches_.farthest(own.top - reach - 1, own.bottom + reach + 1));
          }
        });
  }

  void set_opening(const Opening& opening, Stream) override {
    if (opening == job_.opening) return;
    job_.opening = opening;
    kernels_ = lens_kernels(job_);
    ranges_ = KernelRanges(kernels_);
    rule_.kernels = kernels_.view();
    reaches_.set(kernels_);
  }

 private:
  /// Tiles with successive numbers lie below each other.
  [[nodiscard]] Tile tile_at(const Tiling& tiling, std::int64_t i) const {
    const std::int64_t column = i / tiling.rows;
    const std::int64_t row = i % tiling.rows;
    return {job_.width * column / tiling.columns, job_.width * (column + 1) / tiling.columns,
            job_.height * row / tiling.rows, job_.height * (row + 1) / tiling.rows};
  }

  CpuBackend& backend_;
  SplatJob job_;
  LensKernels kernels_;
  KernelRanges ranges_;
  SplatRule rule_;
  RowReaches reaches_;
  ListsByRows lists_;
  std::vector<std::unique_ptr<SlidingWindow<Channels>>> windows_;  ///< one per thread
};

inline std::unique_ptr<SplatOperation> PrepareSplat(Backend& backend, const SplatJob& job) {
  return with_channels(job.channels, [&]<int Channels>() -> std::unique_ptr<SplatOperation> {
    return std::make_unique<Splat<Channels>>(as_cpu(backend), job);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareSplat);

std::unique_ptr<SplatOperation> prepare_splat(Backend& backend, const SplatJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSplat)(backend, job);
}

}  // namespace satin::cpu
#endif
