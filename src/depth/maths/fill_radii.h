#pragma once
// Unknown radii from the known ones around them. What stereo does not see is hidden behind something nearer,
// and so belongs to what is farther: of the four sides of a hole the farthest one decides. But measured depth
// also lacks single pixels on the rims of things: what lies in a thing on three sides belongs to it.

#include <cstdint>

#include "core/maths/atomics.h"
#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "depth/maths/circle_of_confusion.h"
#include "pixels/maths/rows.h"
#include "tables/maths/gather.h"

namespace satin {

/// Tables of how many radii are known, and of the known ones raised by `largest`.
struct KnownRadii {
  SignedRadius256 largest = 0;
  TableView<std::uint32_t> counts;
  TableView<std::uint64_t> sums;
};

/// Means that differ by less are one surface: a pixel.
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

/// What one side of a pixel knows.
struct KnownSide {
  bool found = false;
  SignedRadius256 mean = 0;
  std::int64_t reach = 0;
};

/// The mean over the first of the windows of reach 1, 2, 4 ... of which an eighth is known; of the last one,
/// which holds all of that side, any. A window lies `reach` rows or columns far to one side (0 left, 1 right,
/// 2 above, 3 below) and is about half as wide.
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

/// Sides that are found within so many pixels are beside the pixel.
inline constexpr std::int64_t beside_reach = 2;

/// The side that decides: the farthest one, or the second farthest if it and the two others are beside the
/// pixel and nearer than the farthest; -1: nothing is known.
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

/// The mean of the sides that are the same surface as the one that decides, weighted by 1 / reach^2.
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

/// One place a row: how many radii are unknown.
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

/// What is summed, of every pixel.
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

/// One place: tells the state how many are unknown.
struct TellUnknown {
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

}  // namespace satin
