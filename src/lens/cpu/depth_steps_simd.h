#pragma once
// Rows of depth on its way to radii; compiled for every SIMD target.

#include <cstdint>

#include "lens/maths/circle_of_confusion.h"
#include "lens/maths/planar_radius.h"
#include "tables/maths/gather.h"

namespace satin::cpu {

/// radii[x] = circle_of_confusion(stored[x]), of u8, u16 or f32.
template <class Stored>
void find_circles(const Stored* stored, std::int64_t width, const DepthRule& rule, const LensState& state,
                  SignedRadius256* radii);

/// radii[x] = planar_radius() of row y.
void find_planar_radii(std::int64_t y, std::int64_t width, const PlanarFocus& focus, SignedRadius256* radii);

/// Three rows of 8-bit codes; where there is none above or below, the own row.
struct CodeRows {
  const std::uint8_t* above;
  const std::uint8_t* own;
  const std::uint8_t* below;
  std::int64_t width;
  int unknown;  ///< a code, or -1
};

/// values[x] = step_value() of the own row.
void find_steps(const CodeRows& codes, std::uint32_t* values);

/// smoothed[x] = smoothed_code() of row y, of which `codes` are the codes.
void smooth_codes(const std::uint8_t* codes, std::int64_t y, int unknown,
                  const TableView<std::uint32_t>& table, std::uint16_t* smoothed);

}  // namespace satin::cpu
