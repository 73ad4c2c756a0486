// The radii of the oracle's boxes.

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/oracles/oracle_blur.h"

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
  const bool whole = boxes == 3 && radius256 / boxes >= 4 * 256;
  std::vector<int> radii;
  const int part = whole ? radius256 % 256 : 0;
  for (int rest = boxes; rest > 0; --rest) {
    const int wanted = (radius256 - part + rest - 1) / rest;
    radii.push_back(whole ? (wanted + 255) / 256 * 256 : wanted);
    radius256 -= radii.back();
  }
  radii.back() += part;
  return radii;
}

std::vector<int> radii_of_sigma(long double sigma, int boxes) {
  const long double wanted = sigma * sigma;
  const auto count = static_cast<long double>(boxes);
  int low = 0;
  while (count * variance(low + 1) <= wanted) ++low;
  // `larger` of `all` boxes have radius r + step, the others r: what comes nearest
  const auto nearest = [](int all, int r, int step, long double sum) {
    std::vector<std::pair<long double, int>> misses;
    for (int larger = 0; larger <= all; ++larger)
      misses.emplace_back(std::fabs(static_cast<long double>(all - larger) * variance(r) +
                                    static_cast<long double>(larger) * variance(r + step) - sum),
                          larger);
    return std::min_element(misses.begin(), misses.end())->second;
  };
  std::vector<int> radii;
  if (boxes < 3 || low < 4 * 256) {
    const int larger = nearest(boxes, low, 1, wanted);
    for (int i = 0; i < boxes; ++i) radii.push_back(i < larger ? low + 1 : low);
    return radii;
  }
  const int whole = low / 256 * 256;
  const int larger = nearest(boxes - 1, whole, 256, wanted * (count - 1) / count);
  long double rest = wanted;
  for (int i = 0; i + 1 < boxes; ++i) {
    radii.push_back(i < larger ? whole + 256 : whole);
    rest -= variance(radii.back());
  }
  int last = 0;
  while (variance(last + 1) <= rest) ++last;
  radii.push_back(last + nearest(1, last, 1, rest));
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
