// The mean of float pixels in the documented arithmetic, and in real numbers.

#include <algorithm>
#include <cmath>

#include "tests/oracles/oracle_blur.h"

namespace satin::test {
namespace {

struct Exponents {
  int colour = 0;
  int alpha = 0;
};

/// Returns the largest window of any pass, in pixels.
Wide largest_area(const OracleBlur& blur) {
  Wide largest = 1;
  for (const BoxRadii& box : blur.boxes) {
    const auto extent = [&](int radius, std::int64_t size) {
      const Wide window = 2 * ((radius + 255) / 256) + 1;
      return blur.border == Border::shrink ? std::min<Wide>(window, size) : window;
    };
    const bool map = !box.map.empty();
    largest = std::max(largest, extent(map ? blur.largest_map_radius : box.x, blur.picture.shape.width) *
                                    extent(map ? blur.largest_map_radius : box.y, blur.picture.shape.height));
  }
  return largest;
}

/// Returns the bits of a magnitude: 40, or fewer if the sum of a window would not fit a signed 64-bit
/// integer.
int magnitude_bits(Wide area) {
  int bits = 40;
  while ((area << bits) > (Wide{1} << 63) - 1) --bits;
  return bits;
}

/// Returns s with 2^(bits - s) / 2 <= largest < 2^(bits - s).
int exponent_for(double largest, int bits) {
  if (largest == 0) return 0;
  int exponent = 0;
  static_cast<void>(std::frexp(largest, &exponent));
  return bits - exponent;
}

class FloatBlur {
 public:
  explicit FloatBlur(const OracleBlur& blur)
      : blur_(blur), shape_(blur.picture.shape), weighted_(shape_.alpha == Alpha::straight) {
    measure();
  }

  Image run() {
    Working<Wide> working = read();
    for (std::size_t i = 0; i + 1 < blur_.boxes.size(); ++i) {
      std::size_t value = 0;
      std::vector<Wide> means(working.values.size());
      for (const BoxTotal<Wide>& total : covered_totals(working, blur_.boxes[i], blur_.border))
        for (int c = 0; c < shape_.channels; ++c) means[value++] = rounded(total.sum[index(c)], total.count);
      working.values = means;
    }
    return finish(working);
  }

  [[nodiscard]] std::vector<long double> real() const {
    Working<long double> working;
    working.width = static_cast<int>(shape_.width);
    working.height = static_cast<int>(shape_.height);
    working.channels = shape_.channels;
    const auto border = static_cast<long double>(blur_.border_value);
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x)
        for (int c = 0; c < shape_.channels; ++c)
          working.values.push_back(excluded(x, y) ? 0
                                   : colour(c)    ? own(x, y, c) * own(x, y, alpha_)
                                                  : own(x, y, c));
    for (int c = 0; c < shape_.channels; ++c)
      working.outside[index(c)] = colour(c) ? border * border : border;
    for (const BoxRadii& box : blur_.boxes) {
      const std::vector<Wide> counts = blur_.exclude ? included_counts(blur_, box) : std::vector<Wide>{};
      std::size_t value = 0;
      std::size_t pixel = 0;
      for (const BoxTotal<long double>& total : covered_totals(working, box, blur_.border)) {
        const auto count = blur_.exclude ? static_cast<long double>(counts[pixel++]) : total.count;
        for (int c = 0; c < shape_.channels; ++c) working.values[value++] = total.sum[index(c)] / count;
      }
    }
    std::vector<long double> result;
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x)
        for (int c = 0; c < shape_.channels; ++c) result.push_back(real_result(working, x, y, c));
    return result;
  }

 private:
  static std::size_t index(int c) { return static_cast<std::size_t>(c); }
  [[nodiscard]] bool colour(int c) const { return weighted_ && c < alpha_; }
  [[nodiscard]] bool excluded(int x, int y) const {
    return blur_.exclude && mask_value(blur_.mask, x, y) == 0;
  }
  [[nodiscard]] float stored(int x, int y, int c) const { return blur_.picture.value<float>(x, y, c); }
  [[nodiscard]] long double own(int x, int y, int c) const {
    return static_cast<long double>(stored(x, y, c));
  }

  /// Returns the summed value: the stored one, or colour times alpha in double.
  [[nodiscard]] double summed(int x, int y, int c) const {
    const auto value = static_cast<double>(stored(x, y, c));
    return colour(c) ? value * static_cast<double>(stored(x, y, alpha_)) : value;
  }

  void measure() {
    const int bits = magnitude_bits(largest_area(blur_));
    double largest_colour = 0;
    double largest_alpha = 0;
    const auto include = [&](int c, double value) {
      double& largest = weighted_ && c == alpha_ ? largest_alpha : largest_colour;
      largest = std::max(largest, std::fabs(value));
    };
    for (int y = 0; y < shape_.height; ++y)
      for (int x = 0; x < shape_.width; ++x)
        for (int c = 0; c < shape_.channels; ++c)
          if (!excluded(x, y)) include(c, summed(x, y, c));
    if (blur_.border == Border::constant)
      for (int c = 0; c < shape_.channels; ++c)
        include(c, colour(c) ? blur_.border_value * blur_.border_value : blur_.border_value);
    exponents_ = {exponent_for(largest_colour, bits), exponent_for(largest_alpha, bits)};
  }

  [[nodiscard]] Wide fixed(double value, int c) const {
    const int exponent = weighted_ && c == alpha_ ? exponents_.alpha : exponents_.colour;
    return static_cast<Wide>(std::floor(std::ldexp(value, exponent) + 0.5));
  }

  [[nodiscard]] Working<Wide> read() const {
    Working<Wide> working;
    working.width = static_cast<int>(shape_.width);
    working.height = static_cast<int>(shape_.height);
    working.channels = shape_.channels;
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x)
        for (int c = 0; c < shape_.channels; ++c)
          working.values.push_back(excluded(x, y) ? 0 : fixed(summed(x, y, c), c));
    const double border = blur_.border_value;
    for (int c = 0; c < shape_.channels; ++c)
      working.outside[index(c)] = fixed(colour(c) ? border * border : border, c);
    return working;
  }

  /// Computes the last pass: sums of boxes with whole radii as doubles, times their weights, added in this
  /// order: inner, outer along x, outer along y, outer along both, outside.
  Image finish(const Working<Wide>& working) const {
    const BoxRadii& box = blur_.boxes.back();
    const auto wholes = whole_sums(working, box, blur_.border);
    const auto totals = covered_totals(working, box, blur_.border);
    Working<Wide> ones = working;
    std::fill(ones.values.begin(), ones.values.end(), 1);
    ones.outside = {};
    const auto existing = covered_totals(ones, box, blur_.border);
    const std::vector<Wide> counts = blur_.exclude ? included_counts(blur_, box) : std::vector<Wide>{};
    Image result(shape_);
    const MutableImageView out = result.view();
    std::size_t pixel = 0;
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x, ++pixel) {
        const auto [radius_x, radius_y] = box.at(x, y, working.width);
        std::array<double, 4> estimate{};
        for (int c = 0; c < shape_.channels; ++c) {
          double& sum = estimate[index(c)];
          for (std::size_t corner = 0; corner < 4; ++corner) {
            const int weight_x = corner & 1 ? radius_x % 256 : 256 - radius_x % 256;
            const int weight_y = corner & 2 ? radius_y % 256 : 256 - radius_y % 256;
            sum = sum + static_cast<double>(weight_x * weight_y) *
                            static_cast<double>(wholes[pixel][corner][index(c)]);
          }
          const Wide outside = totals[pixel].count - existing[pixel].sum[0];
          if (blur_.border == Border::constant)
            sum = sum + static_cast<double>(outside) * static_cast<double>(working.outside[index(c)]);
        }
        const Wide count = blur_.exclude ? counts[pixel] : totals[pixel].count;
        store(x, y, estimate, static_cast<double>(count), out);
      }
    return result;
  }

  [[nodiscard]] double mask_whole() const {
    return blur_.mask.empty() ? 1 : blur_.mask.shape.type == Type::u8 ? 255 : 65535;
  }
  [[nodiscard]] double mask_weight(int x, int y) const {
    if (blur_.mask.empty()) return 1;
    return blur_.mask.shape.type == Type::u8 ? blur_.mask.value<std::uint8_t>(x, y)
                                             : blur_.mask.value<std::uint16_t>(x, y);
  }
  [[nodiscard]] bool unmoved(int x, int y) const {
    return mask_weight(x, y) == 0 ||
           std::all_of(blur_.boxes.begin(), blur_.boxes.end(), [&](const BoxRadii& box) {
             return box.at(x, y, static_cast<int>(shape_.width)) == std::pair{0, 0};
           });
  }

  void store(int x, int y, const std::array<double, 4>& sum, double count,
             const MutableImageView& out) const {
    const auto put = [&](int c, double value) { out.value<float>(x, y, c) = static_cast<float>(value); };
    const auto keep = [&](int c) { out.value<float>(x, y, c) = stored(x, y, c); };
    if (unmoved(x, y)) {
      for (int c = 0; c < shape_.channels; ++c) keep(c);
      return;
    }
    const double whole = mask_whole();
    const double weight = mask_weight(x, y);
    const double rest = whole - weight;
    if (!weighted_) {
      for (int c = 0; c < shape_.channels; ++c) {
        const double mean = std::ldexp(sum[index(c)] / count, -exponents_.colour);
        put(c, rest > 0 ? (static_cast<double>(stored(x, y, c)) * rest + mean * weight) / whole : mean);
      }
      return;
    }
    const double alpha_sum = sum[index(alpha_)];
    const double mean_alpha = std::ldexp(alpha_sum / count, -exponents_.alpha);
    const auto own_alpha = static_cast<double>(stored(x, y, alpha_));
    const double blended = rest > 0 ? own_alpha * rest + mean_alpha * weight : mean_alpha;
    for (int c = 0; c < alpha_; ++c) {
      if (alpha_sum <= 0 || blended <= 0) {
        keep(c);
        continue;
      }
      const double mean = std::ldexp(sum[index(c)] / alpha_sum, exponents_.alpha - exponents_.colour);
      const double own_part = static_cast<double>(stored(x, y, c)) * own_alpha * rest;
      put(c, rest > 0 ? (own_part + mean * mean_alpha * weight) / blended : mean);
    }
    if (alpha_sum <= 0 || blended <= 0) return keep(alpha_);
    put(alpha_, rest > 0 ? blended / whole : blended);
  }

  [[nodiscard]] long double real_result(const Working<long double>& working, int x, int y, int c) const {
    if (unmoved(x, y)) return own(x, y, c);
    const auto weight = static_cast<long double>(mask_weight(x, y)) / static_cast<long double>(mask_whole());
    const long double mean = working.at(x, y, c);
    if (!weighted_) return own(x, y, c) * (1 - weight) + mean * weight;
    const long double blended = own(x, y, alpha_) * (1 - weight) + working.at(x, y, alpha_) * weight;
    if (working.at(x, y, alpha_) <= 0) return own(x, y, c);
    if (c == alpha_) return blended;
    return (own(x, y, c) * own(x, y, alpha_) * (1 - weight) + mean * weight) / blended;
  }

  OracleBlur blur_;
  Shape shape_;
  bool weighted_;
  int alpha_ = shape_.channels - 1;
  Exponents exponents_;
};

}  // namespace

Image oracle_floats(const OracleBlur& blur) { return FloatBlur(blur).run(); }

std::vector<long double> real_means(const OracleBlur& blur) { return FloatBlur(blur).real(); }

}  // namespace satin::test
