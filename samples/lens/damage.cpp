#include "damage.h"

#include <algorithm>
#include <functional>

#include "layers.h"

namespace lens {
namespace {

constexpr double noise = 0.02;

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

}  // namespace

const char* name_of(Damage damage) {
  constexpr const char* names[] = {"exact",     "eroded", "dilated", "blurred 3",
                                   "blurred 5", "noisy",  "shifted"};
  return names[static_cast<std::size_t>(damage)];
}

satin::Image damaged(const satin::Image& disparity, Damage damage, std::uint32_t seed) {
  satin::Image result(disparity.shape());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float& value = result.view().value<float>(x, y);
      switch (damage) {
        case Damage::none:
          value = value_at(disparity, x, y);
          break;
        case Damage::eroded:
        case Damage::dilated:
          value = extreme(disparity, x, y, damage == Damage::dilated);
          break;
        case Damage::blurred_3:
        case Damage::blurred_5:
          value = mean(disparity, x, y, damage == Damage::blurred_3 ? 1 : 2);
          break;
        case Damage::noisy:
          value = value_at(disparity, x, y) +
                  static_cast<float>(noise * (scene::random_of(x, y, static_cast<int>(seed)) - 0.5));
          break;
        case Damage::shifted:
          value = value_at(disparity, x + 1, y);
          break;
      }
    }
  return result;
}

}  // namespace lens
