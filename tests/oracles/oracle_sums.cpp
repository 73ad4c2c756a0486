#include "tests/oracles/oracle_sums.h"

#include <algorithm>

namespace satin::test {
namespace {

using Lines = std::vector<LineWeights>;

/// Returns the weighted sums of one row at one centre.
template <class Value>
std::array<Value, 4> sum_across(const Working<Value>& working, const LineWeights& weights, int y) {
  std::array<Value, 4> sum{};
  for (const LineWeights::Term& term : weights.terms)
    for (int c = 0; c < working.channels; ++c)
      sum[static_cast<std::size_t>(c)] += static_cast<Value>(term.weight) * working.at(term.index, y, c);
  return sum;
}

template <class Value>
void add_weighted_sum(std::array<Value, 4>& total, std::int64_t weight, const std::array<Value, 4>& sum) {
  for (std::size_t c = 0; c < sum.size(); ++c) total[c] += static_cast<Value>(weight) * sum[c];
}

/// Returns the sums at every pixel for boxes whose weights are a product of rows and columns.
template <class Value>
std::vector<std::array<Value, 4>> sums_of(const Working<Value>& working, const Lines& columns,
                                          const Lines& rows) {
  std::vector<std::array<Value, 4>> across;
  for (int y = 0; y < working.height; ++y)
    for (const LineWeights& weights : columns) across.push_back(sum_across(working, weights, y));
  std::vector<std::array<Value, 4>> sums;
  for (const LineWeights& weights : rows)
    for (int x = 0; x < working.width; ++x) {
      std::array<Value, 4> total{};
      for (const LineWeights::Term& term : weights.terms)
        add_weighted_sum(total, term.weight,
                         across[static_cast<std::size_t>(term.index * working.width + x)]);
      sums.push_back(total);
    }
  return sums;
}

/// Returns the sum at one pixel.
template <class Value>
std::array<Value, 4> sum_at(const Working<Value>& working, const LineWeights& column,
                            const LineWeights& row) {
  std::array<Value, 4> total{};
  for (const LineWeights::Term& term : row.terms)
    add_weighted_sum(total, term.weight, sum_across(working, column, term.index));
  return total;
}

template <class Weights>
Lines for_each_centre(int size, const Weights& weights) {
  Lines lines;
  for (int centre = 0; centre < size; ++centre) lines.push_back(weights(centre));
  return lines;
}

template <class Value>
BoxTotal<Value> finish(const Working<Value>& working, const std::array<Value, 4>& sum,
                       const LineWeights& column, const LineWeights& row, Border border) {
  BoxTotal<Value> total;
  const auto existing = static_cast<Value>(column.existing) * static_cast<Value>(row.existing);
  total.sum = sum;
  total.count =
      border == Border::shrink ? existing : static_cast<Value>(column.whole) * static_cast<Value>(row.whole);
  if (border != Border::constant) return total;
  for (std::size_t c = 0; c < sum.size(); ++c) total.sum[c] += (total.count - existing) * working.outside[c];
  return total;
}

}  // namespace

Wide rounded(Wide numerator, Wide denominator) {
  const Wide doubled = 2 * numerator + denominator;
  const Wide quotient = doubled / (2 * denominator);
  return quotient * 2 * denominator > doubled ? quotient - 1 : quotient;
}

int BoxRadii::largest() const {
  return map.empty() ? std::max(x, y) : *std::max_element(map.begin(), map.end());
}

template <class Value>
std::vector<BoxTotal<Value>> covered_totals(const Working<Value>& working, const BoxRadii& radii,
                                            Border border) {
  const int margin = radii.largest() / 256 + 2;
  const ExtendedLine along_x(working.width, margin, border);
  const ExtendedLine along_y(working.height, margin, border);
  std::vector<BoxTotal<Value>> totals;
  if (radii.map.empty()) {
    const Lines columns =
        for_each_centre(working.width, [&](int x) { return covered_length(along_x, x, radii.x); });
    const Lines rows =
        for_each_centre(working.height, [&](int y) { return covered_length(along_y, y, radii.y); });
    const auto sums = sums_of(working, columns, rows);
    for (const LineWeights& row : rows)
      for (const LineWeights& column : columns)
        totals.push_back(finish(working, sums[totals.size()], column, row, border));
    return totals;
  }
  for (int y = 0; y < working.height; ++y)
    for (int x = 0; x < working.width; ++x) {
      const auto [radius_x, radius_y] = radii.at(x, y, working.width);
      const LineWeights column = covered_length(along_x, x, radius_x);
      const LineWeights row = covered_length(along_y, y, radius_y);
      totals.push_back(finish(working, sum_at(working, column, row), column, row, border));
    }
  return totals;
}

std::vector<std::array<std::array<Wide, 4>, 4>> whole_sums(const Working<Wide>& working,
                                                           const BoxRadii& radii, Border border) {
  const int margin = radii.largest() / 256 + 2;
  const ExtendedLine along_x(working.width, margin, border);
  const ExtendedLine along_y(working.height, margin, border);
  std::vector<std::array<std::array<Wide, 4>, 4>> result(static_cast<std::size_t>(working.width) *
                                                         static_cast<std::size_t>(working.height));
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const int more_x = corner & 1 ? 1 : 0;
    const int more_y = corner & 2 ? 1 : 0;
    std::size_t pixel = 0;
    if (radii.map.empty()) {
      const auto sums =
          sums_of(working,
                  for_each_centre(working.width,
                                  [&](int x) { return whole_window(along_x, x, radii.x / 256 + more_x); }),
                  for_each_centre(working.height,
                                  [&](int y) { return whole_window(along_y, y, radii.y / 256 + more_y); }));
      for (const auto& sum : sums) result[pixel++][corner] = sum;
      continue;
    }
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x) {
        const auto [radius_x, radius_y] = radii.at(x, y, working.width);
        result[pixel++][corner] = sum_at(working, whole_window(along_x, x, radius_x / 256 + more_x),
                                         whole_window(along_y, y, radius_y / 256 + more_y));
      }
  }
  return result;
}

template std::vector<BoxTotal<Wide>> covered_totals(const Working<Wide>&, const BoxRadii&, Border);
template std::vector<BoxTotal<long double>> covered_totals(const Working<long double>&, const BoxRadii&,
                                                           Border);

}  // namespace satin::test
