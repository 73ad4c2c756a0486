#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& gloss_record();  ///< record of the filter `gloss`

/// Parameters of gloss().
struct Gloss {
  double roughness = 0.5;  ///< roughness of the surface at the last level, from 0 (a mirror) to 1
  int levels = 1;  ///< number of results, from a mirror to `roughness` in even steps; 1: only `roughness`
  Space space = Space::linear;  ///< space of the values that are averaged

  static const FilterRecord& record() { return gloss_record(); }  ///< record of the filter
};

/// Prefilters an environment map for glossy reflections: each pixel of the result is the light that a
/// surface of this roughness reflects from the map around that direction. The map covers all directions by
/// latitude and longitude: row y at colatitude pi (y + 1/2) / height, column x at longitude 2 pi (x + 1/2) /
/// width.
///
/// The lobe is that of a GGX surface with alpha = roughness^2 seen along its normal (Walter et al.,
/// Microfacet models for refraction through rough surfaces, 2007; Karis, Real shading in Unreal Engine 4,
/// 2013): D(t / 2) cos t at the angle t from the mirror direction. It is replaced by twelve caps that share
/// its light equally, and each cap by up to eight groups of rows with the cap's reach in longitude and by the
/// whole circles around a pole that it holds. Every group is four entries of one summed-area table of the map
/// (Crow 1984). Pixels are weighted by their solid angle, in 1/4096 of the largest, and columns wrap around.
///
/// A wide lobe is computed for cells of 2 x 2 to 16 x 16 pixels, with sixteen caps, and interpolated between
/// their centres. That is as accurate, and faster by nearly the number of pixels in a cell. The side of a
/// cell is the largest power of two that divides both sizes of the map, keeps the first of twelve caps at
/// least four cells in radius and the map at least 64 cells wide: 16 at roughness 0.5 and 3840 x 2160. Maps
/// whose sizes are multiples of 16 gain most.
///
/// A constant map keeps its bytes. Turning the map by whole cells (by 16 columns always) turns the result,
/// and mirroring it in longitude, or at the equator if that lies between two rows of cells (always if the
/// height is a multiple of 32), mirrors it. Roughness 0 is the identity. Sums are exact: of integers, or of
/// floats as fixed point of 40 bits of the largest magnitude, or fewer for maps of more than 1024 pixels (31
/// at 1024 x 512). Means of cells are rounded to 1/256 of a working value, those of floats to doubles.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels; straight alpha weights colours. The result has the input's width
/// and type and levels * height rows, one level below the other, level 0 uppermost. It is the same on every
/// device, byte for byte. Memory: 16 bytes per channel and pixel, or per channel and cell if no level needs
/// pixels. Throws Error(usage) for parameters out of range and sums above 63 bits, Error(input) for NaN or
/// infinity.
[[nodiscard]] inline Image gloss(const Device& device, const ImageView& map, const Gloss& parameters = {}) {
  return run_filter(Gloss::record(), device, map, &parameters);
}

}  // namespace satin
