// Weights of resampling. Only additions, products, quotients and floor of doubles are used, which are
// correctly rounded, so every machine computes the same weights.

#include "resample/weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace satin {

double sine_of_steps(std::int64_t steps, std::int64_t half_turn) {
  std::int64_t rest = steps % (2 * half_turn);
  if (rest < 0) rest += 2 * half_turn;
  const bool negative = rest >= half_turn;
  if (negative) rest -= half_turn;
  rest = std::min(rest, half_turn - rest);  // up to a quarter turn
  constexpr double pi = 3.14159265358979323846;
  const double angle = pi * static_cast<double>(rest) / static_cast<double>(half_turn);
  const double square = angle * angle;
  double series = 1;  // Taylor's, up to angle^23 / 23! < 2^-59
  for (int n = 22; n >= 2; n -= 2) series = 1 - square * series / static_cast<double>(n * (n + 1));
  return negative ? -angle * series : angle * series;
}

namespace {

constexpr std::int64_t lobes = 3;

/// Returns floor(a / b) for b > 0.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Returns sinc(x) sinc(x / 3) at x = steps / (2 * scale), |x| < 3.
double lanczos_window(std::int64_t steps, std::int64_t scale) {
  if (steps == 0) return 1;
  constexpr double pi = 3.14159265358979323846;
  const double angle = pi * static_cast<double>(steps) / static_cast<double>(2 * scale);
  const double product =
      sine_of_steps(lobes * steps, 2 * lobes * scale) * sine_of_steps(steps, 2 * lobes * scale);
  return static_cast<double>(lobes) * product / (angle * angle);
}

/// Rounds weights to multiples of 2^-lanczos_bits with the sum 1; the largest takes the rest.
void normalize(std::vector<double>& weights) {
  constexpr double one = std::int64_t{1} << lanczos_bits;
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double rest = one;
  double magnitudes = 0;
  for (double& weight : weights) {
    weight = std::floor(weight / sum * one + 0.5);
    rest -= weight;
  }
  *std::max_element(weights.begin(), weights.end()) += rest;
  for (double& weight : weights) {
    magnitudes += std::fabs(weight);
    weight /= one;
  }
  if (magnitudes >= 2 * one) throw std::logic_error("weights of lanczos exceed their bound");
}

/// An axis whose numbers of pixels and results have no common divisor; the picture's own has `all` pixels.
struct Axis {
  ResampleKernel kernel;
  std::int64_t pixels;
  std::int64_t results;
  std::int64_t all;

  Axis(ResampleKernel weighs, std::int64_t from, std::int64_t to)
      : kernel(weighs), pixels(from / std::gcd(from, to)), results(to / std::gcd(from, to)), all(from) {}

  /// Returns the centre of position i in units of 1 / (2 results).
  [[nodiscard]] std::int64_t centre(std::int64_t i) const { return (2 * i + 1) * pixels; }
  [[nodiscard]] std::int64_t scale() const { return std::max(pixels, results); }

  /// Returns the pixels that position i reads, also beyond the ends of the axis.
  [[nodiscard]] Stretch endless(std::int64_t i) const {
    if (kernel == ResampleKernel::area) return {i * pixels / results, ((i + 1) * pixels - 1) / results + 1};
    if (kernel == ResampleKernel::nearest) return {centre(i) / (2 * results), centre(i) / (2 * results) + 1};
    const std::int64_t reach = 2 * lobes * scale();
    return {floor_quotient(centre(i) - reach - results, 2 * results) + 1,
            floor_quotient(centre(i) + reach - results - 1, 2 * results) + 1};
  }
  [[nodiscard]] Stretch read(std::int64_t i) const {
    const Stretch line = endless(i);
    return {std::max<std::int64_t>(line.first, 0), std::min(line.last, all)};
  }

  [[nodiscard]] double weight(std::int64_t i, std::int64_t j) const {
    if (kernel == ResampleKernel::lanczos) return lanczos_window((2 * j + 1) * results - centre(i), scale());
    if (kernel == ResampleKernel::nearest) return 1;
    return static_cast<double>(std::min((j + 1) * results, (i + 1) * pixels) -
                               std::max(j * results, i * pixels));
  }
};

}  // namespace

Stretch pixels_read(ResampleKernel kernel, std::int64_t pixels, std::int64_t results,
                    const Stretch& positions) {
  const Axis axis(kernel, pixels, results);
  return {axis.read(positions.first).first, axis.read(positions.last - 1).last};
}

AxisWeights axis_weights(ResampleKernel kernel, std::int64_t pixels, std::int64_t results) {
  const Axis axis(kernel, pixels, results);
  AxisWeights found;
  if (kernel == ResampleKernel::area) found.total = static_cast<double>(axis.pixels);
  // Positions whose distance is a multiple of axis.results have the same weights, except at the ends.
  std::vector<std::int32_t> row_of_phase(static_cast<std::size_t>(axis.results), -1);
  std::vector<double> weights;
  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < results; ++i) {
    const Stretch read = axis.read(i);
    found.first.push_back(static_cast<std::int32_t>(read.first));
    found.count.push_back(static_cast<std::int32_t>(read.size()));
    std::int32_t own = -1;
    std::int32_t& row =
        read == axis.endless(i) ? row_of_phase[static_cast<std::size_t>(i % axis.results)] : own;
    if (row < 0) {
      row = static_cast<std::int32_t>(rows.size());
      weights.clear();
      for (std::int64_t j = read.first; j < read.last; ++j) weights.push_back(axis.weight(i, j));
      if (kernel == ResampleKernel::lanczos) normalize(weights);
      rows.push_back(weights);
      found.most = std::max(found.most, weights.size());
    }
    found.row.push_back(row);
  }
  found.weights.resize(rows.size() * found.most);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(),
              found.weights.begin() + static_cast<std::ptrdiff_t>(i * found.most));
  return found;
}

}  // namespace satin
