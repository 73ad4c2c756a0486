#include "io/halves.h"

#include <algorithm>
#include <type_traits>

namespace satin::io {
namespace {

/// Sums of products: of u16, four times 65535 squared stay below 2^35; floats as doubles.
template <class Value>
using Sum = std::conditional_t<std::is_floating_point_v<Value>, double, std::uint64_t>;

template <class Value>
Value quotient(Sum<Value> sum, Sum<Value> weights) {
  if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(sum / weights);
  } else {
    return static_cast<Value>((2 * sum + weights) / (2 * weights));
  }
}

/// The pixels whose mean is one pixel of the next level.
template <class Value>
struct Square {
  const Value* pixels[4];
  int count;
};

template <class Value>
Value plain_mean(const Square<Value>& square, int channel) {
  Sum<Value> sum = 0;
  for (int i = 0; i < square.count; ++i) sum += square.pixels[i][channel];
  return quotient<Value>(sum, static_cast<Sum<Value>>(square.count));
}

template <class Value>
void straight_mean(const Square<Value>& square, int colours, Value* target) {
  Sum<Value> weights = 0;
  for (int i = 0; i < square.count; ++i) weights += square.pixels[i][colours];
  target[colours] = plain_mean(square, colours);
  for (int c = 0; c < colours; ++c) {
    Sum<Value> sum = 0;
    for (int i = 0; i < square.count; ++i)
      sum += Sum<Value>{square.pixels[i][c]} * Sum<Value>{square.pixels[i][colours]};
    target[c] = weights > 0 ? quotient<Value>(sum, weights) : plain_mean(square, c);
  }
}

template <class Value>
void halve_row(const ImageView& rows, Value* target) {
  const Shape& shape = rows.shape;
  const int step = shape.channels;
  const bool straight = shape.alpha == Alpha::straight;
  const Value* const top = rows.row<Value>(0);
  const Value* const bottom = rows.row<Value>(shape.height - 1);
  for (std::int64_t x = 0; x < shape.width; x += 2, target += step) {
    if (const Value* a = top + x * step, *b = bottom + x * step;
        !straight && shape.height == 2 && x + 1 < shape.width) {
      // Nearly all pixels: a mean of four without a division.
      for (int c = 0; c < step; ++c)
        target[c] = quotient<Value>(Sum<Value>{a[c]} + a[c + step] + b[c] + b[c + step], 4);
      continue;
    }
    Square<Value> square{};
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t i = x; i < std::min(x + 2, shape.width); ++i)
        square.pixels[square.count++] = rows.row<Value>(y) + i * step;
    if (straight) {
      straight_mean(square, step - 1, target);
    } else {
      for (int c = 0; c < step; ++c) target[c] = plain_mean(square, c);
    }
  }
}

}  // namespace

std::vector<Shape> pyramid_of(const Shape& picture, std::int64_t most) {
  std::vector<Shape> shapes{picture};
  while (shapes.back().width > most || shapes.back().height > most) {
    Shape half = shapes.back();
    half.width = (half.width + 1) / 2;
    half.height = (half.height + 1) / 2;
    shapes.push_back(half);
  }
  return shapes;
}

void halve(const ImageView& rows, std::byte* target) {
  if (rows.shape.type == Type::u8) halve_row(rows, reinterpret_cast<std::uint8_t*>(target));
  if (rows.shape.type == Type::u16) halve_row(rows, reinterpret_cast<std::uint16_t*>(target));
  if (rows.shape.type == Type::f32) halve_row(rows, reinterpret_cast<float*>(target));
}

}  // namespace satin::io
