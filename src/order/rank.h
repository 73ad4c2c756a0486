#pragma once
// The value of a given rank in a rectangular window around every pixel: medians and percentiles.

#include <array>
#include <cstdint>

#include "core/backend.h"
#include "core/operation.h"
#include "order/maths/rank.h"
#include "satin/border.h"

namespace satin {

/// Radii of windows in whole pixels: one along each axis for all windows, or one per pixel from a map of one
/// channel (u8, u16 or f32): `low` at 0, `high` at the type's maximum (1 for floats), rounded by
/// reach_from_map().
struct ReachField {
  bool from_map = false;
  std::int32_t x = 0;
  std::int32_t y = 0;
  Type map_type = Type::u8;
  Radius256 low = 0;
  Radius256 high = 0;
};

struct RankOperation;

struct RankJob {
  using Operation = RankOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;   ///< u8, u16 or f32
  bool weighted = false;  ///< the last channel is straight alpha
  Percent percent = percent_whole / 2;
  ReachField reach;  ///< at most largest_rank_reach
  Border border = Border::shrink;
  std::array<std::int32_t, 4> border_keys{};  ///< keys of a pixel outside the picture, for Border::constant
  std::uint32_t mask_maximum = 0;             ///< 255 or 65535; 0: no mask
  bool excludes = false;                      ///< whether pixels whose mask is 0 do not count in windows
  double threshold = 0;                       ///< RankStore::threshold; a whole number for integers
};

/// Views of one run, empty if the job does not use them. `output` does not alias the others.
struct RankImages {
  ImageView source;
  ImageView radius_map;
  ImageView mask;
  MutableImageView output;
};

/// Finds the value of rank rank_of(percent, count) among the `count` pixels of each window that count,
/// channel by channel, and stores it by store_rank(). Pixels whose mask is 0 keep their bytes.
///
/// source_of() of core/maths/window.h maps the positions of a window to pixels, along each axis. Where it
/// finds none, Border::shrink has no pixel, and Border::constant has `border_keys`, which count unless their
/// alpha hides the colour. counts() of order/maths/rank.h decides which pixels count. If none does, the
/// result is the pixel's own value. This happens to colours alone, where the result is fully transparent.
struct RankOperation : Operation {
  virtual void run(const RankImages& images, Stream stream) = 0;
};

struct LargestReach {
  std::int64_t x = 0;
  std::int64_t y = 0;
};
[[nodiscard]] inline LargestReach largest_reach(const ReachField& field) {
  if (!field.from_map) return {field.x, field.y};
  const std::int64_t largest =
      (static_cast<std::int64_t>(field.low > field.high ? field.low : field.high) + radius_one / 2) /
      radius_one;
  return {largest, largest};
}

[[nodiscard]] inline RankStore rank_store(const RankJob& job) {
  return {{job.channels, job.weighted, job.mask_maximum}, job.threshold};
}

}  // namespace satin
