#pragma once
// Points of the scene spread over their circles of confusion and laid one behind the other: the adjoint of a
// box mean with a radius map.

#include <cstdint>

#include "core/operation.h"
#include "core/workspace.h"
#include "lens/maths/aperture.h"
#include "lens/maths/samples.h"
#include "lens/maths/splat.h"
#include "satin/lens_style.h"

namespace satin {

enum class SplatQuality : std::uint8_t {
  fast,  ///< 12 corners a sample
  high   ///< 12 or 20 corners by radius
};

struct SplatOperation;

struct SplatJob {
  using Operation = SplatOperation;

  static constexpr int most_groups = 8;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 3;    ///< of colours, alpha included: 1 to 4
  bool alpha = false;  ///< the last channel is alpha: it makes no highlight
  int groups = 1;
  int colour_bits = 16;              ///< colours are below 2^colour_bits, at most 32
  std::uint32_t white = 0xFFFF;      ///< a colour above it makes a highlight: a finer shape
  std::uint32_t largest_radius = 0;  ///< in 1/256 pixel: larger ones count as this one
  Bokeh bokeh = Bokeh::disc;
  SplatQuality quality = SplatQuality::high;
  std::uint32_t most_listed = 0;            ///< samples that the list has room for
  std::uint32_t merge_from = never_merged;  ///< radius of visible samples that are merged 2 x 2
  double squeeze = 1;                       ///< of the shapes: how much higher than wide
  std::uint32_t most_lamps = 0;             ///< lamps that their list has room for
  float lamp_reach = 1;                     ///< Aperture::reach
  int peak_bits = 0;                        ///< of lamps, see ApertureTable
  /// The output is of u8: colours of 16 bits as sRGB codes, without alpha. No plane of integers goes to
  /// memory and back.
  bool stores_codes = false;
};

/// Views of one run, all of the job's size. Weights of samples that fall on one pixel and into one group are
/// two full ones together at most; blocks count a quarter of theirs for each of their pixels.
struct SplatImages {
  ImageView source;                      ///< u32, `channels`: what pixels show where nothing arrived
  ImageView colours;                     ///< u32, `channels`: of the visible samples; may be the source
  ImageView radii;                       ///< u32, 1/256 pixel
  ImageView groups;                      ///< u8, below `groups`
  ImageView weights;                     ///< u16, in parts of lens_full_weight; 0: no sample
  const LensSample* listed = nullptr;    ///< further samples, in any order
  const std::uint32_t* count = nullptr;  ///< how many; above `most_listed`, only as many count
  /// u32, `channels`: colours in the unit of the samples, or their codes; aliases none of the others.
  MutableImageView output;
  const std::uint32_t* white = nullptr;       ///< in the backend's memory; null: the job's
  const Lamp* lamps = nullptr;                ///< drawn by the aperture, in any order
  const std::uint32_t* lamp_count = nullptr;  ///< number of lamps
  Aperture aperture;
};

/// Every sample gives its weight and its weight times colour, in equal parts, to the pixels of its staircase
/// (lens/lens_kernels.h), a lamp to those of the aperture; what falls outside the picture is lost. The
/// groups' sums, integers modulo 2^64 that fit, are composited by lens/maths/composite.h from group 0 on. No
/// order of samples changes a bit.
struct SplatOperation : Operation {
  virtual void run(const SplatImages& images, Stream stream) = 0;
};

/// The one place that bounds the sums: bits of the full weight of a sample, at most 30, such that
///   2 full weights * pile_up(radius) * 2^colour_bits <= 2^63,
/// or 2^51 where 26 bits are left and enough,
/// pile_up() being a bound on the weights that meet in one pixel if every pixel has one sample of full weight
/// 1. Throws Error(usage), which says what to reduce, where the smallest weight of a pixel, 2^bits divided
/// by the area of the largest kernel, would be below 1000: its rounding would show.
[[nodiscard]] int splat_weight_bits(std::uint32_t largest_radius, int colour_bits);

/// The most bits of colours that splat_weight_bits() takes with radii up to this one, which is at most 512
/// pixels.
[[nodiscard]] int splat_colour_bits(std::uint32_t largest_radius);

/// splat_weight_bits() of a job. A lamp's pixel gets up to 2^peak_bits times as much as that of another
/// sample, as if its colours had more bits.
[[nodiscard]] int splat_weight_bits(const SplatJob& job);

/// At least the sum over all offsets of the largest part of a sample that lands there, over all radii.
[[nodiscard]] std::uint64_t pile_up(std::uint32_t largest_radius);

/// Tables on the host; a backend may copy them to where it wants them.
struct LensKernels {
  WorkspaceVector<Staircase> staircases;
  WorkspaceVector<LensKernel> kernels;  ///< LensKernelView::kinds times (largest + 1)
  std::uint32_t largest = 0;
  int weight_bits = 0;
  std::int64_t reach = 0;  ///< half-extents are at most this

  [[nodiscard]] LensKernelView view() const {
    return {staircases.data(), kernels.data(), largest, weight_bits};
  }
};

/// Kernels with the variance of a lens: a disc of radius r has r^2 / 4 along each axis, and the staircases
/// whose half-extents are floor(t rho), rho = 0, 1/4, 1/2 ..., take their place, two neighbours mixed so that
/// the mean of their variances meets it. Throws as splat_weight_bits().
[[nodiscard]] LensKernels lens_kernels(const SplatJob& job);

/// Pixels of a staircase.
[[nodiscard]] std::uint64_t area_of(const Staircase& staircase, bool block);

}  // namespace satin
