#pragma once
// The offsets at which a group repeats: the deepest local minima of its difference from itself, shifted, at
// sampled points.

#include <cstdint>

#include "lens/maths/nonlocal_work.h"

namespace satin {

/// Begins a group; one place an offset.
struct ClearOffsets {
  NonlocalFill fill;
  int group;

  SATIN_HD void operator()(int x, int /*y*/) const {
    if (!fill.work->needs(group)) return;
    fill.work->sums[x] = {};
    if (x == 0) fill.work->points = fill.work->candidates = fill.work->offsets = 0;
  }
};

/// A point of the group in every cell of a grid, at a place that looks random.
struct ChoosePoints {
  NonlocalFill fill;
  int group;

  SATIN_HD void operator()(int x, int y) const {
    if (!fill.work->needs(group)) return;
    const int longer = fill.planes.width > fill.planes.height ? fill.planes.width : fill.planes.height;
    const int side = (longer + point_cells - 1) / point_cells;
    std::uint32_t bits = static_cast<std::uint32_t>(y * point_cells + x + 1) * 0x9E3779B9U;
    bits ^= bits >> 15;
    bits *= 0x85EBCA6BU;
    const Offset point{x * side + static_cast<int>((bits >> 8) % static_cast<std::uint32_t>(side)),
                       y * side + static_cast<int>((bits >> 20) % static_cast<std::uint32_t>(side))};
    if (static_cast<int>(packed_group(fill.word_at(point.x, point.y))) != group) return;
    fill.work->point[add_shared(&fill.work->points, 1)] = point;
  }
};

/// Sums the differences of all offsets of a row at all points; one place a row.
struct SumDifferences {
  NonlocalFill fill;
  int group;

  /// All offsets of a row at once, in a loop that compilers vectorize.
  SATIN_HD void operator()(int /*x*/, int y) const {
    std::uint32_t sums[offset_columns] = {};
    std::uint32_t counts[offset_columns] = {};
    const NonlocalWork& work = *fill.work;
    const auto own_group = static_cast<std::uint32_t>(group);
    for (std::uint32_t i = 0; i < work.points; ++i) {
      const Offset later = work.point[i + 4 < work.points ? i + 4 : i];
      if (later.y + y < fill.planes.height)  // points are in no order: brings the words of a later one
        for (int x = 0; x <= offset_columns; x += 16)
          __builtin_prefetch(fill.words + fill.planes.place(later.x, later.y + y) + x - offset_reach);
      const Offset point = work.point[i];
      if (point.y + y >= fill.planes.height) continue;
      const std::uint32_t own = fill.words[fill.planes.place(point.x, point.y)];
      const std::uint32_t* there = fill.words + fill.planes.place(point.x, point.y + y) - offset_reach;
      const int left = offset_reach - point.x;
      const int right = left + fill.planes.width < offset_columns ? left + fill.planes.width : offset_columns;
      for (int x = left > 0 ? left : 0; x < right; ++x) {
        const bool known = packed_group(there[x]) == own_group;
        sums[x] += known ? packed_difference(own, there[x]) : 0;
        counts[x] += known ? 1U : 0U;
      }
    }
    for (int x = 0; x < offset_columns; ++x) fill.work->sums[y * offset_columns + x] = {sums[x], counts[x]};
  }

  /// The sum over every `parts`th point from `first` on.
  [[nodiscard]] SATIN_HD OffsetSum sum(int x, int y, std::uint32_t first, std::uint32_t parts) const {
    OffsetSum own{};
    const std::uint32_t points = fill.work->points;
    for (std::uint32_t i = first; i < points; i += parts) {
      const Offset point = fill.work->point[i];
      const std::uint32_t there = fill.word_at(point.x + x - offset_reach, point.y + y);
      if (static_cast<int>(packed_group(there)) != group) continue;
      own.sum += packed_difference(fill.words[fill.planes.place(point.x, point.y)], there);
      ++own.count;
    }
    return own;
  }
};

/// Offsets that are local minima.
struct FindCandidates {
  NonlocalFill fill;
  int group;

  SATIN_HD void operator()(int x, int y) const {
    NonlocalWork& work = *fill.work;
    if (!work.needs(group)) return;
    const Offset offset{x - offset_reach, y};
    if (offset.x * offset.x + y * y < least_offset * least_offset) return;
    const double own = work.difference(x, y);
    if (!(own < HUGE_VAL)) return;
    for (int v = y - 1; v <= y + 1; ++v)
      for (int u = x - 1; u <= x + 1; ++u)
        if (beside(work, u, v) < own) return;
    const std::uint32_t place = add_shared(&work.candidates, 1);
    if (place < most_candidates) work.candidate[place] = {own, y * offset_columns + x};
  }

 private:
  /// The difference at a neighbour. Above the first row lie the opposites of the second row.
  SATIN_HD static double beside(const NonlocalWork& work, int x, int y) {
    const int u = y < 0 ? offset_columns - 1 - x : x;
    if (u < 0 || u >= offset_columns || y >= offset_rows) return HUGE_VAL;
    return work.difference(u, y < 0 ? -y : y);
  }
};

/// The best candidates by their ranks; of equal ones the first place counts.
struct RankCandidates {
  NonlocalFill fill;
  int group;
  int pairs;

  SATIN_HD void operator()(int x, int /*y*/) const {
    if (!fill.work->needs(group)) return;
    begin(x);
    if (x < count()) take(x, better(x, 0, 1));
  }

  [[nodiscard]] SATIN_HD int count() const {
    const std::uint32_t found = fill.work->candidates;
    return static_cast<int>(found < most_candidates ? found : most_candidates);
  }
  SATIN_HD void begin(int x) const {
    if (x == 0) fill.work->offsets = static_cast<std::uint32_t>(count() < pairs ? count() : pairs);
  }
  /// How many of every `parts`th candidate from `first` on come before candidate x; more than `pairs` are not
  /// told.
  [[nodiscard]] SATIN_HD int better(int x, int first, int parts) const {
    const NonlocalWork& work = *fill.work;
    const OffsetCandidate own = work.candidate[x];
    int rank = 0;
    for (int i = first; i < count() && rank < pairs; i += parts) {
      const OffsetCandidate& other = work.candidate[i];
      if (other.difference < own.difference ||
          (other.difference == own.difference && other.place < own.place))
        ++rank;
    }
    return rank;
  }
  SATIN_HD void take(int x, int rank) const {
    if (rank < pairs) fill.work->offset[rank] = offset_at(fill.work->candidate[x].place);
  }
};

}  // namespace satin
