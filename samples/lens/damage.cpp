#include "damage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "layers.h"

namespace lens {
namespace {

constexpr double noise = 0.02;
constexpr double eyes_apart = 12;  // distance of the eyes: pixels for a disparity of 1
constexpr double lost_share = 0.01;

float value_at(const satin::Image& image, int x, int y) {
  return image.view().value<float>(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
}

float extreme(const satin::Image& image, int x, int y, bool largest) {
  float found = value_at(image, x, y);
  for (int v = -1; v <= 1; ++v)
    for (int u = -1; u <= 1; ++u) {
      const float value = value_at(image, x + u, y + v);
      found = largest ? std::max(found, value) : std::min(found, value);
    }
  return found;
}

float mean(const satin::Image& image, int x, int y, int reach) {
  double sum = 0;
  for (int v = -reach; v <= reach; ++v)
    for (int u = -reach; u <= reach; ++u) sum += static_cast<double>(value_at(image, x + u, y + v));
  return static_cast<float>(sum / ((2 * reach + 1) * (2 * reach + 1)));
}

float random_at(int x, int y, std::uint32_t seed) {
  return static_cast<float>(scene::random_of(x, y, static_cast<int>(seed)));
}

satin::Image halved(const satin::Image& disparity) {
  satin::Image result({width / 2, height / 2, 1, satin::Type::f32});
  for (int y = 0; y < height / 2; ++y)
    for (int x = 0; x < width / 2; ++x) {
      std::array<float, 4> values{value_at(disparity, 2 * x, 2 * y), value_at(disparity, 2 * x + 1, 2 * y),
                                  value_at(disparity, 2 * x, 2 * y + 1),
                                  value_at(disparity, 2 * x + 1, 2 * y + 1)};
      std::sort(values.begin(), values.end());
      result.view().value<float>(x, y) = values[1];
    }
  return result;
}

satin::Image in_eight_bits(const satin::Image& disparity) {
  satin::Image result({width, height, 1, satin::Type::u8});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      result.view().value<std::uint8_t>(x, y) =
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(value_at(disparity, x, y), 0.F, 1.F)));
  return result;
}

satin::Image phone_depth(const satin::Image& disparity, std::uint32_t seed) {
  constexpr float overshoot = 0.3F;
  satin::Image soft(disparity.shape());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float near = mean(disparity, x + 1, y, 3);
      soft.view().value<float>(x, y) = near + overshoot * (near - mean(disparity, x + 1, y, 7));
    }
  satin::Image result({width / 2, height / 2, 1, satin::Type::u8});
  for (int y = 0; y < height / 2; ++y)
    for (int x = 0; x < width / 2; ++x) {
      float sum = 0;
      for (int i = 0; i < 4; ++i) sum += value_at(soft, 2 * x + i % 2, 2 * y + i / 2);
      const float value = sum / 4 + static_cast<float>(noise) * (random_at(x, y, seed) - 0.5F);
      result.view().value<std::uint8_t>(x, y) =
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.F, 1.F)));
    }
  return result;
}

/// Whether the other eye sees a nearer surface here.
bool is_hidden(const satin::Image& disparity, int x, int y) {
  const float own = value_at(disparity, x, y);
  for (int k = 1; k <= static_cast<int>(eyes_apart) && x + k < width; ++k)
    if (eyes_apart * static_cast<double>(value_at(disparity, x + k, y) - own) >= k) return true;
  return false;
}

float damaged_value(const satin::Image& disparity, Damage damage, std::uint32_t seed, int x, int y) {
  switch (damage) {
    case Damage::eroded:
    case Damage::dilated:
      return extreme(disparity, x, y, damage == Damage::dilated);
    case Damage::blurred_3:
    case Damage::blurred_5:
      return mean(disparity, x, y, damage == Damage::blurred_3 ? 1 : 2);
    case Damage::noisy:
      return value_at(disparity, x, y) +
             static_cast<float>(noise * (static_cast<double>(random_at(x, y, seed)) - 0.5));
    case Damage::shifted:
      return value_at(disparity, x + 1, y);
    case Damage::holes:
      if (is_hidden(disparity, x, y) || static_cast<double>(random_at(x, y, seed)) < lost_share)
        return std::numeric_limits<float>::quiet_NaN();
      [[fallthrough]];
    default:
      return value_at(disparity, x, y);
  }
}

double stored_at(const satin::Image& image, std::int64_t x, std::int64_t y) {
  const std::int64_t column = std::clamp<std::int64_t>(x, 0, image.shape().width - 1);
  const std::int64_t row = std::clamp<std::int64_t>(y, 0, image.shape().height - 1);
  if (image.shape().type == satin::Type::u8) return image.view().value<std::uint8_t>(column, row) / 255.0;
  return static_cast<double>(image.view().value<float>(column, row));
}

double between(double a, double b, double t) { return t == 0 ? a : a + t * (b - a); }

/// Interpolates bilinearly.
double sampled(const satin::Image& image, double x, double y) {
  const auto left = static_cast<std::int64_t>(std::floor(x));
  const auto top = static_cast<std::int64_t>(std::floor(y));
  const double u = x - static_cast<double>(left);
  const double v = y - static_cast<double>(top);
  const auto row = [&](std::int64_t at) {
    return between(stored_at(image, left, at), stored_at(image, left + 1, at), u);
  };
  return v == 0 ? row(top) : between(row(top), row(top + 1), v);
}

}  // namespace

const char* name_of(Damage damage) {
  constexpr const char* names[] = {"exact",   "eroded",    "dilated", "blurred 3", "blurred 5", "noisy",
                                   "shifted", "half size", "8 bits",  "holes",     "phone"};
  return names[static_cast<std::size_t>(damage)];
}

satin::Image damaged(const satin::Image& disparity, Damage damage, std::uint32_t seed) {
  if (damage == Damage::half_size) return halved(disparity);
  if (damage == Damage::eight_bits) return in_eight_bits(disparity);
  if (damage == Damage::phone) return phone_depth(disparity, seed);
  satin::Image result(disparity.shape());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      result.view().value<float>(x, y) = damaged_value(disparity, damage, seed, x, y);
  return result;
}

satin::Image plain(const satin::Image& disparity) {
  satin::Image result({width, height, 1, satin::Type::f32});
  const double scale = static_cast<double>(disparity.shape().width) / width;
  for (int y = 0; y < height; ++y) {
    auto* row = result.view().row<float>(y);
    for (int x = 0; x < width; ++x)
      row[x] = static_cast<float>(sampled(disparity, (x + 0.5) * scale - 0.5, (y + 0.5) * scale - 0.5));
    for (int x = 1; x < width; ++x)
      if (std::isnan(row[x])) row[x] = row[x - 1];
    for (int x = width - 2; x >= 0; --x)
      if (std::isnan(row[x])) row[x] = row[x + 1];
  }
  return result;
}

}  // namespace lens
