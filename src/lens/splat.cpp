// Kernels of the splat: the staircases of discs, hexagons and squares, their mixtures for each radius, and
// the bounds that choose the bits of their weights.

#include "lens/splat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string>

#include "lens/outline.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr int most_weight_bits = 30;
constexpr int least_short_weight_bits = 26;  // weights have fewer bits for short sums if these remain
constexpr std::uint64_t least_weight = 1000;

int pile_bits(std::uint32_t largest_radius) {
  return static_cast<int>(std::bit_width(2 * pile_up(largest_radius) - 1));
}

/// Area of the box around the largest kernel.
std::uint64_t largest_area(std::uint32_t largest_radius) {
  const std::uint64_t radius = largest_radius / 256 + 2;
  return 4 * radius * radius;
}

/// Half-extents of a box, in units of rho.
struct BoxExtent {
  double wide;
  double high;
};

constexpr double half_root_pi = 0.886226925452758;
constexpr double half_root_3 = 0.866025403784438;

constexpr BoxExtent square_boxes[] = {{half_root_pi, half_root_pi}};
// Discs with 12, 20, 28 and 36 corners: the half-extents of least total variation distance to the disc.
constexpr BoxExtent disc_12[] = {{.615, .945}, {.945, .615}};
constexpr BoxExtent disc_20[] = {{.484, .967}, {.773, .773}, {.967, .484}};
constexpr BoxExtent disc_28[] = {{.407, .977}, {.657, .843}, {.843, .657}, {.977, .407}};
constexpr BoxExtent disc_36[] = {{.334, .985}, {.574, .887}, {.75, .75}, {.887, .574}, {.985, .334}};

// Regular hexagon with corners at the left and the right. Each step crosses a slanted side in its middle.
constexpr BoxExtent hexagon_step(int step, int steps) {
  return {.5 + (2. * step + 1) / (4. * steps), half_root_3 * (steps - step) / steps};
}
constexpr BoxExtent hexagon_12[] = {hexagon_step(0, 2), hexagon_step(1, 2)};
constexpr BoxExtent hexagon_20[] = {hexagon_step(0, 3), hexagon_step(1, 3), hexagon_step(2, 3)};
constexpr BoxExtent hexagon_28[] = {hexagon_step(0, 4), hexagon_step(1, 4), hexagon_step(2, 4),
                                    hexagon_step(3, 4)};
constexpr BoxExtent hexagon_36[] = {hexagon_step(0, 5), hexagon_step(1, 5), hexagon_step(2, 5),
                                    hexagon_step(3, 5), hexagon_step(4, 5)};

constexpr double rho_step = 0.25;
constexpr double rho_step_of_outlines = 0.125;  // staircases of outlines are not mixed
constexpr std::uint32_t pixel = 256;            // unit of radii
constexpr std::uint32_t square_below = 2 * pixel;
constexpr std::uint32_t coarse_below = 6 * pixel;  // high quality
constexpr std::uint32_t smooth_below = 4 * pixel;  // high quality: discs of up to 36 corners, always mixed
// Radii from which 20 and 28 corners are too few: their steps are larger than 4 pixels.
constexpr std::uint32_t finer_from = 32 * pixel;   // high quality
constexpr std::uint32_t finest_from = 48 * pixel;  // high quality
constexpr std::uint32_t mixed_up_to_fast = 8 * pixel;
constexpr std::uint32_t mixed_up_to_high = 12 * pixel;
// Boxes of an outline: with fast quality, and with high quality below and above finer_from.
constexpr int outline_boxes_fast = 7;
constexpr int outline_boxes = 10;
constexpr int outline_boxes_finer = 18;

/// Least area of an opening, in radii^2: a sixteenth of a disc. Rounded staircases have at least half of it,
/// so that a pixel gets up to 32 times as much as from a disc: pictures of apertures have 5 peak_bits.
constexpr double least_opening = 3.14159265 / 16;

struct SizedStaircase {
  Staircase staircase{};
  double area = 0;
  double variance = 0;  ///< mean of the variances along both axes
};

/// Sets the area and the variance of the staircase.
void measure(SizedStaircase& sized, const KernelBox* outlines, bool block) {
  const int more = block ? 2 : 1;
  double moments = 0;
  for_boxes(sized.staircase, outlines, more, [&](const KernelBox& box, int sign) {
    const double width = box.right - box.left;
    const double height = box.bottom - box.top;
    const double x = (box.left + box.right - more) / 2.;
    const double y = (box.top + box.bottom - more) / 2.;
    sized.area += sign * width * height;
    moments += sign * width * height * (width * width + height * height - 2 + 12 * (x * x + y * y)) / 24;
  });
  sized.variance = moments / sized.area;
}

/// `squeeze` is the square root of LensStyle::squeeze.
SizedStaircase sized_staircase(std::span<const BoxExtent> boxes, double squeeze, double rho, bool block) {
  SizedStaircase sized;
  Staircase& stairs = sized.staircase;
  const auto extent = [&](double half) {
    return static_cast<std::uint16_t>(std::max(0.0, std::floor(half * rho - (block ? .5 : 0))));
  };
  for (const BoxExtent& box : boxes) {
    const std::uint16_t wide = extent(box.wide / squeeze);
    const std::uint16_t high = extent(box.high * squeeze);
    // The larger one of two boxes of equal width or height covers the other.
    if (stairs.boxes > 0 && stairs.wide[stairs.boxes - 1] == wide) continue;
    if (stairs.boxes > 0 && stairs.high[stairs.boxes - 1] == high) --stairs.boxes;
    stairs.wide[stairs.boxes] = wide;
    stairs.high[stairs.boxes++] = high;
  }
  stairs.reach = std::max(stairs.wide[stairs.boxes - 1], stairs.high[0]);
  measure(sized, nullptr, block);
  return sized;
}

/// Sizes the staircase of an outline; the boxes are appended to `all`.
SizedStaircase sized_outline(const OutlineStairs& stairs, double rho, bool block, double most_off,
                             WorkspaceVector<KernelBox>& all) {
  SizedStaircase sized;
  const std::vector<KernelBox> boxes = stairs.boxes(rho, block, most_off);
  if (boxes.empty()) return sized;
  // Extremes of the sides first: g++ 12 for ARM makes wrong vectors of std::max({wide, -box.left, ...}).
  int left = 0, right = 0, top = 0, bottom = 0;
  for (const KernelBox& box : boxes) {
    left = std::min<int>(left, box.left);
    right = std::max<int>(right, box.right);
    top = std::min<int>(top, box.top);
    bottom = std::max<int>(bottom, box.bottom);
  }
  const int more = block ? 2 : 1;
  const int wide = std::max(-left, right - more);
  const int high = std::max(-top, bottom - more);
  sized.staircase = {
      {static_cast<std::uint16_t>(wide)},
      {static_cast<std::uint16_t>(high)},
      1,
      static_cast<std::uint16_t>(std::max(wide, high)),
      {static_cast<std::uint32_t>(all.size()) & 0xFFFFFFU, static_cast<std::uint32_t>(boxes.size()) & 0xFFU}};
  all.insert(all.end(), boxes.begin(), boxes.end());
  measure(sized, all.data(), block);
  return sized;
}

/// Makes staircases of one shape by increasing variance, of sizes rho, rho + step, ..., up to the first above
/// `most`; at least two unless they would be larger than `largest`.
template <class Sized>
std::vector<SizedStaircase> staircases_by_variance(double rho, double step, double most, double largest,
                                                   const Sized& sized_at) {
  std::vector<SizedStaircase> staircases;
  for (; rho <= largest && (staircases.size() < 2 || staircases.back().variance <= most); rho += step) {
    const SizedStaircase sized = sized_at(rho);
    if (sized.area > 0 && (staircases.empty() || sized.variance > staircases.back().variance))
      staircases.push_back(sized);
  }
  return staircases;
}

struct Shapes {
  std::span<const BoxExtent> coarse, fine, finer, finest;
};

Shapes shapes_of(const SplatJob& job) {
  if (job.bokeh == Bokeh::square) return {square_boxes, square_boxes, square_boxes, square_boxes};
  const bool disc = job.bokeh != Bokeh::hexagon;
  const std::span<const BoxExtent> coarse = disc ? std::span<const BoxExtent>(disc_12) : hexagon_12;
  const std::span<const BoxExtent> fine = disc ? std::span<const BoxExtent>(disc_20) : hexagon_20;
  const std::span<const BoxExtent> finer = disc ? std::span<const BoxExtent>(disc_28) : hexagon_28;
  const std::span<const BoxExtent> finest = disc ? std::span<const BoxExtent>(disc_36) : hexagon_36;
  const bool high = job.quality == LensQuality::high;
  return {coarse, high ? fine : coarse, high ? finer : coarse, high ? finest : coarse};
}

/// Staircases of one shape, which are in the table from index `first` on.
struct KernelShape {
  std::vector<SizedStaircase> staircases;
  std::size_t first = 0;
  std::size_t above = 1;  ///< sized over the radius that was added last
};

class Builder {
 public:
  explicit Builder(const SplatJob& job)
      : job_(job), squeeze_(std::sqrt(job.squeeze)), spread_((job.squeeze + 1 / job.squeeze) / 2) {
    result_.largest = job.largest_radius;
    result_.weight_bits = splat_weight_bits(job);
    result_.kernels.reserve(std::size_t{LensKernelView::kinds} * (std::size_t{job.largest_radius} + 1));
    whole_ = std::ldexp(1.0, result_.weight_bits);
  }

  LensKernels build() {
    const Shapes shapes = shapes_of(job_);
    const bool high = job_.quality == LensQuality::high;
    const std::uint32_t mixed = high ? mixed_up_to_high : mixed_up_to_fast;
    const std::uint32_t finer_radii = high ? finer_from : ~0U;
    const OutlineStairs stairs = outline_of(high ? outline_boxes : outline_boxes_fast);
    const OutlineStairs finer_stairs = high ? outline_of(outline_boxes_finer) : stairs;
    if (job_.opening && stairs.area() >= least_opening) spread_ = stairs.spread();
    for (const bool block : {false, true}) {
      KernelShape square = add_shape(square_boxes, block);
      KernelShape coarse = add_shape(shapes.coarse, block);
      KernelShape fine = add_shape(shapes.fine, block);
      KernelShape finer = add_shape(shapes.finer, block);
      KernelShape finest = add_shape(shapes.finest, block);
      const bool smooth = high && job_.bokeh == Bokeh::disc;
      KernelShape outline = add_outline(stairs, outline_from, finer_radii, block);
      KernelShape finer_outline = add_outline(finer_stairs, finer_radii, ~0U, block);
      for (std::uint32_t r = 0; r <= job_.largest_radius; ++r) {
        KernelShape& own = r < finer_radii ? outline : finer_outline;
        const bool outlined = r >= outline_from && own.staircases.size() > 1;
        add(outlined                     ? own
            : smooth && r < smooth_below ? finest
            : r < square_below           ? square
            : r < coarse_below           ? coarse
            : r < finer_radii            ? fine
            : r < finest_from            ? finer
                                         : finest,
            r, block, outlined ? 0 : mixed);
      }
    }
    return std::move(result_);
  }

 private:
  /// Variance of a shape, less that of a block's own pixels, (2^2 - 1) / 12.
  [[nodiscard]] double variance_of(std::uint32_t radius, bool block) const {
    const double r = radius / double{pixel};
    return std::max(0.0, r * r / 4 * spread_ - (block ? .25 : 0));
  }

  KernelShape add_shape(std::span<const BoxExtent> boxes, bool block) {
    return add_staircases(
        staircases_by_variance(0, rho_step, variance_of(job_.largest_radius, block), HUGE_VAL,
                               [&](double rho) { return sized_staircase(boxes, squeeze_, rho, block); }));
  }

  [[nodiscard]] OutlineStairs outline_of(int boxes) const {
    if (job_.opening) return OutlineStairs(OpeningBoxes(*job_.opening, boxes).boxes);
    return {job_.outline, double{job_.lamp_reach}, boxes};
  }

  /// Adds the staircases of the outline for radii from `first` to `end` - 1: none if it is too small.
  KernelShape add_outline(const OutlineStairs& stairs, std::uint32_t first, std::uint32_t end, bool block) {
    end = std::min(end, job_.largest_radius + 1);
    if (first >= end || stairs.area() < least_opening) return {};
    const std::int64_t most_reach = opening_reach(job_, job_.largest_radius);
    double most_off = OutlineStairs::usual_off;
    const auto sized_at = [&](double rho) {
      SizedStaircase sized = sized_outline(stairs, rho, block, most_off, result_.outlines);
      if (!job_.opening) return sized;
      // Sizes without a centred staircase must not leave a large gap.
      most_off = sized.area == 0 ? 1.1 * most_off : OutlineStairs::usual_off;
      if (sized.area < least_opening / 2 * rho * rho || sized.staircase.reach > most_reach) sized.area = 0;
      // Rounding may change the variance of fine parts so much that sizes would be confused.
      sized.variance = variance_of(static_cast<std::uint32_t>(rho * pixel), block);
      return sized;
    };
    return add_staircases(staircases_by_variance(first / pixel - 2, rho_step_of_outlines,
                                                 variance_of(end - 1, block), end / pixel + 2, sized_at));
  }

  KernelShape add_staircases(std::vector<SizedStaircase> staircases) {
    KernelShape shape{std::move(staircases), result_.staircases.size()};
    for (const SizedStaircase& sized : shape.staircases) {
      result_.staircases.push_back(sized.staircase);
      result_.reach = std::max(result_.reach, std::int64_t{sized.staircase.reach});
    }
    return shape;
  }

  /// Adds the kernel of the next radius. Radii increase.
  void add(KernelShape& shape, std::uint32_t radius, bool block, std::uint32_t mixed_up_to) {
    const double variance = radius <= lens_focus_radius ? 0 : variance_of(radius, block);
    while (shape.above + 1 < shape.staircases.size() && shape.staircases[shape.above].variance <= variance)
      ++shape.above;
    const SizedStaircase& high = shape.staircases[shape.above];
    const SizedStaircase& low = shape.staircases[shape.above - 1];
    double fraction = std::clamp((variance - low.variance) / (high.variance - low.variance), 0.0, 1.0);
    if (radius > mixed_up_to) fraction = fraction > .5 ? 1 : 0;
    const std::size_t index = shape.first + shape.above;
    append(low, high, static_cast<std::uint16_t>(index - 1), fraction);
  }

  /// Rounds a non-negative number to nearest, ties up. std::floor, which has no baseline instruction, took a
  /// quarter of the time of tests that plan every filter.
  static std::uint32_t rounded(double weight) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(weight + .5));
  }

  /// Adds a kernel. The second weight makes up for the rounding of the first.
  void append(const SizedStaircase& low, const SizedStaircase& high, std::uint16_t index, double fraction) {
    const std::uint32_t low_weight = rounded(whole_ * (1 - fraction) / low.area);
    const double rest = fraction > 0 ? whole_ - low_weight * low.area : 0;
    LensKernel kernel{{low_weight, rounded(std::max(0.0, rest) / high.area)},
                      {index, static_cast<std::uint16_t>(index + 1)}};
    if (kernel.weight[0] == 0) {
      std::swap(kernel.weight[0], kernel.weight[1]);
      std::swap(kernel.staircase[0], kernel.staircase[1]);
    }
    result_.kernels.push_back(kernel);
  }

  SplatJob job_;
  double squeeze_;
  double spread_;  ///< variance of shapes over that of discs
  LensKernels result_;
  double whole_ = 1;  ///< weight of a full sample
};

}  // namespace

LensKernels lens_kernels(const SplatJob& job) { return Builder(job).build(); }

WorkspaceVector<std::uint16_t> reaches_of(const LensKernels& kernels) {
  WorkspaceVector<std::uint16_t> reaches(kernels.largest / 256 + 1);
  const std::size_t radii = std::size_t{kernels.largest} + 1;
  for (std::size_t i = 0; i < kernels.kernels.size(); ++i) {
    std::uint16_t& reach = reaches[i % radii / 256];
    for (int k = 0; k < 2; ++k)
      if (kernels.kernels[i].weight[k] != 0)
        reach = std::max(reach, kernels.staircases[kernels.kernels[i].staircase[k]].reach);
  }
  for (std::size_t i = 1; i < reaches.size(); ++i) reaches[i] = std::max(reaches[i], reaches[i - 1]);
  return reaches;
}

std::uint64_t pile_up(std::uint32_t largest_radius) {
  return 4 + 2 * static_cast<std::uint64_t>(std::bit_width(largest_radius / 256));
}

int splat_weight_bits(std::uint32_t largest_radius, int colour_bits) {
  const std::uint64_t least = least_weight * largest_area(largest_radius);
  const auto bits_below = [&](int sum_bits) {
    return std::min(most_weight_bits, sum_bits - colour_bits - pile_bits(largest_radius));
  };
  const int narrow = bits_below(splat_short_bits);
  if (narrow >= least_short_weight_bits && std::uint64_t{1} << narrow >= least) return narrow;
  const int bits = bits_below(63);
  if (bits < 0 || (std::uint64_t{1} << bits) < least)
    throw Error(ErrorKind::usage, "A blur of radius " + std::to_string(largest_radius / 256) +
                                      " is too large for exact sums of colours of " +
                                      std::to_string(colour_bits) + " bits: reduce the largest radius.");
  return bits;
}

int splat_weight_bits(const SplatJob& job) {
  return splat_weight_bits(job.largest_radius, job.colour_bits + job.peak_bits);
}

bool has_short_sums(const SplatJob& job, int weight_bits) {
  if (job.opening) return false;  // up to two corners of boxes beside each other meet in a pixel
  return weight_bits + job.colour_bits + job.peak_bits + pile_bits(job.largest_radius) <= splat_short_bits;
}

int splat_colour_bits(std::uint32_t largest_radius) {
  const std::uint64_t least = least_weight * largest_area(largest_radius);
  return 63 - pile_bits(largest_radius) - static_cast<int>(std::bit_width(least - 1));
}

}  // namespace satin
