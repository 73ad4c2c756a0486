#pragma once
// Silhouettes of depth that follow the mask of a subject.
//
// Near the mask's edge a pixel belongs to the side of the mask that it is on. Depth estimators miss the edge
// by some pixels, or cross it by a ramp. A pixel whose radius is off that of its own side, towards that of
// the other side, gets the mean radius of its own side. Both are means over pixels that are clear of the
// edge.

#include <algorithm>
#include <cstdint>

#include "core/maths/hd.h"
#include "depth/maths/signed_radius.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Radii are off their own side from this part of the difference between the sides on.
inline constexpr int subject_tolerance = 4;

struct FollowSubject {
  MaskRows mask;
  std::int64_t width;
  std::int64_t height;
  int band;  ///< pixels on each side of the mask's edge in which radii may change
  Rows<const SignedRadius256> radii;
  Rows<SignedRadius256> result;

  SATIN_HD void operator()(int x, int y) const {
    const SignedRadius256 own = radii.row(y)[x];
    const bool inside = is_inside(x, y);
    result.row(y)[x] = has_around(x, y, band / 2, !inside) || has_around(x, y, band, !inside)
                           ? radius_near_edge(x, y, own, inside)
                           : own;
  }

 private:
  [[nodiscard]] SATIN_HD bool is_inside(std::int64_t x, std::int64_t y) const {
    return 2 * mask.weight(x, y) > mask.maximum;
  }
  /// Whether one of the pixels in eight directions at this distance is on that side of the mask.
  [[nodiscard]] SATIN_HD bool has_around(std::int64_t x, std::int64_t y, int away, bool inside) const {
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const std::int64_t u = x + i * away;
        const std::int64_t v = y + j * away;
        if (u >= 0 && v >= 0 && u < width && v < height && is_inside(u, v) == inside) return true;
      }
    return false;
  }
  [[nodiscard]] SATIN_HD SignedRadius256 radius_near_edge(std::int64_t x, std::int64_t y, SignedRadius256 own,
                                                          bool inside) const {
    std::int64_t sums[2] = {};
    std::int64_t weights[2] = {};
    const int reach = 2 * band;
    const int stride = (band + 3) / 4;
    for (int j = -reach; j <= reach; j += stride)
      for (int i = -reach; i <= reach; i += stride) {
        const std::int64_t u = x + i;
        const std::int64_t v = y + j;
        if (u < 0 || v < 0 || u >= width || v >= height) continue;
        const bool there = is_inside(u, v);
        if (has_around(u, v, band, !there)) continue;
        const std::int64_t weight = 2 * reach * reach + 1 - i * i - j * j;  // falls to 1 at the corners
        sums[there == inside ? 0 : 1] += weight * radii.row(v)[u];
        weights[there == inside ? 0 : 1] += weight;
      }
    if (weights[0] == 0 || weights[1] == 0) return own;
    const std::int64_t same = sums[0] / weights[0];
    const std::int64_t apart = sums[1] / weights[1] - same;
    const std::int64_t off = apart < 0 ? same - own : own - same;
    const std::int64_t size = apart < 0 ? -apart : apart;
    return size > silhouette_step && subject_tolerance * off > size ? static_cast<SignedRadius256>(same)
                                                                    : own;
  }
};

/// Moves silhouettes of the radii to the edge of the subject's mask.
struct FollowSubjectJob {
  using Operation = PixelwiseOperation<FollowSubjectJob>;
  static constexpr const char* doing = "following the subject's mask";

  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535

  struct Images {
    ImageView mask;
    ImageView radii;  ///< i32, of the picture's size
    MutableImageView result;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const auto band =
        static_cast<int>(std::clamp(std::max(width, height) / 160, std::int64_t{4}, std::int64_t{32}));
    launch(width, height,
           FollowSubject{MaskRows(images.mask, mask_maximum), width, height, band,
                         Rows<const SignedRadius256>(images.radii), Rows<SignedRadius256>(images.result)});
  }
};

}  // namespace satin
