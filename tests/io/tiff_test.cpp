// TIFF files of kinds that Satin reads but does not write, made by libtiff.

#include "tests/io/support.h"
#include "tests/io/tiff_writer.h"

namespace satin::test {
namespace {

std::vector<unsigned char> bytes_in(const Image& image) {
  const auto* first = reinterpret_cast<const unsigned char*>(image.data());
  return {first, first + byte_size(image.shape())};
}

Image random(int channels, Type type = Type::u8, Alpha alpha = Alpha::none) {
  return random_image(shape_of(37, 21, channels, type, alpha));
}

TEST(Tiff, StripsTilesCompressionsAndByteOrders) {
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS})
    for (const std::uint32_t tile : {0U, 16U, 64U})
      for (const char* mode : {"wl", "wb", "w8"})
        for (const int bits : {8, 16}) {
          Tags tags;
          tags.samples = 3;
          tags.photometric = PHOTOMETRIC_RGB;
          tags.compression = compression;
          tags.tile = tile;
          tags.bits = bits;
          const Image image = random(3, bits == 8 ? Type::u8 : Type::u16);
          expect_same(decode_image(make_tiff(tags, bytes_in(image), mode), "x.tif"), image,
                      std::to_string(compression) + " " + std::to_string(tile) + " " + mode);
        }
}

TEST(Tiff, SeparatePlanes) {
  Tags tags;
  tags.samples = 3;
  tags.photometric = PHOTOMETRIC_RGB;
  tags.planar = PLANARCONFIG_SEPARATE;
  const Image image = random(3);
  std::vector<unsigned char> planes;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 37 * 21; ++i)
      planes.push_back(std::to_integer<unsigned char>(image.data()[i * 3 + c]));
  expect_same(decode_image(make_tiff(tags, planes), "x.tif"), image, "planes");
}

TEST(Tiff, WhiteAsZero) {
  Tags tags;
  tags.photometric = PHOTOMETRIC_MINISWHITE;
  Image image = random(1);
  const FileBytes file = make_tiff(tags, bytes_in(image));
  for (int i = 0; i < 37 * 21; ++i) image.data()[i] ^= std::byte{255};
  expect_same(decode_image(file, "x.tif"), image, "white as zero");
}

TEST(Tiff, FewBitsAndFax) {
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_CCITTFAX4}) {
    Tags tags;
    tags.width = 16;
    tags.height = 1;
    tags.bits = 1;
    tags.compression = compression;
    const Image image = decode_image(make_tiff(tags, {0xF0, 0x01}), "x.tif");
    for (int x = 0; x < 16; ++x)
      EXPECT_EQ(image.view().value<std::uint8_t>(x, 0), x < 4 || x == 15 ? 255 : 0) << x;
  }
  Tags tags;
  tags.width = 4;
  tags.height = 1;
  tags.bits = 4;
  const Image image = decode_image(make_tiff(tags, {0x0F, 0x17}), "x.tif");
  const std::uint8_t expected[4] = {0, 255, 17, 119};
  for (int x = 0; x < 4; ++x) EXPECT_EQ(image.view().value<std::uint8_t>(x, 0), expected[x]);
}

TEST(Tiff, WithoutPhotometricFaxIsWhiteAndTheRestBlackAsZero) {
  Tags tags;
  tags.width = 16;
  tags.height = 1;
  tags.bits = 1;
  tags.photometric = no_photometric;
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4}) {
    tags.compression = compression;
    const Image image = decode_image(make_tiff(tags, {0xF0, 0x01}), "x.tif");
    const bool fax = compression != COMPRESSION_NONE;
    for (int x = 0; x < 16; ++x)
      EXPECT_EQ(image.view().value<std::uint8_t>(x, 0), (x < 4 || x == 15) != fax ? 255 : 0)
          << compression << " " << x;
  }
}

TEST(Tiff, WhatIsNotReadIsNotCalledDamaged) {
  Tags tags;
  tags.samples = 4;
  tags.photometric = PHOTOMETRIC_SEPARATED;
  tags.more = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_INKSET, INKSET_MULTIINK); };
  const FileBytes inks = make_tiff(tags, bytes_in(random(4)));
  expect_error(ErrorKind::input, "these inks", [&] { static_cast<void>(decode_image(inks, "x.tif")); });

  Tags grey;
  grey.compression = COMPRESSION_LZW;
  grey.more = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL); };
  FileBytes file = make_tiff(grey, bytes_in(random(1)), "wl");
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::size_t predictor = text.find(std::string_view("\x3d\1\3\0\1\0\0\0\2", 9));
  ASSERT_NE(predictor, std::string_view::npos);
  file[predictor + 8] = std::byte{9};
  expect_error(ErrorKind::input, "not read, because libtiff says",
               [&] { static_cast<void>(decode_image(file, "x.tif")); });
}

TEST(Tiff, Palette) {
  std::vector<std::uint16_t> red(16), green(16), blue(16);
  for (std::uint16_t i = 0; i < 16; ++i) {
    red[i] = static_cast<std::uint16_t>(i * 257 * 10);
    green[i] = static_cast<std::uint16_t>(65535 - i);
    blue[i] = 0;
  }
  Tags tags;
  tags.width = 2;
  tags.height = 1;
  tags.bits = 4;
  tags.photometric = PHOTOMETRIC_PALETTE;
  tags.more = [&](TIFF* tiff) {
    TIFFSetField(tiff, TIFFTAG_COLORMAP, red.data(), green.data(), blue.data());
  };
  const FileBytes file = make_tiff(tags, {0x3C});
  const Image image = decode_image(file, "x.tif");
  ASSERT_EQ(image.shape(), shape_of(2, 1, 3, Type::u8));
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 0), 30);
  EXPECT_EQ(image.view().value<std::uint8_t>(1, 0, 0), 120);
  EXPECT_EQ(image.view().value<std::uint8_t>(1, 0, 1), 255);
  expect_placed(file, "x.tif");
}

TEST(Tiff, Inks) {
  Tags tags;
  tags.width = tags.height = 1;
  tags.samples = 4;
  tags.photometric = PHOTOMETRIC_SEPARATED;
  const FileBytes file = make_tiff(tags, {55, 155, 255, 0});
  const Image image = decode_image(file, "x.tif");
  ASSERT_EQ(image.shape(), shape_of(1, 1, 3, Type::u8));
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 0), 200);
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 1), 100);
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 2), 0);
  expect_placed(file, "x.tif");
}

TEST(Tiff, AssociatedAlphaOfIntegersIsStraightened) {
  Tags tags;
  tags.width = 2;
  tags.height = 1;
  tags.samples = 4;
  tags.photometric = PHOTOMETRIC_RGB;
  tags.extra = {EXTRASAMPLE_ASSOCALPHA};
  const Image image = decode_image(make_tiff(tags, {50, 100, 0, 100, 0, 0, 0, 0}), "x.tif");
  ASSERT_EQ(image.shape(), shape_of(2, 1, 4, Type::u8, Alpha::straight));
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 0), 128);
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 1), 255);
  EXPECT_EQ(image.view().value<std::uint8_t>(0, 0, 3), 100);
}

TEST(Tiff, OrientationIsApplied) {
  const Image image = random(3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Tags tags;
    tags.samples = 3;
    tags.photometric = PHOTOMETRIC_RGB;
    tags.orientation = orientation;
    const FileBytes file = make_tiff(tags, bytes_in(image));
    expect_same(decode_image(file, "x.tif"), turned(image, orientation), std::to_string(orientation));
    expect_placed(file, "x.tif");
  }
}

TEST(Tiff, JpegCompressedColour) {
  Tags tags;
  tags.width = tags.height = 32;
  tags.samples = 3;
  tags.photometric = PHOTOMETRIC_YCBCR;
  tags.compression = COMPRESSION_JPEG;
  tags.more = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB); };
  const Image image = smooth_image(shape_of(32, 32, 3, Type::u8));
  EXPECT_LT(mean_difference(decode_image(make_tiff(tags, bytes_in(image)), "x.tif"), image), 8.0);
}

TEST(Tiff, RefusedKindsSayWhat) {
  Tags five;
  five.samples = 5;
  five.photometric = PHOTOMETRIC_RGB;
  five.extra = {EXTRASAMPLE_UNASSALPHA, EXTRASAMPLE_UNSPECIFIED};
  const FileBytes many = make_tiff(five, std::vector<unsigned char>(37 * 21 * 5));
  expect_error(ErrorKind::input, "5 channels", [&] { static_cast<void>(decode_image(many, "x.tif")); });
  Tags negative;
  negative.format = SAMPLEFORMAT_INT;
  const FileBytes integers = make_tiff(negative, std::vector<unsigned char>(37 * 21));
  expect_error(ErrorKind::input, "signed", [&] { static_cast<void>(decode_image(integers, "x.tif")); });
}

TEST(Tiff, TagsThatShareTheirValuesAreRefused) {
  constexpr std::uint32_t value_bytes = 1'000'000;
  for (const std::uint32_t tags : {2U, 100U}) {
    std::string file("II*\0\x08\0\0\0", 8);
    const auto add = [&](std::uint32_t number, int bytes) {
      for (int i = 0; i < bytes; ++i) file += static_cast<char>(number >> 8 * i & 255);
    };
    const auto add_tag = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count,
                             std::uint32_t value) {
      add(tag, 2), add(type, 2), add(count, 4), add(value, 4);
    };
    const std::uint32_t values = 8 + 2 + (7 + tags) * 12 + 4;
    add(7 + tags, 2);
    for (const auto& [tag, value] :
         {std::pair{256U, 4U}, {257U, 4U}, {258U, 8U}, {259U, 1U}, {262U, 1U}, {273U, values}, {279U, 16U}})
      add_tag(tag, 4, 1, value);
    for (std::uint32_t i = 0; i < tags; ++i) add_tag(40'000 + i, 7, value_bytes, values);
    add(0, 4);
    file += std::string(value_bytes, 'x');
    const auto read = [&] { return decode_image(bytes_of(file), "x.tif").shape(); };
    if (tags == 2)
      EXPECT_EQ(read(), shape_of(4, 4, 1, Type::u8));
    else
      expect_error(ErrorKind::input, "tags are together larger", [&] { static_cast<void>(read()); });
  }
}

// Nothing compresses that well: no memory is touched for it.
TEST(Tiff, StripsThatAreTooShortForTheirPixelsAreRefused) {
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_PACKBITS, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
    Tags tags;
    tags.strip = 21;
    tags.compression = compression;
    tags.photometric = PHOTOMETRIC_MINISBLACK;
    FileBytes file = make_tiff(tags, std::vector<unsigned char>(37 * 21));
    const std::string length("\x01\x01\x04\0\x01\0\0\0", 8), rows("\x16\x01\x04\0\x01\0\0\0", 8);
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    for (std::size_t at : {text.find(length), text.find(rows)}) {
      if (at == std::string_view::npos) {  // in 16 bits
        at = text.find(std::string("\x01\x01\x03\0\x01\0\0\0", 8));
        file[at + 2] = std::byte{4};
      }
      for (std::size_t i = 0; i < 4; ++i)
        file[at + 8 + i] = static_cast<std::byte>(3'000'000U >> 8 * i & 255);
    }
    ASSERT_TRUE(reset_peak());
    const long before = *peak_of_memory();
    expect_error(ErrorKind::input, "TIFF", [&] { static_cast<void>(decode_image(file, "x.tif")); });
    EXPECT_LT(*peak_of_memory(), before + 30 * 1024) << compression;
  }
}

TEST(Tiff, LargePictureInManyStrips) {
  const Image image = random_image(shape_of(1000, 700, 3, Type::u16));
  expect_same(decode_image(encode_image(image, ".tif"), "x.tif"), image, "strips");
}

}  // namespace
}  // namespace satin::test
