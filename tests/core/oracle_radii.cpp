// The radii of the oracle's boxes.

#include <algorithm>
#include <cmath>

#include "oracle_blur.h"

namespace satin::test {
namespace {

/// Second moment of the covered lengths of a box around 0.
long double variance(int radius256) {
  long double sum = 0;
  long double moment = 0;
  for (int position = -radius256 / 256 - 1; position <= radius256 / 256 + 1; ++position) {
    const auto weight =
        static_cast<long double>(std::clamp(radius256 + 256 - 256 * std::abs(position), 0, 256));
    sum += weight;
    moment += weight * static_cast<long double>(position) * static_cast<long double>(position);
  }
  return moment / sum;
}

}  // namespace

int quantised(long double pixels) { return static_cast<int>(std::floor(pixels * 256 + 0.5L)); }

std::vector<int> radii_of_reach(int radius256, int boxes) {
  std::vector<int> radii;
  for (int rest = boxes; rest > 0; --rest) {
    radii.push_back((radius256 + rest - 1) / rest);
    radius256 -= radii.back();
  }
  return radii;
}

std::vector<int> radii_of_sigma(long double sigma, int boxes) {
  const long double wanted = sigma * sigma;
  int low = 0;
  while (static_cast<long double>(boxes) * variance(low + 1) <= wanted) ++low;
  int best = 0;
  long double smallest_miss = -1;
  for (int enlarged = 0; enlarged <= boxes; ++enlarged) {
    const long double sum = static_cast<long double>(boxes - enlarged) * variance(low) +
                            static_cast<long double>(enlarged) * variance(low + 1);
    const long double miss = std::fabs(sum - wanted);
    if (smallest_miss >= 0 && miss >= smallest_miss) continue;
    smallest_miss = miss;
    best = enlarged;
  }
  std::vector<int> radii;
  for (int i = 0; i < boxes; ++i) radii.push_back(i < best ? low + 1 : low);
  return radii;
}

std::vector<int> radii_of_map(const ImageView& map, int radius_at_0, int radius_at_maximum) {
  std::vector<int> radii;
  for (std::int64_t y = 0; y < map.shape.height; ++y)
    for (std::int64_t x = 0; x < map.shape.width; ++x) {
      if (map.shape.type == Type::f32) {
        const auto value = static_cast<long double>(map.value<float>(x, y));
        const long double radius =
            radius_at_0 + static_cast<long double>(radius_at_maximum - radius_at_0) * value;
        radii.push_back(static_cast<int>(std::floor(radius + 0.5L)));
        continue;
      }
      const bool eight = map.shape.type == Type::u8;
      const Wide value = eight ? map.value<std::uint8_t>(x, y) : map.value<std::uint16_t>(x, y);
      const Wide maximum = eight ? 255 : 65535;
      radii.push_back(
          static_cast<int>(rounded(radius_at_0 * (maximum - value) + radius_at_maximum * value, maximum)));
    }
  return radii;
}

int mask_value(const ImageView& mask, int x, int y) {
  if (mask.empty()) return 1;
  return mask.shape.type == Type::u8 ? mask.value<std::uint8_t>(x, y) : mask.value<std::uint16_t>(x, y);
}

std::vector<Wide> included_counts(const OracleBlur& blur, const BoxRadii& box) {
  Working<Wide> counting;
  counting.width = static_cast<int>(blur.picture.shape.width);
  counting.height = static_cast<int>(blur.picture.shape.height);
  for (int y = 0; y < counting.height; ++y)
    for (int x = 0; x < counting.width; ++x)
      counting.values.push_back(mask_value(blur.mask, x, y) == 0 ? 0 : 1);
  counting.outside[0] = 1;
  std::vector<Wide> counts;
  for (const BoxTotal<Wide>& total : covered_totals(counting, box, blur.border))
    counts.push_back(total.sum[0]);
  return counts;
}

}  // namespace satin::test
