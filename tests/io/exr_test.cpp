#include <cstring>

#include "tests/io/support.h"

namespace satin::test {
namespace {

class Exr : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads("OpenEXR")) GTEST_SKIP() << "this build has no OpenEXR";
  }
};

TEST_F(Exr, FloatsComeBackExactly) {
  for (int channels = 1; channels <= 4; ++channels) {
    const Alpha alpha = channels % 2 == 0 ? Alpha::premultiplied : Alpha::none;
    const Image image = random_image(shape_of(33, 17, channels, Type::f32, alpha));
    expect_same(decode_image(encode_image(image, ".exr"), "x.exr"), image, std::to_string(channels));
  }
}

// Half floats have 10 bits behind the leading one: 1 + n / 1024 is exact, 1 + (n + 0.4) / 1024 rounds to it.
TEST_F(Exr, HalfFloatsAreRoundedToNearestAndStayHalf) {
  Image image(shape_of(1024, 1, 1, Type::f32));
  for (int x = 0; x < 1024; ++x)
    image.view().value<float>(x, 0) = 1.0F + (static_cast<float>(x) + 0.4F) / 1024.0F;
  WriteOptions options;
  options.metadata.half_floats = true;
  const FileBytes file = encode_image(image, ".exr", options);
  const Picture again = decode_picture(file, "x.exr");
  EXPECT_TRUE(again.metadata.half_floats);
  for (int x = 0; x < 1024; ++x)
    ASSERT_EQ(again.image.view().value<float>(x, 0), 1.0F + static_cast<float>(x) / 1024.0F) << x;
  image.view().value<float>(5, 0) = 70000.0F;  // above the largest half float
  EXPECT_FALSE(decode_picture(encode_image(image, ".exr", options), "x.exr").metadata.half_floats);
}

TEST_F(Exr, ACompressionThatIsNotKnownIsNotCalledDamaged) {
  FileBytes file = encode_image(random_image(shape_of(9, 7, 1, Type::f32)), ".exr");
  const std::string_view key("compression\0compression\0\1\0\0\0", 28);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  ASSERT_NE(text.find(key), std::string_view::npos);
  file[text.find(key) + key.size()] = std::byte{10};  // a newer one
  expect_error(ErrorKind::input, "not read, because OpenEXR says",
               [&] { static_cast<void>(decode_image(file, "x.exr")); });
}

TEST_F(Exr, NamedChannelsTravel) {
  const Image colours = random_image(shape_of(9, 7, 3, Type::f32));
  std::vector<NamedChannel> channels;
  channels.push_back({"Z", random_image(shape_of(9, 7, 1, Type::f32), 2)});
  channels.push_back({"id", random_image(shape_of(9, 7, 1, Type::u32), 3)});
  WriteOptions options;
  options.channels = channels;
  const FileBytes file = encode_image(colours, ".exr", options);
  expect_placed(file, "x.exr");
  const Picture picture = decode_picture(file, "x.exr");
  expect_same(picture.image, colours, "colours");
  ASSERT_NE(picture.find_channel("Z"), nullptr);
  ASSERT_NE(picture.find_channel("id"), nullptr);
  expect_same(*picture.find_channel("Z"), channels[0].plane, "Z");
  expect_same(*picture.find_channel("id"), channels[1].plane, "id");
  EXPECT_EQ(picture.find_channel("z"), nullptr);
  EXPECT_EQ(what_is_lost(".png", picture.metadata, picture.channels),
            "PNG holds no channel Z or channel id.");
}

TEST_F(Exr, ARenderHasColoursAndDepth) {
  const fs::path file = fs::path(SATIN_TEST_DATA) / "exr" / "beachball_singlepart_rgbz.exr";
  if (!fs::exists(file)) GTEST_SKIP() << "no " << file;
  const Picture picture = read_picture(file);
  EXPECT_GE(picture.image.shape().channels, 3);
  const Image* depth = picture.find_channel("Z");
  ASSERT_NE(depth, nullptr);
  EXPECT_EQ(depth->shape().width, picture.image.shape().width);
  const auto* row = depth->view().row<float>(depth->shape().height / 2);
  EXPECT_GT(row[depth->shape().width / 2], 0.0F);
}

TEST_F(Exr, TruncatedFilesAreRefusedOrTakenInPart) {
  Image image = random_image(shape_of(40, 64, 3, Type::f32));
  const FileBytes file = encode_image(image, ".exr");
  FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() * 6 / 10));
  EXPECT_THROW(static_cast<void>(decode_image(part, "x.exr")), Error);
  ReadOptions options;
  options.allow_partial = true;
  const Picture picture = decode_picture(part, "x.exr", options);
  ASSERT_EQ(picture.warnings.size(), 1U);
  const std::size_t rows = 32 * 40 * 3 * sizeof(float);  // two blocks of 16 rows are there
  EXPECT_EQ(std::memcmp(picture.image.data(), image.data(), rows), 0);
  EXPECT_EQ(picture.image.view().value<float>(5, 63, 1), 0.0F);
}

}  // namespace
}  // namespace satin::test
