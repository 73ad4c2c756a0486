#include "satin/opencv.h"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>

#include "satin/filters.h"

namespace satin::test {
namespace {

const Device& cpu() {
  static const Device device = Device::open("cpu");
  return device;
}

cv::Mat noise(int rows, int columns, int type) {
  cv::Mat mat(rows, columns, type);
  cv::RNG random(7);
  random.fill(mat, cv::RNG::UNIFORM, 0, 200);
  return mat;
}

TEST(OpenCv, AMatrixIsAView) {
  cv::Mat mat = noise(20, 30, CV_16UC3);
  const MutableImageView view = mutable_view_of(mat);
  EXPECT_EQ(view.shape, (Shape{30, 20, 3, Type::u16, Alpha::none, Order::bgr}));
  EXPECT_EQ(reinterpret_cast<std::uint8_t*>(view.data), mat.data);
  EXPECT_EQ(view.value<std::uint16_t>(29, 19, 2), mat.at<cv::Vec3w>(19, 29)[2]);
}

TEST(OpenCv, APartOfAMatrixKeepsItsRows) {
  const cv::Mat mat = noise(20, 30, CV_8UC1);
  const cv::Mat part = mat(cv::Rect(3, 4, 10, 6));
  const ImageView view = view_of(part);
  EXPECT_EQ(view.shape, (Shape{10, 6, 1, Type::u8}));
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      EXPECT_EQ(view.value<std::uint8_t>(x, y), mat.at<std::uint8_t>(y + 4, x + 3));
}

TEST(OpenCv, FiltersIntoAPartOfAnother) {
  const cv::Mat photo = noise(40, 50, CV_8UC3);
  cv::Mat wall(100, 120, CV_8UC3, cv::Scalar(9, 9, 9));
  cv::Mat place = wall(cv::Rect(5, 7, 50, 40));
  plan(cpu(), view_of(photo).shape, Blur{.radius = 1, .space = Space::encoded})
      .run(view_of(photo), mutable_view_of(place));
  cv::Vec3i sum(0, 0, 0);
  for (int y = 9; y <= 11; ++y)
    for (int x = 19; x <= 21; ++x) sum += cv::Vec3i(photo.at<cv::Vec3b>(y, x));
  for (int c = 0; c < 3; ++c) EXPECT_EQ(wall.at<cv::Vec3b>(17, 25)[c], (2 * sum[c] + 9) / 18);
  EXPECT_EQ(wall.at<cv::Vec3b>(6, 25), cv::Vec3b(9, 9, 9));
  EXPECT_EQ(wall.at<cv::Vec3b>(17, 55), cv::Vec3b(9, 9, 9));
}

TEST(OpenCv, LuminanceKnowsBlueFromRed) {
  const cv::Mat blue(8, 8, CV_8UC3, cv::Scalar(255, 0, 0));
  const Threshold above{.method = Binarisation::fixed, .level = 0.1};  // blue is 0.07 of white, red 0.21
  EXPECT_EQ(threshold(cpu(), view_of(blue), above).view().value<std::uint8_t>(4, 4), 0);
  EXPECT_EQ(threshold(cpu(), view_of(blue, {.order = Order::rgb}), above).view().value<std::uint8_t>(4, 4),
            255);
}

TEST(OpenCv, AnImageIsAMatrix) {
  Image table = integral(cpu(), view_of(noise(5, 6, CV_32FC1)));
  const cv::Mat mat = mat_of(table.view());
  EXPECT_EQ(mat.type(), CV_64FC1);
  EXPECT_EQ(mat.size(), cv::Size(6, 5));
  EXPECT_EQ(mat.data, reinterpret_cast<std::uint8_t*>(table.data()));
  EXPECT_EQ(mat.at<double>(4, 5), table.view().value<double>(5, 4));
}

TEST(OpenCv, RefusesMatricesThatAreNotPictures) {
  EXPECT_TRUE(view_of(cv::Mat()).empty());
  EXPECT_THROW(static_cast<void>(view_of(cv::Mat(3, 3, CV_8SC1))), Error);
  EXPECT_THROW(static_cast<void>(view_of(cv::Mat(3, 3, CV_8UC(5)))), Error);
  const int sizes[] = {3, 4, 5};
  EXPECT_THROW(static_cast<void>(view_of(cv::Mat(3, sizes, CV_8UC1))), Error);
  Image table(Shape{4, 4, 1, Type::u32});
  EXPECT_THROW(static_cast<void>(mat_of(table.view())), Error);
}

}  // namespace
}  // namespace satin::test
