#pragma once
// One pixel that is painted over: with a colour, or the mean of the cell of a grid that it lies in.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "means/maths/mean.h"
#include "pixels/maths/rows.h"
#include "tables/maths/gather.h"

namespace satin {

template <class T, int Channels, class Sum>
struct PaintPixels {
  MeanRule rule;
  int fixed_bits = 0;
  std::int64_t cell = 0;  ///< its side; 0: one colour
  WideSum colour[4];
  const Measured* measured = nullptr;  ///< of floats, for cells
  TableView<Sum> table;
  Rows<const T> source;
  Rows<const std::uint8_t> weights;
  Rows<T> output;

  struct Row {
    const PaintPixels& step;
    FixedExponents exponents;
    int y;

    SATIN_HD void operator()(int x) const {
      const std::uint32_t weight = step.weights.row(y)[x];
      const T* original = step.source.row(y) + std::int64_t{x} * Channels;
      T* out = step.output.row(y) + std::int64_t{x} * Channels;
      if (weight == 0) {
        for (int c = 0; c < Channels; ++c) out[c] = original[c];
        return;
      }
      WideSum sums[4];
      std::uint64_t count = 1;
      if (step.cell == 0)
        for (int c = 0; c < Channels; ++c) sums[c] = step.colour[c];
      else
        count = cell_sums<Channels>(step.table, x, y, step.cell, step.rule.fixed_point, sums);
      if constexpr (std::is_same_v<T, float>)
        store_float_mean<Channels>(sums, count, original, weight, step.rule, exponents, out);
      else
        store_integer_mean<Channels>(sums, count, original, weight, step.rule, out);
    }
  };
  SATIN_HD Row row(int y) const {
    return {*this, measured == nullptr ? FixedExponents{} : fixed_exponents(*measured, fixed_bits), y};
  }
};

}  // namespace satin
