// Rows of cells of lamps, for files that Highway compiles once for every SIMD target.

#if defined(SATIN_LAMP_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LAMP_ROWS_INL_H
#undef SATIN_LAMP_ROWS_INL_H
#else
#define SATIN_LAMP_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lens/maths/lamps.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// LampScene::brightest() of three colours of as many pixels as D has lanes.
template <class D>
HWY_INLINE auto BrightestOf3(D d, const std::uint32_t* colours) {
  hn::VFromD<D> red;
  hn::VFromD<D> green;
  hn::VFromD<D> blue;
  hn::LoadInterleaved3(d, colours, red, green, blue);
  return hn::Max(hn::Max(red, green), blue);
}

/// SumLampCells of row y of cells, of pictures of three colours. Colours before lamps are brightened are
/// below 2^31; sums of their halves are below 2^32.
inline void SumLampCellsRow(const SumLampCells<3>& step, int y) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const hn::RebindToFloat<decltype(d)> real;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int cells = 16;
  constexpr int pixels = cells * lamp_cell;
  const LampScene<3>& scene = step.scene;
  const LensPlanes planes = scene.planes;
  const int rows = scene.size_of(y, planes.height);
  const auto begin = hn::Set(real, lamp_begin * scene.unit->white);
  alignas(64) std::uint32_t low[pixels];
  alignas(64) std::uint32_t high[pixels];
  alignas(64) std::uint32_t bright[pixels];
  int cell = 0;
  for (; (cell + cells) * lamp_cell <= planes.width; cell += cells) {
    for (int i = 0; i < pixels; i += lanes) {
      auto sum_low = hn::Zero(d);
      auto sum_high = hn::Zero(d);
      auto count = hn::Zero(d);
      std::int64_t at = planes.place(cell * lamp_cell + i, y * lamp_cell);
      for (int row = 0; row < rows; ++row, at += planes.width) {
        const auto value = BrightestOf3(d, scene.colour_at(at));
        sum_low = hn::Add(sum_low, hn::And(value, hn::Set(d, 0xFFFF)));
        sum_high = hn::Add(sum_high, hn::ShiftRight<16>(value));
        const auto is_bright = hn::Gt(hn::ConvertTo(real, hn::BitCast(integers, value)), begin);
        if (hn::AllFalse(real, is_bright)) continue;
        const auto radii = hn::BitCast(integers, hn::LoadU(d, planes.magnitudes + at));
        const auto blurred = hn::Gt(radii, hn::Set(integers, lens_focus_radius));
        const auto both = hn::And(hn::RebindMask(integers, is_bright), blurred);
        count = hn::Add(count, hn::BitCast(d, hn::IfThenElseZero(both, hn::Set(integers, 1))));
      }
      hn::Store(sum_low, d, low + i);
      hn::Store(sum_high, d, high + i);
      hn::Store(count, d, bright + i);
    }
    for (int i = 0; i < cells; ++i) {
      LampCell sums;
      for (int x = i * lamp_cell; x < (i + 1) * lamp_cell; ++x) {
        sums.sum += low[x] + (std::uint64_t{high[x]} << 16);
        sums.bright += bright[x];
      }
      scene.cells[static_cast<std::int64_t>(y) * scene.across() + cell + i] = sums;
    }
  }
  for (; cell < scene.across(); ++cell) step(cell, y);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
