#include "batch/thumbnail.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace satin::test {
namespace {

using batch::thumbnail;

template <class T>
Image picture(std::int64_t width, std::int64_t height, int channels, Type type, const std::vector<T>& values,
              Alpha alpha = Alpha::none) {
  Shape shape{width, height, channels, type, alpha};
  Image image(shape);
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(image.data()));
  return image;
}

TEST(Thumbnail, SmallPicturesKeepTheirSize) {
  const Image small = thumbnail(picture<float>(2, 1, 1, Type::f32, {0.25F, 7.0F}), 256);
  EXPECT_EQ(small.shape().width, 2);
  EXPECT_EQ(small.shape().height, 1);
  EXPECT_EQ(small.view().value<float>(0, 0), 0.25F);
  EXPECT_EQ(small.view().value<float>(1, 0), 1.0F);
}

TEST(Thumbnail, EveryPixelIsTheMeanOfItsOwn) {
  // 7 columns become 3 of 2, 2 and 3 source columns.
  const Image small = thumbnail(picture<float>(7, 1, 1, Type::f32, {0, 1, 0.5F, 0.5F, 1, 1, 0.25F}), 3);
  ASSERT_EQ(small.shape().width, 3);
  EXPECT_EQ(small.shape().height, 1);
  EXPECT_FLOAT_EQ(small.view().value<float>(0, 0), 0.5F);
  EXPECT_FLOAT_EQ(small.view().value<float>(1, 0), 0.5F);
  EXPECT_FLOAT_EQ(small.view().value<float>(2, 0), 0.75F);
}

TEST(Thumbnail, MeansAreInLinearLight) {
  const Image bytes = thumbnail(picture<std::uint8_t>(2, 1, 1, Type::u8, {0, 255}), 1);
  EXPECT_FLOAT_EQ(bytes.view().value<float>(0, 0), 0.5F);
  const Image grey = thumbnail(picture<std::uint8_t>(1, 1, 1, Type::u8, {188}), 1);
  EXPECT_NEAR(grey.view().value<float>(0, 0), 0.5029F, 1e-4F);  // IEC 61966-2-1
  const Image words = thumbnail(picture<std::uint16_t>(1, 2, 1, Type::u16, {0, 65535}), 1);
  EXPECT_FLOAT_EQ(words.view().value<float>(0, 0), 0.5F);
}

TEST(Thumbnail, LongerSideDecides) {
  const Image wide = thumbnail(Image(Shape{1000, 10, 3}), 256);
  EXPECT_EQ(wide.shape().width, 256);
  EXPECT_EQ(wide.shape().height, 3);
  EXPECT_EQ(wide.shape().channels, 3);
  const Image tall = thumbnail(Image(Shape{1, 3000, 1}), 256);
  EXPECT_EQ(tall.shape().width, 1);
  EXPECT_EQ(tall.shape().height, 256);
}

TEST(Thumbnail, TransparentPixelsShowTheCheckerboard) {
  // Opaque red, and transparent pixels whose hidden colour is green.
  const Image small = thumbnail(
      picture<std::uint8_t>(2, 1, 4, Type::u8, {255, 0, 0, 255, 0, 255, 0, 0}, Alpha::straight), 256);
  ASSERT_EQ(small.shape().channels, 3);
  EXPECT_FLOAT_EQ(small.view().value<float>(0, 0, 0), 1.0F);
  EXPECT_FLOAT_EQ(small.view().value<float>(0, 0, 1), 0.0F);
  EXPECT_GT(small.view().value<float>(1, 0, 0), 0.3F);
  EXPECT_EQ(small.view().value<float>(1, 0, 0), small.view().value<float>(1, 0, 1));
}

TEST(Thumbnail, OddFloatsAreBlackOrWhite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Image small = thumbnail(picture<float>(3, 1, 1, Type::f32, {nan, infinity, -infinity}), 256);
  EXPECT_EQ(small.view().value<float>(0, 0), 0.0F);
  EXPECT_EQ(small.view().value<float>(1, 0), 1.0F);
  EXPECT_EQ(small.view().value<float>(2, 0), 0.0F);
}

}  // namespace
}  // namespace satin::test
