#include "tests/io/support.h"

namespace satin::test {
namespace {

FileBytes jpeg_with_orientation(const FileBytes& file, int orientation, bool little_endian) {
  const std::string block = std::string("Exif\0\0", 6) + exif_block(orientation, little_endian);
  const std::size_t length = block.size() + 2;
  const std::string segment =
      std::string("\xff\xe1") + static_cast<char>(length >> 8) + static_cast<char>(length & 255U) + block;
  FileBytes result = file;
  const FileBytes inserted = bytes_of(segment);
  result.insert(result.begin() + 2, inserted.begin(), inserted.end());
  return result;
}

TEST(Orientation, JpegIsTurnedUpright) {
  const FileBytes file = encode_image(smooth_image(shape_of(48, 32, 3, Type::u8)), ".jpg");
  const Image image = decode_image(file, "x.jpg");
  for (int orientation = 0; orientation <= 9; ++orientation)
    for (const bool little : {false, true})
      expect_same(decode_image(jpeg_with_orientation(file, orientation, little), "x.jpg"),
                  turned(image, orientation > 8 ? 1 : orientation), std::to_string(orientation));
  expect_placed(jpeg_with_orientation(file, 6, true), "x.jpg");
}

// The eight files of a series show one scene. Each was turned before compression.
TEST(Orientation, PhotographsOfOneSceneLookAlike) {
  const fs::path folder = fs::path(SATIN_TEST_DATA) / "orientation";
  if (!fs::exists(folder)) GTEST_SKIP() << "no folder " << folder;
  for (const std::string series : {"Landscape", "Portrait"}) {
    const Image first = read_image(folder / (series + "_1.jpg"));
    const bool wide = series == "Landscape";
    EXPECT_EQ(first.shape().width > first.shape().height, wide);
    for (int i = 0; i <= 8; ++i) {
      const Image other = read_image(folder / (series + "_" + std::to_string(i) + ".jpg"));
      EXPECT_EQ(describe(other.shape()), describe(first.shape())) << i;
      // The files differ by their number, which each shows as a small text.
      EXPECT_LT(mean_difference(other, first), 6.0) << series << " " << i;
    }
  }
}

TEST(Orientation, MalformedExifMeansUpright) {
  const FileBytes file = encode_image(smooth_image(shape_of(16, 8, 3, Type::u8)), ".jpg");
  const Image image = decode_image(file, "x.jpg");
  for (int orientation : {0, 9, 77})
    expect_same(decode_image(jpeg_with_orientation(file, orientation, true), "x.jpg"), image, "range");
  FileBytes broken = jpeg_with_orientation(file, 6, true);
  broken[2 + 4 + 6 + 4] = std::byte{200};  // the directory lies outside of the block
  expect_same(decode_image(broken, "x.jpg"), image, "directory");
}

}  // namespace
}  // namespace satin::test
