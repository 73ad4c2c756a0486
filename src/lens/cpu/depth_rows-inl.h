// Rows of depth on its way to radii, for files that Highway compiles once for every SIMD target.

#if defined(SATIN_DEPTH_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DEPTH_ROWS_INL_H
#undef SATIN_DEPTH_ROWS_INL_H
#else
#define SATIN_DEPTH_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lens/maths/circle_of_confusion.h"
#include "lens/maths/planar_radius.h"
#include "lens/maths/smooth_steps.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE auto StoredDepth(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}
template <class D, class Integer>
HWY_INLINE auto StoredDepth(D d, const Integer* from) {
  return ExactDouble(d, LoadWide(hn::Rebind<std::uint32_t, D>(), from));
}

/// The inverse distances of all lanes, and which of them are known.
template <class V, class M>
struct InverseDistances {
  V value;
  M known;
};
template <class D, class V>
HWY_INLINE auto InverseOf(D d, V stored, const DepthRule& rule) {
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  const auto value = hn::Add(hn::Set(d, rule.offset), hn::Mul(hn::Set(d, rule.gain), stored));
  auto known = hn::Eq(hn::Sub(stored, stored), zero);
  if (rule.has_unknown) known = hn::And(known, hn::Ne(stored, hn::Set(d, rule.unknown)));
  if (rule.distances) known = hn::And(known, hn::Gt(value, zero));
  const auto inverse = rule.distances ? hn::Div(one, hn::IfThenElse(known, value, one)) : value;
  return InverseDistances<V, decltype(known)>{inverse, known};
}

/// circle_of_confusion() of all lanes, step by step.
template <class D, class V>
HWY_INLINE auto Circles(D d, V stored, const DepthRule& rule, const LensState& state) {
  const auto [inverse, known] = InverseOf(d, stored, rule);
  const auto near_edge = hn::Set(d, state.near_edge);
  const auto far_edge = hn::Set(d, state.far_edge);
  auto beyond = hn::IfThenElseZero(hn::Gt(inverse, near_edge), hn::Sub(inverse, near_edge));
  beyond = hn::IfThenElse(hn::Lt(inverse, far_edge), hn::Sub(inverse, far_edge), beyond);
  const auto radius = hn::Mul(beyond, hn::Set(d, state.strength));
  const auto largest = hn::Set(d, rule.largest);
  const auto held = hn::Max(hn::Min(radius, largest), hn::Neg(largest));
  const auto nearest = hn::Floor(hn::Add(held, hn::Set(d, 0.5)));
  return hn::IfThenElse(known, nearest, hn::Set(d, static_cast<double>(unknown_radius)));
}

/// radii[x] = circle_of_confusion(stored[x]), of u8, u16 or f32.
template <class Stored>
void FindCircles(const Stored* stored, std::int64_t width, const DepthRule& of_rule,
                 const LensState& of_state, SignedRadius256* radii) {
  const DepthRule rule = of_rule;
  const LensState state = of_state;
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes)
    hn::StoreU(hn::DemoteTo(integers, Circles(d, StoredDepth(d, stored + x), rule, state)), integers,
               radii + x);
  for (; x < width; ++x) radii[x] = circle_of_confusion(static_cast<double>(stored[x]), rule, state);
}

/// planar_radius() of the columns at `places`, step by step; `along_y` is the row's part.
template <class D, class V>
HWY_INLINE auto PlanarRadii(D d, V places, double along_y, const PlanarFocus& focus) {
  const auto zero = hn::Zero(d);
  const auto along_x = hn::Mul(hn::Set(d, focus.normal_x), places);
  const auto distance = hn::Sub(hn::Add(along_x, hn::Set(d, along_y)), hn::Set(d, focus.offset));
  const auto beyond = hn::Sub(hn::Abs(distance), hn::Set(d, focus.half_band));
  const auto held = hn::Min(hn::Mul(beyond, hn::Set(d, focus.slope)), hn::Set(d, focus.largest));
  const auto nearest = hn::Floor(hn::Add(held, hn::Set(d, 0.5)));
  const auto magnitude = hn::IfThenElseZero(hn::Gt(beyond, zero), nearest);
  return hn::IfThenElse(hn::Lt(distance, zero), hn::Neg(magnitude), magnitude);
}

/// radii[x] = planar_radius() of row y.
inline void FindPlanarRadii(std::int64_t y, std::int64_t width, const PlanarFocus& of_focus,
                            SignedRadius256* radii) {
  const PlanarFocus focus = of_focus;
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double along_y = focus.normal_y * (static_cast<double>(y) + 0.5);
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto places = hn::Iota(d, static_cast<double>(x) + 0.5);
    hn::StoreU(hn::DemoteTo(integers, PlanarRadii(d, places, along_y, focus)), integers, radii + x);
  }
  for (; x < width; ++x) radii[x] = planar_radius(x, y, focus);
}

/// Three rows of 8-bit codes; where there is none above or below, the own row.
struct CodeRows {
  const std::uint8_t* above;
  const std::uint8_t* own;
  const std::uint8_t* below;
  std::int64_t width;
  int unknown;  ///< a code, or -1
};

/// step_value() at the ends of a row: a code does not differ from itself.
inline std::uint32_t StepAt(const CodeRows& codes, std::int64_t x) {
  const std::int64_t last = codes.width - 1;
  return step_value(std::int64_t{1}, std::int64_t{1}, 3, 3, codes.unknown,
                    [&](std::int64_t u, std::int64_t v) -> int {
                      const std::uint8_t* row = v == 0 ? codes.above : v == 1 ? codes.own : codes.below;
                      return row[std::clamp(x + u - 1, std::int64_t{0}, last)];
                    });
}

/// values[x] = step_value() of the own row.
inline void FindSteps(const CodeRows& of_codes, std::uint32_t* values) {
  const CodeRows codes = of_codes;
  const hn::ScalableTag<std::int32_t> d;
  const hn::RebindToUnsigned<decltype(d)> words;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto unknown = hn::Set(d, codes.unknown);
  values[0] = StepAt(codes, 0);
  std::int64_t x = 1;
  for (; x + lanes < codes.width; x += lanes) {
    const auto own = LoadWide(d, codes.own + x);
    auto low = own;
    auto high = own;
    auto edge = hn::Eq(own, unknown);
    for (const std::uint8_t* neighbour :
         {codes.own + x - 1, codes.own + x + 1, codes.above + x, codes.below + x}) {
      const auto other = LoadWide(d, neighbour);
      low = hn::Min(low, other);
      high = hn::Max(high, other);
      edge = hn::Or(edge, hn::Eq(other, unknown));
    }
    const auto one = hn::Set(d, 1);
    edge = hn::Or(edge, hn::Or(hn::Gt(hn::Sub(high, own), one), hn::Gt(hn::Sub(own, low), one)));
    const auto bit = hn::IfThenElseZero(edge, hn::Set(d, 1 << step_edge_bit));
    hn::StoreU(hn::BitCast(words, hn::Or(own, bit)), words, values + x);
  }
  for (; x < codes.width; ++x) values[x] = StepAt(codes, x);
}

/// floor(dividend / Divisor) of dividends below 2^30 with quotients below 2^17: an estimate that errs by one
/// at most, then its remainder.
template <int Divisor, class D, class V>
HWY_INLINE V Quotient(D d, V dividend) {
  const hn::RebindToFloat<D> real;
  const auto scaled = hn::Mul(hn::ConvertTo(real, dividend), hn::Set(real, 1.0F / Divisor));
  const auto estimate = hn::ConvertTo(d, scaled);
  const auto rest = hn::Sub(dividend, hn::Mul(estimate, hn::Set(d, Divisor)));
  const auto one = hn::Set(d, 1);
  const auto more = hn::IfThenElseZero(hn::Gt(rest, hn::Set(d, Divisor - 1)), one);
  const auto less = hn::IfThenElseZero(hn::Lt(rest, hn::Zero(d)), one);
  return hn::Sub(hn::Add(estimate, more), less);
}

/// smoothed_code() of all lanes, where all windows lie in the image and not at its upper and left border.
template <int Reach, class D, class V>
HWY_INLINE V SmoothedWithin(D d, V codes, const std::uint32_t* at, std::int64_t row) {
  if constexpr (Reach == 0) {
    return hn::ShiftLeft<step_fraction>(codes);
  } else {
    constexpr int area = (2 * Reach + 1) * (2 * Reach + 1);
    const hn::RebindToUnsigned<D> words;
    const auto along = [&](const std::uint32_t* end) HWY_ATTR {
      return hn::Sub(hn::LoadU(words, end + Reach), hn::LoadU(words, end - Reach - 1));
    };
    const auto sum = hn::BitCast(d, hn::Sub(along(at + Reach * row), along(at - (Reach + 1) * row)));
    const auto smooth = hn::Lt(sum, hn::Set(d, 1 << step_edge_bit));
    const auto scaled = hn::ShiftLeft<step_fraction + 1>(hn::IfThenElseZero(smooth, sum));
    const auto mean = Quotient<2 * area>(d, hn::Add(scaled, hn::Set(d, area)));
    if (hn::AllTrue(d, smooth)) return mean;
    return hn::IfThenElse(smooth, mean, SmoothedWithin<Reach / 2>(d, codes, at, row));
  }
}

/// smoothed[x] = smoothed_code() of row y, of which `codes` are the codes.
inline void SmoothCodes(const std::uint8_t* codes, std::int64_t y, int of_unknown,
                        const TableView<std::uint32_t>& of_table, std::uint16_t* smoothed) {
  const TableView<std::uint32_t> table = of_table;
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> stored;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto unknown = hn::Set(d, of_unknown);
  const auto code_of = [&](std::int64_t x) {
    smoothed[x] = smoothed_code(codes[x], x, y, of_unknown, table);
  };
  const bool inside = y > step_reach && y + step_reach < table.height;
  std::int64_t x = 0;
  for (; x < std::min<std::int64_t>(step_reach + 1, table.width); ++x) code_of(x);
  for (; inside && x + lanes + step_reach <= table.width; x += lanes) {
    const auto own = LoadWide(d, codes + x);
    const auto means = SmoothedWithin<step_reach>(d, own, table.data + y * table.row + x, table.row);
    const auto known = hn::IfThenElse(hn::Eq(own, unknown), hn::Set(d, unknown_code), means);
    hn::StoreU(hn::DemoteTo(stored, known), stored, smoothed + x);
  }
  for (; x < table.width; ++x) code_of(x);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
