#include "tests/oracles/oracle_rank.h"

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

  explicit Oracle(const OracleRank& oracle)
      : oracle_(oracle),
        channels_(oracle.picture.shape.channels),
        straight_(oracle.picture.shape.alpha == Alpha::straight),
        columns_(static_cast<int>(oracle.picture.shape.width), oracle.largest_radius_x(), oracle.border),
        rows_(static_cast<int>(oracle.picture.shape.height), oracle.largest_radius_y(), oracle.border) {
    const double whole = std::is_same_v<T, float> ? 1 : static_cast<double>(static_cast<T>(-1));
    const double value = oracle.border_value * whole;
    outside_.fill(static_cast<T>(std::is_same_v<T, float> ? value : std::floor(value + 0.5)));
  }

  [[nodiscard]] Pixel expected(std::int64_t x, std::int64_t y) const {
    const Pixel own = pixel_at(x, y);
    if (oracle_.mask.empty()) return with_own_colours(replacement(x, y, own), own);
    const std::uint64_t whole = oracle_.mask.shape.type == Type::u8 ? 255 : 65535;
    const std::uint64_t weight = weight_at(x, y);
    if (weight == 0) return own;
    const Pixel ranked = replacement(x, y, own);
    if (weight == whole) return with_own_colours(ranked, own);
    return straight_ ? blended_under_alpha(own, ranked, weight, whole) : blended(own, ranked, weight, whole);
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

  [[nodiscard]] std::uint64_t weight_at(std::int64_t x, std::int64_t y) const {
    return oracle_.mask.shape.type == Type::u8 ? oracle_.mask.value<std::uint8_t>(x, y)
                                               : oracle_.mask.value<std::uint16_t>(x, y);
  }

  /// Returns the map's radius in whole pixels, ties up.
  [[nodiscard]] int mapped_radius(std::int64_t x, std::int64_t y) const {
    const auto low = static_cast<std::int64_t>(oracle_.radius_min * 256);
    const auto high = static_cast<std::int64_t>(oracle_.radius_max * 256);
    const ImageView& map = oracle_.radius_map;
    if (map.shape.type == Type::f32) {
      const double radius = static_cast<double>(low) +
                            static_cast<double>(high - low) * static_cast<double>(map.value<float>(x, y));
      return static_cast<int>(std::floor(radius / 256 + 0.5));
    }
    const std::int64_t whole = map.shape.type == Type::u8 ? 255 : 65535;
    const std::int64_t value =
        map.shape.type == Type::u8 ? map.value<std::uint8_t>(x, y) : map.value<std::uint16_t>(x, y);
    return static_cast<int>((2 * (low * (whole - value) + high * value) + 256 * whole) / (512 * whole));
  }

  struct Seen {
    T value;
    std::int64_t times;
  };

  /// Returns the value of the wanted rank, or `own` if the window is empty.
  [[nodiscard]] T ranked(std::vector<Seen>& seen, T own) const {
    if (seen.empty()) return own;
    std::sort(seen.begin(), seen.end(),
              [](const Seen& a, const Seen& b) { return is_less(a.value, b.value); });
    std::int64_t count = 0;
    for (const Seen& one : seen) count += one.times;
    const std::int64_t parts = std::llround(oracle_.percent * 10'000) * count;
    std::int64_t rank = std::max<std::int64_t>((parts + 999'999) / 1'000'000, 1);
    for (const Seen& one : seen) {
      rank -= one.times;
      if (rank <= 0) return one.value;
    }
    return own;
  }

  [[nodiscard]] Pixel window_rank(std::int64_t x, std::int64_t y, const Pixel& own) const {
    const bool mapped = !oracle_.radius_map.empty();
    const int radius = mapped ? mapped_radius(x, y) : 0;
    const LineWeights columns =
        whole_window(columns_, static_cast<int>(x), mapped ? radius : oracle_.radius_x);
    const LineWeights rows = whole_window(rows_, static_cast<int>(y), mapped ? radius : oracle_.radius_y);
    std::array<std::vector<Seen>, 4> seen;
    const auto see = [&](const Pixel& pixel, std::int64_t times) {
      for (int c = 0; c < channels_ && times > 0; ++c)
        if (!straight_ || c == channels_ - 1 || alpha_of(pixel) > 0)
          seen[static_cast<std::size_t>(c)].push_back({pixel[static_cast<std::size_t>(c)], times});
    };
    for (const LineWeights::Term& row : rows.terms)
      for (const LineWeights::Term& column : columns.terms)
        if (!oracle_.excludes || weight_at(column.index, row.index) != 0)
          see(pixel_at(column.index, row.index), row.weight * column.weight);
    if (oracle_.border == Border::constant)
      see(outside_, columns.whole * rows.whole - columns.existing * rows.existing);
    Pixel result{};
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) result[c] = ranked(seen[c], own[c]);
    return result;
  }

  /// Returns the result of the pixel. Channels within the threshold keep their value.
  [[nodiscard]] Pixel replacement(std::int64_t x, std::int64_t y, const Pixel& own) const {
    Pixel result = window_rank(x, y, own);
    if (!(oracle_.threshold > 0)) return result;
    const double whole = std::is_same_v<T, float> ? 1 : static_cast<double>(static_cast<T>(-1));
    for (int i = 0; i < channels_; ++i) {
      const auto c = static_cast<std::size_t>(i);
      if (straight_ && i < channels_ - 1 && !(alpha_of(own) > 0)) continue;
      const double difference = std::fabs(static_cast<double>(own[c]) - static_cast<double>(result[c]));
      if (!(difference > oracle_.threshold * whole)) result[c] = own[c];
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

  OracleRank oracle_;
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

int OracleRank::largest_radius_x() const {
  return radius_map.empty() ? radius_x : static_cast<int>(std::max(radius_min, radius_max)) + 1;
}

int OracleRank::largest_radius_y() const {
  return radius_map.empty() ? radius_y : static_cast<int>(std::max(radius_min, radius_max)) + 1;
}

Image oracle_rank(const OracleRank& oracle) {
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

std::string sampled_difference(const OracleRank& oracle, const ImageView& result, int count,
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
