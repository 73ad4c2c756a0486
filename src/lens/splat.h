#pragma once
// The splat: spreads samples over their circles of confusion and composites the groups of depth, the nearest
// first. It is the adjoint of a box mean with a radius map.

#include <cstdint>

#include "core/operation.h"
#include "core/workspace.h"
#include "lens/maths/aperture.h"
#include "lens/maths/samples.h"
#include "lens/maths/splat.h"
#include "satin/lens_style.h"

namespace satin {

struct SplatOperation;

struct SplatJob {
  using Operation = SplatOperation;

  static constexpr int most_groups = 8;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 3;    ///< 1 to 4, including alpha
  bool alpha = false;  ///< the last channel is alpha, which makes no highlight
  int groups = 1;
  int colour_bits = 16;              ///< colours are below 2^colour_bits; at most 32
  std::uint32_t white = 0xFFFF;      ///< brighter samples are highlights, with finer staircases
  std::uint32_t largest_radius = 0;  ///< largest radius, 1/256 pixel; larger ones count as this one
  Bokeh bokeh = Bokeh::disc;
  LensQuality quality = LensQuality::high;  ///< fast: 12 corners per sample; high: 12 or 20, by radius
  std::uint32_t most_listed = 0;            ///< capacity of the list of samples
  std::uint32_t merge_from = never_merged;  ///< least radius of visible samples that are merged 2 x 2
  double squeeze = 1;                       ///< height over width of the shapes
  std::uint32_t most_lamps = 0;             ///< capacity of the list of lamps
  float lamp_reach = 1;                     ///< Aperture::reach
  int peak_bits = 0;                        ///< ApertureTable::peak_bits
  /// Whether the output is u8: colours of 16 bits without alpha are stored as sRGB codes, so that no plane of
  /// integers is written and read again.
  bool stores_codes = false;
};

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
  const std::uint32_t* white = nullptr;       ///< in the backend's memory; null: the job's
  const Lamp* lamps = nullptr;                ///< drawn by the aperture, unordered
  const std::uint32_t* lamp_count = nullptr;  ///< number of lamps
  Aperture aperture;
};

/// Each sample distributes its weight and its weighted colour evenly over the pixels of its staircase, a lamp
/// over those of the aperture; what falls outside the picture is lost. The sums of a group are integers
/// modulo 2^64 that fit, so the order of samples does not matter. Composite (lens/maths/splat.h) composites
/// them from group 0 on.
struct SplatOperation : Operation {
  virtual void run(const SplatImages& images, Stream stream) = 0;
};

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

/// Bound on the weights that meet in one pixel if every pixel has one sample of weight 1: at least the sum
/// over all offsets of the largest weight that any radius puts there.
[[nodiscard]] std::uint64_t pile_up(std::uint32_t largest_radius);

/// Kernels of a job, in host memory.
struct LensKernels {
  WorkspaceVector<Staircase> staircases;
  WorkspaceVector<LensKernel> kernels;  ///< [kind][radius]
  std::uint32_t largest = 0;
  int weight_bits = 0;
  std::int64_t reach = 0;  ///< largest half-extent

  [[nodiscard]] LensKernelView view() const {
    return {staircases.data(), kernels.data(), largest, weight_bits};
  }
};

/// Makes kernels with the variance of a disc of radius r, r^2 / 4 along each axis. Staircases have
/// half-extents floor(t rho), rho = 0, 1/4, 1/2, ...; two neighbours are mixed so that their mean variance is
/// that of the disc. Matching the variance rather than the extent makes integer corners as good as fractional
/// ones. Throws as splat_weight_bits() does.
[[nodiscard]] LensKernels lens_kernels(const SplatJob& job);

/// Number of pixels of a staircase.
[[nodiscard]] std::uint64_t area_of(const Staircase& staircase, bool block);

}  // namespace satin
