// The disocclusion fill against windows summed pixel by pixel, and with a list that is too small; the steps
// before the splat against those of the CPU.

#include "lens/maths/disocclusion_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/lens/layers_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// One hidden sample, from windows that are summed directly.
class Oracle {
 public:
  Oracle(const Layers& layers, int group) : layers_(layers), group_(group) {}

  [[nodiscard]] Hidden at(int x, int y) const {
    Hidden result{};
    if (!layers_.holds(x, y) || layers_.group_of[layers_.at(x, y)] >= group_) return result;
    constexpr std::array reaches = {1, 2, 4, 16, 32};
    constexpr std::array factors = {1.0F, 1.0F / 24, 1.0F / 2048, 1.0F / 131072, 1.0F / 33554432};
    float in_group = 0;
    float from_group_on = 0;
    int empty = 0;
    bool begun = false;
    for (std::size_t i = 0; i < reaches.size(); ++i) {
      const Sums sums = window(x, y, reaches[i]);
      if (!begun && sums.from_group_on == 0 && i + 1 < reaches.size()) {
        empty = reaches[i];
        continue;
      }
      if (i + 1 == reaches.size() && sums.in_group == 0) return Hidden{};
      begun = true;
      for (int c = 0; c < layers_.channels; ++c)
        result.colour[c] += factors[i] * static_cast<float>(sums.colour[static_cast<std::size_t>(c)]);
      result.radius += factors[i] * static_cast<float>(sums.radius);
      in_group += factors[i] * static_cast<float>(sums.in_group);
      from_group_on += factors[i] * static_cast<float>(sums.from_group_on);
    }
    if (in_group < 0.05F * from_group_on) return Hidden{};
    result.radius = result.radius / in_group / 256;
    const float own = std::abs(static_cast<float>(layers_.radii[layers_.at(x, y)])) / 256;
    if (static_cast<float>(empty) > own + std::abs(result.radius) + 1) return Hidden{};
    result.weight = in_group / from_group_on;
    for (int c = 0; c < layers_.channels; ++c) result.colour[c] = result.colour[c] / in_group / 65535;
    if (std::abs(result.radius) < 3) refine(x, y, result);
    for (int c = 0; c < layers_.channels; ++c)
      result.colour[c] = result.colour[c] / std::max(1 - result.colour[c], 0.5F / 65535);
    return result;
  }

 private:
  struct Sums {
    std::array<std::int64_t, 4> colour{};
    std::int64_t radius = 0;
    std::int64_t in_group = 0;
    std::int64_t from_group_on = 0;
  };

  [[nodiscard]] float light(int x, int y, int c) const {
    const float value =
        lens_light(layers_.colours[layers_.at(x, y) * static_cast<std::size_t>(layers_.channels) +
                                   static_cast<std::size_t>(c)],
                   layers_.unit);
    return value / (1 + value);
  }

  [[nodiscard]] Sums window(int x, int y, int reach) const {
    Sums sums;
    for (int v = std::max(0, y - reach); v <= std::min(layers_.height - 1, y + reach); ++v)
      for (int u = std::max(0, x - reach); u <= std::min(layers_.width - 1, x + reach); ++u) {
        const int own = layers_.group_of[layers_.at(u, v)];
        if (own >= group_) ++sums.from_group_on;
        if (own != group_) continue;
        ++sums.in_group;
        sums.radius += layers_.radii[layers_.at(u, v)];
        for (int c = 0; c < layers_.channels; ++c)
          sums.colour[static_cast<std::size_t>(c)] +=
              static_cast<std::int64_t>(light(u, v, c) * 65535 + 0.5F);
      }
    return sums;
  }

  /// Returns 0 if there is no pixel in or behind the group, or if the first one is behind it.
  [[nodiscard]] int distance(int x, int y, int step_x, int step_y) const {
    for (int i = 1; i <= 8; ++i) {
      const int u = x + i * step_x;
      const int v = y + i * step_y;
      if (!layers_.holds(u, v)) return 0;
      const int own = layers_.group_of[layers_.at(u, v)];
      if (own >= group_) return own == group_ ? i : 0;
    }
    return 0;
  }

  void refine(int x, int y, Hidden& hidden) const {
    std::array<double, 4> sum{};
    double total = 0;
    for (const bool along_row : {true, false}) {
      const int dx = along_row ? 1 : 0;
      const int dy = along_row ? 0 : 1;
      const int after = distance(x, y, dx, dy);
      const int back = distance(x, y, -dx, -dy);
      if (after == 0 || back == 0) continue;
      double apart = 0.03;
      for (int c = 0; c < layers_.channels; ++c)
        apart +=
            std::pow(light(x + after * dx, y + after * dy, c) - light(x - back * dx, y - back * dy, c), 2);
      const double length = back + after;
      const double weight = 1 / (length * length * apart);
      for (int c = 0; c < layers_.channels; ++c)
        sum[static_cast<std::size_t>(c)] +=
            weight *
            (static_cast<double>(light(x + after * dx, y + after * dy, c)) * back +
             static_cast<double>(light(x - back * dx, y - back * dy, c)) * after) /
            length;
      total += weight;
    }
    if (total == 0) return;
    for (int c = 0; c < layers_.channels; ++c)
      hidden.colour[c] =
          static_cast<float>((sum[static_cast<std::size_t>(c)] + static_cast<double>(hidden.colour[c]) / 30) /
                             (total + 1.0 / 30));
  }

  const Layers& layers_;
  int group_;
};

/// Adds the expected samples of one 2 x 2 block.
void add_block(const Layers& layers, int group, int x, int y,
               std::vector<std::pair<LensSample, Hidden>>& to) {
  const Oracle oracle(layers, group);
  std::array<Hidden, 4> hidden{};
  Hidden merged{};
  for (int i = 0; i < 4; ++i) {
    const Hidden& own = hidden[static_cast<std::size_t>(i)] = oracle.at(x + i % 2, y + i / 2);
    for (int c = 0; c < layers.channels; ++c) merged.colour[c] += own.weight * own.colour[c];
    merged.radius += own.weight * own.radius;
    merged.weight += own.weight;
  }
  if (merged.weight == 0) return;
  const auto add = [&](const Hidden& own, int u, int v, int block) {
    const auto weight = static_cast<std::uint16_t>(own.weight * 4096 + 0.5F);
    if (weight == 0) return;
    LensSample sample{};
    sample.x = u;
    sample.y = v;
    sample.radius = static_cast<std::uint32_t>(std::abs(own.radius) * 256 + 0.5F);
    sample.weight = weight;
    sample.block = static_cast<std::uint8_t>(block);
    sample.group = static_cast<std::uint8_t>(group);
    to.emplace_back(sample, own);
  };
  for (int c = 0; c < layers.channels; ++c) merged.colour[c] /= merged.weight;
  merged.radius /= merged.weight;
  if (x > 0 && y > 0 && x + 2 < layers.width && y + 2 < layers.height && std::abs(merged.radius) > 2)
    return add(merged, x, y, 2);
  for (int i = 0; i < 4; ++i)
    if (hidden[static_cast<std::size_t>(i)].weight > 0)
      add(hidden[static_cast<std::size_t>(i)], x + i % 2, y + i / 2, 1);
}

TEST(DisocclusionFill, IsTheRuleWindowByWindow) {
  for (const int channels : {1, 2, 3, 4}) {
    const int width = 101 + 9 * channels;
    const int height = 70 + channels;
    const Image picture =
        random_picture({width, height, channels, Type::u8}, 7U + static_cast<unsigned>(channels));
    const Layers layers = layers_of(device_under_test(), picture,
                                    random_radii(width, height, 20U + static_cast<unsigned>(channels)), 5, 0);
    ASSERT_GE(layers.groups.count, 3);
    std::vector<std::pair<LensSample, Hidden>> expected;
    for (int group = 1; group < layers.groups.count; ++group)
      for (int y = 0; y < height; y += 2)
        for (int x = 0; x < width; x += 2) add_block(layers, group, x, y, expected);
    std::ranges::sort(expected, [](const auto& a, const auto& b) { return before(a.first, b.first); });
    ASSERT_GT(expected.size(), 500U);
    ASSERT_EQ(layers.hidden.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const LensSample& sample = layers.hidden[i];
      const auto& [own, hidden] = expected[i];
      ASSERT_TRUE(!before(sample, own) && !before(own, sample)) << sample.x << ", " << sample.y;
      EXPECT_NEAR(sample.radius, own.radius, 1);
      EXPECT_NEAR(sample.weight, own.weight, 1);
      for (int c = 0; c < channels; ++c)
        EXPECT_NEAR(lens_light(sample.colour[c], layers.unit), hidden.colour[c],
                    2e-4F * (1 + hidden.colour[c]))
            << sample.x << ", " << sample.y;
    }
  }
}

/// Whether a farther group is within the pixel's radius, rounded up, and one pixel more.
bool is_exposed(const Layers& layers, int x, int y) {
  const int reach = static_cast<int>((layers.magnitudes[layers.at(x, y)] + 255) / 256) + 1;
  for (int v = y - reach; v <= y + reach; ++v)
    for (int u = x - reach; u <= x + reach; ++u)
      if (layers.holds(u, v) && layers.group_of[layers.at(u, v)] > layers.group_of[layers.at(x, y)])
        return true;
  return false;
}

TEST(DisocclusionFill, ExposesPixelsWithAFartherGroupInTheirRadius) {
  const int width = 301;
  const int height = 147;
  const Layers layers = layers_of(device_under_test(), random_picture({width, height, 3, Type::u8}, 7),
                                  random_radii(width, height, 20), 5, 0);
  ASSERT_GE(layers.groups.count, 3);
  std::size_t exposed = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (layers.magnitudes[layers.at(x, y)] >= 31 * 256) continue;
      ASSERT_EQ(layers.exposed[layers.at(x, y)] != 0, is_exposed(layers, x, y)) << x << ", " << y;
      exposed += layers.exposed[layers.at(x, y)];
    }
  EXPECT_GT(exposed, 100U);
  EXPECT_LT(exposed, layers.exposed.size() - 100);
}

/// Five random depths, `step` apart: most pixels are silhouettes, and all but the farthest hide something.
Layers layers_of_noise(const Device& device, int side, float merged_radius = 2, int step = 800) {
  Random random(9);
  std::vector<std::int32_t> radii(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  for (std::int32_t& radius : radii) radius = step * random.between(-2, 2);
  return layers_of(device, random_picture({side, side, 3, Type::u8}, 3), radii, 5, most_offset_pairs, false,
                   merged_radius);
}

std::size_t hidden_of(const Layers& layers, int group) {
  return static_cast<std::size_t>(
      std::ranges::count(layers.hidden, group, [](const LensSample& sample) { return int{sample.group}; }));
}

void expect_equal(const Layers& found, const Layers& expected) {
  ASSERT_EQ(found.hidden.size(), expected.hidden.size());
  const std::size_t bytes = found.hidden.size() * sizeof(LensSample);
  EXPECT_EQ(std::memcmp(found.hidden.data(), expected.hidden.data(), bytes), 0);
}

bool is_merged(const LensSample& sample) { return sample.block == 2; }

TEST(DisocclusionFill, MoreIsMergedIfTheSamplesDoNotFit) {
  const Device cpu = Device::open("cpu", {.threads = 1});
  const Layers fits = layers_of_noise(device_under_test(), 288, 12, 600);
  EXPECT_GT(hidden_of(fits, 2), 25 * 1000U);
  EXPECT_TRUE(std::ranges::none_of(fits.hidden, is_merged));
  expect_equal(fits, layers_of_noise(cpu, 288, 12, 600));

  const Layers blurred = layers_of_noise(device_under_test(), 320, 12, 600);
  expect_equal(blurred, layers_of_noise(cpu, 320, 2, 600));

  const Layers all = layers_of_noise(device_under_test(), 512, 2, 300);
  EXPECT_GT(all.hidden.size(), 50 * 1000U);
  for (const LensSample& sample : all.hidden)
    ASSERT_EQ(is_merged(sample), sample.x > 1 && sample.y > 1 && sample.x < 510 && sample.y < 510);
  expect_equal(all, layers_of_noise(cpu, 512, 12, 300));
}

TEST(DisocclusionFill, AGroupThatDoesNotFitThoughMergedIsLeftAwayWhole) {
  const Layers small = layers_of_noise(device_under_test(), 128);
  ASSERT_EQ(small.groups.count, 3);
  EXPECT_GT(hidden_of(small, 1), 1000U);
  EXPECT_GT(hidden_of(small, 2), 1000U);

  const Layers large = layers_of_noise(device_under_test(), 640);
  EXPECT_GT(hidden_of(large, 1), 25 * 1000U);
  EXPECT_EQ(hidden_of(large, 2), 0U);
  expect_equal(large, layers_of_noise(Device::open("cpu", {.threads = 1}), 640));
}

TEST(LensLayers, AreThoseOfTheCpuAtAnySize) {
  std::uint64_t seed = 60;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 40}, {40, 1}, {2, 9}, {9, 2}, {255, 7}, {257, 17}, {300, 8}, {515, 71}})
    for (const std::uint64_t noise : {1U, 300U}) {
      std::vector<std::int32_t> radii = random_radii(width, height, ++seed);
      Random random(seed);
      for (std::int32_t& radius : radii) radius += static_cast<std::int32_t>(random.below(noise));
      const Image picture = random_picture({width, height, 3, Type::u8}, seed);
      const Layers found = layers_of(device_under_test(), picture, radii, 5);
      const Layers expected = layers_of(Device::open("cpu", {.threads = 1}), picture, radii, 5);
      SCOPED_TRACE(testing::Message() << width << " x " << height << ", noise " << noise);
      ASSERT_EQ(found.groups.count, expected.groups.count);
      for (int i = 0; i + 1 < found.groups.count; ++i)
        EXPECT_EQ(found.groups.limits[i], expected.groups.limits[i]);
      EXPECT_EQ(found.radii, expected.radii);
      EXPECT_EQ(found.colours, expected.colours);
      EXPECT_EQ(found.group_of, expected.group_of);
      ASSERT_EQ(found.hidden.size(), expected.hidden.size());
      EXPECT_EQ(
          std::memcmp(found.hidden.data(), expected.hidden.data(), found.hidden.size() * sizeof(LensSample)),
          0);
    }
}

}  // namespace
}  // namespace satin::test
