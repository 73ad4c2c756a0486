#pragma once
// Grouping: splits the scene into at most five groups of depth.
//
// The groups are the optimal partition of the histogram of radii (Fisher, On grouping for maximum
// homogeneity, 1958): dynamic programming over 256 bins finds, for each number of groups, the cuts that
// minimise the sum of h * variance, h = sqrt(share of the bin). The first number of groups whose cost is
// small enough is taken, and each limit is moved to the middle of its empty gap.

#include <cmath>
#include <cstdint>

#include "lens/maths/samples.h"

namespace satin {

/// The histogram samples every second pixel of every second row.
inline constexpr int histogram_stride = 2;
inline constexpr int histogram_run = 64;           ///< columns per thread
inline constexpr double histogram_least = 1e-4;    ///< bins with a smaller share of the picture are empty
inline constexpr double tolerable_variance = 2.0;  ///< largest mean variance within groups, pixels^2
inline constexpr int cuts_tried = 16;              ///< bins at which one thread tries to cut
inline constexpr int cut_ranges = depth_bins / cuts_tried;

/// Histogram, tables of the dynamic programming and the resulting groups, in the memory of one device.
struct GroupWork {
  std::int32_t highest = INT32_MIN;          ///< highest radius
  std::int32_t negative_lowest = INT32_MIN;  ///< minus the lowest radius
  std::uint32_t counts[depth_bins] = {};
  double mass[depth_bins + 1] = {};  ///< prefix sums of h, h c and h c^2; c in pixels
  double moment[depth_bins + 1] = {};
  double square[depth_bins + 1] = {};
  double range_cost[depth_bins][depth_bins + 1] = {};  ///< variance_cost() of bins [i, j)
  double cost[lens_most_groups][depth_bins + 1] = {};  ///< [g][j]: least cost of bins [0, j) in g + 1 groups
  std::int16_t split[lens_most_groups][depth_bins + 1] = {};
  double best_cost[cut_ranges][depth_bins + 1] = {};  ///< [range][j]: the best cut within a range of bins
  std::int16_t best_cut[cut_ranges][depth_bins + 1] = {};
  DepthGroups groups;

  /// Clears bin x, and with bin 0 the range of radii.
  SATIN_HD void clear(int x) {
    counts[x] = 0;
    if (x != 0) return;
    highest = INT32_MIN;
    negative_lowest = INT32_MIN;
  }
  /// Whether a partition into this many groups is good enough.
  SATIN_HD bool tolerable(int groups_made) const {
    return cost[groups_made - 1][depth_bins] <= tolerable_variance * mass[depth_bins];
  }
  SATIN_HD std::int32_t lowest() const { return -negative_lowest; }
  /// Width of a bin in 1/256 pixel.
  SATIN_HD std::int32_t step() const { return (highest - lowest()) / depth_bins + 1; }
  SATIN_HD std::int32_t edge(int bin) const { return lowest() + bin * step(); }
  SATIN_HD double variance_cost(int first, int last) const {
    const double h = mass[last] - mass[first];
    if (!(h > 0)) return 0;
    const double m = moment[last] - moment[first];
    const double cost_here = (square[last] - square[first]) - m * m / h;
    return cost_here > 0 ? cost_here : 0;
  }
};

/// Finds the range of the radii. Place (x, y) is a run of columns of one sampled row.
struct FindRadiusRange {
  LensPlanes planes;
  GroupWork* work;

  SATIN_HD void operator()(int x, int y) const {
    const int last = (x + 1) * histogram_run < planes.width ? (x + 1) * histogram_run : planes.width;
    const std::int32_t* row = planes.sharpened + planes.place(0, y * histogram_stride);
    std::int32_t low = row[x * histogram_run];
    std::int32_t high = low;
    for (int u = x * histogram_run; u < last; u += histogram_stride) {
      low = row[u] < low ? row[u] : low;
      high = row[u] > high ? row[u] : high;
    }
    raise_shared(&work->highest, high);
    raise_shared(&work->negative_lowest, -low);
  }
};

/// Counts radii. Place as above. Successive pixels of one bin are added at once.
struct CountRadii {
  LensPlanes planes;
  GroupWork* work;

  SATIN_HD void operator()(int x, int y) const {
    const int last = (x + 1) * histogram_run < planes.width ? (x + 1) * histogram_run : planes.width;
    const std::int32_t* row = planes.sharpened + planes.place(0, y * histogram_stride);
    const std::int32_t lowest = work->lowest();
    const std::int32_t step = work->step();
    int bin = (row[x * histogram_run] - lowest) / step;
    std::uint32_t count = 0;
    for (int u = x * histogram_run; u < last; u += histogram_stride) {
      const int own = (row[u] - lowest) / step;
      if (own != bin) {
        add_shared(&work->counts[bin], count);
        bin = own;
        count = 0;
      }
      ++count;
    }
    add_shared(&work->counts[bin], count);
  }
};

/// Computes h, h c and h c^2 of bin x.
struct WeighBins {
  GroupWork* work;

  SATIN_HD void operator()(int x, int /*y*/) const {
    std::uint64_t total = 0;
    for (const std::uint32_t count : work->counts) total += count;
    const double share = static_cast<double>(work->counts[x]) / static_cast<double>(total);
    const double h = share > histogram_least ? sqrt(share) : 0.0;
    const double c = (static_cast<double>(work->edge(x)) + static_cast<double>(work->step()) * 0.5) / 256.0;
    work->mass[x + 1] = h;
    work->moment[x + 1] = h * c;
    work->square[x + 1] = h * c * c;
  }
};

/// Turns quantity x of WeighBins (h, h c, h c^2) into prefix sums. x = 0 also clears the counts of empty
/// bins.
struct SumBins {
  GroupWork* work;

  SATIN_HD void operator()(int x, int /*y*/) const {
    constexpr int at_once = 16;  // loads in flight
    static_assert(depth_bins % at_once == 0);
    double* sums = x == 0 ? work->mass : x == 1 ? work->moment : work->square;
    sums[0] = 0;
    double sum = 0;
    for (int first = 1; first <= depth_bins; first += at_once) {
      double own[at_once];
      for (int i = 0; i < at_once; ++i) own[i] = sums[first + i];
      for (int i = 0; i < at_once; ++i) {
        if (x == 0 && own[i] == 0) work->counts[first + i - 1] = 0;
        sum = sum + own[i];
        sums[first + i] = sum;
      }
    }
  }
};

/// Computes the cost of bins [first, x) as one group.
struct CostOfRanges {
  GroupWork* work;

  SATIN_HD void operator()(int x, int first) const {
    work->range_cost[first][x] = work->variance_cost(first, x);
  }
};

/// Finds the best last cut within one range of bins, for bins [0, x) in `groups` >= 2 groups.
struct TryCuts {
  GroupWork* work;
  int groups;

  SATIN_HD void operator()(int x, int range) const {
    if (work->tolerable(groups - 1)) return;  // a smaller number of groups is good enough
    const int first = range * cuts_tried;
    double costs[cuts_tried];  // loads in flight
    for (int k = 0; k < cuts_tried; ++k)
      costs[k] = work->cost[groups - 2][first + k] + work->range_cost[first + k][x];
    double best = HUGE_VAL;
    int cut = x;
    for (int k = 0; k < cuts_tried; ++k) {
      if (first + k < x && costs[k] < best) {
        best = costs[k];
        cut = first + k;
      }
    }
    work->best_cost[range][x] = best;
    work->best_cut[range][x] = static_cast<std::int16_t>(cut);
  }
};

/// Finds the best partition of bins [0, x) into `groups` groups. The first of equal cuts wins.
struct PartitionBins {
  GroupWork* work;
  int groups;

  SATIN_HD void operator()(int x, int /*y*/) const {
    if (groups == 1) {
      work->cost[0][x] = work->variance_cost(0, x);
      return;
    }
    double best = work->cost[groups - 2][x];
    int best_range = -1;
    if (!work->tolerable(groups - 1)) {
      double costs[cut_ranges];  // loads in flight
      for (int range = 0; range < cut_ranges; ++range) costs[range] = work->best_cost[range][x];
      for (int range = 0; range < cut_ranges; ++range) {
        if (costs[range] < best) {
          best = costs[range];
          best_range = range;
        }
      }
    }
    const int split = best_range < 0 ? x : work->best_cut[best_range][x];
    work->cost[groups - 1][x] = best;
    work->split[groups - 1][x] = static_cast<std::int16_t>(split);
  }
};

/// Takes the first number of groups that is good enough; its limits are the middles of empty gaps.
struct ChooseGroups {
  GroupWork* work;
  int most;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    int count = 1;
    while (count < most && !work->tolerable(count)) ++count;
    DepthGroups groups;
    groups.count = count;
    int end = depth_bins;
    for (int g = count - 1; g > 0; --g) {  // the split with the smallest radii belongs to the farthest group
      end = work->split[g][end];
      int low = end;
      int high = end;
      while (low > 0 && work->counts[low - 1] == 0) --low;
      while (high < depth_bins && work->counts[high] == 0) ++high;
      groups.limits[count - 1 - g] = (work->edge(low) + work->edge(high)) / 2;
    }
    work->groups = groups;
  }
};

// Steps over bins, which a backend may run in one launch: launch(steps) runs the steps that `run` launches.

struct SumHistogram {
  GroupWork* work;

  template <class Launch>
  SATIN_HD void run(const Launch& launch) const {
    launch(depth_bins, 1, WeighBins{work});
    launch(3, 1, SumBins{work});
  }
};

/// Partitions the bins into at most `most` groups, from the costs of all ranges.
struct FindBestPartition {
  GroupWork* work;
  int most;

  template <class Launch>
  SATIN_HD void run(const Launch& launch) const {
    for (int groups = 1; groups <= most; ++groups) {
      if (groups > 1) launch(depth_bins + 1, cut_ranges, TryCuts{work, groups});
      launch(depth_bins + 1, 1, PartitionBins{work, groups});
    }
    launch(1, 1, ChooseGroups{work, most});
  }
};

template <class Launch>
void find_depth_groups(const Launch& launch, const LensPlanes& planes, GroupWork* work, int most) {
  const int runs = (planes.width + histogram_run - 1) / histogram_run;
  const int rows = (planes.height + histogram_stride - 1) / histogram_stride;
  launch(runs, rows, FindRadiusRange{planes, work});
  launch(runs, rows, CountRadii{planes, work});
  launch(SumHistogram{work});
  launch(depth_bins + 1, depth_bins, CostOfRanges{work});
  launch(FindBestPartition{work, most});
}

}  // namespace satin
