#pragma once
// Fills unknown radii from the known ones around them.
//
// A point that stereo does not see is hidden behind a nearer thing, and so belongs to the farther surface: of
// the four sides of a hole the farthest one decides. But measured depth also lacks single pixels on the
// rims of things: a pixel between three sides of a nearer thing belongs to that thing.
//
// The mean of a side is that of the smallest window towards it that knows enough. Two summed-area tables, of
// the known radii and of their number, make every window cost the same.

#include <cstdint>

#include "core/maths/atomics.h"
#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "depth/circle_of_confusion.h"
#include "depth/maths/signed_radius.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"
#include "tables/maths/gather.h"

namespace satin {

/// Tables of the number of known radii and of the known radii, raised by `largest` so that they are not
/// negative.
struct KnownRadii {
  SignedRadius256 largest = 0;
  TableView<std::uint32_t> counts;
  TableView<std::uint64_t> sums;
};

/// Means that differ by less than this are one surface: 1 pixel.
inline constexpr SignedRadius256 same_surface = 256;

template <class Sum>
SATIN_HD Sum sum_over(const TableView<Sum>& table, Window x, Window y) {
  Sum sum = 0;
  whole_box_sums<1>(table, x, y, Border::shrink, &sum);
  return sum;
}

SATIN_HD std::uint64_t known_count(const KnownRadii& known) {
  return sum_over(known.counts, {0, known.counts.width - 1}, {0, known.counts.height - 1});
}

/// The known radii on one side of a pixel.
struct KnownSide {
  bool found = false;
  SignedRadius256 mean = 0;
  std::int64_t reach = 0;
};

/// Returns the mean over the first window of reach 1, 2, 4, ... of which an eighth is known; any known value
/// is enough in the last one, which holds all of that side. A window holds the `reach` columns or rows next
/// to the pixel on one side (0 left, 1 right, 2 above, 3 below) and is about half as wide.
SATIN_HD KnownSide known_side(int side, std::int64_t x, std::int64_t y, const KnownRadii& known) {
  const std::int64_t width = known.counts.width;
  const std::int64_t height = known.counts.height;
  const std::int64_t longer = width > height ? width : height;
  for (std::int64_t reach = 1;; reach *= 2) {
    const bool last = reach >= 2 * longer;
    const std::int64_t centre = side < 2 ? x : y;
    const Window along =
        side % 2 == 0 ? Window{centre - reach, centre - 1} : Window{centre + 1, centre + reach};
    const Window columns = side < 2 ? along : window_around(x, reach / 4);
    const Window rows = side < 2 ? window_around(y, reach / 4) : along;
    const std::int64_t area = existing(columns, width) * existing(rows, height);
    if (area == 0) return {};
    const std::uint64_t count = sum_over(known.counts, columns, rows);
    if (count > 0 && (last || 8 * count >= static_cast<std::uint64_t>(area))) {
      const std::uint64_t sum = sum_over(known.sums, columns, rows);
      return {true, static_cast<SignedRadius256>((2 * sum + count) / (2 * count)) - known.largest, reach};
    }
    if (last) return {};
  }
}

/// Sides found within this reach are next to the pixel.
inline constexpr std::int64_t beside_reach = 2;

/// Returns the side that decides: the farthest one, or the second farthest if it and the two others are next
/// to the pixel and nearer than the farthest; -1 if nothing is known.
SATIN_HD int deciding_side(const KnownSide* sides) {
  int farthest = -1;
  for (int i = 0; i < 4; ++i)
    if (sides[i].found && (farthest < 0 || sides[i].mean < sides[farthest].mean)) farthest = i;
  if (farthest < 0) return -1;
  int second = -1;
  for (int i = 0; i < 4; ++i) {
    if (i == farthest) continue;
    const KnownSide& side = sides[i];
    if (!side.found || side.reach > beside_reach || side.mean - sides[farthest].mean < same_surface)
      return farthest;
    if (second < 0 || side.mean < sides[second].mean) second = i;
  }
  return second;
}

/// Returns the mean of the sides on the same surface as the deciding one, weighted by 1 / reach^2.
SATIN_HD SignedRadius256 filled_radius(std::int64_t x, std::int64_t y, const KnownRadii& known) {
  constexpr std::int64_t nearest_weight = std::int64_t{1} << 32;
  constexpr std::int64_t farthest_reach = std::int64_t{1} << 16;
  KnownSide sides[4];
  for (int side = 0; side < 4; ++side) sides[side] = known_side(side, x, y, known);
  const int deciding = deciding_side(sides);
  if (deciding < 0) return 0;
  const SignedRadius256 surface = sides[deciding].mean;
  std::int64_t total = 0;
  std::int64_t weights = 0;
  for (const KnownSide& side : sides) {
    if (!side.found || side.mean < surface || side.mean - surface >= same_surface) continue;
    const std::int64_t reach = side.reach < farthest_reach ? side.reach : farthest_reach;
    const std::int64_t weight = nearest_weight / (reach * reach);
    total += weight * (side.mean - surface);
    weights += weight;
  }
  return surface + static_cast<SignedRadius256>((2 * total + weights) / (2 * weights));
}

/// Counts the unknown radii; one thread for each row.
struct CountUnknown {
  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::uint32_t* unknown;

  SATIN_HD void operator()(int /*x*/, int y) const {
    std::uint32_t count = 0;
    for (std::int64_t x = 0; x < width; ++x) count += radii.row(y)[x] == unknown_radius ? 1U : 0U;
    add_shared(unknown, count);
  }
};

/// Stores the planes that the tables sum.
struct SplitRadii {
  SignedRadius256 largest;
  Rows<const SignedRadius256> radii;
  Rows<std::uint8_t> known;
  Rows<std::uint32_t> raised;

  SATIN_HD void operator()(int x, int y) const {
    const SignedRadius256 radius = radii.row(y)[x];
    const bool is_known = radius != unknown_radius;
    known.row(y)[x] = is_known ? 1 : 0;
    raised.row(y)[x] = is_known ? static_cast<std::uint32_t>(radius + largest) : 0;
  }
};

/// Reports the number of unknown radii; one thread.
struct ReportUnknown {
  KnownRadii known;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    const std::uint64_t count = known_count(known);
    state->unknown += static_cast<std::uint64_t>(known.counts.width * known.counts.height) - count;
    if (count == 0) state->problems |= nothing_known;
  }
};

struct FillUnknown {
  KnownRadii known;
  Rows<SignedRadius256> radii;

  SATIN_HD void operator()(int x, int y) const {
    SignedRadius256& radius = radii.row(y)[x];
    if (radius == unknown_radius) radius = filled_radius(x, y, known);
  }
};

/// Counts the unknown radii at once, on backends whose memory the host reads. The others do not offer this
/// operation.
struct CountUnknownJob {
  using Operation = PixelwiseOperation<CountUnknownJob>;

  std::int64_t width = 0;
  std::int64_t height = 0;

  struct Images {
    ImageView radii;
    std::uint32_t* unknown = nullptr;  ///< the count is added here
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(std::int64_t{1}, height,
           CountUnknown{Rows<const SignedRadius256>(images.radii), width, images.unknown});
  }
};

/// The planes of the tables: 1 and radius + largest where the radius is known, 0 and 0 elsewhere.
struct SplitRadiiJob {
  using Operation = PixelwiseOperation<SplitRadiiJob>;
  static constexpr const char* doing = "looking for unknown depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  SignedRadius256 largest = 0;  ///< magnitude of the known radii

  struct Images {
    ImageView radii;
    MutableImageView known;   ///< u8
    MutableImageView raised;  ///< u32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(width, height,
           SplitRadii{largest, Rows<const SignedRadius256>(images.radii), Rows<std::uint8_t>(images.known),
                      Rows<std::uint32_t>(images.raised)});
  }
};

/// Reports the number of unknown radii and fills them by filled_radius(). If all are unknown, all become 0.
struct FillUnknownJob {
  using Operation = PixelwiseOperation<FillUnknownJob>;
  static constexpr const char* doing = "filling unknown depth";

  std::int64_t width = 0;
  std::int64_t height = 0;

  struct Images {
    KnownRadii known;
    LensState* state = nullptr;
    MutableImageView radii;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(std::int64_t{1}, std::int64_t{1}, ReportUnknown{images.known, images.state});
    launch(width, height, FillUnknown{images.known, Rows<SignedRadius256>(images.radii)});
  }
};

}  // namespace satin
