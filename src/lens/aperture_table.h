#pragma once
// The aperture that a style describes, as rows of edges.

#include "core/workspace.h"
#include "lens/maths/aperture.h"
#include "satin/lens_style.h"

namespace satin {

/// An aperture's tables on the host.
struct ApertureTable {
  WorkspaceVector<ApertureRow> rows;
  WorkspaceVector<ApertureEdge> edges;
  float reach = 1;     ///< Aperture::reach
  bool simple = true;  ///< Aperture::simple
  float cut = 0;       ///< Aperture::cut, for a picture whose corner is one pixel from its middle
  int peak_bits = 0;   ///< no pixel gets more than 2^peak_bits times what a disc of that reach would give it
};

/// The shape of the variance of a disc of radius 1: a disc, or a regular polygon that stands on a side, whose
/// sides are arcs; turned, squeezed to the same area, and with rings. Throws Error(usage) for values out of
/// range.
[[nodiscard]] ApertureTable aperture_table(const LensStyle& style);

/// ApertureTable::peak_bits of a style.
[[nodiscard]] int peak_bits_of(const LensStyle& style);

/// Number of blades of the opening; 0: it is round.
[[nodiscard]] int blades_of(const LensStyle& style);

}  // namespace satin
