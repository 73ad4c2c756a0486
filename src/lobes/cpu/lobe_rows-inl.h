// Loops over rows of lobes and cells, compiled for every SIMD target. All targets give the same results.

#if defined(SATIN_LOBE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LOBE_ROWS_INL_H
#undef SATIN_LOBE_ROWS_INL_H
#else
#define SATIN_LOBE_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/workspace.h"
#include "lobes/maths/lobe_cells.h"
#include "means/maths/mean.h"
#include "pixels/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Returns sums times a weight below 2^32, modulo 2^64.
template <class D, class V, class Weight>
HWY_INLINE V Weighted(D d, V sums, Weight weight) {
  const hn::Repartition<std::uint32_t, D> halves;
  const V low = hn::MulEven(hn::BitCast(halves, sums), weight);
  const V high = hn::MulEven(hn::BitCast(halves, hn::ShiftRight<32>(sums)), weight);
  return hn::Add(low, hn::BitCast(d, hn::ShiftLeft<32>(high)));
}
#endif

/// add_weighted() (means/maths/mean.h) of ahead[i] - behind[i], signed, on WideSums with separate members.
inline void AddWeightedDifferences(const std::uint64_t* HWY_RESTRICT ahead,
                                   const std::uint64_t* HWY_RESTRICT behind, std::size_t count,
                                   std::uint32_t weight, std::uint64_t* HWY_RESTRICT low,
                                   double* HWY_RESTRICT estimate) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Rebind<std::int64_t, decltype(d)> integers;
  const hn::Rebind<double, decltype(d)> reals;
  const auto factor = hn::Set(hn::Repartition<std::uint32_t, decltype(d)>(), weight);
  const auto real_factor = hn::Set(reals, static_cast<double>(weight));
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::Sub(hn::LoadU(d, ahead + i), hn::LoadU(d, behind + i));
    hn::StoreU(hn::Add(hn::LoadU(d, low + i), Weighted(d, sum, factor)), d, low + i);
    const auto product = hn::Mul(real_factor, hn::ConvertTo(reals, hn::BitCast(integers, sum)));
    hn::StoreU(hn::Add(hn::LoadU(reals, estimate + i), product), reals, estimate + i);
  }
#endif
  for (; i < count; ++i) {
    WideSum total{low[i], estimate[i]};
    add_weighted(total, weight, ahead[i] - behind[i], true);
    low[i] = total.low;
    estimate[i] = total.estimate;
  }
}

/// whole[i] = whole_value() (lobes/maths/lobe_cells.h) of values[i], which must fit 32 bits. Then values[i]
/// becomes the value in the next row of pixels between the rows of cells `above` and `below`.
inline void RoundAndStep(const std::uint64_t* HWY_RESTRICT above, const std::uint64_t* HWY_RESTRICT below,
                         std::size_t count, int cell_bits, std::uint64_t* HWY_RESTRICT values,
                         std::uint32_t* HWY_RESTRICT whole) {
  for (std::size_t i = 0; i < count; ++i) {
    whole[i] = static_cast<std::uint32_t>(whole_value(values[i], cell_bits));
    values[i] += 2 * (below[i] - above[i]);
  }
}

struct PixelRows {
  explicit PixelRows(std::size_t entries) : narrow(entries), wide(entries), sums(entries) {}

  WorkspaceVector<std::uint32_t> narrow;
  WorkspaceVector<std::uint64_t> wide;
  WorkspaceVector<std::uint64_t> sums;
};

template <class Value>
void AddRow(const RowReader& reader, const std::byte* source, std::uint64_t weight,
            WorkspaceVector<Value>& values, std::uint64_t* sums) {
  ReadRow(reader, source, values.size() / static_cast<std::size_t>(reader.read.channels), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i] * weight;
}

inline void SumNeighbours(const WorkspaceVector<std::uint64_t>& pixels, std::size_t channels,
                          std::size_t cell, std::uint64_t* cells) {
  for (std::size_t first = 0; first < pixels.size(); first += cell * channels, cells += channels)
    for (std::size_t c = 0; c < channels; ++c) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < cell; ++i) sum += pixels[first + i * channels + c];
      cells[c] = sum;
    }
}

inline std::uint64_t ValueOf(std::uint64_t stored, std::uint64_t /*type*/) { return stored; }
inline double ValueOf(std::uint64_t stored, double /*type*/) { return double_of(stored); }

/// Sums working values times row weights over each cell of one row of cells, channels interleaved.
/// `row_weights` has an entry for each row of pixels of the cell, from `first_row` on.
inline void SumCells(const RowReader& reader, const ImageView& source, std::int64_t first_row,
                     std::span<const std::uint32_t> row_weights, PixelRows& rows, std::uint64_t* cells) {
  const std::size_t cell = row_weights.size();
  std::uint64_t* sums = cell == 1 ? cells : rows.sums.data();
  std::fill_n(sums, rows.sums.size(), std::uint64_t{0});
  const bool narrow = !reader.read.fixed_point && reader.read.maximum <= 0xFFFFFFFFU;
  for (std::size_t j = 0; j < cell; ++j) {
    const std::byte* row = source.at(0, first_row + static_cast<std::int64_t>(j));
    if (narrow) {
      AddRow(reader, row, row_weights[j], rows.narrow, sums);
    } else {
      AddRow(reader, row, row_weights[j], rows.wide, sums);
    }
  }
  if (cell > 1) SumNeighbours(rows.sums, static_cast<std::size_t>(reader.read.channels), cell, cells);
}

/// Interpolates a row of cells of 2^bits pixels to pixels, times 2^(bits + 1). The row goes around the
/// circle, and begins half the circle away if it is behind a pole. Cells are integers, or the bits of
/// doubles.
template <class Value>
void ExpandCells(std::span<const std::uint64_t> cells, std::size_t channels, int bits, bool behind_pole,
                 std::span<Value> pixels) {
  const auto width = static_cast<std::int64_t>(pixels.size() / channels);
  const std::int64_t turn = behind_pole ? width / 2 : 0;
  for (std::int64_t x = 0; x < width; ++x) {
    const std::int64_t from = x + turn < width ? x + turn : x + turn - width;
    const CellPosition place = cell_position(from, bits);
    const auto next = static_cast<std::size_t>(place.next) * channels;
    const std::uint64_t* left = cells.data() + (next == 0 ? cells.size() : next) - channels;
    const std::uint64_t* right = cells.data() + (next == cells.size() ? 0 : next);
    Value* out = pixels.data() + static_cast<std::size_t>(x) * channels;
    for (std::size_t c = 0; c < channels; ++c)
      out[c] = between(ValueOf(left[c], Value{}), ValueOf(right[c], Value{}), place.weight, bits);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
