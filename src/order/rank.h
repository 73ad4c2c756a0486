#pragma once
// The value of a given rank in a rectangular window around every pixel: medians and percentiles.

#include <array>
#include <cstdint>

#include "core/operation.h"
#include "order/maths/rank.h"
#include "satin/border.h"

namespace satin {

/// Whole radii along each axis, or a map of one channel (u8, u16, f32) from which both come: `low` at 0,
/// `high` at the type's maximum (1 for floats), rounded by reach_from_map().
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
  std::array<std::int32_t, 4> border_keys{};  ///< of Border::constant: the keys of one pixel outside
  std::uint32_t mask_maximum = 0;             ///< 255 or 65535; 0: no mask
  bool excludes = false;  ///< pixels whose mask is 0 do not count in the windows of others
  double threshold = 0;   ///< as RankStore::threshold; integers: a whole number
};

/// Views of one run; those that the job does not use are empty. `output` aliases no other one.
struct RankImages {
  ImageView source;
  ImageView radius_map;
  ImageView mask;
  MutableImageView output;
};

/// For every pixel whose mask is 0: output = source. For the others, channel by channel: the pixels at the
/// positions of the window are those that source_of() of core/maths/window.h names along each axis, each as
/// often as it is named; where it names none along an axis, shrink has no pixel and constant has
/// `border_keys`, which counts unless its alpha hides the colour. Of those that counts() of
/// order/maths/rank.h lets count, `count` in all, the one of rank rank_of(percent, count) is taken;
/// store_rank() stores it. If none counts, the pixel's own value is taken: that happens to colours alone,
/// where the result is fully transparent.
struct RankOperation : Operation {
  virtual void run(const RankImages& images, Stream stream) = 0;
};

/// The largest radius along each axis.
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

/// Throws Error(environment) on a device that has none.
[[nodiscard]] Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job);

[[nodiscard]] inline RankStore rank_store(const RankJob& job) {
  return {{job.channels, job.weighted, job.mask_maximum}, job.threshold};
}

}  // namespace satin
