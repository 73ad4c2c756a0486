// Weights of resampling. Only additions, products, quotients and floor of doubles are used, which are
// correctly rounded, so every machine computes the same weights.

#include "resample/weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace satin {

Stretch AxisWeights::read_by(const Stretch& positions) const {
  if (positions.size() <= 0) return {};
  const auto last = static_cast<std::size_t>(positions.last - 1);
  return {first[static_cast<std::size_t>(positions.first)], first[last] + count[last]};
}

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
  std::int64_t pixels;
  std::int64_t results;
  std::int64_t all;

  /// Appends the weights of position i and returns its first pixel.
  std::int64_t nearest(std::int64_t i, std::vector<double>& weights) const {
    weights.push_back(1);
    return (2 * i + 1) * pixels / (2 * results);
  }

  std::int64_t area(std::int64_t i, std::vector<double>& weights) const {
    const std::int64_t begin = i * pixels, end = begin + pixels;  // in units of 1 / results
    const std::int64_t first = begin / results;
    for (std::int64_t j = first; j * results < end; ++j)
      weights.push_back(static_cast<double>(std::min((j + 1) * results, end) - std::max(j * results, begin)));
    return first;
  }

  std::int64_t lanczos(std::int64_t i, std::vector<double>& weights) const {
    const std::int64_t centre = (2 * i + 1) * pixels;  // in units of 1 / (2 results)
    const std::int64_t scale = std::max(pixels, results);
    const std::int64_t reach = 2 * lobes * scale;
    const std::int64_t first =
        std::max<std::int64_t>(floor_quotient(centre - reach - results, 2 * results) + 1, 0);
    for (std::int64_t j = first; j < all; ++j) {
      const std::int64_t steps = (2 * j + 1) * results - centre;
      if (steps >= reach) break;
      weights.push_back(lanczos_window(steps, scale));
    }
    normalize(weights);
    return first;
  }
};

}  // namespace

AxisWeights axis_weights(ResampleKernel kernel, std::int64_t pixels, std::int64_t results) {
  const std::int64_t common = std::gcd(pixels, results);
  const Axis axis{pixels / common, results / common, pixels};
  AxisWeights found;
  if (kernel == ResampleKernel::area) found.total = static_cast<double>(axis.pixels);
  std::vector<std::vector<double>> lists(static_cast<std::size_t>(results));
  for (std::int64_t i = 0; i < results; ++i) {
    std::vector<double>& weights = lists[static_cast<std::size_t>(i)];
    const std::int64_t first = kernel == ResampleKernel::lanczos ? axis.lanczos(i, weights)
                               : kernel == ResampleKernel::area  ? axis.area(i, weights)
                                                                 : axis.nearest(i, weights);
    found.first.push_back(static_cast<std::int32_t>(first));
    found.count.push_back(static_cast<std::int32_t>(weights.size()));
    found.most = std::max(found.most, weights.size());
  }
  found.weights.resize(lists.size() * found.most);
  for (std::size_t i = 0; i < lists.size(); ++i)
    std::copy(lists[i].begin(), lists[i].end(),
              found.weights.begin() + static_cast<std::ptrdiff_t>(i * found.most));
  return found;
}

}  // namespace satin
