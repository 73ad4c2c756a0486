
#include "tests/io/support.h"

namespace satin::test {
namespace {

struct Case {
  const char* extension;
  std::vector<Type> types;
  std::vector<int> channels;
  std::vector<Alpha> even_alpha;  ///< what the last of 2 or 4 channels can be
};

const std::vector<Case>& lossless_cases() {
  using enum Type;
  using enum Alpha;
  static const std::vector<Case> cases{
      {".png", {u8, u16}, {1, 2, 3, 4}, {straight}},
      {".tiff", {u8, u16, u32, u64, f32, f64}, {1, 2, 3, 4}, {none, straight}},
      {".tif", {f32, f64}, {2, 4}, {premultiplied}},
      {".bmp", {u8}, {1, 3, 4}, {straight}},
      {".tga", {u8}, {1, 2, 3, 4}, {straight}},
      {".pgm", {u8, u16}, {1}, {}},
      {".ppm", {u8, u16}, {3}, {}},
      {".pnm", {u8, u16}, {1, 3}, {}},
      {".pam", {u8, u16}, {1, 2, 3, 4}, {none, straight}},
      {".pfm", {f32}, {1, 3}, {}},
      {".npy", {u8, u16, u32, u64, f32, f64}, {1, 2, 3, 4}, {none}},
  };
  return cases;
}

TEST(RoundTrip, LosslessFormatsKeepEveryByte) {
  const std::vector<std::pair<int, int>> sizes{{1, 1}, {1, 7}, {7, 1}, {31, 33}, {130, 20}, {257, 300}};
  for (const Case& c : lossless_cases()) {
    if (!can_write(c.extension)) continue;
    for (const Type type : c.types)
      for (const int channels : c.channels)
        for (const Alpha alpha : channels % 2 == 0 ? c.even_alpha : std::vector<Alpha>{Alpha::none})
          for (const auto& [width, height] : sizes) {
            const Image image = random_image(shape_of(width, height, channels, type, alpha));
            const FileBytes file = encode_image(image, c.extension);
            expect_same(decode_image(file, std::string("x") + c.extension), image,
                        c.extension + (" " + describe(image.shape())));
            if (testing::Test::HasFatalFailure()) return;
          }
  }
}

TEST(RoundTrip, LossyFormatsStayClose) {
  for (const char* extension : {".jpg", ".webp"}) {
    if (!can_write(extension)) continue;
    for (const int channels : {1, 3, 4}) {
      const Image image =
          smooth_image(shape_of(200, 120, channels, Type::u8, channels == 4 ? Alpha::straight : Alpha::none));
      if (channels == 4 && std::string(extension) == ".jpg") continue;
      if (channels == 1 && std::string(extension) == ".webp") continue;  // becomes RGB
      const Image again = decode_image(encode_image(image, extension), "x");
      if (channels == 1 && again.shape().channels == 3) continue;  // stb has no gray JPEG
      EXPECT_LT(mean_difference(again, image), 2.0) << extension << " " << channels;
    }
  }
}

TEST(RoundTrip, QualityMatters) {
  for (const char* extension : {".jpg", ".webp"}) {
    if (!can_write(extension)) continue;
    const Image image = random_image(shape_of(64, 64, 3, Type::u8));
    WriteOptions low;
    low.quality = 10;
    EXPECT_LT(encode_image(image, extension, low).size(), encode_image(image, extension).size()) << extension;
  }
}

TEST(RoundTrip, HdrKeepsEightBitsOfTheLargestChannel) {
  for (const int width : {1, 7, 8, 100, 400}) {
    Image image = random_image(shape_of(width, 9, 3, Type::f32));
    auto* values = reinterpret_cast<float*>(image.data());
    for (int i = 0; i < width * 3; ++i) values[i] = i % 2 == 0 ? 0.0F : values[i] * 1e-6F;
    for (int i = width * 3; i < width * 6; ++i) values[i] = 1000.0F;
    const Image again = decode_image(encode_image(image, ".hdr"), "x.hdr");
    ASSERT_EQ(again.shape(), image.shape());
    const auto* read = reinterpret_cast<const float*>(again.data());
    for (int i = 0; i < width * 9; ++i) {
      const float largest = std::max({values[i * 3], values[i * 3 + 1], values[i * 3 + 2]});
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(read[i * 3 + c], values[i * 3 + c], largest / 250.0F + 1e-30F);
    }
  }
}

TEST(RoundTrip, PbmHoldsBlackAndWhite) {
  Image image = random_image(shape_of(37, 11, 1, Type::u8));
  for (std::size_t i = 0; i < byte_size(image.shape()); ++i)
    image.data()[i] = (image.data()[i] & std::byte{1}) != std::byte{0} ? std::byte{255} : std::byte{0};
  expect_same(decode_image(encode_image(image, ".pbm"), "x.pbm"), image, "pbm");
  image.data()[5] = std::byte{7};
  expect_error(ErrorKind::input, "threshold", [&] { static_cast<void>(encode_image(image, ".pbm")); });
}

TEST(RoundTrip, ViewsWithStridesAndBgrAreWrittenInOrder) {
  const Image image = random_image(shape_of(20, 10, 3, Type::u16));
  ImageView upside_down = image.view();
  upside_down.data = image.view().at(0, 9);
  upside_down.strides.row = -upside_down.strides.row;
  expect_same(decode_image(encode_image(upside_down, ".png"), "x"), turned(image, 4), "negative rows");

  ImageView bgr = image.view();
  bgr.shape.order = Order::bgr;
  const Image read = decode_image(encode_image(bgr, ".png"), "x");
  EXPECT_EQ(read.shape().order, Order::rgb);
  for (int c = 0; c < 3; ++c)
    EXPECT_EQ(read.view().value<std::uint16_t>(3, 4, c), image.view().value<std::uint16_t>(3, 4, 2 - c));

  Image planes(image.shape());
  MutableImageView planar = planes.view();
  planar.strides = planar_strides(image.shape());
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 20; ++x)
      for (int c = 0; c < 3; ++c)
        planar.value<std::uint16_t>(x, y, c) = image.view().value<std::uint16_t>(x, y, c);
  expect_same(decode_image(encode_image(planar, ".png"), "x"), image, "planar");
}

TEST(RoundTrip, EveryListedFormatWritesWhatItSays) {
  for (const FormatInfo& info : formats()) {
    if (!info.writes) continue;
    EXPECT_FALSE(info.types.empty()) << info.name;
    EXPECT_FALSE(info.channels.empty()) << info.name;
    EXPECT_EQ(info.extensions.front().front(), '.') << info.name;
  }
}

}  // namespace
}  // namespace satin::test
