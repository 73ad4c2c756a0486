#include "tests/oracles/oracle_recursive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/oracles/oracle_transfer.h"

namespace satin::test {
namespace {

using Real = long double;

Real stored_value(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<Real>(view.value<float>(x, y, c));
}

Real white_of(Type type) { return type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1; }

bool has_alpha(const Shape& shape) { return shape.alpha == Alpha::straight; }

/// Scans forward, then backward. `factors` are between each pixel and the one before it, `feedback` is beyond
/// the ends.
void smooth_line(std::vector<Real>& line, const std::vector<Real>& factors, Real feedback) {
  const auto beyond = static_cast<std::size_t>(std::ceil(-50 / std::log(std::max(feedback, 1e-30L)))) + 1;
  std::vector<Real> values(beyond, line.front());
  values.insert(values.end(), line.begin(), line.end());
  values.insert(values.end(), beyond, line.back());
  std::vector<Real> all_factors(values.size(), feedback);
  std::copy(factors.begin() + 1, factors.end(),
            all_factors.begin() + static_cast<std::ptrdiff_t>(beyond) + 1);
  for (std::size_t i = 1; i < values.size(); ++i)
    values[i] = (1 - all_factors[i]) * values[i] + all_factors[i] * values[i - 1];
  for (std::size_t i = values.size() - 1; i-- > 0;)
    values[i] = (1 - all_factors[i + 1]) * values[i] + all_factors[i + 1] * values[i + 1];
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(beyond), line.size(), line.begin());
}

class Smoothing {
 public:
  explicit Smoothing(const OracleRecursive& oracle)
      : oracle_(oracle), shape_(oracle.picture.shape), weighted_(has_alpha(shape_)) {
    decoded_ = oracle.space == Space::linear && shape_.type != Type::f32;
    values_.resize(static_cast<std::size_t>(shape_.width * shape_.height * shape_.channels));
    each([&](std::int64_t x, std::int64_t y, int c) { at(x, y, c) = working(x, y, c); });
    for (const OracleRecursive::Pass& pass : oracle.passes) run(pass);
  }

  void compare(const ImageView& result) {
    std::int64_t unclear = 0;
    Real largest = 0;
    each([&](std::int64_t x, std::int64_t y, int c) {
      largest = std::max(largest, std::fabs(stored_value(oracle_.picture, x, y, c)));
    });
    const Real tolerance = shape_.type == Type::f32 ? 1e-6L * largest : 1;
    each([&](std::int64_t x, std::int64_t y, int c) {
      if (testing::Test::HasFatalFailure()) return;
      Real expected = 0;
      if (!expected_value(x, y, c, expected)) {
        ++unclear;
        return;
      }
      const Real value = stored_value(result, x, y, c);
      ASSERT_LE(std::fabs(value - expected), tolerance)
          << "x " << x << ", y " << y << ", channel " << c << ": " << value << ", expected " << expected;
    });
    EXPECT_LE(unclear, shape_.width * shape_.height * shape_.channels / 2) << "unclear pixels";
  }

 private:
  template <class Body>
  void each(const Body& body) const {
    for (std::int64_t y = 0; y < shape_.height; ++y)
      for (std::int64_t x = 0; x < shape_.width; ++x)
        for (int c = 0; c < shape_.channels; ++c) body(x, y, c);
  }

  Real& at(std::int64_t x, std::int64_t y, int c) {
    return values_[static_cast<std::size_t>((y * shape_.width + x) * shape_.channels + c)];
  }

  [[nodiscard]] bool is_alpha(int c) const { return weighted_ && c == shape_.channels - 1; }

  [[nodiscard]] Real linear(Real stored) const {
    return decoded_ ? static_cast<Real>(oracle_srgb(shape_.type).linear[static_cast<std::size_t>(stored)])
                    : stored;
  }

  [[nodiscard]] Real working(std::int64_t x, std::int64_t y, int c) const {
    const Real stored = stored_value(oracle_.picture, x, y, c);
    if (is_alpha(c)) return stored;
    const Real value = linear(stored);
    return weighted_ ? value * stored_value(oracle_.picture, x, y, shape_.channels - 1) : value;
  }

  [[nodiscard]] Real guide_value(std::int64_t x, std::int64_t y, int c) const {
    const ImageView& guide = oracle_.guide;
    const Real value = stored_value(guide, x, y, c) / white_of(guide.shape.type);
    if (!has_alpha(guide.shape) || c == guide.shape.channels - 1) return value;
    return value * stored_value(guide, x, y, guide.shape.channels - 1) / white_of(guide.shape.type);
  }

  [[nodiscard]] Real distance(std::int64_t x, std::int64_t y, std::int64_t other_x,
                              std::int64_t other_y) const {
    Real sum = 0;
    for (int c = 0; c < oracle_.guide.shape.channels; ++c)
      sum += std::fabs(guide_value(x, y, c) - guide_value(other_x, other_y, c));
    return 1 + oracle_.contrast * sum;
  }

  void run(const OracleRecursive::Pass& pass) {
    const std::int64_t length = pass.along_x ? shape_.width : shape_.height;
    const std::int64_t lines = pass.along_x ? shape_.height : shape_.width;
    for (std::int64_t l = 0; l < lines; ++l) {
      const auto place = [&](std::int64_t i) { return pass.along_x ? std::pair{i, l} : std::pair{l, i}; };
      std::vector<Real> factors = {1};
      for (std::int64_t i = 1; i < length; ++i) {
        const auto [x, y] = place(i);
        const auto [before_x, before_y] = place(i - 1);
        factors.push_back(oracle_.guided ? std::pow(pass.feedback, distance(x, y, before_x, before_y))
                                         : pass.feedback);
      }
      for (int c = 0; c < shape_.channels; ++c) {
        std::vector<Real> line;
        for (std::int64_t i = 0; i < length; ++i) line.push_back(at(place(i).first, place(i).second, c));
        smooth_line(line, factors, pass.feedback);
        for (std::int64_t i = 0; i < length; ++i)
          at(place(i).first, place(i).second, c) = line[static_cast<std::size_t>(i)];
      }
    }
  }

  [[nodiscard]] Real encoded(Real value) const {
    if (shape_.type == Type::f32) return value;
    const auto whole = static_cast<std::int64_t>(std::floor(value + 0.5L));
    return static_cast<Real>(decoded_ ? oracle_srgb(shape_.type).encode(whole) : whole);
  }

  /// Returns false where rounding decides the stored value.
  bool expected_value(std::int64_t x, std::int64_t y, int c, Real& expected) {
    const Real own = stored_value(oracle_.picture, x, y, c);
    const Real weight =
        oracle_.mask.empty() ? 1 : stored_value(oracle_.mask, x, y, 0) / white_of(oracle_.mask.shape.type);
    if (weight == 0) {
      expected = own;
      return true;
    }
    if (!weighted_) {
      expected = encoded(linear(own) * (1 - weight) + at(x, y, c) * weight);
      return true;
    }
    return expected_with_alpha(x, y, c, weight, expected);
  }

  /// Integer alpha is rounded before it is blended.
  bool expected_with_alpha(std::int64_t x, std::int64_t y, int c, Real weight, Real& expected) {
    const bool integers = shape_.type != Type::f32;
    const Real own = stored_value(oracle_.picture, x, y, c);
    const Real own_alpha = stored_value(oracle_.picture, x, y, shape_.channels - 1);
    const Real exact_alpha = at(x, y, shape_.channels - 1);
    const Real mean_alpha = integers ? std::floor(exact_alpha + 0.5L) : exact_alpha;
    if (integers && std::fabs(std::fabs(exact_alpha - mean_alpha) - 0.5L) < 0.01L) return false;
    const Real alpha = own_alpha * (1 - weight) + mean_alpha * weight;
    const Real result_alpha = integers ? std::floor(alpha + 0.5L) : alpha;
    if (is_alpha(c)) {
      expected = result_alpha;
      return true;
    }
    if (result_alpha == 0) {
      expected = own;
      return true;
    }
    if (exact_alpha < white_of(shape_.type) / 256) return false;
    const Real mean = at(x, y, c) / exact_alpha;
    expected = encoded((linear(own) * own_alpha * (1 - weight) + mean * mean_alpha * weight) / alpha);
    return true;
  }

  OracleRecursive oracle_;
  Shape shape_;
  bool weighted_;
  bool decoded_ = false;
  std::vector<Real> values_;
};

}  // namespace

void expect_near_oracle(const OracleRecursive& oracle, const ImageView& result) {
  Smoothing(oracle).compare(result);
}

}  // namespace satin::test
