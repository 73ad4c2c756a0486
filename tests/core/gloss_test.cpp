// gloss(): the operation in exact integers, pixel by pixel; the filter against the convolution that it stands
// for, and what must hold for every map.

#include "satin/filters/gloss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/backend.h"
#include "core/lobe_bands.h"
#include "device_under_test.h"
#include "expect_error.h"
#include "pictures.h"

namespace satin::test {
namespace {

constexpr double pi = std::numbers::pi;
__extension__ using Exact = __int128;

// --- The operation ---

/// Bands of any place, reach and weights, the circle's limits among them.
LobeMeanJob random_job(const Shape& shape, int levels, Random& random) {
  LobeMeanJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = read_for_lobes(shape, Transfer::identity);
  job.write = {shape.type, Transfer::identity, 0};
  const int width = static_cast<int>(shape.width);
  const int height = static_cast<int>(shape.height);
  for (int y = 0; y < height; ++y)
    job.row_weights.push_back(static_cast<std::uint32_t>(random.one_in(4) ? 4096 : random.between(1, 4096)));
  for (int y = 0; y < levels * height; ++y) {
    LobeRow row{static_cast<std::uint32_t>(job.bands.size()), static_cast<std::uint32_t>(random.below(4)), 0};
    for (std::uint32_t i = 0; i < row.bands; ++i) {
      LobeBand band;
      band.first_row = random.between(0, height - 1);
      band.last_row = random.between(band.first_row, height - 1);
      band.inner = static_cast<std::uint32_t>(random.between(1, 1 << 22));
      const int most = (width - 1) / 2;
      band.reach = random.one_in(4)   ? LobeBand::whole_circle
                   : random.one_in(3) ? most
                                      : random.between(0, most);
      if (band.reach >= 0 && band.reach < most && random.one_in(2))
        band.outer = static_cast<std::uint32_t>(random.between(1, 1 << 22));
      std::uint64_t rows = 0;
      for (int b = band.first_row; b <= band.last_row; ++b)
        rows += job.row_weights[static_cast<std::size_t>(b)];
      const bool circle = band.reach < 0;
      row.weight += rows * band.inner * static_cast<std::uint64_t>(circle ? width : 2 * band.reach + 1);
      row.weight += rows * band.outer * static_cast<std::uint64_t>(2 * band.reach + 3);
      job.bands.push_back(band);
    }
    job.rows.push_back(row);
  }
  return job;
}

/// What a band counts a column by that lies `distance` columns away, at most half the circle.
std::uint64_t column_weight(const LobeBand& band, std::int64_t distance) {
  if (band.reach == LobeBand::whole_circle) return band.inner;
  return (distance <= band.reach ? band.inner : 0) + (distance <= band.reach + 1 ? band.outer : 0);
}

std::int64_t around_circle(std::int64_t a, std::int64_t b, std::int64_t width) {
  const std::int64_t distance = std::abs(a - b);
  return std::min(distance, width - distance);
}

std::int64_t stored_integer(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  return view.shape.type == Type::u8 ? view.value<std::uint8_t>(x, y, c) : view.value<std::uint16_t>(x, y, c);
}

/// Sum over the lobe of channel c, times alpha if that is asked for.
Exact lobe_sum(const LobeMeanJob& job, const ImageView& map, std::int64_t x, std::int64_t y, int c,
               bool by_alpha) {
  const LobeRow& row = job.rows[static_cast<std::size_t>(y)];
  Exact sum = 0;
  for (std::uint32_t i = 0; i < row.bands; ++i) {
    const LobeBand& band = job.bands[row.first_band + i];
    for (std::int64_t v = band.first_row; v <= band.last_row; ++v)
      for (std::int64_t u = 0; u < job.width; ++u) {
        const Exact weight = static_cast<Exact>(column_weight(band, around_circle(x, u, job.width))) *
                             job.row_weights[static_cast<std::size_t>(v)];
        sum += weight * stored_integer(map, u, v, c) *
               (by_alpha ? stored_integer(map, u, v, map.shape.channels - 1) : 1);
      }
  }
  return sum;
}

std::int64_t rounded(Exact sum, Exact divisor) {
  return static_cast<std::int64_t>((2 * sum + divisor) / (2 * divisor));
}

std::int64_t expected_value(const LobeMeanJob& job, const ImageView& map, std::int64_t x, std::int64_t y,
                            int c) {
  const LobeRow& row = job.rows[static_cast<std::size_t>(y)];
  const std::int64_t own = stored_integer(map, x, y % job.height, c);
  if (row.bands == 0) return own;
  const int alpha = map.shape.channels - 1;
  const auto weight = static_cast<Exact>(row.weight);
  if (map.shape.alpha != Alpha::straight || c == alpha)
    return rounded(lobe_sum(job, map, x, y, c, false), weight);
  const Exact sum_of_alpha = lobe_sum(job, map, x, y, alpha, false);
  if (rounded(sum_of_alpha, weight) == 0) return own;
  return rounded(lobe_sum(job, map, x, y, c, true), sum_of_alpha);
}

TEST(LobeMean, EqualsTheSumsPixelByPixel) {
  const Device& device = device_under_test();
  Random random(11);
  std::uint64_t seed = 1;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {2, 2}, {3, 1}, {1, 5}, {7, 4}, {12, 6}, {33, 9}, {300, 3}})
    for (const Type type : {Type::u8, Type::u16})
      for (const int channels : {1, 2, 3, 4}) {
        const Alpha alpha = channels % 2 == 0 && random.one_in(2) ? Alpha::straight : Alpha::none;
        const Shape shape{width, height, channels, type, alpha};
        SCOPED_TRACE(describe(shape) + (alpha == Alpha::straight ? ", alpha" : ""));
        const int levels = random.between(1, 3);
        const LobeMeanJob job = random_job(shape, levels, random);
        const Image map = random_picture(shape, seed++);
        Shape result_shape = shape;
        result_shape.height *= levels;
        const auto operation = device.backend().operations.lobe_mean(device.backend(), job);
        const Image on_device = device.upload(map);
        Image result_on_device = device.upload(poisoned(result_shape));
        operation->run(on_device.view(), nullptr, result_on_device.view(), {});
        device.synchronize();
        const Image result = device.download(result_on_device.view());
        for (std::int64_t y = 0; y < result_shape.height; ++y)
          for (std::int64_t x = 0; x < width; ++x)
            for (int c = 0; c < channels; ++c)
              ASSERT_EQ(stored_integer(result.view(), x, y, c), expected_value(job, map.view(), x, y, c))
                  << x << ", " << y << ", channel " << c;
      }
}

TEST(LobeMean, BoundsOfSumsAndWeights) {
  constexpr Exact largest_sum = (Exact{1} << 63) - 1;
  const auto pixels = static_cast<std::int64_t>(largest_sum / 4096 / 0xFFFFFF);
  const Shape fits{pixels, 1, 3, Type::u16};
  Shape one_more = fits;
  ++one_more.width;
  EXPECT_EQ(read_for_lobes(fits, Transfer::srgb).maximum, 0xFFFFFFU);
  expect_error(ErrorKind::usage, "63 bits", [&] { return read_for_lobes(one_more, Transfer::srgb); });
  // Floats lose bits instead: 4096 * 2^20 values of 30 bits stay below 2^63, one more bit does not.
  EXPECT_EQ(read_for_lobes({1 << 10, 1 << 10, 3, Type::f32}, Transfer::identity).fixed_bits, 30);

  LobeMeanJob job;
  job.rows.push_back({0, 1, (std::uint64_t{1} << 61) - 1});
  EXPECT_NO_THROW(check_lobe_weights(job));
  job.rows.back().weight += 1;
  expect_error(ErrorKind::usage, "too large", [&] { return check_lobe_weights(job), 0; });
  job.read.alpha_maximum = 255;
  job.rows.back().weight = (std::uint64_t{1} << 61) / 255;
  EXPECT_NO_THROW(check_lobe_weights(job));
  job.rows.back().weight += 1;
  expect_error(ErrorKind::usage, "too large", [&] { return check_lobe_weights(job), 0; });
}

// --- The filter ---

Image run(const Image& map, const Gloss& gloss) {
  const Device& device = device_under_test();
  Plan plan = satin::plan(device, map.shape(), gloss);
  const std::array inputs = {map.view()};
  return run_plan(device, plan, inputs);
}

/// The pixel that stands at (x, y) of the result stood at source(x, y) of the picture.
template <class Source>
Image rearranged(const Image& picture, const Source& source) {
  Image result(picture.shape());
  const Shape& shape = picture.shape();
  const std::size_t pixel = size_of(shape.type) * static_cast<std::size_t>(shape.channels);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto [u, v] = source(x, y);
      std::memcpy(result.view().at(x, y), picture.view().at(u, v), pixel);
    }
  return result;
}

using Place = std::pair<std::int64_t, std::int64_t>;

const std::array<Shape, 6> shapes = {{{64, 32, 3, Type::u8},
                                      {33, 18, 1, Type::u16},
                                      {48, 24, 3, Type::f32},
                                      {20, 10, 4, Type::u8, Alpha::straight},
                                      {1, 2, 3, Type::f32},
                                      {130, 4, 2, Type::u8}}};

TEST(Gloss, ConstantMapsStayConstant) {
  for (const Shape& shape : shapes)
    for (const double value : {0.0, 0.3, 0.7371, 1.0}) {
      const Image map = constant_picture(shape, value);
      for (const double roughness : {0.01, 0.1, 0.35, 0.6, 1.0})
        ASSERT_EQ(difference(run(map, {.roughness = roughness}), map), "")
            << describe(shape) << ", roughness " << roughness << ", value " << value;
    }
}

TEST(Gloss, TurningTheMapTurnsTheResult) {
  for (const Shape& shape : shapes) {
    const Image map = random_picture(shape, 3);
    for (const double roughness : {0.2, 0.5, 1.0})
      for (const std::int64_t turn : {std::int64_t{1}, shape.width / 2, shape.width - 1}) {
        const auto turned = [&](std::int64_t x, std::int64_t y) {
          return Place{(x + turn) % shape.width, y};
        };
        ASSERT_EQ(difference(run(rearranged(map, turned), {.roughness = roughness}),
                             rearranged(run(map, {.roughness = roughness}), turned)),
                  "")
            << describe(shape) << ", roughness " << roughness << ", by " << turn;
      }
  }
}

TEST(Gloss, MirroringTheMapMirrorsTheResult) {
  for (const Shape& shape : shapes) {
    const Image map = random_picture(shape, 4);
    const auto sideways = [&](std::int64_t x, std::int64_t y) { return Place{shape.width - 1 - x, y}; };
    const auto upside_down = [&](std::int64_t x, std::int64_t y) { return Place{x, shape.height - 1 - y}; };
    for (const double roughness : {0.05, 0.2, 0.5, 1.0}) {
      const Image result = run(map, {.roughness = roughness});
      ASSERT_EQ(
          difference(run(rearranged(map, sideways), {.roughness = roughness}), rearranged(result, sideways)),
          "")
          << describe(shape) << ", roughness " << roughness;
      ASSERT_EQ(difference(run(rearranged(map, upside_down), {.roughness = roughness}),
                           rearranged(result, upside_down)),
                "")
          << describe(shape) << ", roughness " << roughness;
    }
  }
}

TEST(Gloss, LevelsAreTheRunsOfTheirRoughness) {
  for (const Shape& shape : shapes) {
    const Image map = random_picture(shape, 5);
    const Image levels = run(map, {.roughness = 0.75, .levels = 4});
    ASSERT_EQ(levels.shape().height, 4 * shape.height);
    for (int level = 0; level < 4; ++level) {
      const Image alone = run(map, {.roughness = 0.25 * level});
      const std::size_t bytes = byte_size(shape);
      ASSERT_EQ(std::memcmp(levels.data() + static_cast<std::size_t>(level) * bytes, alone.data(), bytes), 0)
          << describe(shape) << ", level " << level;
    }
    ASSERT_EQ(difference(run(map, {.roughness = 0}), map), "");
  }
}

TEST(Gloss, Refusals) {
  const Shape shape{8, 4, 3, Type::u8};
  const auto planned = [&](const Gloss& gloss) { return satin::plan(device_under_test(), shape, gloss); };
  for (const double roughness : {-0.1, 1.5, std::nan("")})
    expect_error(ErrorKind::usage, "roughness", [&] { return planned({.roughness = roughness}); });
  for (const int levels : {0, 17})
    expect_error(ErrorKind::usage, "levels", [&] { return planned({.levels = levels}); });
  Image map = constant_picture({8, 4, 1, Type::f32}, 0.5);
  map.view().value<float>(3, 2) = std::nanf("");
  expect_error(ErrorKind::input, "NaN", [&] { return gloss(device_under_test(), map); });
}

// --- Against the convolution ---

struct Direction {
  double x, y, z;
};

Direction direction_of(double column, double row, const Shape& shape) {
  const double longitude = 2 * pi * column / static_cast<double>(shape.width);
  const double colatitude = pi * row / static_cast<double>(shape.height);
  return {std::sin(colatitude) * std::cos(longitude), std::sin(colatitude) * std::sin(longitude),
          std::cos(colatitude)};
}

/// A sky with a gradient, a horizon, a pattern and three lamps, one of them near a pole, one at the seam.
double radiance(const Direction& d) {
  double light = d.z > 0 ? 0.3 + 0.5 * d.z : 0.1 + 0.05 * std::sin(9 * std::atan2(d.y, d.x));
  light += 0.2 * (std::sin(7 * d.x + 3) * std::sin(11 * d.y) > 0.3 ? 1 : 0);
  const std::array<Direction, 3> lamps = {{{0.1, 0.05, 0.9937}, {0.98, 0.0, 0.199}, {-0.6, 0.7, -0.387}}};
  for (const Direction& lamp : lamps)
    if (d.x * lamp.x + d.y * lamp.y + d.z * lamp.z > std::cos(0.09)) light += 20;
  return light;
}

Image environment(const Shape& shape) {
  Image map(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      map.view().value<float>(x, y) = static_cast<float>(
          radiance(direction_of(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, shape)));
  return map;
}

/// The lobe itself, over several directions of every pixel.
double convolved(const ImageView& map, std::int64_t x, std::int64_t y, double roughness) {
  const int samples = roughness < 0.3 ? 4 : 2;
  const double alpha2 = std::pow(roughness, 4);
  const Direction to = direction_of(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, map.shape);
  double sum = 0;
  double weights = 0;
  for (std::int64_t v = 0; v < map.shape.height; ++v)
    for (std::int64_t u = 0; u < map.shape.width; ++u)
      for (int j = 0; j < samples; ++j)
        for (int i = 0; i < samples; ++i) {
          const double row = static_cast<double>(v) + (j + 0.5) / samples;
          const Direction from = direction_of(static_cast<double>(u) + (i + 0.5) / samples, row, map.shape);
          const double cosine = from.x * to.x + from.y * to.y + from.z * to.z;
          if (cosine <= 0) continue;
          const double half2 = (1 + cosine) / 2;
          const double d = half2 * (alpha2 - 1) + 1;
          const double weight = cosine / (d * d) * std::sin(pi * row / static_cast<double>(map.shape.height));
          sum += weight * static_cast<double>(map.value<float>(u, v));
          weights += weight;
        }
  return sum / weights;
}

struct Deviation {
  double relative_rms;  ///< of the difference, beside the rms of the convolution
  double mean_change;   ///< of the mean over all directions, beside that of the map
};

Deviation deviation_from_convolution(double roughness) {
  const Shape shape{128, 64, 1, Type::f32};
  const Image map = environment(shape);
  const Image result = run(map, {.roughness = roughness});
  double difference2 = 0;
  double expected2 = 0;
  double sum_before = 0;
  double sum_after = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const double solid_angle =
        std::sin(pi * (static_cast<double>(y) + 0.5) / static_cast<double>(shape.height));
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double value = result.view().value<float>(x, y);
      sum_before += solid_angle * static_cast<double>(map.view().value<float>(x, y));
      sum_after += solid_angle * value;
      if ((x * 7 + y) % 61 != 0) continue;  // the oracle is slow
      const double expected = convolved(map.view(), x, y, roughness);
      difference2 += solid_angle * (value - expected) * (value - expected);
      expected2 += solid_angle * expected * expected;
    }
  }
  return {std::sqrt(difference2 / expected2), sum_after / sum_before - 1};
}

TEST(Gloss, IsNearTheConvolution) {
  if (slow_build()) GTEST_SKIP() << "the oracle is slow";
  struct Row {
    double roughness;
    double most;
  };
  for (const auto& [roughness, most] :
       {Row{0.2, 0.03}, Row{0.35, 0.03}, Row{0.5, 0.03}, Row{0.7, 0.03}, Row{1.0, 0.025}}) {
    const Deviation found = deviation_from_convolution(roughness);
    EXPECT_LT(found.relative_rms, most) << "roughness " << roughness;
    EXPECT_LT(std::abs(found.mean_change), 0.001) << "roughness " << roughness;
    RecordProperty("rms_at_" + std::to_string(roughness), std::to_string(found.relative_rms));
    RecordProperty("mean_at_" + std::to_string(roughness), std::to_string(found.mean_change));
  }
}

}  // namespace
}  // namespace satin::test
