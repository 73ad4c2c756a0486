// Lamps drawn into rows of deltas, for the file that Highway compiles once for every SIMD target.

#if defined(SATIN_SPLAT_LAMPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SPLAT_LAMPS_INL_H
#undef SATIN_SPLAT_LAMPS_INL_H
#else
#define SATIN_SPLAT_LAMPS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "lens/cpu/splat_spread-inl.h"
#include "lens/maths/aperture.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Adds `difference`, whose magnitude is below 2^32, times a colour and 1 to a cell.
template <int Channels>
HWY_INLINE void AddDifference(const std::uint32_t* colour, std::int64_t difference, std::uint64_t* to) {
  const CellTag<Channels> d;
  const auto weight = static_cast<std::uint32_t>(difference < 0 ? -difference : difference);
  for (std::size_t part = 0; part < cell_size(Channels); part += hn::Lanes(d)) {
    const auto sum = hn::LoadU(d, to + part);
    const auto cell = WeightedCell<Channels>(colour, weight, part);
    hn::StoreU(difference < 0 ? hn::Sub(sum, cell) : hn::Add(sum, cell), d, to + part);
  }
}

template <int Channels, int Most>
void DrawLamp(const Lamp& lamp, const LampShape& shape, std::uint64_t* const* rows, const DeltaRows& area) {
  const Padded<Channels> colour(lamp.sample.colour);
  LampRow<Most> above;
  LampRow<Most> own;
  above.load(shape, -shape.reach() - 1);
  for (std::int32_t row = -shape.reach(); row <= shape.reach() + 1; ++row) {
    own.load(shape, row);
    std::uint64_t* cells = rows[area.reach + row];
    for_lamp_deltas(own, above, lamp.share, [&](std::int32_t column, std::int64_t difference) {
      const std::int64_t at = std::clamp<std::int64_t>(lamp.sample.x + column, area.first, area.last);
      AddDifference<Channels>(colour.colour, difference, cells + (at - area.first) * cell_size(Channels));
    });
    above = own;
  }
}

/// The bit of its group, or 0 where it does not reach the area.
template <int Channels>
std::uint32_t SpreadLamp(const SplatRule& rule, const Aperture& aperture, const Lamp& lamp,
                         const DeltaRows& area) {
  const LampShape shape(aperture, lamp.sample);
  if (lamp.sample.x - shape.reach() >= area.last || lamp.sample.x + shape.reach() + 1 < area.first) return 0;
  const std::uint32_t group = std::min<std::uint32_t>(lamp.sample.group, rule.last_group);
  std::uint64_t* const* rows = area.rows + group * area.span;
  aperture.simple != 0 ? DrawLamp<Channels, 2>(lamp, shape, rows, area)
                       : DrawLamp<Channels, most_aperture_edges>(lamp, shape, rows, area);
  return 1U << group;
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
