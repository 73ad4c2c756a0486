#include "tests/oracles/oracle_guided.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tests/oracles/oracle_line.h"

namespace satin::test {
namespace {

using Real = long double;

Real stored(const ImageView& image, std::int64_t x, std::int64_t y, int channel) {
  if (image.shape.type == Type::u8) return image.value<std::uint8_t>(x, y, channel);
  if (image.shape.type == Type::u16) return image.value<std::uint16_t>(x, y, channel);
  return image.value<float>(x, y, channel);
}

/// Solves the equations by elimination with the largest pivot of each column.
std::vector<Real> solved(std::vector<std::vector<Real>> matrix, std::vector<Real> right) {
  const std::size_t size = right.size();
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < size; ++row)
      if (std::fabs(matrix[row][column]) > std::fabs(matrix[pivot][column])) pivot = row;
    std::swap(matrix[column], matrix[pivot]);
    std::swap(right[column], right[pivot]);
    for (std::size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const Real factor = matrix[row][column] / matrix[column][column];
      for (std::size_t i = column; i < size; ++i) matrix[row][i] -= factor * matrix[column][i];
      right[row] -= factor * right[column];
    }
  }
  for (std::size_t i = 0; i < size; ++i) right[i] /= matrix[i][i];
  return right;
}

/// The linear function of one window: slopes, then the offset.
using Line = std::vector<Real>;

/// Calls visit(x, y, weight) for every pixel of the picture in a window.
template <class Visit>
void for_window(const LineWeights& columns, const LineWeights& rows, const Visit& visit) {
  for (const auto& row : rows.terms)
    for (const auto& column : columns.terms)
      visit(column.index, row.index, static_cast<Real>(row.weight * column.weight));
}

class Definition {
 public:
  Definition(const ImageView& picture, const ImageView& guide, const GuidedCase& settings)
      : picture_(picture),
        guide_(guide),
        colours_(guide.shape.channels >= 3 ? 3 : 1),
        eps_(static_cast<Real>(settings.eps) * counted_white(guide.shape) * counted_white(guide.shape)) {}

  [[nodiscard]] Line line(const LineWeights& columns, const LineWeights& rows, int channel) const {
    Real weights = 0;
    Real mean_p = 0;
    std::array<Real, 3> means{};
    for_window(columns, rows, [&](std::int64_t x, std::int64_t y, Real weight) {
      weights += weight;
      mean_p += weight * counted_value(picture_, x, y, channel);
      for (int i = 0; i < colours_; ++i) means[static_cast<std::size_t>(i)] += weight * at(x, y, i);
    });
    mean_p /= weights;
    for (Real& mean : means) mean /= weights;
    const auto size = static_cast<std::size_t>(colours_);
    std::vector<std::vector<Real>> matrix(size, std::vector<Real>(size));
    std::vector<Real> right(size);
    for_window(columns, rows, [&](std::int64_t x, std::int64_t y, Real weight) {
      for (std::size_t i = 0; i < size; ++i) {
        const Real distance = at(x, y, static_cast<int>(i)) - means[i];
        right[i] += weight / weights * distance * (counted_value(picture_, x, y, channel) - mean_p);
        for (std::size_t j = 0; j < size; ++j)
          matrix[i][j] += weight / weights * distance * (at(x, y, static_cast<int>(j)) - means[j]);
      }
    });
    for (std::size_t i = 0; i < size; ++i) matrix[i][i] += eps_;
    Line result = solved(std::move(matrix), std::move(right));
    Real offset = mean_p;
    for (std::size_t i = 0; i < size; ++i) offset -= result[i] * means[i];
    result.push_back(offset);
    return result;
  }

  [[nodiscard]] Real at(std::int64_t x, std::int64_t y, int i) const {
    return counted_value(guide_, x, y, i);
  }
  [[nodiscard]] int colours() const { return colours_; }

 private:
  const ImageView& picture_;
  const ImageView& guide_;
  int colours_;
  Real eps_;
};

}  // namespace

long double counted_value(const ImageView& image, std::int64_t x, std::int64_t y, int channel) {
  const Real value = stored(image, x, y, channel);
  const int alpha = image.shape.channels - 1;
  const bool multiplied = image.shape.alpha == Alpha::straight && channel != alpha;
  return multiplied ? value * stored(image, x, y, alpha) : value;
}

long double counted_white(const Shape& shape) {
  const Real white = shape.type == Type::u8 ? 255 : shape.type == Type::u16 ? 65535 : 1;
  return shape.alpha == Alpha::straight ? white * white : white;
}

std::vector<GuidedValue> guided_by_definition(const ImageView& picture, const ImageView& guide,
                                              const GuidedCase& settings) {
  const Shape& shape = picture.shape;
  const Definition definition(picture, guide, settings);
  const auto reach_x = static_cast<int>(settings.reach_x);
  const auto reach_y = static_cast<int>(settings.reach_y);
  const ExtendedLine columns(static_cast<int>(shape.width), reach_x, settings.border);
  const ExtendedLine rows(static_cast<int>(shape.height), reach_y, settings.border);
  const auto index = [&](std::int64_t x, std::int64_t y, int channel) {
    return static_cast<std::size_t>((y * shape.width + x) * shape.channels + channel);
  };
  std::vector<Line> lines(index(0, shape.height, 0));
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c)
        lines[index(x, y, c)] =
            definition.line(whole_window(columns, x, reach_x), whole_window(rows, y, reach_y), c);
  std::vector<GuidedValue> results(lines.size());
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        Line mean(static_cast<std::size_t>(definition.colours()) + 1);
        Real weights = 0;
        GuidedValue& result = results[index(x, y, c)];
        for_window(whole_window(columns, x, reach_x), whole_window(rows, y, reach_y),
                   [&](std::int64_t wx, std::int64_t wy, Real weight) {
                     const Line& line = lines[index(wx, wy, c)];
                     Real steep = 0;
                     for (std::size_t i = 0; i < line.size(); ++i) mean[i] += weight * line[i];
                     for (std::size_t i = 0; i + 1 < line.size(); ++i) steep += std::fabs(line[i]);
                     result.steepest = std::max(result.steepest, steep);
                     weights += weight;
                   });
        result.value = mean.back() / weights;
        for (int i = 0; i < definition.colours(); ++i)
          result.value += mean[static_cast<std::size_t>(i)] / weights * definition.at(x, y, i);
      }
  return results;
}

}  // namespace satin::test
