// Directories of TIFF files that are pages, in files made by libtiff.

#include <tiffio.h>

#include "metadata/bytes.h"
#include "tests/io/row_comparison.h"

namespace satin::test {
namespace {

/// A grey directory of one value with its tags.
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

TEST(Pages, ThumbnailsAndPyramidLevelsAreNotPages) {
  const Directory small{1, FILETYPE_REDUCEDIMAGE};
  EXPECT_EQ(grey_of(make_file({{10}, small, small})), 10);
  EXPECT_EQ(grey_of(make_file({{10}, {2, FILETYPE_MASK | FILETYPE_REDUCEDIMAGE}})), 10);
  EXPECT_EQ(grey_of(make_file({{10, 0, 2}, small, small})), 10) << "sub-directories";
  EXPECT_EQ(grey_of(make_file({small, {10}})), 10) << "a thumbnail first";
  EXPECT_EQ(grey_of(make_file({small})), 1) << "nothing else";
  const FileBytes file = make_file({{10}, small, {20}, small});
  EXPECT_EQ(grey_of(file, page(2)), 20);
  expect_error(ErrorKind::input, "2 pages", [&] { grey_of(file); });
}

TEST(Pages, TransparencyMasksStandBesideTheirPage) {
  const Directory mask{2, FILETYPE_MASK};
  const FileBytes file = make_file({{10}, mask});
  const Picture picture = decode_picture(file, "x.tif");
  EXPECT_EQ(picture.image.view().value<std::uint8_t>(0, 0), 10);
  ASSERT_EQ(picture.warnings.size(), 1U);
  EXPECT_NE(picture.warnings.front().find("1 further picture"), std::string::npos)
      << picture.warnings.front();
  EXPECT_TRUE(expect_same_by_rows(file, "x.tif"));
  EXPECT_TRUE(decode_picture(file, "x.tif", page(1)).warnings.empty());
  EXPECT_EQ(grey_of(file, page(2)), 2);
  EXPECT_EQ(grey_of(make_file({mask})), 2) << "nothing else";
  expect_error(ErrorKind::input, "3 pages", [&] { grey_of(make_file({{10}, mask, {20}})); });
}

/// Returns a stack as ImageJ writes it above 4 GB: one directory, followed by the pixels of all pictures.
/// Picture i of 3 x 2 grey pixels of 16 bits, big-endian, has the values 1000 i + 0 to 5.
FileBytes stack_file(int images, int said) {
  const std::string description = "ImageJ=1.53k\nimages=" + std::to_string(said) + "\nslices=2\n";
  constexpr std::uint32_t entries = 10, start = 8, end = start + 2 + 12 * entries + 4;
  const auto pixels = static_cast<std::uint32_t>(end + description.size() + 1);
  io::Sink file;
  const auto be16 = [&](std::uint32_t value) { file.u8(value >> 8), file.u8(value & 255); };
  const auto entry = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count, std::uint32_t value) {
    be16(tag), be16(type), file.be32(count);
    type == 3 ? (be16(value), be16(0)) : file.be32(value);
  };
  file.text({"MM\0*", 4});
  file.be32(start);
  be16(entries);
  entry(256, 4, 1, 3), entry(257, 4, 1, 2), entry(258, 3, 1, 16), entry(259, 3, 1, 1), entry(262, 3, 1, 1);
  entry(270, 2, static_cast<std::uint32_t>(description.size() + 1), end);
  entry(273, 4, 1, pixels), entry(277, 3, 1, 1), entry(278, 4, 1, 2), entry(279, 4, 1, 12);
  file.be32(0);
  file.text(description + '\0');
  for (int i = 0; i < images; ++i)
    for (int value = 0; value < 6; ++value) be16(static_cast<std::uint32_t>(1000 * i + value));
  return file.bytes;
}

TEST(Pages, PicturesOfAnImageJStackArePages) {
  const FileBytes file = stack_file(3, 3);
  expect_error(ErrorKind::input, "3 pages", [&] { grey_of(file); });
  for (int number = 1; number <= 3; ++number) {
    const Picture picture = decode_picture(file, "x.tif", page(number));
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(picture.image.view().value<std::uint16_t>(i % 3, i / 3), 1000 * (number - 1) + i) << number;
    EXPECT_TRUE(expect_same_by_rows(file, "x.tif", page(number)));
  }
  expect_error(ErrorKind::usage, "no page 4", [&] { grey_of(file, page(4)); });
}

TEST(Pages, AnImageJStackMayBeCutButNotInTheMiddle) {
  const Picture alone = decode_picture(stack_file(1, 3), "x.tif");
  EXPECT_EQ(alone.image.view().value<std::uint16_t>(2, 1), 5) << "a page that was taken out of a stack";
  const FileBytes cut = stack_file(2, 3);
  expect_error(ErrorKind::input, "ends before", [&] { grey_of(cut, page(1)); });
  ReadOptions partial = page(2);
  partial.allow_partial = true;
  EXPECT_EQ(decode_picture(cut, "x.tif", partial).image.view().value<std::uint16_t>(0, 0), 1000);
  expect_error(ErrorKind::usage, "no page 3", [&] {
    partial.page = 3;
    grey_of(cut, partial);
  });
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

TEST(Pages, AllPagesTogetherStayWithinTheLimit) {
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
