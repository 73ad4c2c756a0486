// Which directories of a TIFF file are pages, in files made by libtiff.

#include <tiffio.h>

#include "tests/io/support.h"

namespace satin::test {
namespace {

/// A grey directory of one value, and what is to be said of it.
struct Directory {
  unsigned char grey = 0;
  std::uint32_t subfile = 0;
  int sub_directories = 0;  ///< how many of the following ones are below this one
};

FileBytes make_file(const std::vector<Directory>& directories, const char* mode = "w") {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), mode);
  for (const Directory& directory : directories) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 3);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (directory.subfile != 0) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, directory.subfile);
    std::vector<toff_t> places(static_cast<std::size_t>(directory.sub_directories));
    if (!places.empty()) TIFFSetField(tiff, TIFFTAG_SUBIFD, directory.sub_directories, places.data());
    std::vector<unsigned char> row(3, directory.grey);
    TIFFWriteScanline(tiff, row.data(), 0, 0);
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
  return load(path);
}

int grey_of(const FileBytes& file, const ReadOptions& options = {}) {
  return decode_picture(file, "x.tif", options).image.view().value<std::uint8_t>(0, 0);
}

ReadOptions page(std::int64_t number) {
  ReadOptions options;
  options.page = number;
  return options;
}

TEST(Pages, EachIsReadByItsNumberInEveryLayout) {
  for (const char* mode : {"wl", "wb", "w8"}) {
    const FileBytes file = make_file({{10}, {20, FILETYPE_PAGE}, {30, FILETYPE_PAGE}}, mode);
    for (int number = 1; number <= 3; ++number) EXPECT_EQ(grey_of(file, page(number)), 10 * number) << mode;
    expect_error(ErrorKind::input, "3 pages", [&] { grey_of(file); });
    expect_error(ErrorKind::usage, "no page 4", [&] { grey_of(file, page(4)); });
    expect_error(ErrorKind::usage, "no page 0", [&] { grey_of(file, page(0)); });
  }
}

TEST(Pages, ThumbnailsPyramidsAndTransparencyMasksAreNone) {
  const Directory small{1, FILETYPE_REDUCEDIMAGE}, opacity{2, FILETYPE_MASK};
  EXPECT_EQ(grey_of(make_file({{10}, small, small})), 10);
  EXPECT_EQ(grey_of(make_file({{10}, opacity})), 10);
  EXPECT_EQ(grey_of(make_file({{10, 0, 2}, small, small})), 10) << "sub-directories";
  EXPECT_EQ(grey_of(make_file({small, {10}})), 10) << "a thumbnail first";
  EXPECT_EQ(grey_of(make_file({small})), 1) << "nothing else";
  const FileBytes file = make_file({{10}, small, {20}, small});
  EXPECT_EQ(grey_of(file, page(2)), 20);
  expect_error(ErrorKind::input, "2 pages", [&] { grey_of(file); });
}

TEST(Pages, ADirectoryThatCannotBeReadIsNotPassedOver) {
  FileBytes file = make_file({{10}, {20}});
  const std::uint32_t first = std::to_integer<std::uint32_t>(file[4]);
  const std::size_t link = first + 2 + std::to_integer<std::size_t>(file[first]) * 12;
  file[link + 1] = std::byte{0xFF};  // far behind the end
  expect_error(ErrorKind::input, "page 2 cannot be read", [&] { grey_of(file); });
  ReadOptions partial;
  partial.allow_partial = true;
  const Picture picture = decode_picture(file, "x.tif", partial);
  EXPECT_EQ(picture.image.view().value<std::uint8_t>(0, 0), 10);
  ASSERT_EQ(picture.warnings.size(), 1U);
  file[link] = file[4];  // the first directory again
  file[link + 1] = std::byte{0};
  expect_error(ErrorKind::input, "page 2 cannot be read", [&] { grey_of(file); });
}

TEST(Pages, TogetherTheyAreWithinTheLimit) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.tif";
  Image image(shape_of(100, 10, 1, Type::u8));
  std::fill_n(image.data(), 1000, std::byte{7});
  const std::vector<ImageView> images(3, image.view());
  const std::vector<WriteOptions> options(3);
  write_pages(path, images, options);
  ReadOptions reading;
  reading.all_pages = true;
  reading.limits.bytes = 3000;
  ASSERT_LT(fs::file_size(path), 2000U);
  EXPECT_EQ(count_pictures(path, reading), 3U);
  const std::vector<Picture> pictures = read_pictures(path, reading);
  ASSERT_EQ(pictures.size(), 3U);
  for (const Picture& picture : pictures) expect_same(picture.image, image, "page");
  reading.limits.bytes = 2999;
  expect_error(ErrorKind::input, "together over the limit",
               [&] { static_cast<void>(read_pictures(path, reading)); });
}

TEST(Pages, OneFileIsWrittenOfPicturesThatTheFormatHolds) {
  const TemporaryFolder folder;
  const Image image = random_image(shape_of(4, 3, 1, Type::u8));
  const std::vector<ImageView> images(2, image.view());
  const std::vector<WriteOptions> options(2);
  const auto write = [&](const char* name, std::span<const WriteOptions> given) {
    write_pages(folder / name, images, given);
  };
  expect_error(ErrorKind::usage, "hold one picture", [&] { write("x.png", options); });
  expect_error(ErrorKind::usage, "options for each", [&] { write("x.tif", std::span(options).first(1)); });
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace satin::test
