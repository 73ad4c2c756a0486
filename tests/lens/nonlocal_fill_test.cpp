// The non-local fill against the true texture and against its rule in double; rows of entries of each SIMD
// target against the rule of one pixel.

#include "lens/maths/nonlocal_fill.h"

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/lens/nonlocal_fill_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstdint>
#include <vector>

#include "lens/cpu/nonlocal_fill-inl.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

/// Random packed colours of groups 0 and 1.
struct Words {
  std::vector<std::uint32_t> words;
  NonlocalFill fill{};

  Words(int width, int height, std::uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < width * height; ++i)
      words.push_back(static_cast<std::uint32_t>(random.below(1U << 27) | random.below(2) << 27));
    fill.planes.width = width;
    fill.planes.height = height;
    fill.words = words.data();
    fill.group = 1;
  }
};

void CheckDifferencesOfPixels(const Words& words, const Offset& offset) {
  const DifferenceEntry entry{words.fill, offset};
  const int left = -known_reach;
  const int right = std::min(words.fill.planes.width + known_reach, left + rows::nonlocal_columns);
  rows::KnownRow row;
  for (int y = -3; y < words.fill.planes.height + 3; ++y) {
    rows::EntryRow(entry, left, right, y, row);
    for (int x = left; x < right; ++x) {
      ASSERT_EQ(row[static_cast<std::size_t>(x - left)], joined(entry(x, y))) << x << ", " << y;
    }
  }
}

void CheckRowsAreWhatThePixelsAreOnEverySimdTarget() {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 90}, {90, 7}, {200, 40}}) {
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height));
    for (const Offset offset : {Offset{0, 1}, {9, 0}, {-9, -2}, {-72, 3}, {72, 72}})
      CheckDifferencesOfPixels(Words(width, height, 6), offset);
  }
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "satin/device.h"
#include "tests/lens/layers_case.h"
#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

HWY_EXPORT(CheckRowsAreWhatThePixelsAreOnEverySimdTarget);

TEST(NonlocalFill, RowsAreWhatThePixelsAreOnEverySimdTarget) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckRowsAreWhatThePixelsAreOnEverySimdTarget)(); });
}

TEST(NonlocalFill, TheLargestSumsFitTheirWords) {
  const std::uint32_t largest = packed_difference(0, (1U << 27) - 1);
  EXPECT_EQ(largest, 3U * 511 * 511);
  EXPECT_EQ(packed_difference((1U << 27) - 1, 0), largest);
  EXPECT_LT(std::uint64_t{4} * 25 * 25 * largest, std::uint64_t{1} << 31);
  EXPECT_LT(std::uint64_t{most_points} * largest, std::uint64_t{1} << 31);
}

constexpr int width = 230;
constexpr int height = 170;

/// A blurred disc before a sharp texture.
std::vector<std::int32_t> disc_before_all() {
  std::vector<std::int32_t> radii(static_cast<std::size_t>(width) * height, 200);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if ((x - 110) * (x - 110) + (y - 80) * (y - 80) < 10 * 10)
        radii[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] = 12 * 256;
  return radii;
}

/// A picture of 8-bit codes from value(x, y, channel).
template <class Value>
Image picture_of(int channels, const Value& value) {
  Image picture({width, height, channels, Type::u8});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        picture.view().row<std::uint8_t>(y)[x * channels + c] = static_cast<std::uint8_t>(value(x, y, c));
  return picture;
}

/// A random code that depends on the pixel and channel alone.
int code_at(int x, int y, int channel) {
  return static_cast<int>(Random(static_cast<std::uint64_t>((y * 512 + x) * 8 + channel)).below(200));
}

/// Root mean square error of the hidden samples, in linear light.
double error_of(const Layers& layers, const Layers& truth) {
  double squares = 0;
  for (const LensSample& sample : layers.hidden)
    for (int c = 0; c < layers.channels; ++c) {
      const std::size_t at = layers.at(sample.x, sample.y) * static_cast<std::size_t>(layers.channels);
      const double apart =
          static_cast<double>(lens_light(sample.colour[c], layers.unit)) -
          static_cast<double>(lens_light(truth.colours[at + static_cast<std::size_t>(c)], layers.unit));
      squares += apart * apart;
    }
  return std::sqrt(squares / static_cast<double>(layers.hidden.size()));
}

TEST(NonlocalFill, TextureThatRepeatsGoesOnBehindWhatIsNearer) {
  for (const int channels : {1, 2, 3, 4}) {
    const Image picture = picture_of(channels, [](int x, int y, int c) { return code_at(x % 9, y % 7, c); });
    const Layers truth =
        layers_of(device_under_test(), picture, std::vector<std::int32_t>(width * height, 200), 5);
    const Layers means = layers_of(device_under_test(), picture, disc_before_all(), 5, 0);
    const Layers found = layers_of(device_under_test(), picture, disc_before_all(), 5);
    ASSERT_EQ(found.groups.count, 2);
    ASSERT_GT(found.hidden.size(), 300U);
    EXPECT_GT(error_of(means, truth), 0.1);
    EXPECT_LT(error_of(found, truth), 0.002) << channels;
    for (std::size_t i = 0; i < found.radii.size(); ++i)
      ASSERT_EQ(found.magnitudes[i], magnitude_of(found.radii[i])) << "the plane that was borrowed";
  }
}

TEST(NonlocalFill, AConstantPictureStaysConstant) {
  const Image picture = picture_of(3, [](int, int, int c) { return 40 + 90 * c; });
  const Layers layers = layers_of(device_under_test(), picture, disc_before_all(), 5);
  ASSERT_GT(layers.hidden.size(), 300U);
  for (const LensSample& sample : layers.hidden)
    for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(sample.colour[c], layers.colours[c]);
}

/// The rule for one hidden sample, pixel by pixel in double.
class Oracle {
 public:
  Oracle(const Layers& layers, std::vector<Offset> offsets) : layers_(layers), offsets_(std::move(offsets)) {}

  [[nodiscard]] std::array<double, 3> at(const LensSample& sample) const {
    double weight = 16 * trust(std::min(variance(sample), guard(sample) / 2));
    std::array<double, 3> sum{};
    for (std::size_t c = 0; c < 3; ++c)
      sum[c] = weight * compressed(static_cast<double>(lens_light(sample.colour[c], layers_.unit)));
    for (const Offset& offset : offsets_) {
      const auto [cost, count] = difference(sample, offset);
      const int x = sample.x + offset.x;
      const int y = sample.y + offset.y;
      if (count < 93 || !known(x, y)) continue;
      const double by = trust(cost / count);
      for (int c = 0; c < 3; ++c) sum[static_cast<std::size_t>(c)] += by * compressed(light(x, y, c));
      weight += by;
    }
    for (double& value : sum) value = value / weight / (1 - value / weight);
    return sum;
  }

 private:
  struct Total {
    double sum = 0;
    double count = 0;
  };

  static double compressed(double light) { return light / (1 + light); }
  static double trust(double cost) { return std::pow(cost + 2e-4, -4); }
  [[nodiscard]] double light(int x, int y, int c) const {
    return static_cast<double>(
        lens_light(layers_.colours[3 * layers_.at(x, y) + static_cast<std::size_t>(c)], layers_.unit));
  }
  [[nodiscard]] bool known(int x, int y) const {
    return layers_.holds(x, y) && layers_.group_of[layers_.at(x, y)] == 1 &&
           layers_.edges[layers_.at(x, y)] == 0;
  }
  /// Compressed light, rounded to 511 steps up to a light of 1.2.
  [[nodiscard]] double code(int x, int y, int c) const {
    const double step = 1.2 / 2.2 / 511;
    return std::floor(compressed(light(x, y, c)) / step + 0.5) * step;
  }
  template <class Visit>
  void window(const LensSample& sample, const Visit& visit) const {
    for (int y = sample.y - 12; y <= sample.y + 12; ++y)
      for (int x = sample.x - 12; x <= sample.x + 12; ++x)
        if (known(x, y)) visit(x, y);
  }
  [[nodiscard]] Total difference(const LensSample& sample, const Offset& offset) const {
    Total total;
    window(sample, [&](int x, int y) {
      if (!known(x + offset.x, y + offset.y)) return;
      for (int c = 0; c < 3; ++c)
        total.sum += std::pow(code(x, y, c) - code(x + offset.x, y + offset.y, c), 2);
      ++total.count;
    });
    return total;
  }
  [[nodiscard]] double guard(const LensSample& sample) const {
    Total total;
    for (const Offset offset : {Offset{4, 0}, {0, 4}, {-4, 0}, {0, -4}}) {
      const Total own = difference(sample, offset);
      total.sum += own.sum;
      total.count += own.count;
    }
    return total.sum / total.count;
  }
  [[nodiscard]] double variance(const LensSample& sample) const {
    double result = 0;
    for (int c = 0; c < 3; ++c) {
      Total values;
      double squares = 0;
      window(sample, [&](int x, int y) {
        values.sum += code(x, y, c);
        squares += std::pow(code(x, y, c), 2);
        ++values.count;
      });
      result += squares / values.count - std::pow(values.sum / values.count, 2);
    }
    return result;
  }

  const Layers& layers_;
  std::vector<Offset> offsets_;
};

TEST(NonlocalFill, IsTheRuleForOffsetsThatAreKnown) {
  // Each column of 31 pixels repeats the one before it, 17 pixels lower, except for some noise.
  Random random(4);
  const Image picture = picture_of(3, [&](int x, int y, int c) {
    return code_at(x % 31, y + 300 - 17 * (x / 31), c) + random.between(0, 50);
  });
  const Layers means = layers_of(device_under_test(), picture, disc_before_all(), 5, 0);
  const Layers found = layers_of(device_under_test(), picture, disc_before_all(), 5, 2);
  const Oracle oracle(means, {{31, 17}, {-31, -17}, {62, 34}, {-62, -34}});
  ASSERT_GT(found.hidden.size(), 300U);
  ASSERT_EQ(found.hidden.size(), means.hidden.size());
  int moved = 0;
  for (std::size_t i = 0; i < found.hidden.size(); ++i) {
    const std::array<double, 3> expected = oracle.at(means.hidden[i]);
    for (std::size_t c = 0; c < 3; ++c) {
      const double own = static_cast<double>(lens_light(found.hidden[i].colour[c], found.unit));
      EXPECT_NEAR(own, expected[c], 2e-3) << found.hidden[i].x << ", " << found.hidden[i].y;
      moved += std::abs(own - static_cast<double>(lens_light(means.hidden[i].colour[c], means.unit))) > 0.02;
    }
  }
  EXPECT_GT(moved, 300);
}

TEST(NonlocalFill, IsTheSameOnEveryDeviceAtAnySize) {
  for (const auto& [across, down] : {std::pair{40, 300}, {300, 40}, {231, 177}}) {
    const Image picture = random_picture({across, down, 3, Type::u8}, 3);
    const std::vector<std::int32_t> radii = random_radii(across, down, 8);
    const Layers found = layers_of(device_under_test(), picture, radii, 5);
    const Layers expected = layers_of(Device::open("cpu", {.threads = 1}), picture, radii, 5);
    ASSERT_EQ(found.hidden.size(), expected.hidden.size());
    EXPECT_EQ(found.magnitudes, expected.magnitudes);
    EXPECT_EQ(
        std::memcmp(found.hidden.data(), expected.hidden.data(), found.hidden.size() * sizeof(LensSample)),
        0);
  }
}

}  // namespace
}  // namespace satin::test
#endif
