#include "tests/oracles/oracle_mask.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

using Pixel = std::pair<std::int64_t, std::int64_t>;

PixelSet inverse(PixelSet region) {
  for (char& value : region.inside) value = static_cast<char>(value == 0);
  return region;
}

bool covers(MaskShape shape, double radius, std::int64_t dx, std::int64_t dy) {
  if (shape == MaskShape::box)
    return std::max(std::abs(dx), std::abs(dy)) <= static_cast<std::int64_t>(radius);
  // 64 bits of mantissa hold the square of a radius with 32.
  return static_cast<long double>(dx * dx + dy * dy) <=
         static_cast<long double>(radius) * static_cast<long double>(radius);
}

PixelSet grown(const PixelSet& region, MaskShape shape, double radius) {
  PixelSet result = region;
  const auto reach = static_cast<std::int64_t>(radius);
  for (std::int64_t y = 0; y < region.height; ++y)
    for (std::int64_t x = 0; x < region.width; ++x) {
      bool found = false;
      for (std::int64_t v = std::max<std::int64_t>(y - reach, 0);
           v <= std::min(y + reach, region.height - 1) && !found; ++v)
        for (std::int64_t u = std::max<std::int64_t>(x - reach, 0);
             u <= std::min(x + reach, region.width - 1) && !found; ++u)
          found = region.at(u, v) && covers(shape, radius, u - x, v - y);
      result.inside[static_cast<std::size_t>(y * region.width + x)] = static_cast<char>(found);
    }
  return result;
}

/// Shrinks the region: a pixel stays if no pixel outside is near it.
PixelSet shrunk(const PixelSet& region, MaskShape shape, double radius) {
  return inverse(grown(inverse(region), shape, radius));
}

std::vector<Pixel> component(const PixelSet& region, Pixel from, bool corners, std::vector<char>& seen) {
  std::vector<Pixel> pixels = {from};
  seen[static_cast<std::size_t>(from.second * region.width + from.first)] = 1;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    for (std::int64_t dy = -1; dy <= 1; ++dy)
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        const Pixel next = {pixels[i].first + dx, pixels[i].second + dy};
        if (!corners && dx != 0 && dy != 0) continue;
        if (!region.has(next.first, next.second) || !region.at(next.first, next.second)) continue;
        char& done = seen[static_cast<std::size_t>(next.second * region.width + next.first)];
        if (done != 0) continue;
        done = 1;
        pixels.push_back(next);
      }
  return pixels;
}

/// Returns the region without the components for which `goes` is true.
template <class Goes>
PixelSet without(PixelSet region, bool corners, const Goes& goes) {
  const PixelSet original = region;
  std::vector<char> seen(region.inside.size());
  for (std::int64_t y = 0; y < region.height; ++y)
    for (std::int64_t x = 0; x < region.width; ++x) {
      if (!original.at(x, y) || seen[static_cast<std::size_t>(y * region.width + x)] != 0) continue;
      const std::vector<Pixel> pixels = component(original, {x, y}, corners, seen);
      if (!goes(pixels)) continue;
      for (const auto& [u, v] : pixels) region.inside[static_cast<std::size_t>(v * region.width + u)] = 0;
    }
  return region;
}

PixelSet filled(const PixelSet& region, const Mask& parameters) {
  const bool corners = parameters.connectivity == Connectivity::four;
  return inverse(without(inverse(region), corners, [&](const std::vector<Pixel>& pixels) {
    const bool open = std::any_of(pixels.begin(), pixels.end(), [&](const Pixel& p) {
      return p.first == 0 || p.second == 0 || p.first == region.width - 1 || p.second == region.height - 1;
    });
    return !open &&
           (parameters.fill_all_holes || pixels.size() <= static_cast<std::size_t>(parameters.fill_holes));
  }));
}

}  // namespace

PixelSet region_of_kind(const std::string& kind, std::int64_t width, std::int64_t height,
                        std::uint64_t seed) {
  PixelSet region{width, height, std::vector<char>(static_cast<std::size_t>(width * height))};
  Random random(seed);
  const std::uint64_t size = region.inside.size();
  const bool starts_full = kind == "full" || kind == "hole" || kind == "dense";
  if (starts_full) std::fill(region.inside.begin(), region.inside.end(), char{1});
  if (kind == "point") region.inside[random.below(size)] = 1;
  if (kind == "hole") region.inside[random.below(size)] = 0;
  if (kind == "noise" || kind == "sparse" || kind == "dense")
    for (char& value : region.inside)
      if (random.one_in(kind == "noise" ? 2 : 41)) value = static_cast<char>(kind != "dense");
  if (kind != "blobs" && kind != "rings") return region;
  for (int i = 0; i < 5; ++i) {
    const auto cx = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
    const auto cy = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(height)));
    const int radius = random.between(2, 14);
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t squared = (x - cx) * (x - cx) + (y - cy) * (y - cy);
        const bool hollow = kind == "rings" && squared < (radius - 2) * (radius - 2);
        if (squared <= radius * radius && !hollow) region.inside[static_cast<std::size_t>(y * width + x)] = 1;
      }
  }
  return region;
}

Image picture_of(const PixelSet& region) {
  Image picture({region.width, region.height, 1, Type::u8});
  for (std::int64_t y = 0; y < region.height; ++y)
    for (std::int64_t x = 0; x < region.width; ++x)
      picture.view().value<std::uint8_t>(x, y) = region.at(x, y) ? 255 : 0;
  return picture;
}

PixelSet region_of(const ImageView& picture) {
  PixelSet region{picture.shape.width, picture.shape.height, {}};
  for (std::int64_t y = 0; y < region.height; ++y)
    for (std::int64_t x = 0; x < region.width; ++x)
      region.inside.push_back(static_cast<char>(picture.value<std::uint8_t>(x, y) != 0));
  return region;
}

std::vector<std::int64_t> squared_distances(const PixelSet& region) {
  std::vector<std::int64_t> squared;
  for (std::int64_t y = 0; y < region.height; ++y)
    for (std::int64_t x = 0; x < region.width; ++x) {
      std::int64_t nearest = -1;
      for (std::int64_t v = 0; v < region.height; ++v)
        for (std::int64_t u = 0; u < region.width; ++u) {
          if (region.at(u, v) == region.at(x, y)) continue;
          const std::int64_t distance = (u - x) * (u - x) + (v - y) * (v - y);
          if (nearest < 0 || distance < nearest) nearest = distance;
        }
      squared.push_back(nearest);
    }
  return squared;
}

PixelSet worked(const PixelSet& region, const Mask& parameters) {
  const auto grow = [&](const PixelSet& r, double radius) { return grown(r, parameters.shape, radius); };
  const auto shrink = [&](const PixelSet& r, double radius) { return shrunk(r, parameters.shape, radius); };
  PixelSet result = filled(region, parameters);
  result =
      without(result, parameters.connectivity == Connectivity::eight, [&](const std::vector<Pixel>& pixels) {
        return pixels.size() < static_cast<std::size_t>(parameters.min_area);
      });
  result = grow(shrink(result, parameters.open), parameters.open);
  result = shrink(grow(result, parameters.close), parameters.close);
  return shrink(grow(result, parameters.grow), parameters.shrink);
}

long double feathered(bool inside, std::int64_t squared, long double width, FeatherSide side) {
  if (squared < 0) return inside ? 255 : 0;
  const long double away = std::sqrt(static_cast<long double>(squared)) - 0.5L;
  const long double signed_distance = inside ? away : -away;
  const long double at_outline = side == FeatherSide::inward    ? 0.0L
                                 : side == FeatherSide::outward ? 1.0L
                                                                : 0.5L;
  return 255 * std::clamp(at_outline + signed_distance / width, 0.0L, 1.0L);
}

}  // namespace satin::test
