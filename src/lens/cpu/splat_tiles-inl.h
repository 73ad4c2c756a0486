// Tiles of the splat, for the file that Highway compiles once for every SIMD target: as large as the radii of
// a picture let them be.

#if defined(SATIN_SPLAT_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_TILES_INL_H
#undef SATIN_SPLAT_TILES_INL_H
#else
#define SATIN_SPLAT_TILES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/cpu/backend.h"
#include "core/cpu/cache_lines.h"
#include "core/workspace.h"
#include "lens/cpu/splat_visible-inl.h"
#include "lens/lens_kernels.h"
#include "lens/splat.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bytes of the ring of one group that a tile may take, in the last level cache; and its least width, of
/// which the samples beyond either side are spread twice.
constexpr std::int64_t ring_bytes = std::int64_t{4} << 20;
constexpr std::int64_t least_tile_width = 256;
/// The least rows of a tile, and as multiples of the reach: a thread that does not come from the tile above
/// spreads the samples there as well.
constexpr std::int64_t least_tile_height = 64;
constexpr std::int64_t least_tile_reaches = 2;
/// So many tiles a thread let all threads end at about the same time.
constexpr std::int64_t tiles_of_thread = 8;

/// The rows that samples of one row reach, and one more that ends the lowest boxes of blocks.
inline std::int64_t ring_rows(std::int64_t reach) { return 2 * reach + 3; }

/// How many tiles the picture is cut into.
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

struct Area {
  std::int64_t left, right, top, bottom;
};

/// The largest sizes that the windows of a job may take, whatever the radii of a picture are.
struct WindowSizes {
  std::int64_t reach = 0;  ///< the farthest that anything is spread
  std::int64_t width = 0;  ///< of a tile
  std::size_t ring = 0;    ///< values of the rings of all groups, and of the unread row

  static std::size_t row_size(const SplatJob& job, std::int64_t width) {
    return whole_cache_lines<std::uint64_t>(static_cast<std::size_t>((width + 1) * cell_size(job.channels)));
  }
  /// Slots of a ring.
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

inline std::int64_t LampReach(const SplatJob& job, std::uint32_t radius) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(radius) / 256 * job.lamp_reach)) + 1;
}

/// How far the samples of every row of one picture are spread: tiles are chosen by that, as most pictures
/// have smaller radii than the job allows.
class RowReaches {
 public:
  RowReaches(const SplatJob& job, const LensKernels& kernels)
      : job_(job), of_radii_(kernels.largest / 256 + 2), of_rows_(static_cast<std::size_t>(job.height)) {
    const std::size_t radii = std::size_t{kernels.largest} + 1;
    for (std::size_t i = 0; i < kernels.kernels.size(); ++i) {
      std::int32_t& reach = of_radii_[whole_radius(static_cast<std::uint32_t>(i % radii))];
      const LensKernel& kernel = kernels.kernels[i];
      for (int k = 0; k < 2; ++k)
        if (kernel.weight[k] != 0)
          reach = std::max<std::int32_t>(reach, kernels.staircases[kernel.staircase[k]].reach);
    }
    for (std::size_t i = 1; i < of_radii_.size(); ++i)
      of_radii_[i] = std::max(of_radii_[i], of_radii_[i - 1]);
  }

  /// The farthest that anything of the job is spread.
  [[nodiscard]] std::int64_t largest() const {
    const std::int64_t lamps = job_.most_lamps == 0 ? 0 : LampReach(job_, job_.largest_radius);
    return std::max<std::int64_t>(of_radii_.back(), lamps);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return (of_radii_.size() + of_rows_.size()) * 4; }

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
                  LampReach(job_, std::min(images.lamps[i].sample.radius, job_.largest_radius))));
  }

  /// The largest reach of rows `first` to `last` - 1, as far as the picture has them.
  [[nodiscard]] std::int64_t farthest(std::int64_t first, std::int64_t last) const {
    const auto begin = of_rows_.begin() + std::max<std::int64_t>(first, 0);
    return *std::max_element(begin, of_rows_.begin() + std::min(last, job_.height));
  }

 private:
  static std::size_t whole_radius(std::uint32_t radius) { return (std::size_t{radius} + 255) / 256; }
  [[nodiscard]] std::int32_t of_radius(std::uint32_t radius) const {
    return of_radii_[std::min(whole_radius(radius), of_radii_.size() - 1)];
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
  WorkspaceVector<std::int32_t> of_radii_;  ///< by whole pixels, rounded up, of that radius or a smaller one
  WorkspaceVector<std::int32_t> of_rows_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
