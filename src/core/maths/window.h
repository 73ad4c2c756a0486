#pragma once
// Windows along one axis. Radii are in 1/256 pixel. The sum over a window is a combination of at most five
// inclusive prefixes, for every border and for windows larger than the picture.

#include <cstdint>

#include "core/maths/hd.h"
#include "satin/border.h"

namespace satin {

/// A radius r in 1/256 pixel. A fractional radius mixes the whole windows of radius r >> 8 and (r >> 8) + 1
/// by the covered area, r & 255.
using Radius256 = std::int32_t;
inline constexpr int radius_one = 256;
inline constexpr int largest_radius = 16384;

struct Window {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

SATIN_HD Window window_around(std::int64_t centre, std::int64_t reach) {
  return {centre - reach, centre + reach};
}

SATIN_HD bool inside(Window window, std::int64_t size) { return window.low >= 0 && window.high < size; }

/// Returns the number of pixels of the window that are in the picture.
SATIN_HD std::int64_t existing(Window window, std::int64_t size) {
  const std::int64_t low = window.low < 0 ? 0 : window.low;
  const std::int64_t high = window.high >= size ? size - 1 : window.high;
  return high < low ? 0 : high - low + 1;
}

/// Returns the number of pixels that count: those in the picture for shrink, otherwise all.
SATIN_HD std::int64_t counted(Window window, std::int64_t size, Border border) {
  return border == Border::shrink ? existing(window, size) : window.high - window.low + 1;
}

/// The sum over a window as the sum of coefficient[i] * prefix(index[i]), where prefix(k) is the sum of the
/// values 0..k. Terms with coefficient 0 may have an invalid index and must be skipped.
struct PrefixTerms {
  static constexpr int count = 5;
  std::int32_t index[count] = {};
  std::int32_t coefficient[count] = {};
};

namespace detail {

enum PrefixSlot { slot_first, slot_before_last, slot_last, slot_high, slot_low };

SATIN_HD void add_term(PrefixTerms& terms, int slot, std::int64_t index, std::int64_t coefficient) {
  if (index < 0) return;  // the empty prefix
  terms.index[slot] = static_cast<std::int32_t>(index);
  terms.coefficient[slot] += static_cast<std::int32_t>(coefficient);
}

SATIN_HD std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

/// Adds sign * (sum of the values 0..end of the line, extended by its border).
SATIN_HD void add_prefix(PrefixTerms& terms, std::int64_t end, std::int64_t size, Border border, int sign,
                         int slot) {
  const std::int64_t last = size - 1;
  if (border == Border::mirror && size == 1) border = Border::clamp;
  switch (border) {
    case Border::shrink:
    case Border::constant:
      add_term(terms, slot, end > last ? last : end, sign);
      return;
    case Border::clamp:
      if (end < 0) {
        add_term(terms, slot_first, 0, sign * (end + 1));
      } else if (end > last) {
        add_term(terms, slot_last, last, sign * (end - last + 1));
        add_term(terms, slot_before_last, last - 1, -sign * (end - last));
      } else {
        add_term(terms, slot, end, sign);
      }
      return;
    case Border::wrap: {
      const std::int64_t periods = floor_divide(end, size);
      add_term(terms, slot_last, last, sign * periods);
      add_term(terms, slot, end - periods * size, sign);
      return;
    }
    case Border::reflect: {
      const std::int64_t periods = floor_divide(end, 2 * size);
      const std::int64_t phase = end - periods * 2 * size;
      add_term(terms, slot_last, last, sign * 2 * periods);
      if (phase < size) {
        add_term(terms, slot, phase, sign);
      } else {
        add_term(terms, slot_last, last, sign * 2);
        add_term(terms, slot, 2 * size - 2 - phase, -sign);
      }
      return;
    }
    case Border::mirror: {
      const std::int64_t period = 2 * size - 2;
      std::int64_t periods = floor_divide(end, period);
      const std::int64_t phase = end - periods * period;
      if (phase < size) {
        add_term(terms, slot, phase, sign);
      } else {
        add_term(terms, slot_last, last, sign);
        add_term(terms, slot_before_last, last - 1, sign);
        add_term(terms, slot, 2 * size - 3 - phase, -sign);
      }
      add_term(terms, slot_last, last, sign * periods);
      add_term(terms, slot_before_last, last - 1, sign * periods);
      add_term(terms, slot_first, 0, -sign * periods);
      return;
    }
  }
}

}  // namespace detail

SATIN_HD PrefixTerms prefix_terms(Window window, std::int64_t size, Border border) {
  PrefixTerms terms;
  detail::add_prefix(terms, window.high, size, border, 1, detail::slot_high);
  detail::add_prefix(terms, window.low - 1, size, border, -1, detail::slot_low);
  return terms;
}

/// Returns the pixel at a position of the line extended by its border; -1 where there is none (shrink,
/// constant).
SATIN_HD std::int64_t source_of(std::int64_t position, std::int64_t size, Border border) {
  if (position >= 0 && position < size) return position;
  if (border == Border::mirror && size == 1) return 0;
  switch (border) {
    case Border::shrink:
    case Border::constant:
      return -1;
    case Border::clamp:
      return position < 0 ? 0 : size - 1;
    case Border::wrap:
      return position - detail::floor_divide(position, size) * size;
    case Border::reflect: {
      const std::int64_t phase = position - detail::floor_divide(position, 2 * size) * 2 * size;
      return phase < size ? phase : 2 * size - 1 - phase;
    }
    case Border::mirror: {
      const std::int64_t period = 2 * size - 2;
      const std::int64_t phase = position - detail::floor_divide(position, period) * period;
      return phase < size ? phase : period - phase;
    }
  }
  return -1;
}

/// The inner and the outer whole window of a radius, their weights, and the weighted number of pixels. Whole
/// radii have the weights 1 and 0; other weights add up to 256.
struct AxisBox {
  std::int64_t reach = 0;  ///< radius of the inner window; that of the outer one is one more
  std::uint32_t inner = 1;
  std::uint32_t outer = 0;
  std::uint64_t size = 0;      ///< weighted number of counted pixels: the divisor along this axis
  std::uint64_t existing = 0;  ///< weighted number of pixels in the picture
};

SATIN_HD AxisBox axis_box(std::int64_t centre, std::int64_t size, Radius256 radius, Border border) {
  AxisBox box;
  box.reach = radius / radius_one;
  const std::uint32_t fraction = static_cast<std::uint32_t>(radius) % radius_one;
  if (fraction != 0) {
    box.inner = radius_one - fraction;
    box.outer = fraction;
  }
  const Window inner = window_around(centre, box.reach);
  const Window outer = window_around(centre, box.reach + 1);
  box.size = box.inner * static_cast<std::uint64_t>(counted(inner, size, border)) +
             box.outer * static_cast<std::uint64_t>(counted(outer, size, border));
  box.existing = box.inner * static_cast<std::uint64_t>(existing(inner, size)) +
                 box.outer * static_cast<std::uint64_t>(existing(outer, size));
  return box;
}

/// Returns the radius of a map value: low + (high - low) * value / maximum, to the nearest 1/256, ties up.
SATIN_HD Radius256 radius_from_map(std::uint32_t value, std::uint32_t maximum, Radius256 low,
                                   Radius256 high) {
  const auto weighted =
      static_cast<std::int64_t>(low) * (maximum - value) + static_cast<std::int64_t>(high) * value;
  return static_cast<Radius256>((2 * weighted + maximum) / (2 * static_cast<std::int64_t>(maximum)));
}

/// Returns the radius of a value of a float map, whose maximum is 1. Clamps NaN and values outside 0..1,
/// which are refused elsewhere.
SATIN_HD Radius256 radius_from_map(float value, Radius256 low, Radius256 high) {
  const double fraction = !(value > 0.0F) ? 0.0 : value > 1.0F ? 1.0 : static_cast<double>(value);
  const double radius = static_cast<double>(low) + static_cast<double>(high - low) * fraction;
  return static_cast<Radius256>(radius + 0.5);
}

}  // namespace satin
