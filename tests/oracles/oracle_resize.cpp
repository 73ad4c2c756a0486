#include "tests/oracles/oracle_resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/oracles/oracle_transfer.h"

namespace satin::test {
namespace {

__extension__ using Exact = unsigned __int128;

double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

void store(const MutableImageView& view, std::int64_t x, std::int64_t y, int c, std::int64_t code) {
  if (view.shape.type == Type::u8)
    view.value<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>(code);
  else
    view.value<std::uint16_t>(x, y, c) = static_cast<std::uint16_t>(code);
}

/// Stored integers and their working values.
struct Codes {
  Type type;
  bool linear;

  [[nodiscard]] double value(double code) const {
    return linear ? static_cast<double>(oracle_srgb(type).linear[static_cast<std::size_t>(code)]) : code;
  }
  [[nodiscard]] double opaque() const { return type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1; }
  [[nodiscard]] double white() const { return type == Type::f32 ? 1 : value(opaque()); }
  [[nodiscard]] std::int64_t code(double integer) const {
    const auto bounded = static_cast<std::int64_t>(std::clamp(integer, 0.0, white()));
    return linear ? oracle_srgb(type).encode(bounded) : bounded;
  }
};

/// A pixel of the picture and its weight.
template <class Weight>
struct Weighted {
  std::int64_t pixel;
  Weight weight;
};

std::vector<Weighted<std::uint64_t>> covered(std::int64_t i, std::int64_t pixels, std::int64_t results) {
  std::vector<Weighted<std::uint64_t>> list;
  for (std::int64_t j = 0; j < pixels; ++j) {
    const std::int64_t overlap =
        std::min((j + 1) * results, (i + 1) * pixels) - std::max(j * results, i * pixels);
    if (overlap > 0) list.push_back({j, static_cast<std::uint64_t>(overlap)});
  }
  return list;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

std::vector<Weighted<double>> waves(std::int64_t i, std::int64_t pixels, std::int64_t results) {
  const double step = static_cast<double>(pixels) / static_cast<double>(results);
  const double wide = std::max(step, 1.0);
  std::vector<Weighted<double>> list;
  double sum = 0;
  for (std::int64_t j = 0; j < pixels; ++j) {
    const double x = (static_cast<double>(j) + 0.5 - (static_cast<double>(i) + 0.5) * step) / wide;
    if (std::fabs(x) >= 3) continue;
    list.push_back({j, sinc(x) * sinc(x / 3)});
    sum += list.back().weight;
  }
  for (auto& each : list) each.weight /= sum;
  return list;
}

std::int64_t nearest(std::int64_t i, std::int64_t pixels, std::int64_t results) {
  return (2 * i + 1) * pixels / (2 * results);
}

}  // namespace

Image oracle_area(const ImageView& picture, const ResizedBox& resized, Space space) {
  Shape shape = picture.shape;
  shape.width = resized.width;
  shape.height = resized.height;
  Image result(shape);
  const PixelBox& box = resized.box;
  const Codes codes{shape.type, space == Space::linear};
  const bool straight = shape.alpha == Alpha::straight;
  const int alpha = shape.channels - 1;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        Exact sum = 0, weights = 0;
        for (const auto& row : covered(y, box.height, shape.height))
          for (const auto& column : covered(x, box.width, shape.width)) {
            const std::int64_t px = box.x + column.pixel, py = box.y + row.pixel;
            const bool colour = !straight || c != alpha;
            const auto own = static_cast<Exact>(colour ? codes.value(stored(picture, px, py, c))
                                                       : stored(picture, px, py, c));
            const Exact area = static_cast<Exact>(row.weight) * column.weight;
            const Exact weight =
                straight && colour ? area * static_cast<Exact>(stored(picture, px, py, alpha)) : area;
            sum += own * weight;
            weights += weight;
          }
        const std::int64_t px = box.x + nearest(x, box.width, shape.width);
        const std::int64_t py = box.y + nearest(y, box.height, shape.height);
        const auto mean = [&] {
          return static_cast<double>(static_cast<std::uint64_t>((2 * sum + weights) / (2 * weights)));
        };
        if (straight && c == alpha) {
          store(result.view(), x, y, c, static_cast<std::int64_t>(mean()));
        } else if (weights == 0) {
          store(result.view(), x, y, c, static_cast<std::int64_t>(stored(picture, px, py, c)));
        } else {
          store(result.view(), x, y, c, codes.code(mean()));
        }
      }
  if (!straight) return result;
  for (std::int64_t y = 0; y < shape.height; ++y)  // alpha that rounds to 0
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < alpha && stored(result.view(), x, y, alpha) == 0; ++c)
        store(result.view(), x, y, c,
              static_cast<std::int64_t>(stored(picture, box.x + nearest(x, box.width, shape.width),
                                               box.y + nearest(y, box.height, shape.height), c)));
  return result;
}

void expect_lanczos(const ImageView& result, const ImageView& picture, const ResizedBox& resized,
                    Space space) {
  const Shape& shape = result.shape;
  const PixelBox& box = resized.box;
  const bool integers = shape.type != Type::f32;
  const Codes codes{shape.type, integers && space == Space::linear};
  const bool straight = shape.alpha == Alpha::straight;
  const int alpha = shape.channels - 1;
  double largest = integers ? codes.white() : 0;
  double largest_alpha = codes.opaque();
  for (std::int64_t y = 0; !integers && y < picture.shape.height; ++y)
    for (std::int64_t x = 0; x < picture.shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c)
        largest = std::max(largest, std::fabs(stored(picture, x, y, c)));
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto rows = waves(y, box.height, shape.height);
      const auto columns = waves(x, box.width, shape.width);
      // Weights are rounded to 2^-27, the largest by more; integers between rows and columns to 24 bits.
      const double share = static_cast<double>(rows.size() + columns.size()) * 0x1p-27 + 0x1p-23;
      double opacity = 0;
      std::vector<double> sums(static_cast<std::size_t>(shape.channels));
      for (const auto& row : rows)
        for (const auto& column : columns) {
          const std::int64_t px = box.x + column.pixel, py = box.y + row.pixel;
          const double weight = row.weight * column.weight * (straight ? stored(picture, px, py, alpha) : 1);
          opacity += weight;
          for (int c = 0; c < shape.channels; ++c)
            sums[static_cast<std::size_t>(c)] +=
                weight * (integers ? codes.value(stored(picture, px, py, c)) : stored(picture, px, py, c));
        }
      const double own_alpha = straight ? stored(result, x, y, alpha) : 0;
      for (int c = 0; c < shape.channels; ++c) {
        SCOPED_TRACE(testing::Message() << x << ", " << y << ", channel " << c);
        const double found = stored(result, x, y, c);
        if (straight && c == alpha) {
          const double error = share * largest_alpha;
          if (!integers) {
            ASSERT_NEAR(found, std::max(opacity, 0.0), error);
            continue;
          }
          ASSERT_GE(found, std::clamp(std::floor(opacity + 0.5 - error), 0.0, codes.opaque()));
          ASSERT_LE(found, std::clamp(std::floor(opacity + 0.5 + error), 0.0, codes.opaque()));
          continue;
        }
        if (straight && own_alpha == 0) {
          ASSERT_EQ(found, stored(picture, box.x + nearest(x, box.width, shape.width),
                                  box.y + nearest(y, box.height, shape.height), c));
          continue;
        }
        const double value = sums[static_cast<std::size_t>(c)] / opacity;
        // Errors of both sums, of which the quotient is.
        const double error =
            share * (largest + (straight ? std::fabs(value) : 0)) * (straight ? largest_alpha / opacity : 1);
        if (!integers) {
          ASSERT_NEAR(found, value, error);
          continue;
        }
        ASSERT_GE(found, codes.code(std::floor(value + 0.5 - error)));
        ASSERT_LE(found, codes.code(std::floor(value + 0.5 + error)));
      }
    }
}

}  // namespace satin::test
