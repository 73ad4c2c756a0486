// Restored light and new gain maps against their definitions in double precision.

#include "satin/restored_light.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "light/maths/powers.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Image on_host(Image image) {
  return image.memory() == Memory::host ? std::move(image) : device_under_test().download(image.view());
}

/// Restores light on the device under test. The CPU with two threads must give the same bytes.
Image restored(const Image& base, const GainMap& map) {
  Image light = on_host(restore_light(device_under_test(), base, map));
  EXPECT_EQ(difference(light, restore_light(cpu_of_threads(2), base, map)), "");
  return light;
}

GainMap map_of(Image pixels, const GainMapChannel& channel = {}) {
  GainMap map;
  map.metadata.channels.fill(channel);
  map.metadata.alternate_headroom = std::max(channel.max, 0.5);
  map.pixels = std::move(pixels);
  return map;
}

GainMap random_map_of(std::int64_t width, std::int64_t height, int channels, std::uint64_t seed) {
  GainMap map = map_of(random_picture({width, height, channels, Type::u8}, seed),
                       {.min = -0.5, .max = 3, .gamma = 1.5, .offset_sdr = 1.0 / 64, .offset_hdr = 1.0 / 32});
  map.metadata.channels[1] = {.min = 0.25, .max = 2, .gamma = 0.75, .offset_sdr = 0.5, .offset_hdr = 0.25};
  return map;
}

double linear(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::f32) return static_cast<double>(view.value<float>(x, y, c));
  const double code = view.shape.type == Type::u8 ? view.value<std::uint8_t>(x, y, c) / 255.0
                                                  : view.value<std::uint16_t>(x, y, c) / 65535.0;
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}

/// Returns the code of the map at the centre of a pixel, to 1/256, if samples lie at multiples of 1/256
/// there.
double code_at(const ImageView& map, const Shape& picture, std::int64_t x, std::int64_t y, int c) {
  const auto place = [](std::int64_t pixel, std::int64_t pixels, std::int64_t samples) {
    const auto ratio = static_cast<double>(samples) / static_cast<double>(pixels);
    return std::clamp((static_cast<double>(pixel) + 0.5) * ratio - 0.5, 0.0,
                      static_cast<double>(samples - 1));
  };
  const double u = place(x, picture.width, map.shape.width), v = place(y, picture.height, map.shape.height);
  double sum = 0;
  for (const int dy : {0, 1})
    for (const int dx : {0, 1}) {
      const auto left = static_cast<std::int64_t>(u) + dx, top = static_cast<std::int64_t>(v) + dy;
      const double weight =
          (1 - std::fabs(u - static_cast<double>(left))) * (1 - std::fabs(v - static_cast<double>(top)));
      if (weight > 0) sum += weight * map.value<std::uint8_t>(left, top, map.shape.channels == 1 ? 0 : c);
    }
  return std::floor(sum * 256 + 0.5) / 256 / 255;
}

double expected_light(const ImageView& base, const GainMap& map, std::int64_t x, std::int64_t y, int c) {
  const int colour = base.shape.order == Order::bgr && base.shape.channels >= 3 ? 2 - c : c;
  const GainMapChannel& channel = map.metadata.channels[static_cast<std::size_t>(colour)];
  const double code = code_at(map.pixels.view(), base.shape, x, y, colour);
  const double stops = channel.min + (channel.max - channel.min) * std::pow(code, 1 / channel.gamma);
  return std::max(0.0, (linear(base, x, y, c) + channel.offset_sdr) * std::exp2(stops) - channel.offset_hdr);
}

TEST(Powers, AreThoseOfTheMathematicalLibrary) {
  for (double x = -60; x < 60; x += 0.0371) {
    EXPECT_NEAR(power_of_2(x) / std::exp2(x), 1, 4e-15) << x;
    EXPECT_NEAR(log_of_2(std::exp2(x)), x, 4e-15 * std::max(1.0, std::fabs(x))) << x;
  }
  EXPECT_EQ(power_of_2(0), 1);
  EXPECT_EQ(power_of_2(-3), 0.125);
  EXPECT_EQ(log_of_2(1), 0);
  EXPECT_EQ(log_of_2(1024), 10);
}

// Linear light of integers is rounded to 16 and 24 bits, and gains are at most 8.
TEST(RestoredLight, IsItsDefinition) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 3, 4})
      for (const int map_channels : {1, 3})
        for (const int scale : {1, 2, 4}) {
          Shape shape{24, 16, channels, type, channels == 4 ? Alpha::straight : Alpha::none};
          if (scale == 2 && channels > 1) shape.order = Order::bgr;
          const Image base = random_picture(shape, ++seed);
          const GainMap map = random_map_of(24 / scale, 16 / scale, map_channels, ++seed);
          const Image light = restored(base, map);
          ASSERT_EQ(light.shape().type, Type::f32);
          for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x)
              for (int c = 0; c < channels; ++c) {
                const bool alpha = channels == 4 && c == 3;
                const double white = type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1;
                const double wanted = !alpha             ? expected_light(base.view(), map, x, y, c)
                                      : type == Type::u8 ? base.view().value<std::uint8_t>(x, y, c) / white
                                      : type == Type::u16
                                          ? base.view().value<std::uint16_t>(x, y, c) / white
                                          : static_cast<double>(base.view().value<float>(x, y, c));
                const double tolerance = type == Type::u8 ? 8 * 0.5 / 65535 : type == Type::u16 ? 1e-6 : 0;
                ASSERT_NEAR(light.view().value<float>(x, y, c), wanted, tolerance + 1e-6 * (1 + wanted))
                    << describe(shape) << ", map " << describe(map.pixels.shape()) << " at " << x << ", " << y
                    << ", " << c;
              }
        }
}

TEST(RestoredLight, AMapOfAnySizeCoversThePicture) {
  Image ramp({30, 21, 1, Type::u8});  // rises by 8 codes a sample
  for (std::int64_t y = 0; y < 21; ++y)
    for (std::int64_t x = 0; x < 30; ++x)
      ramp.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(8 * x);
  const GainMap map = map_of(std::move(ramp), {.min = 0, .max = 8, .offset_sdr = 0, .offset_hdr = 0});
  const Image white = constant_picture({100, 70, 1, Type::u8}, 1);
  const Image light = restored(white, map);
  for (std::int64_t x = 0; x < 100; ++x) {
    const double code = 8 * std::clamp((static_cast<double>(x) + 0.5) * 0.3 - 0.5, 0.0, 29.0);
    // Positions are rounded down to 1/256 sample, codes to 1/256.
    ASSERT_NEAR(std::log2(static_cast<double>(light.view().value<float>(x, 35))), code / 255 * 8,
                8 * (8.0 / 256 + 1.0 / 512) / 255 + 1e-6)
        << x;
  }
}

TEST(RestoredLight, RefusesWhatItCannotRestore) {
  const Device& device = device_under_test();
  const Image base = random_picture({8, 8, 3, Type::u8}, 1);
  GainMap map = random_map_of(4, 4, 1, 2);
  map.metadata.base_headroom = 4;
  EXPECT_FALSE(restores_light(map));
  expect_error(ErrorKind::usage, "SDR to HDR", [&] { static_cast<void>(restore_light(device, base, map)); });
  map = random_map_of(16, 4, 1, 2);
  expect_error(ErrorKind::input, "ratio", [&] { static_cast<void>(restore_light(device, base, map)); });
}

GainMap recomputed(const Renderings& result, const Renderings& before, const GainMap& map) {
  GainMap made = gain_map_of(device_under_test(), result, before, map);
  const GainMap other = gain_map_of(cpu_of_threads(2), result, before, map);
  EXPECT_EQ(difference(made.pixels, other.pixels), "");
  EXPECT_EQ(made.metadata, other.metadata);
  return made;
}

/// Returns a picture that differs from this one everywhere.
Image other_than(const Image& picture) {
  Image other = picture.clone();
  for (std::size_t i = 0; i < byte_size(other.shape()); ++i) other.data()[i] ^= std::byte{1};
  return other;
}

TEST(NewGainMap, OfTheSameLightHasTheSameCodes) {
  for (const int channels : {1, 3})
    for (const Type type : {Type::u8, Type::u16}) {
      const Image base = random_picture({40, 30, 3, type}, 3);
      GainMap map =
          map_of(random_picture({40, 30, channels, Type::u8}, 4), {.min = 0, .max = 4, .gamma = 1.25});
      const Image light = restored(base, map);
      const Image others = other_than(base);
      const GainMap made = recomputed({base, light}, {others, light}, map);
      EXPECT_EQ(made.metadata, map.metadata);
      EXPECT_EQ(difference(made.pixels, map.pixels), "");
    }
}

TEST(NewGainMap, OfAnUnchangedPictureIsTheMap) {
  const Image base = random_picture({40, 30, 3, Type::u8}, 5);
  GainMap map = random_map_of(13, 10, 1, 6);
  map.alternate_icc.resize(3);
  map.origin = GainMapOrigin::iso_21496_1;
  const Image light = restored(base, map);
  const GainMap made = recomputed({base, light}, {base, light}, map);
  EXPECT_EQ(made.metadata, map.metadata);
  EXPECT_EQ(made.origin, map.origin);
  EXPECT_EQ(made.alternate_icc, map.alternate_icc);
  EXPECT_EQ(difference(made.pixels, map.pixels), "");
}

TEST(NewGainMap, KeepsCodesWhereNothingChanged) {
  Image base = random_picture({32, 32, 3, Type::u8}, 7);
  const GainMap map = map_of(random_picture({8, 8, 1, Type::u8}, 8), {.min = -1, .max = 3, .gamma = 0.5});
  const Image light = restored(base, map);
  const Image base_before = base.clone();
  base.view().value<std::uint8_t>(13, 6, 1) ^= 1;  // in the cell (3, 1)
  const GainMap made = recomputed({base, light}, {base_before, light}, map);
  EXPECT_EQ(made.metadata, map.metadata);
  ASSERT_EQ(made.pixels.shape(), map.pixels.shape());
  for (std::int64_t y = 0; y < 8; ++y)
    for (std::int64_t x = 0; x < 8; ++x)
      if (x != 3 || y != 1) {
        ASSERT_EQ(made.pixels.view().value<std::uint8_t>(x, y), map.pixels.view().value<std::uint8_t>(x, y))
            << x << ", " << y;
      }
}

// The sum of the light of a cell stays. 20 x 14 pixels in 5 x 7 cells: 4 x 2 pixels each.
TEST(NewGainMap, KeepsTheLightOfItsCells) {
  const Image base = random_picture({20, 14, 3, Type::u8}, 9);
  Image light({20, 14, 3, Type::f32});
  Random random(10);
  for (std::int64_t i = 0; i < 20 * 14 * 3; ++i)
    reinterpret_cast<float*>(light.data())[i] = static_cast<float>(random.below(4096)) / 512;
  GainMap map = map_of(constant_picture({5, 7, 3, Type::u8}, 0), {.min = -8, .max = 10});
  const Image others = other_than(base);
  const GainMap made = recomputed({base, light}, {others, light}, map);
  ASSERT_EQ(made.metadata, map.metadata);
  for (std::int64_t y = 0; y < 7; ++y)
    for (std::int64_t x = 0; x < 5; ++x)
      for (int c = 0; c < 3; ++c) {
        double own = 0, sum = 0;
        for (std::int64_t i = 0; i < 8; ++i) {
          own += linear(base.view(), 4 * x + i % 4, 2 * y + i / 4, c) + 1.0 / 64;
          sum += static_cast<double>(light.view().value<float>(4 * x + i % 4, 2 * y + i / 4, c)) + 1.0 / 64;
        }
        const double code = (std::log2(sum / own) + 8) / 18 * 255;
        ASSERT_NEAR(made.pixels.view().value<std::uint8_t>(x, y, c), code, 0.51) << x << ", " << y;
      }
}

/// Returns light of one value in the left half and of another one in the right half.
Image halves(const Shape& shape, const std::vector<float>& left, const std::vector<float>& right) {
  Image light(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c)
        light.view().value<float>(x, y, c) =
            (2 * x < shape.width ? left : right)[static_cast<std::size_t>(c)];
  return light;
}

TEST(NewGainMap, WidensItsRangeOnlyForLightThatShows) {
  const Shape shape{16, 8, 3, Type::f32};
  const Image base = halves(shape, {0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}), others = other_than(base);
  const GainMap map = map_of(constant_picture({4, 2, 1, Type::u8}, 0), {.min = 0, .max = 1});
  const auto made = [&](float left) {
    const Image light = halves(shape, {left, left, left}, {0.5, 0.5, 0.5});
    return recomputed({base, light}, {others, light}, map).metadata.channels[0].max;
  };
  EXPECT_EQ(made(1), 1);
  EXPECT_EQ(made(1.02F), 1);  // less than 1/64 too dark
  EXPECT_NEAR(made(4), std::log2((4 + 1.0 / 64) / (0.5 + 1.0 / 64)), 1e-6);
}

TEST(NewGainMap, HasThreeChannelsWhereOneWouldLoseATint) {
  const Shape shape{64, 32, 3, Type::f32};
  const Image base = halves(shape, {1, 1, 1}, {0.2F, 0.3F, 0.4F}), others = other_than(base);
  const GainMap map = map_of(constant_picture({16, 8, 1, Type::u8}, 0), {.min = 0, .max = 4});
  const Image grey = halves(shape, {4, 4, 4}, {0.4F, 0.6F, 0.8F});
  EXPECT_EQ(recomputed({base, grey}, {others, grey}, map).pixels.shape().channels, 1);
  const Image warm = halves(shape, {8, 4, 2}, {0.4F, 0.6F, 0.8F});
  const GainMap made = recomputed({base, warm}, {others, warm}, map);
  ASSERT_EQ(made.pixels.shape().channels, 3);
  const Image light = restored(base, made);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(light.view().value<float>(4, 4, c) / warm.view().value<float>(4, 4, c), 1, 0.01) << c;
    EXPECT_NEAR(light.view().value<float>(60, 4, c) / warm.view().value<float>(60, 4, c), 1, 0.05) << c;
  }
}

TEST(NewGainMap, WithoutOneBeforeRestoresTheLight) {
  const Shape shape{33, 17, 3, Type::f32};
  const Image base = halves(shape, {1, 1, 1}, {0.2F, 0.3F, 0.4F});
  const Image light = halves(shape, {12, 12, 12}, {0.2F, 0.3F, 0.4F});
  const GainMap made = gain_map_of(device_under_test(), {base, light});
  EXPECT_EQ(made.pixels.shape(), (Shape{17, 9, 1, Type::u8}));
  EXPECT_NEAR(made.metadata.alternate_headroom, std::log2(12), 0.05);
  made.check(shape);
  const Image back = restored(base, made);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(back.view().value<float>(3, 3, c), 12, 0.12);
    EXPECT_NEAR(back.view().value<float>(30, 3, c) / light.view().value<float>(30, 3, c), 1, 0.02);
  }
}

/// The rows of a dense picture.
class RowsOfImage final : public RowSource {
 public:
  explicit RowsOfImage(const Image& image) : image_(image) {}
  [[nodiscard]] const Shape& shape() const noexcept override { return image_.shape(); }
  void rewind() override { next_ = 0; }
  void read(const MutableImageView& rows) override {
    std::memcpy(rows.data, image_.view().at(0, next_), byte_size(rows.shape));
    next_ += rows.shape.height;
  }

 private:
  const Image& image_;
  std::int64_t next_ = 0;
};

// More rows than are restored and compared at once. Some cells stay as they were.
TEST(RestoredLight, IsTheSameRowByRow) {
  const Device device = cpu_of_threads(2);
  for (const int channels : {1, 3}) {
    const Image base = random_picture({24, 900, 3, Type::u8}, 11);
    const GainMap map = random_map_of(12, 450, channels, 12);
    const Image light = restore_light(device, base, map);
    LightRows rows(device, base, map);
    Image read({24, 900, 3, Type::f32});
    for (std::int64_t y = 0; y < 900; y += 300)
      rows.read(mutable_view_of(read.view().at(0, y), {24, 300, 3, Type::f32}));
    EXPECT_EQ(difference(read, light), "");

    Image result = base.clone(), brighter = light.clone();
    for (std::int64_t y = 300; y < 500; ++y)
      for (std::int64_t x = 0; x < 24; ++x) {
        result.view().value<std::uint8_t>(x, y, 0) ^= 1;
        brighter.view().value<float>(x, y, 0) *= 3;
      }
    brighter.view().value<float>(5, 700, 2) *= 2;  // where the base stayed
    RowsOfImage filtered(brighter);
    const GainMap made = gain_map_of(device, result, filtered, base, map);
    const GainMap whole = gain_map_of(device, Renderings{result, brighter}, Renderings{base, light}, map);
    EXPECT_EQ(made.metadata, whole.metadata);
    EXPECT_EQ(difference(made.pixels, whole.pixels), "");
    EXPECT_NE(difference(made.pixels, map.pixels), "");
  }
  const Image base = random_picture({8, 4, 3, Type::u8}, 13);
  const GainMap tall = random_map_of(16, 8, 1, 14);
  LightRows rows(device, base, tall);
  expect_error(ErrorKind::usage, "more rows",
               [&] { static_cast<void>(gain_map_of(device, base, rows, base, tall)); });
}

// The largest value is at the end of rows whose bound is lower than that of others, where white is not
// bright.
TEST(RestoredLight, KnowsItsLargestValueBeforeItIsRead) {
  const Device& device = cpu_of_threads(2);
  std::uint64_t seed = 20;
  for (const Type type : {Type::u8, Type::u16})
    for (const int channels : {1, 3})
      for (const int map_channels : {1, 3}) {
        Shape shape{40, 200, channels, type};
        if (map_channels == 3 && channels == 3) shape.order = Order::bgr;
        Image base = random_picture(shape, ++seed);
        GainMap map = random_map_of(20, 100, map_channels, ++seed);
        for (std::int64_t y = 0; y < 100; ++y)
          for (std::int64_t i = 0; i < 20 * map_channels; ++i) map.pixels.view().row<std::uint8_t>(y)[i] /= 2;
        for (const int top : {20, 140}) {  // bright where the base is black, and white beside it
          for (std::int64_t x = 0; x < 20; ++x) {
            for (int c = 0; c < channels; ++c)
              for (int line = 0; line < 16; ++line)
                type == Type::u8 ? base.view().value<std::uint8_t>(x, top + line, c) = 0
                                 : base.view().value<std::uint16_t>(x, top + line, c) = 0;
            for (int c = 0; c < map_channels && x < 8; ++c)
              map.pixels.view().value<std::uint8_t>(x, top / 2 + 4, c) = 255;
          }
        }
        const Image light = restore_light(device, base, map);
        const auto* values = light.view().row<float>(0);
        LightRows rows(device, base, map);
        EXPECT_EQ(rows.largest(),
                  static_cast<double>(*std::max_element(values, values + 40 * 200 * channels)));

        const Pipeline blur = parse_pipeline("blur radius=5");
        RowPipeline by_rows(device, blur, rows);
        Image read(light.shape());
        by_rows.read(read.view());
        EXPECT_EQ(difference(read, run(device, blur, light)), "");
      }
  const Image grey = random_picture({20, 10, 2, Type::u8, Alpha::straight}, ++seed);
  EXPECT_EQ(LightRows(device, grey, random_map_of(20, 10, 1, ++seed)).largest(), std::nullopt);
  GainMap darker = random_map_of(20, 10, 1, ++seed);
  darker.metadata.channels[0].offset_sdr = -0.5;
  EXPECT_EQ(LightRows(device, random_picture({20, 10, 3, Type::u8}, ++seed), darker).largest(), std::nullopt);
}

TEST(UseOfLight, FollowsFromTheRecords) {
  const auto uses = [](const char* text) { return uses_restored_light(parse_pipeline(text)); };
  for (const char* text : {"blur", "smooth", "edge-smooth", "unsharp space=linear", "dof", "tilt-shift",
                           "crop aspect=1:1 | blur", "resize size=50% | blur", "median | blur"})
    EXPECT_TRUE(uses(text)) << text;
  for (const char* text : {"blur space=encoded", "median", "threshold", "redact", "crop aspect=1:1",
                           "resize size=50%", "blur | threshold", "blur | redact", "unsharp"})
    EXPECT_FALSE(uses(text)) << text;
}

}  // namespace
}  // namespace satin::test
