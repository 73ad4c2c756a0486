#include "tests/io/support.h"
#ifdef SATIN_TEST_LIBJPEG
#include "tests/io/cmyk_jpeg.h"
#endif

namespace satin::test {
namespace {

TEST(Jpeg, WhatIsNotReadIsNotCalledDamaged) {
  const FileBytes file = encode_image(smooth_image(shape_of(16, 16, 3, Type::u8)), ".jpg");
  const auto* const text = reinterpret_cast<const char*>(file.data());
  const std::size_t frame = std::string_view(text, file.size()).find("\xff\xc0");
  ASSERT_NE(frame, std::string_view::npos);
  const auto with = [&](std::size_t at, int value) {
    FileBytes changed = file;
    changed[at] = static_cast<std::byte>(value);
    return [changed = std::move(changed)] { static_cast<void>(decode_image(changed, "x.jpg")); };
  };
  const std::size_t precision = frame + 4;
  expect_error(ErrorKind::input, "not read", with(precision, 12));
  expect_error(ErrorKind::input, "djpeg", with(precision, 12));
  expect_error(ErrorKind::input, "damaged", with(precision, 77));
  for (const int process : {0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF})
    expect_error(ErrorKind::input, "not read", with(frame + 1, process));
}

TEST(Jpeg, TruncationIsRefusedWhereverItHappens) {
  const FileBytes file = encode_image(random_image(shape_of(64, 64, 3, Type::u8)), ".jpg");
  for (std::size_t size = 3; size < file.size(); size += size < 700 ? 1 : 37) {
    const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(static_cast<void>(decode_image(part, "x.jpg")), Error) << size << " of " << file.size();
  }
  const FileBytes without_end(file.begin(), file.end() - 2);
  expect_error(ErrorKind::input, "ends before",
               [&] { static_cast<void>(decode_image(without_end, "x.jpg")); });
}

TEST(Jpeg, DataBehindTheEndDoesNotMatter) {
  FileBytes file = encode_image(smooth_image(shape_of(32, 32, 3, Type::u8)), ".jpg");
  const Image image = decode_image(file, "x.jpg");
  file.insert(file.end(), 1000, std::byte{17});
  expect_same(decode_image(file, "x.jpg"), image, "trailing bytes");
}

#ifdef SATIN_TEST_LIBJPEG

void expect_colour(const FileBytes& file, int red, int green, int blue) {
  const Image image = decode_image(file, "x.jpg");
  ASSERT_EQ(image.shape(), shape_of(16, 16, 3, Type::u8));
  const ImageView view = image.view();
  EXPECT_NEAR(view.value<std::uint8_t>(5, 5, 0), red, 3);
  EXPECT_NEAR(view.value<std::uint8_t>(5, 5, 1), green, 3);
  EXPECT_NEAR(view.value<std::uint8_t>(5, 5, 2), blue, 3);
}

TEST(Jpeg, InksBecomeRgb) {
  const unsigned char reflectance[4] = {200, 100, 50, 128};
  expect_colour(cmyk_jpeg(reflectance, true, JCS_CMYK), 100, 50, 25);
  expect_colour(cmyk_jpeg(reflectance, true, JCS_YCCK), 100, 50, 25);
  const unsigned char amounts[4] = {55, 155, 205, 127};
  expect_colour(cmyk_jpeg(amounts, false, JCS_CMYK), 100, 50, 25);
}

// A scan that ends early, followed by the end marker.
TEST(Jpeg, MissingMiddleIsRefused) {
  FileBytes file = encode_image(random_image(shape_of(64, 64, 3, Type::u8)), ".jpg");
  file.erase(file.end() - 1500, file.end() - 2);
  EXPECT_THROW(static_cast<void>(decode_image(file, "x.jpg")), Error);
}

#endif

}  // namespace
}  // namespace satin::test
