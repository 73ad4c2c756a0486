// TIFF files of all kinds, made by libtiff, read row by row.

#include <cstring>
#include <random>

#include "tests/io/row_comparison.h"
#include "tests/io/tiff_writer.h"

namespace satin::test {
namespace {

std::vector<unsigned char> noise(std::size_t bytes, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<unsigned char> result(bytes);
  for (unsigned char& value : result) value = static_cast<unsigned char>(random() >> 24);
  return result;
}

/// Returns the number of bytes that libtiff needs for the pixels.
std::size_t size_of_pixels(const Tags& tags) {
  const bool separate = tags.planar == PLANARCONFIG_SEPARATE;
  const auto per_row = static_cast<std::size_t>((separate ? 1 : tags.samples) * tags.bits) * tags.width;
  return (per_row + 7) / 8 * tags.height * static_cast<std::size_t>(separate ? tags.samples : 1);
}

void expect_read(const Tags& tags, const std::string& what, const char* mode = "w") {
  SCOPED_TRACE(what);
  EXPECT_TRUE(expect_same_by_rows(make_tiff(tags, noise(size_of_pixels(tags)), mode), "x.tif"));
}

Tags coloured(int samples = 3) {
  Tags tags;
  tags.samples = samples;
  tags.photometric = samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  if (samples % 2 == 0) tags.extra = {EXTRASAMPLE_UNASSALPHA};
  return tags;
}

/// Returns the tags of a page whose strips are too high to be decoded at once.
Tags high(std::uint32_t height, std::uint32_t strip, int compression) {
  Tags tags = coloured();
  tags.width = 256;
  tags.height = height;
  tags.strip = strip;
  tags.compression = compression;
  return tags;
}

TEST(RowTiff, StripsTilesCompressionsAndByteOrders) {
  unsigned count = 0;
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS})
    for (const std::uint32_t tile : {0U, 16U, 64U})
      for (const int planar : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
        Tags tags = coloured(static_cast<int>(1 + count % 4));
        tags.width = 33 + 11 * count % 64;
        tags.height = 17 + 7 * count % 64;
        tags.bits = count % 3 == 0 ? 8 : 16;
        tags.strip = 1 + count % 20;
        tags.tile = tile;
        tags.planar = planar;
        tags.compression = compression;
        const char* const mode = std::array{"wl", "wb", "w8"}[++count % 3];
        expect_read(tags, std::to_string(compression) + " " + std::to_string(tile) + " " + mode, mode);
      }
}

TEST(RowTiff, WideTypesAndPredictors) {
  for (const int bits : {32, 64})
    for (const int format : {SAMPLEFORMAT_UINT, SAMPLEFORMAT_IEEEFP}) {
      Tags tags = coloured();
      tags.bits = bits;
      tags.format = format;
      expect_read(tags, std::to_string(bits), "wb");
      if (bits == 64 && format == SAMPLEFORMAT_UINT) continue;  // libtiff has no predictor for them
      tags.compression = COMPRESSION_ADOBE_DEFLATE;
      tags.more = [&](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_PREDICTOR,
                     format == SAMPLEFORMAT_UINT ? PREDICTOR_HORIZONTAL : PREDICTOR_FLOATINGPOINT);
      };
      expect_read(tags, std::to_string(bits) + " by differences");
    }
}

TEST(RowTiff, FewBitsPalettesAndInks) {
  std::vector<std::uint16_t> map(256);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<std::uint16_t>(i * 250);
  for (const std::uint32_t tile : {0U, 16U})
    for (const int bits : {1, 2, 4, 8}) {
      Tags tags;
      tags.bits = bits;
      tags.tile = tile;
      expect_read(tags, std::to_string(bits) + " bits");
      tags.photometric = PHOTOMETRIC_MINISWHITE;
      expect_read(tags, std::to_string(bits) + " bits, white as zero");
      tags.photometric = PHOTOMETRIC_PALETTE;
      tags.more = [&](TIFF* tiff) {
        TIFFSetField(tiff, TIFFTAG_COLORMAP, map.data(), map.data(), map.data());
      };
      expect_read(tags, std::to_string(bits) + " bits, palette");
    }
  Tags fax;
  fax.bits = 1;
  fax.compression = COMPRESSION_CCITTFAX4;
  expect_read(fax, "fax");
  Tags inks = coloured(4);
  inks.photometric = PHOTOMETRIC_SEPARATED;
  inks.extra.clear();
  expect_read(inks, "inks");
}

TEST(RowTiff, AlphaOfEveryKind) {
  for (const int kind : {EXTRASAMPLE_ASSOCALPHA, EXTRASAMPLE_UNASSALPHA, EXTRASAMPLE_UNSPECIFIED})
    for (const int bits : {8, 16, 32}) {
      Tags tags = coloured(4);
      tags.bits = bits;
      tags.format = bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT;
      tags.extra = {static_cast<std::uint16_t>(kind)};
      expect_read(tags, std::to_string(kind));
    }
}

TEST(RowTiff, JpegCompressedColour) {
  Tags tags = coloured();
  tags.width = 45;
  tags.height = 70;
  tags.photometric = PHOTOMETRIC_YCBCR;
  tags.compression = COMPRESSION_JPEG;
  tags.more = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB); };
  expect_read(tags, "JPEG");
  tags.tile = 32;
  expect_read(tags, "JPEG in tiles");
}

/// The memory for reading does not depend on the height of a strip.
TEST(RowTiff, HighStripsAreReadInParts) {
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS})
    for (const std::uint32_t strip : {2000U, 4500U}) {
      Tags tags = high(4500, strip, compression);
      if (compression == COMPRESSION_LZW)
        tags.more = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL); };
      const FileBytes file = make_tiff(tags, noise(size_of_pixels(tags)));
      EXPECT_TRUE(expect_same_by_rows(file, "x.tif")) << compression << " " << strip;
      ReadOptions options;
      options.accept = [&](const Shape&, std::uint64_t beside) {
        // libtiff splits an uncompressed picture that is one strip.
        EXPECT_TRUE(beside <= 1U << 20 || (compression == COMPRESSION_NONE && strip != tags.height))
            << beside;
      };
      const TemporaryFolder folder;
      store(folder / "x.tif", {reinterpret_cast<const char*>(file.data()), file.size()});
      static_cast<void>(open_rows(folder / "x.tif", options));
    }
}

TEST(RowTiff, KeepsToTheLimitOfBytes) {
  const TemporaryFolder folder;
  Tags tags = coloured();
  tags.width = 256;
  tags.height = tags.strip = 4000;
  tags.bits = 16;
  tags.compression = COMPRESSION_ADOBE_DEFLATE;
  const FileBytes file = make_tiff(tags, noise(size_of_pixels(tags)));
  store(folder / "x.tif", {reinterpret_cast<const char*>(file.data()), file.size()});
  ReadOptions options;
  options.limits.bytes = 2'000'000;  // the strip has 6 million
  EXPECT_EQ(rest_of(*open_rows(folder / "x.tif", options), 4000).shape().height, 4000);
  options.allow_partial = true;  // which takes the strip as a whole
  expect_error(ErrorKind::input, "--max-bytes",
               [&] { static_cast<void>(open_rows(folder / "x.tif", options)); });
}

TEST(RowTiff, HighStripsThatAreDamaged) {
  std::mt19937 random(2);
  const Tags tags = high(2000, 2000, COMPRESSION_ADOBE_DEFLATE);
  const FileBytes file = make_tiff(tags, noise(size_of_pixels(tags)));
  for (const bool partial : {false, true})
    for (const std::size_t lost : {std::size_t{1} << 19, std::size_t{1} << 20}) {
      ReadOptions options;
      options.allow_partial = partial;
      FileBytes damaged = file;
      for (std::size_t i = 0; i < 50; ++i) damaged[lost + i] = static_cast<std::byte>(random());
      EXPECT_EQ(expect_same_by_rows(damaged, "x.tif", options), partial);
    }
}

TEST(RowTiff, GoodRowsAreReadAfterAnError) {
  const TemporaryFolder folder;
  for (const std::uint32_t strip : {100U, 4000U}) {
    const Tags tags = high(4000, strip, COMPRESSION_ADOBE_DEFLATE);
    FileBytes file = make_tiff(tags, noise(size_of_pixels(tags)));
    const Image good = decode_image(file, "x.tif");
    for (std::size_t i = 0; i < 50; ++i) file[file.size() / 2 + i] = std::byte{0};
    store(folder / "x.tif", {reinterpret_cast<const char*>(file.data()), file.size()});
    const std::unique_ptr<FileRows> rows = open_rows(folder / "x.tif");
    for (int pass = 0; pass < 2; ++pass) {
      const Image begin = rest_of(*rows, 500);
      EXPECT_EQ(std::memcmp(begin.data(), good.data(), byte_size(begin.shape())), 0) << strip;
      expect_error(ErrorKind::input, "x.tif", [&] { static_cast<void>(rest_of(*rows, 3500)); });
      rows->rewind();
    }
  }
}

TEST(RowTiff, MetadataAndPages) {
  const Image image = random_image(shape_of(40, 30, 3, Type::u8));
  WriteOptions options;
  options.metadata.icc = bytes_of(std::string(16, 'p') + "RGB " + std::string(200, 'p'));
  options.metadata.exif = bytes_of(exif_block(6, true));
  options.metadata.xmp = bytes_of("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
  options.metadata.iptc = bytes_of({"\x1c\2\x78\0\3abc", 8});
  options.metadata.resolution = Resolution{300, 150, Resolution::Unit::inch};
  EXPECT_TRUE(expect_same_by_rows(encode_image(image, ".tif", options), "x.tif"));
  ReadOptions page;
  const TemporaryFolder folder;
  const ImageView both[2] = {image, image};
  const WriteOptions of_both[2] = {options, {}};
  write_pages(folder / "pages.tif", both, of_both);
  for (const std::int64_t number : {1, 2}) {
    page.page = number;
    EXPECT_TRUE(expect_same_by_rows(load(folder / "pages.tif"), "x.tif", page));
  }
  EXPECT_FALSE(expect_same_by_rows(load(folder / "pages.tif"), "x.tif"));
}

TEST(RowTiff, TurnedPicturesAreRefused) {
  const TemporaryFolder folder;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Tags tags = coloured();
    tags.orientation = orientation;
    const FileBytes file = make_tiff(tags, noise(size_of_pixels(tags)));
    if (orientation == 1) {
      EXPECT_TRUE(expect_same_by_rows(file, "x.tif"));
      continue;
    }
    store(folder / "x.tif", {reinterpret_cast<const char*>(file.data()), file.size()});
    expect_error(ErrorKind::usage, "orientation " + std::to_string(orientation),
                 [&] { static_cast<void>(open_rows(folder / "x.tif")); });
  }
}

}  // namespace
}  // namespace satin::test
