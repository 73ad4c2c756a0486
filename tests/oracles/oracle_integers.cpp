// The mean of 8- and 16-bit pixels.

#include <algorithm>
#include <cmath>

#include "tests/oracles/oracle_blur.h"
#include "tests/oracles/oracle_transfer.h"

namespace satin::test {
namespace {

class IntegerBlur {
 public:
  explicit IntegerBlur(const OracleBlur& blur)
      : blur_(blur),
        shape_(blur.picture.shape),
        weighted_(shape_.alpha == Alpha::straight),
        linear_(blur.space == Space::linear),
        premultiplied_(weighted_ && shape_.type == Type::u8 && blur.boxes.size() > 1),
        white_(shape_.type == Type::u8 ? 255 : 65535) {}

  Image run() {
    Working<Wide> working = read();
    for (std::size_t i = 0; i + 1 < blur_.boxes.size(); ++i) {
      const auto totals = covered_totals(working, blur_.boxes[i], blur_.border);
      const int more = i == 0 ? fraction_bits() : 0;
      std::size_t value = 0;
      for (const BoxTotal<Wide>& total : totals)
        for (int c = 0; c < shape_.channels; ++c)
          working.values[value++] = rounded(total.sum[index(c)] << more, total.count);
      for (Wide& outside : working.outside) outside <<= more;
    }
    const int fraction = blur_.boxes.size() > 1 ? fraction_bits() : 0;
    auto totals = covered_totals(working, blur_.boxes.back(), blur_.border);
    if (blur_.exclude) {
      const std::vector<Wide> counts = included_counts(blur_, blur_.boxes.back());
      for (std::size_t i = 0; i < totals.size(); ++i) totals[i].count = counts[i];
    }
    Image result(shape_);
    const MutableImageView out = result.view();
    std::size_t pixel = 0;
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x, ++pixel) store(x, y, totals[pixel], fraction, out);
    return result;
  }

 private:
  static std::size_t index(int c) { return static_cast<std::size_t>(c); }

  /// The fraction bits of working values between two passes, for stored bytes and for 16-bit colours times
  /// alpha.
  [[nodiscard]] int fraction_bits() const {
    if (premultiplied_) return 0;
    if (shape_.type == Type::u16) return weighted_ ? 8 : 0;
    return linear_ ? 0 : 8;
  }

  /// Returns alpha 1 among working values: white where colours times alpha are averaged more than once.
  [[nodiscard]] Wide alpha_unit() const { return premultiplied_ ? decoded(white_) : 1; }

  [[nodiscard]] Wide stored(int x, int y, int c) const {
    if (shape_.type == Type::u8) return blur_.picture.value<std::uint8_t>(x, y, c);
    return blur_.picture.value<std::uint16_t>(x, y, c);
  }
  [[nodiscard]] Wide decoded(Wide code) const {
    return linear_ ? Wide{oracle_srgb(shape_.type).linear[static_cast<std::size_t>(code)]} : code;
  }
  [[nodiscard]] Wide encoded(Wide value) const {
    return linear_ ? Wide{oracle_srgb(shape_.type).encode(static_cast<std::int64_t>(value))} : value;
  }

  [[nodiscard]] Working<Wide> read() const {
    Working<Wide> working;
    working.width = static_cast<int>(shape_.width);
    working.height = static_cast<int>(shape_.height);
    working.channels = shape_.channels;
    const int alpha = weighted_ ? shape_.channels - 1 : shape_.channels;
    for (int y = 0; y < working.height; ++y)
      for (int x = 0; x < working.width; ++x) {
        if (blur_.exclude && mask_value(blur_.mask, x, y) == 0) {
          working.values.insert(working.values.end(), index(shape_.channels), 0);
          continue;
        }
        const Wide weight = weighted_ ? stored(x, y, alpha) : 1;
        for (int c = 0; c < alpha; ++c) {
          const Wide colour = decoded(stored(x, y, c));
          working.values.push_back(colour * weight);
        }
        if (weighted_) working.values.push_back(weight * alpha_unit());
      }
    const auto border =
        static_cast<Wide>(std::floor(static_cast<long double>(blur_.border_value) * white_ + 0.5L));
    for (int c = 0; c < alpha; ++c) working.outside[index(c)] = decoded(border) * (weighted_ ? border : 1);
    if (weighted_) working.outside[index(alpha)] = border * alpha_unit();
    return working;
  }

  void store(int x, int y, const BoxTotal<Wide>& total, int fraction, const MutableImageView& out) const {
    const Wide whole = blur_.mask.empty() ? 1 : blur_.mask.shape.type == Type::u8 ? 255 : 65535;
    const Wide weight = blur_.mask.empty()                  ? Wide{1}
                        : blur_.mask.shape.type == Type::u8 ? Wide{blur_.mask.value<std::uint8_t>(x, y)}
                                                            : Wide{blur_.mask.value<std::uint16_t>(x, y)};
    if (weight == 0 || unmoved(x, y)) {
      for (int c = 0; c < shape_.channels; ++c) set(out, x, y, c, stored(x, y, c));
      return;
    }
    const Wide count = total.count << fraction;
    if (!weighted_) {
      for (int c = 0; c < shape_.channels; ++c) {
        const Wide mean = rounded(total.sum[index(c)], count);
        const Wide own = decoded(stored(x, y, c));
        set(out, x, y, c, encoded(rounded(own * (whole - weight) + mean * weight, whole)));
      }
      return;
    }
    const int alpha = shape_.channels - 1;
    const Wide alpha_sum = premultiplied_ ? rounded(total.sum[index(alpha)], count) : total.sum[index(alpha)];
    const Wide own_part = stored(x, y, alpha) * (whole - weight);
    const Wide mean_part =
        (premultiplied_ ? rounded(alpha_sum, alpha_unit()) : rounded(alpha_sum, count)) * weight;
    const Wide result_alpha = rounded(own_part + mean_part, whole);
    for (int c = 0; c < alpha; ++c) {
      if (result_alpha == 0) {
        set(out, x, y, c, stored(x, y, c));
        continue;
      }
      const Wide mean = alpha_sum == 0
                            ? Wide{0}
                            : std::min(decoded(white_), colour_of(total.sum[index(c)], count, alpha_sum));
      const Wide own = decoded(stored(x, y, c));
      set(out, x, y, c, encoded(rounded(own * own_part + mean * mean_part, own_part + mean_part)));
    }
    set(out, x, y, alpha, result_alpha);
  }

  [[nodiscard]] Wide colour_of(Wide sum, Wide count, Wide alpha_sum) const {
    if (!premultiplied_) return rounded(sum, alpha_sum);
    return rounded(rounded(sum, count) * alpha_unit(), alpha_sum);
  }

  [[nodiscard]] bool unmoved(int x, int y) const {
    for (const BoxRadii& box : blur_.boxes)
      if (box.at(x, y, static_cast<int>(shape_.width)) != std::pair{0, 0}) return false;
    return true;
  }

  void set(const MutableImageView& out, int x, int y, int c, Wide code) const {
    if (shape_.type == Type::u8) {
      out.value<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>(code);
    } else {
      out.value<std::uint16_t>(x, y, c) = static_cast<std::uint16_t>(code);
    }
  }

  OracleBlur blur_;
  Shape shape_;
  bool weighted_;
  bool linear_;
  bool premultiplied_;  ///< bytes with alpha between successive boxes have 16 bits, 8 of alpha's for the
                        ///< fraction
  int white_;
};

}  // namespace

Image oracle_integers(const OracleBlur& blur) { return IntegerBlur(blur).run(); }

}  // namespace satin::test
