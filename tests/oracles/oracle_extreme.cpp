#include "tests/oracles/oracle_extreme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

#include "tests/oracles/oracle_line.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// The order of the numbers, -0 below 0.
template <class T>
bool is_less(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    if (a == 0 && b == 0) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

template <class T>
class Oracle {
 public:
  using Pixel = std::array<T, 4>;

  explicit Oracle(const OracleExtreme& oracle)
      : oracle_(oracle),
        channels_(oracle.picture.shape.channels),
        straight_(oracle.picture.shape.alpha == Alpha::straight),
        columns_(static_cast<int>(oracle.picture.shape.width), oracle.radius_x, oracle.border),
        rows_(static_cast<int>(oracle.picture.shape.height), oracle.radius_y, oracle.border) {
    const double whole = std::is_same_v<T, float> ? 1 : static_cast<double>(static_cast<T>(-1));
    const double value = oracle.border_value * whole;
    outside_.fill(static_cast<T>(std::is_same_v<T, float> ? value : std::floor(value + 0.5)));
  }

  [[nodiscard]] Pixel expected(std::int64_t x, std::int64_t y) const {
    const Pixel own = pixel_at(x, y);
    if (oracle_.mask.empty()) return with_own_colours(window_extreme(x, y), own);
    const bool bytes = oracle_.mask.shape.type == Type::u8;
    const std::uint64_t whole = bytes ? 255 : 65535;
    const std::uint64_t weight =
        bytes ? oracle_.mask.value<std::uint8_t>(x, y) : oracle_.mask.value<std::uint16_t>(x, y);
    if (weight == 0) return own;
    const Pixel extreme = window_extreme(x, y);
    if (weight == whole) return with_own_colours(extreme, own);
    return straight_ ? blended_under_alpha(own, extreme, weight, whole)
                     : blended(own, extreme, weight, whole);
  }

 private:
  [[nodiscard]] Pixel pixel_at(std::int64_t x, std::int64_t y) const {
    Pixel pixel{};
    for (int c = 0; c < channels_; ++c)
      pixel[static_cast<std::size_t>(c)] = oracle_.picture.value<T>(x, y, c);
    return pixel;
  }

  [[nodiscard]] T alpha_of(const Pixel& pixel) const {
    return pixel[static_cast<std::size_t>(channels_ - 1)];
  }

  [[nodiscard]] Pixel window_extreme(std::int64_t x, std::int64_t y) const {
    const LineWeights columns = whole_window(columns_, static_cast<int>(x), oracle_.radius_x);
    const LineWeights rows = whole_window(rows_, static_cast<int>(y), oracle_.radius_y);
    std::array<std::vector<T>, 4> seen;
    const auto see = [&](const Pixel& pixel) {
      for (int c = 0; c < channels_; ++c)
        if (!straight_ || c == channels_ - 1 || alpha_of(pixel) > 0)
          seen[static_cast<std::size_t>(c)].push_back(pixel[static_cast<std::size_t>(c)]);
    };
    for (const LineWeights::Term& row : rows.terms)
      for (const LineWeights::Term& column : columns.terms) see(pixel_at(column.index, row.index));
    const bool leaves = columns.existing != columns.whole || rows.existing != rows.whole;
    if (oracle_.border == Border::constant && leaves) see(outside_);
    Pixel result{};
    for (std::size_t c = 0; c < seen.size(); ++c) {
      if (seen[c].empty()) continue;
      result[c] = oracle_.largest ? *std::max_element(seen[c].begin(), seen[c].end(), is_less<T>)
                                  : *std::min_element(seen[c].begin(), seen[c].end(), is_less<T>);
    }
    return result;
  }

  [[nodiscard]] Pixel with_own_colours(Pixel result, const Pixel& own) const {
    if (straight_ && !(alpha_of(result) > 0)) std::copy_n(own.begin(), channels_ - 1, result.begin());
    return result;
  }

  static T mean(T own, T extreme, std::uint64_t weight, std::uint64_t whole) {
    if constexpr (std::is_same_v<T, float>) {
      const double rest = static_cast<double>(whole - weight);
      return static_cast<float>(
          (static_cast<double>(own) * rest + static_cast<double>(extreme) * static_cast<double>(weight)) /
          static_cast<double>(whole));
    } else {
      return static_cast<T>((2 * (own * (whole - weight) + extreme * weight) + whole) / (2 * whole));
    }
  }

  [[nodiscard]] Pixel blended(const Pixel& own, const Pixel& extreme, std::uint64_t weight,
                              std::uint64_t whole) const {
    Pixel result{};
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c)
      result[c] = mean(own[c], extreme[c], weight, whole);
    return result;
  }

  [[nodiscard]] Pixel blended_under_alpha(const Pixel& own, const Pixel& extreme, std::uint64_t weight,
                                          std::uint64_t whole) const {
    Pixel result = own;
    const auto last = static_cast<std::size_t>(channels_ - 1);
    result[last] = mean(own[last], extreme[last], weight, whole);
    if (!(result[last] > 0) || !(extreme[last] > 0)) return result;
    for (std::size_t c = 0; c < last; ++c)
      result[c] = own[last] > 0 ? mean_colour(own[c], own[last], extreme[c], extreme[last], weight, whole)
                                : extreme[c];
    return result;
  }

  static T mean_colour(T own, T own_alpha, T extreme, T extreme_alpha, std::uint64_t weight,
                       std::uint64_t whole) {
    if constexpr (std::is_same_v<T, float>) {
      const double a = static_cast<double>(own_alpha) * static_cast<double>(whole - weight);
      const double b = static_cast<double>(extreme_alpha) * static_cast<double>(weight);
      return static_cast<float>((static_cast<double>(own) * a + static_cast<double>(extreme) * b) / (a + b));
    } else {
      const std::uint64_t a = own_alpha * (whole - weight);
      const std::uint64_t b = extreme_alpha * weight;
      return static_cast<T>((2 * (own * a + extreme * b) + a + b) / (2 * (a + b)));
    }
  }

  OracleExtreme oracle_;
  int channels_;
  bool straight_;
  ExtendedLine columns_;
  ExtendedLine rows_;
  Pixel outside_{};
};

template <class Action>
auto with_type(Type type, const Action& action) {
  switch (type) {
    case Type::u8:
      return action(std::uint8_t{});
    case Type::u16:
      return action(std::uint16_t{});
    default:
      return action(float{});
  }
}

}  // namespace

Image oracle_extreme(const OracleExtreme& oracle) {
  const Shape& shape = oracle.picture.shape;
  Image result(shape);
  with_type(shape.type, [&]<class T>(T) {
    const Oracle<T> pixels(oracle);
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const auto pixel = pixels.expected(x, y);
        std::copy_n(pixel.begin(), shape.channels, &result.view().value<T>(x, y));
      }
  });
  return result;
}

std::string sampled_difference(const OracleExtreme& oracle, const ImageView& result, int count,
                               std::uint64_t seed) {
  const Shape& shape = result.shape;
  Random random(seed);
  return with_type(shape.type, [&]<class T>(T) -> std::string {
    const Oracle<T> pixels(oracle);
    for (int i = 0; i < count; ++i) {
      std::int64_t x = i < 4 ? (i % 2) * (shape.width - 1) : shape.width / 2;
      std::int64_t y = i < 4 ? (i / 2) * (shape.height - 1) : shape.height / 2;
      if (i > 4) {
        x = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.width)));
        y = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.height)));
      }
      const auto pixel = pixels.expected(x, y);
      if (std::memcmp(pixel.data(), result.at(x, y), sizeof(T) * static_cast<std::size_t>(shape.channels)) ==
          0)
        continue;
      std::ostringstream text;
      text << "x " << x << ", y " << y << ": ";
      for (int c = 0; c < shape.channels; ++c)
        text << +result.value<T>(x, y, c) << " (expected " << +pixel[static_cast<std::size_t>(c)] << ") ";
      return text.str();
    }
    return {};
  });
}

}  // namespace satin::test
