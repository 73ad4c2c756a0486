#pragma once
// The splat: spreads samples over their circles of confusion and composites the groups of depth, the nearest
// first. It is the adjoint of a box mean with a radius map.
//
// A kernel is a staircase of boxes, given by the corners where its second difference is not 0; two
// prefix sums turn corners into the shape (Kosloff, Tao and Barsky, Depth of field postprocessing for layered
// scenes using constant-time rectangle spreading, 2009).

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/maths/hd.h"
#include "core/operation.h"
#include "core/workspace.h"
#include "lens/maths/aperture.h"
#include "lens/maths/samples.h"
#include "satin/lens_style.h"

namespace satin {

struct SplatOperation;

/// Rows of cells of an aperture's picture, see ApertureCells::open.
using Opening = std::array<std::uint64_t, aperture_picture_side>;

struct SplatJob {
  using Operation = SplatOperation;

  static constexpr int most_groups = 8;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 3;  ///< 1 to 4, including alpha
  int groups = 1;
  int colour_bits = 16;              ///< colours are below 2^colour_bits; at most 32
  std::uint32_t largest_radius = 0;  ///< largest radius, 1/256 pixel; larger ones count as this one
  Bokeh bokeh = Bokeh::disc;
  LensQuality quality = LensQuality::high;  ///< fast: 12 corners per sample; high: 12 to 36, by radius
  std::uint32_t most_listed = 0;            ///< capacity of the list of samples
  double squeeze = 1;                       ///< height over width of the shapes
  std::uint32_t most_lamps = 0;             ///< capacity of the list of lamps
  float lamp_reach = 1;                     ///< Aperture::reach
  int peak_bits = 0;                        ///< ApertureTable::peak_bits
  /// Whether the output is u8: colours of 16 bits without alpha are stored as sRGB codes, so that no plane of
  /// integers is written and read again.
  bool stores_codes = false;
  /// Rows of the opening at equal distances from -lamp_reach to lamp_reach: the shape of samples from
  /// outline_from on. Empty: `bokeh` is the shape of all samples.
  std::vector<OutlineRow> outline;
  std::optional<Opening> opening;  ///< the shape in place of `outline`; may change
};

/// Farthest pixel of lamps of a radius, and of samples that have the shape of an opening.
[[nodiscard]] inline std::int64_t opening_reach(const SplatJob& job, std::uint32_t radius) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(radius) / 256 * job.lamp_reach)) + 1;
}

/// Least radius of samples that have the opening's outline, 1/256 pixel.
inline constexpr std::uint32_t outline_from = 8 * 256;

/// Views of one run, all of the job's size. Samples on one pixel in one group have at most two full weights
/// together; a block counts a quarter of its weight for each of its pixels.
struct SplatImages {
  ImageView source;                      ///< u32, `channels`: shown where no sample arrives
  ImageView colours;                     ///< u32, `channels`: visible samples; may be the source
  ImageView radii;                       ///< u32, 1/256 pixel
  ImageView groups;                      ///< u8, below `groups`
  ImageView weights;                     ///< u16, 1/lens_full_weight; 0: no sample
  const LensSample* listed = nullptr;    ///< further samples, unordered
  const std::uint32_t* count = nullptr;  ///< number of them; at most `most_listed` are read
  /// u32, `channels`, in the unit of the samples, or u8 codes. Does not alias the inputs.
  MutableImageView output;
  const Lamp* lamps = nullptr;                ///< drawn by the aperture, unordered
  const std::uint32_t* lamp_count = nullptr;  ///< number of lamps
  Aperture aperture;
  ImageView exposed;  ///< u8, see is_inside(); without data: no pixel is inside
};

/// Each sample distributes its weight and its weighted colour evenly over the pixels of its staircase, a lamp
/// over those of the aperture; what falls outside the picture is lost. A sample on the picture's border
/// stands for all pixels beyond it, see BorderSteps. The sums of a group are integers modulo 2^64 that fit,
/// so the order of samples does not matter. Composite composites them from group 0 on.
struct SplatOperation : Operation {
  virtual void run(const SplatImages& images, Stream stream) = 0;
  /// Changes SplatJob::opening. Waits for the runs before, and allocates, if it differs.
  virtual void set_opening(const Opening& opening, Stream stream) = 0;
};

/// Box around a sample: columns x + left to x + right - 1 and rows y + top to y + bottom - 1.
struct alignas(8) KernelBox {
  std::int16_t left, right, top, bottom;
};

/// Boxes of an outline in LensKernelView::outlines.
struct OutlineBoxes {
  std::uint32_t first : 24;
  std::uint32_t count : 8;  ///< at most 18; 0: the staircase has centred boxes
};

/// Union of boxes, from the highest to the widest. Box k covers columns x +- wide[k] and rows y +- high[k];
/// around a block of 2 x 2 pixels one column and one row more. The staircase of an outline has boxes below
/// and beside each other instead, and box 0 around all of them.
struct alignas(8) Staircase {
  static constexpr int most_boxes = 5;
  std::uint16_t wide[most_boxes];
  std::uint16_t high[most_boxes];
  std::uint16_t boxes;
  std::uint16_t reach;  ///< largest half-extent
  OutlineBoxes outline;
};

/// Calls take(box, sign) for the boxes whose signed sum is the staircase. `more`: 2 around a block, or 1.
template <class Take>
SATIN_HD void for_boxes(const Staircase& stairs, const KernelBox* outlines, std::int32_t more,
                        const Take& take) {
  for (std::uint32_t k = 0; k < stairs.outline.count; ++k) take(outlines[stairs.outline.first + k], 1);
  if (stairs.outline.count != 0) return;
  const auto box = [&](std::int32_t wide, std::int32_t high) {
    return KernelBox{static_cast<std::int16_t>(-wide), static_cast<std::int16_t>(wide + more),
                     static_cast<std::int16_t>(-high), static_cast<std::int16_t>(high + more)};
  };
  for (int k = 0; k < stairs.boxes; ++k) {
    if (k > 0) take(box(stairs.wide[k - 1], stairs.high[k]), -1);
    take(box(stairs.wide[k], stairs.high[k]), 1);
  }
}

/// Kernel of one radius: one staircase, or two of neighbouring variance that share the weight.
struct alignas(16) LensKernel {
  std::uint32_t weight[2];  ///< weight per pixel of the staircase; the second is 0 if there is one staircase
  std::uint16_t staircase[2];
};

/// Whether samples of both kernels have their corners in the same places and differ by weights alone.
SATIN_HD bool same_staircases(const LensKernel& a, const LensKernel& b) {
  return a.staircase[0] == b.staircase[0] && a.staircase[1] == b.staircase[1] &&
         (a.weight[1] != 0) == (b.weight[1] != 0);
}

/// Kernels of all radii from 0 to `largest`.
struct LensKernelView {
  static constexpr int kinds = 2;  ///< pixels, blocks
  const Staircase* staircases = nullptr;
  const LensKernel* kernels = nullptr;  ///< [kind][radius]
  std::uint32_t largest = 0;            ///< largest radius in 1/256 pixel; larger ones count as this one
  int weight_bits = 0;                  ///< the full weight of a sample is 2^weight_bits
  const KernelBox* outlines = nullptr;
};

SATIN_HD const LensKernel& lens_kernel(const LensKernelView& view, std::uint32_t radius, bool block) {
  const std::uint32_t held = radius < view.largest ? radius : view.largest;
  return view.kernels[(block ? std::uint64_t{view.largest} + 1 : 0) + held];
}

/// Scales a weight of the table by a sample's weight, rounded to nearest, ties up. The result is below 2^32,
/// also for blocks, whose weight of four pixels is spread over at least four pixels.
SATIN_HD std::uint32_t sample_weight(std::uint32_t table_weight, std::uint32_t weight) {
  constexpr std::uint32_t half = lens_full_weight / 2;
  return static_cast<std::uint32_t>((std::uint64_t{table_weight} * weight + half) / lens_full_weight);
}

/// Sums below 2^51 are faster on GPUs, see kernels/lens/splat_gather.cu.
inline constexpr int splat_short_bits = 51;

/// Bits of the full weight of a sample, at most 30: the one place that bounds the sums. Bits are chosen so
/// that
///   2 * 2^bits * pile_up(radius) * 2^colour_bits <= 2^63,
/// or 2^51 if that leaves enough bits, at least 26. Throws Error(usage), which says what to reduce, if the
/// smallest weight of a pixel, 2^bits divided by the area of the largest kernel, is below 1000: its rounding
/// would show.
[[nodiscard]] int splat_weight_bits(std::uint32_t largest_radius, int colour_bits);

/// Most colour bits that splat_weight_bits() accepts with radii up to this one, at most 512 pixels.
[[nodiscard]] int splat_colour_bits(std::uint32_t largest_radius);

/// Bits for a job. A pixel of a lamp gets up to 2^peak_bits times as much as one of another sample, as if its
/// colours had more bits.
[[nodiscard]] int splat_weight_bits(const SplatJob& job);

/// Whether all sums of a job with these bits are below 2^splat_short_bits.
[[nodiscard]] bool has_short_sums(const SplatJob& job, int weight_bits);

/// Bound on the weights that meet in one pixel if every pixel has one sample of weight 1: at least the sum
/// over all offsets of the largest weight that any radius puts there.
[[nodiscard]] std::uint64_t pile_up(std::uint32_t largest_radius);

/// Kernels of a job, in host memory.
struct LensKernels {
  WorkspaceVector<Staircase> staircases;
  WorkspaceVector<LensKernel> kernels;  ///< [kind][radius]
  WorkspaceVector<KernelBox> outlines;
  std::uint32_t largest = 0;
  int weight_bits = 0;
  std::int64_t reach = 0;  ///< largest half-extent

  [[nodiscard]] LensKernelView view() const {
    return {staircases.data(), kernels.data(), largest, weight_bits, outlines.data()};
  }
};

/// Makes kernels with the variance of a disc of radius r, r^2 / 4 along each axis. Staircases have
/// half-extents floor(t rho), rho = 0, 1/4, 1/2, ...; two neighbours are mixed so that their mean variance is
/// that of the disc. Matching the variance rather than the extent makes integer corners as good as fractional
/// ones. The staircases of an outline are not mixed. With an opening, all have its variance in place of the
/// disc's, as lamps do. Throws as splat_weight_bits() does.
[[nodiscard]] LensKernels lens_kernels(const SplatJob& job);

/// Returns the largest reach of kernels, [radius / 256], for radii up to the next whole pixel.
[[nodiscard]] WorkspaceVector<std::uint16_t> reaches_of(const LensKernels& kernels);

/// Whether a pixel is inside a surface of its own group, which is opaque there.
SATIN_HD bool is_inside(std::uint8_t exposed, std::uint32_t radius) {
  return exposed == 0 && radius < lens_exposed_radius;
}

/// Largest weight that leaves a gap to close inside a surface, and the least weight that closes it wholly.
inline constexpr float largest_gap_weight = 1 - 1.0F / 1024;
inline constexpr float least_inside_weight = 1.0F / 1024;

/// Colour and coverage of one pixel, composited front to back from sums of groups: the weighted colours, then
/// the weights.
///
/// With weight W in units of the full one and A = min(1, W), a group adds T A C / W and reduces the
/// transmittance T by T A. Both equal T' times a sum, T' = T / max(1, W), so that colour / covered of a
/// constant colour is that colour up to rounding: below half a step for colours up to 2^18 in float and 2^32
/// in double. Inside a surface A = 1: T' = T / W.
template <class Real, int Channels>
struct alignas(Channels % 2 == 0 ? sizeof(Real)
               : Channels == 3   ? 4 * sizeof(float)
                                 : 2 * sizeof(float)) Composite {
  Real colour[static_cast<std::size_t>(Channels)];
  Real covered;

  SATIN_HD void clear() {
    for (int c = 0; c < Channels; ++c) colour[c] = 0;
    covered = 0;
  }

  /// Whether a surface with this weight has a gap, if the pixel is inside.
  SATIN_HD static bool has_gap(Real weight) { return weight < static_cast<Real>(largest_gap_weight); }

  /// Returns T' for a group of weight `weight`. `closes`: it has a gap, and the pixel is inside.
  SATIN_HD static Real factor(Real weight, Real covered_before, bool closes) {
    const Real left = 1 - covered_before;
    const Real through = left > 0 ? left : 0;
    const Real least = closes ? static_cast<Real>(least_inside_weight) : 1;
    return through / (weight > least ? weight : least);
  }

  /// Rounds once, as sums are below 2^63.
  SATIN_HD static Real real(std::uint64_t sum) { return static_cast<Real>(static_cast<std::int64_t>(sum)); }

  /// Adds the next group; `unit` is 2^-weight_bits. inside() tells if the pixel is inside the group's
  /// surface.
  template <class Inside>
  SATIN_HD void add(const std::uint64_t* sums, Real unit, const Inside& inside) {
    const Real weight = real(sums[Channels]) * unit;
    const Real through = factor(weight, covered, has_gap(weight) && inside());
    for (int c = 0; c < Channels; ++c) colour[c] = colour[c] + through * (real(sums[c]) * unit);
    covered = covered + through * weight;
  }

  /// Whether nothing arrived: all sums are 0 then, as each sample has a weight.
  [[nodiscard]] SATIN_HD bool empty() const { return !(covered > 0); }

  /// Returns colour `c`, rounded to nearest, ties up.
  [[nodiscard]] SATIN_HD std::uint32_t result(int c) const {
    const Real half = static_cast<Real>(0.5);
    const Real value = colour[c] / covered + half;
    return value < static_cast<Real>(4294967296.0) ? static_cast<std::uint32_t>(value) : 0xFFFFFFFFU;
  }
};

/// Largest bits of colours for which float composites are exact enough.
inline constexpr int most_bits_in_float = 18;

}  // namespace satin
