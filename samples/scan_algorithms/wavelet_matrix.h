#pragma once
// A wavelet matrix finds any percentile of any range of an array in as many steps as a value has bits
// (Claude, Navarro and Ordonez, The wavelet matrix, 2015). With a second matrix for each level it does so for
// windows of a picture (Moroto and Umetani, Constant time median filter using 2D wavelet matrix, 2022).

#include <array>
#include <bit>

#include "blocks.h"

namespace study {

/// The half-open range of indices [first, end).
struct Range {
  Index first;
  Index end;
  [[nodiscard]] constexpr Index size() const { return end - first; }
};

/// Returns the indices within `reach` of one, clipped to [0, n).
constexpr Range range_around(Index i, Index n, Index reach) {
  return {std::max<Index>(0, i - reach), std::min(n, i + reach + 1)};
}

/// Returns the rank of the median; of an even count, the lower one.
constexpr Index median_rank(Index count) { return (count + 1) / 2; }

/// The matrix: for each level and each index from 0 to size, the number of elements before it whose bit is 0.
struct WaveletMatrix {
  WaveletMatrix(Index n, int bits)
      : size(n), levels(bits), zeros_before(static_cast<std::size_t>((n + 1) * bits)) {}

  /// Returns the bit of a level. The first level has the highest bit.
  [[nodiscard]] int bit_of(int level) const { return levels - 1 - level; }

  Index size;
  int levels;
  std::vector<std::uint32_t> zeros_before;
};

template <class Machine, class Matrix>
auto level_of(Machine& m, Matrix& matrix, int level) {
  const auto places = static_cast<std::size_t>(matrix.size + 1);
  return m.memory(std::span(matrix.zeros_before).subspan(static_cast<std::size_t>(level) * places, places));
}

/// Splits the elements by one bit of their digit: those with a 0 to the front, the others behind them, both
/// in their order. The scan gives the new index of each zero, and is kept as the level of the matrix. Its
/// entry n is the number of all zeros.
template <class Machine, class Memory, class Words, class Element>
void split_level(Machine& m, Memory from, Memory to, Words zeros_before, Index n, int bit, Index block,
                 std::uint32_t (*digit)(Element)) {
  const auto is_one = [=](const Element& element) { return (digit(element) >> bit & 1U) != 0; };
  m.together(n + 1, [&](Index i) { zeros_before[i] = i < n && !is_one(from[i]) ? 1U : 0U; });
  m.show("is 0, bit ", bit, zeros_before, n);
  m.together(
      1, [&](Index) { scan_blocks(m, zeros_before, zeros_before, n + 1, block, Sum{}, BlellochInBlock{}); });
  m.count_scan();
  m.show("0s before", -1, zeros_before, n + 1);
  const Index zeros = static_cast<std::uint32_t>(zeros_before[n]);
  m.together(n, [&](Index i) {
    const Element element = from[i];
    const Index before = static_cast<std::uint32_t>(zeros_before[i]);
    to[is_one(element) ? zeros + i - before : before] = element;
  });
  m.show("split, bit ", bit, to, n);
}

/// Splits by each bit, the highest first. Does not change `from`.
template <class Machine, class Memory, class Element>
void build_wavelet_matrix(Machine& m, Memory from, Memory to, Memory spare, WaveletMatrix& matrix,
                          Index block, std::uint32_t (*digit)(Element)) {
  for (int level = 0; level < matrix.levels; ++level) {
    split_level(m, from, to, level_of(m, matrix, level), matrix.size, matrix.bit_of(level), block, digit);
    from = to;
    std::swap(to, spare);
  }
}

/// A range seen at one level: the number of its elements with a 0, and the ranges of these and of the others
/// at the next level. They are ranges again because a split keeps the order.
struct Look {
  Index count;
  Range zeros;
  Range ones;
};

template <class Machine, class Words>
Look look(Machine& m, Words zeros_before, Index n, const Range& range) {
  const auto minus = m.operation(Minus{});
  const Index first = static_cast<std::uint32_t>(zeros_before[range.first]);
  const Index end = static_cast<std::uint32_t>(zeros_before[range.end]);
  const Index all = static_cast<std::uint32_t>(zeros_before[n]);
  return {minus(end, first), {first, end}, {all + range.first - first, all + range.end - end}};
}

/// Returns the element of a rank, counted from 1, in the sorted range.
template <class Machine>
std::uint32_t kth_smallest(Machine& m, const WaveletMatrix& matrix, Range range, Index rank) {
  std::uint32_t value = 0;
  for (int level = 0; level < matrix.levels; ++level) {
    const Look seen = look(m, level_of(m, matrix, level), matrix.size, range);
    const bool one = rank > seen.count;
    std::array<Index, 5> row{range.first, range.end, seen.count, rank, one ? 1 : 0};
    m.show("bit ", matrix.bit_of(level), m.memory(std::span<Index>(row)), std::ssize(row));
    if (one) rank -= seen.count;
    range = one ? seen.ones : seen.zeros;
    value = 2 * value + (one ? 1 : 0);
  }
  return value;
}

/// Returns the number of elements of a range whose digit is below the bound. At each level the elements with
/// the bound's higher bits are a range. Where the bit of the bound is 1, those with a 0 are below it.
template <class Machine>
Index count_below(Machine& m, const WaveletMatrix& matrix, Range range, Index bound) {
  Index below = 0;
  for (int level = 0; level < matrix.levels; ++level) {
    const Look seen = look(m, level_of(m, matrix, level), matrix.size, range);
    const bool one = (bound >> matrix.bit_of(level) & 1) != 0;
    if (one) below += seen.count;
    range = one ? seen.ones : seen.zeros;
  }
  return below;
}

constexpr std::uint32_t word_itself(std::uint32_t word) { return word; }

struct Pixel {
  std::uint16_t value;
  std::uint16_t column;
};
constexpr std::uint32_t value_of(Pixel pixel) { return pixel.value; }
constexpr std::uint32_t column_of(Pixel pixel) { return pixel.column; }
inline std::string text_of(const Pixel& pixel) {
  return std::to_string(pixel.value) + '|' + std::to_string(pixel.column);
}

/// The pixels of a picture, row by row, and workspace for three more orders of them.
struct PixelOrders {
  PixelOrders(std::span<const std::uint32_t> values, Index width)
      : split(values.size()), spare(split), other(split) {
    for (Index i = 0; i < std::ssize(values); ++i)
      pixels.push_back({static_cast<std::uint16_t>(values[static_cast<std::size_t>(i)]),
                        static_cast<std::uint16_t>(i % width)});
  }

  std::vector<Pixel> pixels, split, spare, other;
};

struct Window {
  Range columns;
  Range rows;
  [[nodiscard]] constexpr Index size() const { return columns.size() * rows.size(); }
};

/// Returns the window of that reach around the i-th pixel, clipped to the picture.
constexpr Window window_around(Index i, Index width, Index height, Index reach) {
  return {range_around(i % width, width, reach), range_around(i / width, height, reach)};
}

/// Returns the number of bits of a column. A window may end at column `width`, which they hold as well.
constexpr int column_bits(Index width) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(width)));
}

/// A matrix of the values and, for each of its levels, one of the columns in the order after the split.
struct PictureMatrix {
  PictureMatrix(Index picture_columns, Index picture_rows, int bits)
      : width(picture_columns),
        values(picture_columns * picture_rows, bits),
        columns(static_cast<std::size_t>(bits), WaveletMatrix(values.size, column_bits(width))) {}

  Index width;
  WaveletMatrix values;
  std::vector<WaveletMatrix> columns;
};

/// Splits by each bit of the values. After each split, a matrix of the columns is built from the new order.
/// Overwrites all orders.
template <class Machine>
void build_picture_matrix(Machine& m, PixelOrders& orders, PictureMatrix& matrix, Index block) {
  auto pixels = m.memory(std::span(orders.pixels));
  auto split = m.memory(std::span(orders.split));
  const auto spare = m.memory(std::span(orders.spare));
  const auto other = m.memory(std::span(orders.other));
  WaveletMatrix& values = matrix.values;
  for (int level = 0; level < values.levels; ++level) {
    split_level(m, pixels, split, level_of(m, values, level), values.size, values.bit_of(level), block,
                value_of);
    m.together(1, [&](Index) {
      WaveletMatrix& columns = matrix.columns[static_cast<std::size_t>(level)];
      build_wavelet_matrix(m, split, spare, other, columns, block, column_of);
    });
    std::swap(pixels, split);
  }
}

/// Returns the value of a rank, counted from 1, among the sorted pixels of a window. The rows of the window
/// are a range of the first level; among its zeros, those between the columns of the window count.
template <class Machine>
std::uint32_t kth_smallest_in_window(Machine& m, const PictureMatrix& matrix, const Window& window,
                                     Index rank) {
  const auto minus = m.operation(Minus{});
  const WaveletMatrix& values = matrix.values;
  Range range{window.rows.first * matrix.width, window.rows.end * matrix.width};
  std::uint32_t value = 0;
  for (int level = 0; level < values.levels; ++level) {
    const Look seen = look(m, level_of(m, values, level), values.size, range);
    const WaveletMatrix& columns = matrix.columns[static_cast<std::size_t>(level)];
    std::array<Index, 2> left_of{window.columns.first, window.columns.end};
    m.together(2, [&](Index edge) {
      Index& bound = left_of[static_cast<std::size_t>(edge)];
      bound = count_below(m, columns, seen.zeros, bound);
    });
    const Index zeros = minus(left_of[1], left_of[0]);
    const bool one = rank > zeros;
    std::array<Index, 7> row{range.first, range.end, left_of[0], left_of[1], zeros, rank, one ? 1 : 0};
    m.show("bit ", values.bit_of(level), m.memory(std::span<Index>(row)), std::ssize(row));
    if (one) rank -= zeros;
    range = one ? seen.ones : seen.zeros;
    value = 2 * value + (one ? 1 : 0);
  }
  return value;
}

}  // namespace study
