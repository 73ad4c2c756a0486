#include "tests/oracles/oracle_regions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace satin::test {
namespace {

using Point = std::pair<std::int64_t, std::int64_t>;

struct Brute {
  std::vector<Point> points;
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  std::int64_t right = -1;
  std::int64_t top = std::numeric_limits<std::int64_t>::max();
  std::int64_t bottom = -1;
  std::uint64_t sum_x = 0;
  std::uint64_t sum_y = 0;
};

std::vector<Brute> collect(const FloodedRegions& expected, const Shape& shape) {
  std::vector<Brute> regions(expected.count);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::uint32_t label = expected.labels[static_cast<std::size_t>(y * shape.width + x)];
      if (label == 0) continue;
      Brute& region = regions[label - 1];
      region.points.emplace_back(x, y);
      region.left = std::min(region.left, x);
      region.right = std::max(region.right, x);
      region.top = std::min(region.top, y);
      region.bottom = std::max(region.bottom, y);
      region.sum_x += static_cast<std::uint64_t>(x);
      region.sum_y += static_cast<std::uint64_t>(y);
    }
  return regions;
}

double stored(const ImageView& image, const Point& at, int channel) {
  switch (image.shape.type) {
    case Type::u8:
      return image.value<std::uint8_t>(at.first, at.second, channel);
    case Type::u16:
      return image.value<std::uint16_t>(at.first, at.second, channel);
    default:
      return static_cast<double>(image.value<float>(at.first, at.second, channel));
  }
}

bool values_differ(const RegionValues& found, const Brute& region, const ImageView& image, int channel,
                   double largest) {
  long double sum = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Point& at : region.points) {
    const double value = stored(image, at, channel);
    sum += static_cast<long double>(value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const auto count = static_cast<long double>(region.points.size());
  const long double mean = sum / count;
  long double squares = 0;
  for (const Point& at : region.points) {
    const long double distance = static_cast<long double>(stored(image, at, channel)) - mean;
    squares += distance * distance;
  }
  const auto deviation = static_cast<double>(std::sqrt(squares / count));
  const double tolerance = (image.shape.type == Type::f32 ? 1e-9 : 1e-15) * largest;
  return found.minimum != low || found.maximum != high ||
         !(std::fabs(found.mean - static_cast<double>(mean)) <= tolerance) ||
         !(std::fabs(found.deviation - deviation) <= tolerance);
}

double largest_magnitude(const ImageView& image) {
  double largest = 0;
  for (std::int64_t y = 0; y < image.shape.height; ++y)
    for (std::int64_t x = 0; x < image.shape.width; ++x)
      for (int c = 0; c < image.shape.channels; ++c)
        largest = std::max(largest, std::fabs(stored(image, {x, y}, c)));
  return largest;
}

}  // namespace

FloodedRegions flood(const ImageView& mask, int connectivity, bool zeros) {
  const Shape& shape = mask.shape;
  FloodedRegions result;
  result.labels.resize(static_cast<std::size_t>(shape.width * shape.height));
  const auto label = [&](std::int64_t x, std::int64_t y) -> std::uint32_t& {
    return result.labels[static_cast<std::size_t>(y * shape.width + x)];
  };
  const auto unlabelled = [&](std::int64_t x, std::int64_t y) {
    return x >= 0 && y >= 0 && x < shape.width && y < shape.height &&
           (mask.value<std::uint8_t>(x, y) == 0) == zeros && label(x, y) == 0;
  };
  std::vector<Point> waiting;
  for (std::int64_t start_y = 0; start_y < shape.height; ++start_y)
    for (std::int64_t start_x = 0; start_x < shape.width; ++start_x) {
      if (!unlabelled(start_x, start_y)) continue;
      label(start_x, start_y) = ++result.count;
      waiting.emplace_back(start_x, start_y);
      while (!waiting.empty()) {
        const auto [x, y] = waiting.back();
        waiting.pop_back();
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            if (connectivity == 4 && dx != 0 && dy != 0) continue;
            if (!unlabelled(x + dx, y + dy)) continue;
            label(x + dx, y + dy) = result.count;
            waiting.emplace_back(x + dx, y + dy);
          }
      }
    }
  return result;
}

std::string wrong_statistics(const Regions& found, const FloodedRegions& expected, const Shape& mask,
                             const ImageView& image) {
  if (found.regions.size() != expected.count)
    return std::to_string(found.regions.size()) + " regions instead of " + std::to_string(expected.count);
  const std::vector<Brute> brute = collect(expected, mask);
  const double largest = image.empty() ? 0 : largest_magnitude(image);
  for (std::size_t i = 0; i < brute.size(); ++i) {
    const Region& region = found.regions[i];
    const Brute& truth = brute[i];
    const auto area = static_cast<std::int64_t>(truth.points.size());
    const std::string where = "region " + std::to_string(i + 1) + ": ";
    if (region.label != i + 1) return where + "label " + std::to_string(region.label);
    if (region.area != area) return where + "area " + std::to_string(region.area);
    if (region.x != truth.left || region.y != truth.top || region.width != truth.right - truth.left + 1 ||
        region.height != truth.bottom - truth.top + 1)
      return where + "box";
    if (region.centroid_x != static_cast<double>(truth.sum_x) / static_cast<double>(area) ||
        region.centroid_y != static_cast<double>(truth.sum_y) / static_cast<double>(area))
      return where + "centroid";
    const bool touches =
        truth.left == 0 || truth.top == 0 || truth.right == mask.width - 1 || truth.bottom == mask.height - 1;
    if (region.touches_border != touches) return where + "border";
    const std::size_t channels = image.empty() ? 0 : static_cast<std::size_t>(image.shape.channels);
    if (region.values.size() != channels) return where + "number of channels";
    for (std::size_t c = 0; c < channels; ++c)
      if (values_differ(region.values[c], truth, image, static_cast<int>(c), largest))
        return where + "values of channel " + std::to_string(c);
  }
  return "";
}

}  // namespace satin::test
