// Gain maps: parameters in binary form, in XMP and of Apple; JPEG files with a map; hostile ones of each.

#include "satin/gain_map.h"

#include <cmath>
#include <limits>

#include "metadata/gain_map_source.h"
#include "metadata/jpeg_markers.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

using io::Sink;

FileBytes block(unsigned flags, std::initializer_list<std::uint32_t> numbers, unsigned version = 0) {
  Sink sink;
  sink.be32(version << 16);
  sink.u8(flags);
  for (const std::uint32_t number : numbers) sink.be32(number);
  return std::move(sink.bytes);
}

constexpr std::uint32_t minus(std::uint32_t value) { return 0U - value; }

/// Headrooms 0 and 5/2, gains -1/4 to 7/2, gamma 3/4, offsets 1/8 and -1/16.
const FileBytes one_channel = block(0x40, {0, 1, 5, 2, minus(1), 4, 7, 2, 3, 4, 1, 8, minus(1), 16});

TEST(GainMapBlock, FractionsAreBigEndian) {
  const GainMapMetadata read = io::read_iso_gain_map(one_channel);
  EXPECT_EQ(read.channels[0], (GainMapChannel{-0.25, 3.5, 0.75, 0.125, -0.0625}));
  EXPECT_TRUE(read.is_uniform() && read.use_base_colour_space && !read.base_is_hdr());
  EXPECT_EQ(read.base_headroom, 0);
  EXPECT_EQ(read.alternate_headroom, 2.5);
  EXPECT_NO_THROW(read.check());
}

TEST(GainMapBlock, ThreeChannelsAndOneDenominator) {
  const GainMapMetadata read =
      io::read_iso_gain_map(block(0x88, {10, 0, 20, 1, 10, 5, 0, 1, 2, 20, 6, 0, 1, 3, 30, 7, 0, 1}));
  for (int c = 0; c < 3; ++c)
    EXPECT_EQ(read.channels[static_cast<std::size_t>(c)],
              (GainMapChannel{(c + 1) / 10.0, c + 1.0, (c + 5) / 10.0, 0, 0.1}));
  EXPECT_FALSE(read.use_base_colour_space);
  EXPECT_EQ(read.alternate_headroom, 2);
}

TEST(GainMapBlock, OffsetsOfABaseForHdrAreExchanged) {
  const GainMapMetadata read = io::read_iso_gain_map(block(0, {3, 1, 0, 1, 0, 1, 3, 1, 1, 1, 1, 8, 1, 16}));
  EXPECT_TRUE(read.base_is_hdr());
  EXPECT_EQ(read.channels[0].offset_hdr, 0.125);
  EXPECT_EQ(read.channels[0].offset_sdr, 0.0625);
  EXPECT_EQ(io::read_iso_gain_map(io::iso_gain_map(read)), read);
}

TEST(GainMapBlock, WhatIsWrittenIsRead) {
  GainMapMetadata written = io::read_iso_gain_map(one_channel);
  EXPECT_EQ(io::read_iso_gain_map(io::iso_gain_map(written)), written);
  written.channels[1] = {-24, 24, 64, -1, 1};  // the bounds of check()
  written.channels[2] = {1.277203, 1.277969, 0.919422, 1.0 / 64, 1e-3};
  written.use_base_colour_space = false;
  const GainMapMetadata read = io::read_iso_gain_map(io::iso_gain_map(written));
  EXPECT_EQ(read.channels[1], written.channels[1]);
  EXPECT_NEAR(read.channels[2].gamma, 0.919422, 0x1p-25);
  EXPECT_EQ(io::read_iso_gain_map(io::iso_gain_map(read)), read);
}

TEST(GainMapBlock, HostileBlocksAreRefusedByName) {
  for (std::size_t size = 0; size < one_channel.size(); ++size)
    expect_error(ErrorKind::input, "end too early",
                 [&] { static_cast<void>(io::read_iso_gain_map(std::span(one_channel).first(size))); });
  const auto refuses = [](const std::string& text, const FileBytes& bytes) {
    expect_error(ErrorKind::input, text, [&] { io::read_iso_gain_map(bytes).check(); });
  };
  refuses("version 1", block(0, {}, 1));
  refuses("denominator", block(0x40, {0, 1, 5, 0, 0, 1, 7, 2, 3, 4, 1, 8, 1, 16}));
  refuses("gamma", block(0x40, {0, 1, 5, 2, 0, 1, 7, 2, 0, 4, 1, 8, 1, 16}));
  refuses("smallest gain, 4, is above the largest, 3.5",
          block(0x40, {0, 1, 5, 2, 4, 1, 7, 2, 3, 4, 1, 8, 1, 16}));
  refuses("headroom of 2.5", block(0x40, {5, 2, 5, 2, 0, 1, 7, 2, 3, 4, 1, 8, 1, 16}));
  refuses("GainMapMax", block(0x40, {0, 1, 5, 2, 0, 1, 25, 1, 3, 4, 1, 8, 1, 16}));
}

TEST(GainMapCheck, EveryParameterHasItsBounds) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = HUGE_VAL;
  const auto refuses = [](const char* text, const auto& change) {
    GainMapMetadata metadata;
    EXPECT_NO_THROW(metadata.check());
    change(metadata);
    expect_error(ErrorKind::input, text, [&] { metadata.check(); });
  };
  for (const double wrong : {nan, infinity, -infinity, 1e9}) {
    refuses("GainMapMin", [&](GainMapMetadata& m) { m.channels[0].min = wrong; });
    refuses("GainMapMax", [&](GainMapMetadata& m) { m.channels[1].max = wrong; });
    refuses("gamma", [&](GainMapMetadata& m) { m.channels[2].gamma = wrong; });
    refuses("offset of SDR", [&](GainMapMetadata& m) { m.channels[0].offset_sdr = wrong; });
    refuses("offset of HDR", [&](GainMapMetadata& m) { m.channels[2].offset_hdr = wrong; });
    refuses("headroom of the base", [&](GainMapMetadata& m) { m.base_headroom = wrong; });
    refuses("headroom of the restored", [&](GainMapMetadata& m) { m.alternate_headroom = wrong; });
  }
  refuses("gamma", [](GainMapMetadata& m) { m.channels[0].gamma = 0; });
  refuses("headroom", [](GainMapMetadata& m) { m.base_headroom = -1; });
}

TEST(GainMapCheck, PixelsBelongToThePicture) {
  GainMap map;
  const Shape picture = shape_of(400, 300, 3, Type::u8);
  expect_error(ErrorKind::input, "no pixels", [&] { map.check(picture); });
  for (const auto& [width, height, fits] :
       {std::tuple(100, 75, true), std::tuple(101, 74, true), std::tuple(1, 1, true),
        std::tuple(100, 100, false), std::tuple(75, 100, false), std::tuple(400, 300, true)}) {
    map.pixels = random_image(shape_of(width, height, 1, Type::u8));
    if (fits)
      EXPECT_NO_THROW(map.check(picture)) << width;
    else
      expect_error(ErrorKind::input, "ratio", [&] { map.check(picture); });
  }
  map.pixels = random_image(shape_of(100, 75, 3, Type::u16));
  expect_error(ErrorKind::input, "u16", [&] { map.check(picture); });
  map.pixels = random_image(shape_of(100, 75, 2, Type::u8, Alpha::straight));
  expect_error(ErrorKind::input, "not u8 of 1 or 3 channels", [&] { map.check(picture); });
}

// "Applying Apple HDR effect to your photos": four lines, chosen by both numbers.
TEST(GainMapOfApple, HeadroomFollowsTheMakerNotes) {
  const auto stops = [](double tag_21, double tag_30) { return std::log2(apple_headroom(tag_21, tag_30)); };
  EXPECT_NEAR(stops(0.5, 0.005), 1.7, 1e-12);
  EXPECT_NEAR(stops(0.5, 1), 1.5, 1e-12);
  EXPECT_NEAR(stops(1, 0), 3, 1e-12);
  EXPECT_NEAR(stops(1.5, 1), 2, 1e-12);
  EXPECT_EQ(stops(1, 100), 0);
}

TEST(GainMapOfApple, CodesBecomeLogarithms) {
  Image codes(shape_of(256, 1, 1, Type::u8));
  for (int i = 0; i < 256; ++i) codes.data()[i] = static_cast<std::byte>(i);
  const GainMap map = apple_gain_map(std::move(codes), 8);
  EXPECT_EQ(map.metadata.channels[0], (GainMapChannel{0, 3, 1, 0, 0}));
  for (int i = 0; i < 256; ++i) {
    const double code = i / 255.0;
    const double light = code < 0.081 ? code / 4.5 : std::pow((code + 0.099) / 1.099, 1 / 0.45);
    const double stops = 3 * std::to_integer<int>(map.pixels.data()[i]) / 255.0;
    EXPECT_NEAR(stops, std::log2(1 + 7 * light), 1.5 / 255 + 1e-12) << i;
  }
  for (const double headroom : {1.0, 0.0, -2.0, 1e9, std::nan("")})
    expect_error(ErrorKind::input, "headroom", [&] {
      static_cast<void>(apple_gain_map(random_image(shape_of(2, 2, 1, Type::u8)), headroom));
    });
}

std::optional<GainMapMetadata> read_xmp(const std::string& attributes, const std::string& elements = "") {
  const std::string text =
      "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description "
      "xmlns:h='http://ns.adobe.com/hdr-gain-map/1.0/' " +
      attributes + ">" + elements + "</r:Description></r:RDF>";
  return io::read_xmp_gain_map(io::parse_xmp(bytes_of(text)).value());
}

const std::string version = "h:Version='1.0' ";
const std::string least = version + "h:GainMapMax='3.5' h:HDRCapacityMax='3' ";

TEST(GainMapXmp, MissingParametersHaveTheDefaultsOfUltraHdr) {
  EXPECT_FALSE(read_xmp("h:GainMapMax='1'").has_value());
  GainMapMetadata expected;
  expected.channels.fill({0, 3.5, 1, 1.0 / 64, 1.0 / 64});
  expected.alternate_headroom = 3;
  EXPECT_EQ(read_xmp(least), expected);
  std::swap(expected.base_headroom, expected.alternate_headroom);
  EXPECT_EQ(read_xmp(least + "h:BaseRenditionIsHDR='True'"), expected);
}

TEST(GainMapXmp, ListsHaveOneOrThreeValues) {
  const auto list = [](const std::string& values) {
    return "<h:Gamma><r:Seq>" + values + "</r:Seq></h:Gamma>";
  };
  const auto read = read_xmp(least, list("<r:li>1</r:li><r:li>2</r:li><r:li>+0.5</r:li>"));
  EXPECT_EQ(read->channels[1].gamma, 2);
  EXPECT_EQ(read->channels[2].gamma, 0.5);
  EXPECT_EQ(read_xmp(least, list("<r:li>2</r:li>"))->channels[2].gamma, 2);
  expect_error(ErrorKind::input, "Gamma has 2 values",
               [&] { static_cast<void>(read_xmp(least, list("<r:li>1</r:li><r:li>2</r:li>"))); });
  GainMapMetadata written = *read;
  written.channels[0].min = -0.1;
  const std::string text = io::xmp_gain_map(written);
  EXPECT_EQ(io::read_xmp_gain_map(io::parse_xmp(bytes_of(text)).value()), written);
}

TEST(GainMapXmp, HostilePacketsAreRefusedByName) {
  const auto refuses = [](const std::string& text, const std::string& attributes) {
    expect_error(ErrorKind::input, text, [&] { read_xmp(attributes)->check(); });
  };
  refuses("version '2.0'", "h:Version='2.0'");
  refuses("GainMapMax is missing", version + "h:HDRCapacityMax='3'");
  refuses("HDRCapacityMax is missing", version + "h:GainMapMax='3'");
  refuses("Gamma is 'x'", least + "h:Gamma='x'");
  refuses("gamma", least + "h:Gamma='nan'");
  refuses("gamma", least + "h:Gamma='0'");
  refuses("smallest gain, 5, is above", least + "h:GainMapMin='5'");
  refuses("offset of HDR", least + "h:OffsetHDR='inf'");
}

#ifdef SATIN_TEST_LIBJPEG

/// A JPEG file of a few pixels.
FileBytes jpeg_of(int width, int height, int channels = 3) {
  return encode_image(smooth_image(shape_of(width, height, channels, Type::u8)), ".jpg");
}

io::JpegSegment segment(unsigned marker, std::string_view name, io::Bytes content) {
  Sink sink;
  sink.text(name);
  sink.add(content);
  return {marker, std::move(sink.bytes)};
}

io::JpegSegment binary_parameters() { return segment(0xE2, io::iso_gain_map_name, one_channel); }
io::JpegSegment xmp_parameters(double largest) {
  GainMapMetadata metadata;
  metadata.channels.fill({0, largest, 1, 0, 0});
  return segment(0xE1, io::xmp_name, bytes_of(io::xmp_gain_map(metadata)));
}

TEST(GainMapFile, BinaryParametersHavePrecedence) {
  const FileBytes map = io::with_segments(jpeg_of(16, 12, 1), {{xmp_parameters(2), binary_parameters()}});
  const FileBytes file = io::joined_jpegs(jpeg_of(32, 24), map);
  const std::vector<io::Bytes> pictures = io::mpf_pictures(file);
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].size() + map.size(), file.size());
  EXPECT_EQ(io::copy_of(pictures[1]), map);
  EXPECT_TRUE(io::further_jpegs(file).empty());
  const Picture picture = decode_picture(file, "x", {.gain_map = true});
  ASSERT_TRUE(picture.gain_map.has_value());
  EXPECT_EQ(picture.gain_map->origin, GainMapOrigin::iso_21496_1);
  EXPECT_EQ(picture.gain_map->metadata, io::read_iso_gain_map(one_channel));
  EXPECT_EQ(picture.gain_map->pixels.shape(), shape_of(16, 12, 1, Type::u8));
  EXPECT_FALSE(decode_picture(file, "x").gain_map.has_value());
}

TEST(GainMapFile, AContainerNamesAMapWithoutAnIndex) {
  const FileBytes map = io::with_segments(jpeg_of(16, 12, 1), {{xmp_parameters(2)}});
  FileBytes file = io::with_segments(
      jpeg_of(32, 24), {{segment(0xE1, io::xmp_name, bytes_of(io::xmp_with_gain_map(map.size())))}});
  const FileBytes alone = file;
  file.insert(file.end(), map.begin(), map.end());
  const Picture picture = decode_picture(file, "x", {.gain_map = true});
  ASSERT_TRUE(picture.gain_map.has_value());
  EXPECT_EQ(picture.gain_map->metadata.channels[1].max, 2);
  const Picture without = decode_picture(alone, "x", {.gain_map = true});
  ASSERT_EQ(without.warnings.size(), 1U);
  EXPECT_NE(without.warnings[0].find("it is not in the file"), std::string::npos);
}

/// Maps that loop or lie are left out with a warning, and the picture is read.
TEST(GainMapFile, HostileMapsLeaveThePicture) {
  const auto left_out = [](const FileBytes& file, const std::string& text) {
    const Picture picture = decode_picture(file, "x", {.gain_map = true});
    EXPECT_EQ(picture.image.shape().width, 32);
    EXPECT_FALSE(picture.gain_map.has_value());
    ASSERT_EQ(picture.warnings.size(), 1U) << text;
    EXPECT_NE(picture.warnings[0].find(text), std::string::npos) << picture.warnings[0];
  };
  const FileBytes picture = jpeg_of(32, 24);
  const auto with = [&](const FileBytes& map) { return io::joined_jpegs(picture, map); };
  left_out(with(io::with_segments(jpeg_of(24, 12, 1), {{binary_parameters()}})), "ratio");
  const FileBytes good = io::with_segments(jpeg_of(16, 12, 1), {{binary_parameters()}});
  FileBytes truncated(good.begin(), good.end() - 60);
  left_out(with(truncated), "its gain map cannot be used: ");
  left_out(
      with(io::with_segments(jpeg_of(16, 12, 1), {{segment(0xE2, io::iso_gain_map_name, block(0, {}, 3))}})),
      "version 3");
  FileBytes huge = good;  // 65535 x 65535
  const std::string_view text = io::text_of(huge);
  const std::size_t frame = text.find("\xff\xc0");
  ASSERT_NE(frame, std::string_view::npos);
  std::fill_n(huge.begin() + static_cast<std::ptrdiff_t>(frame) + 5, 4, std::byte{0xFF});
  left_out(with(huge), "its gain map cannot be used: ");
  // A map that is the file itself holds parameters, and another index.
  const FileBytes loop = io::with_segments(with(good), {{binary_parameters()}});
  EXPECT_TRUE(decode_picture(io::joined_jpegs(picture, loop), "x", {.gain_map = true}).gain_map.has_value());
}

TEST(GainMapFile, WhatIsWrittenIsRead) {
  GainMap map;
  map.metadata.channels = {GainMapChannel{-0.5, 2, 1, 0.25, 0.25}, GainMapChannel{0, 2.5, 0.5, 0.25, 0.25},
                           GainMapChannel{0, 3, 2, 0.25, 0.25}};
  map.metadata.alternate_headroom = 2.75;
  map.pixels = smooth_image(shape_of(40, 30, 3, Type::u8));
  const Image base = smooth_image(shape_of(80, 60, 3, Type::u8));
  WriteOptions writing;
  writing.gain_map = &map;
  const FileBytes file = encode_image(base, ".jpg", writing);
  const Picture read = decode_picture(file, "x", {.gain_map = true});
  expect_same(read.image, decode_image(encode_image(base, ".jpg"), "x"), "base");
  ASSERT_TRUE(read.gain_map.has_value());
  EXPECT_EQ(read.gain_map->metadata, map.metadata);
  EXPECT_LT(mean_difference(read.gain_map->pixels, map.pixels), 1);
  map.pixels = smooth_image(shape_of(40, 40, 3, Type::u8));
  expect_error(ErrorKind::input, "ratio", [&] { static_cast<void>(encode_image(base, ".jpg", writing)); });
}

TEST(GainMapFile, TruncatedFilesAreReadOrRefused) {
  for (const fs::path& path : data_files("gainmap")) {
    if (path.extension() != ".jpg") continue;
    const FileBytes file = load(path);
    EXPECT_TRUE(decode_picture(file, "x", {.gain_map = true}).gain_map.has_value()) << path;
    for (std::size_t size = file.size() - 1; size > file.size() / 3; size -= 997) try {
        const Picture picture = decode_picture(std::span(file).first(size), "x", {.gain_map = true});
        EXPECT_FALSE(picture.gain_map.has_value()) << path << size;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
      }
  }
}

#endif

}  // namespace
}  // namespace satin::test
