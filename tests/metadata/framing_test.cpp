// Metadata of results of another size: entries that name places and sizes.

#include <string>
#include <string_view>
#include <vector>

#include "metadata/exif.h"
#include "satin/metadata.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

using io::ExifDescription;
using io::ExifField;

ExifField shorts(const std::vector<unsigned>& values) {
  io::Sink sink;
  for (const unsigned value : values) sink.le16(value);
  return {3, static_cast<std::uint32_t>(values.size()), std::move(sink.bytes)};
}

ExifField rational(std::uint32_t numerator, std::uint32_t denominator) {
  io::Sink sink;
  sink.le32(numerator);
  sink.le32(denominator);
  return {5, 1, std::move(sink.bytes)};
}

constexpr std::uint32_t subject_area = 0x9214, subject_location = 0xA214, focal_plane_x = 0xA20E,
                        focal_plane_y = 0xA20F, pixel_x = 0xA002, pixel_y = 0xA003;

Metadata photograph() {
  ExifDescription description;
  description.exif[subject_area] = shorts({200, 102, 40, 20});
  description.exif[subject_location] = shorts({10, 10});
  description.exif[focal_plane_x] = rational(30000, 10);
  description.exif[focal_plane_y] = rational(1000, 1);
  description.exif[pixel_x] = shorts({400});
  description.exif[pixel_y] = shorts({300});
  description.exif[0xC61F] = shorts({8, 8});
  Metadata metadata;
  metadata.exif = io::exif_block(description);
  return metadata;
}

std::vector<std::uint32_t> numbers(const Metadata& metadata, std::uint32_t tag) {
  const io::ExifReader reader(metadata.exif);
  const auto pointer = reader.find(reader.first_directory(), 0x8769);
  const auto entry = pointer ? reader.find(pointer->value, tag) : std::nullopt;
  return entry ? reader.numbers(*entry) : std::vector<std::uint32_t>();
}

double ratio(const Metadata& metadata, std::uint32_t tag) {
  const io::ExifReader reader(metadata.exif);
  const auto entry = reader.find(reader.find(reader.first_directory(), 0x8769)->value, tag);
  return static_cast<double>(reader.u32(entry->value)) / reader.u32(entry->value + 4);
}

using Numbers = std::vector<std::uint32_t>;

TEST(Framing, PlacesMoveWithTheBoxAndItsScale) {
  Metadata metadata = photograph();
  const std::vector<std::string> dropped = frame(metadata, {400, 300, 100, 50, 200, 200, 100, 50});
  EXPECT_EQ(numbers(metadata, subject_area), (Numbers{50, 13, 20, 5}));
  EXPECT_EQ(numbers(metadata, pixel_x), Numbers{100});
  EXPECT_EQ(numbers(metadata, pixel_y), Numbers{50});
  EXPECT_DOUBLE_EQ(ratio(metadata, focal_plane_x), 1500);
  EXPECT_DOUBLE_EQ(ratio(metadata, focal_plane_y), 250);
  EXPECT_EQ(numbers(metadata, subject_location), Numbers{}) << "it was cut off";
  EXPECT_EQ(numbers(metadata, 0xC61F), Numbers{}) << "crops of DNG are those of the whole picture";
  EXPECT_EQ(dropped.size(), 1U);
}

TEST(Framing, APictureInItsOwnSizeKeepsItsBytes) {
  Metadata metadata = photograph();
  const Metadata before = metadata;
  EXPECT_TRUE(frame(metadata, Framing::whole(400, 300)).empty());
  EXPECT_EQ(metadata.exif, before.exif);
}

TEST(Framing, TurnsAreUndoneByTheirInverse) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Metadata metadata = photograph();
    const bool lies = orientation >= 5;
    const int inverse = orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
    const auto upright = lies ? Framing::whole(300, 400) : Framing::whole(400, 300);
    io::frame_in_exif(metadata.exif, upright, orientation);
    if (lies) {
      io::describe_in_exif(metadata.exif, 300, 400);
      EXPECT_EQ(numbers(metadata, subject_area)[2], 20U) << orientation;
    }
    io::frame_in_exif(metadata.exif, Framing::whole(400, 300), inverse);
    EXPECT_EQ(numbers(metadata, subject_area), (Numbers{200, 102, 40, 20})) << orientation;
    EXPECT_EQ(numbers(metadata, subject_location), (Numbers{10, 10})) << orientation;
    EXPECT_DOUBLE_EQ(ratio(metadata, focal_plane_x), 3000) << orientation;
  }
}

// A value with an encoded picture may claim the whole block, its own directory included.
TEST(Framing, AnEncodedPictureOverItsDirectoryIsRemoved) {
  const std::string jpeg("\xff\xd8\xff\xe0", 4);
  io::Sink block;
  block.text("II");
  block.le16(42);
  block.le32(8);
  block.le16(1);  // entries: one of 30 bytes from the header on
  block.le16(0x9999);
  block.le16(7);
  block.le32(30);
  block.le32(0);
  block.le32(0);
  block.text(jpeg);
  FileBytes exif = block.bytes;
  ASSERT_EQ(exif.size(), 30U);
  io::describe_in_exif(exif, 40, 30);
  const std::string_view left(reinterpret_cast<const char*>(exif.data()), exif.size());
  EXPECT_EQ(left.find(jpeg), std::string_view::npos);
}

std::string framed_xmp(const std::string& properties, const Framing& framing,
                       std::vector<std::string>& dropped) {
  Metadata metadata;
  metadata.xmp = bytes_of(
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
      "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
      "<rdf:Description rdf:about=\"\" xmlns:exif=\"http://ns.adobe.com/exif/1.0/\" "
      "xmlns:pano=\"http://ns.google.com/photos/1.0/panorama/\" "
      "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
      "xmlns:crs=\"http://ns.adobe.com/camera-raw-settings/1.0/\" "
      "xmlns:r=\"http://www.metadataworkinggroup.com/schemas/regions/\" " +
      properties + "</rdf:Description></rdf:RDF></x:xmpmeta>");
  dropped = frame(metadata, framing);
  return {reinterpret_cast<const char*>(metadata.xmp.data()), metadata.xmp.size()};
}

TEST(Framing, PropertiesOfXmpFollowOrGo) {
  const std::string properties =
      "exif:PixelXDimension=\"400\" pano:FullPanoWidthPixels=\"800\" crs:CropTop=\"0.1\" dc:source=\"kept\">"
      "<pano:CroppedAreaTopPixels>30</pano:CroppedAreaTopPixels><exif:SubjectArea><rdf:Seq><rdf:li>200</"
      "rdf:li>"
      "</rdf:Seq></exif:SubjectArea><r:Regions>somebody</r:Regions>";
  std::vector<std::string> dropped;
  const std::string small = framed_xmp(properties, {400, 300, 0, 0, 400, 300, 200, 150}, dropped);
  for (const char* text : {"PixelXDimension=\"200\"", "FullPanoWidthPixels=\"400\"",
                           "<pano:CroppedAreaTopPixels>15<", "dc:source=\"kept\"", "somebody"})
    EXPECT_NE(small.find(text), std::string::npos) << text << " in " << small;
  EXPECT_EQ(small.find("CropTop"), std::string::npos);
  EXPECT_EQ(small.find("SubjectArea"), std::string::npos);
  EXPECT_EQ(dropped.size(), 2U);
  const std::string part = framed_xmp(properties, {400, 300, 0, 100, 400, 200, 400, 200}, dropped);
  EXPECT_NE(part.find("<pano:CroppedAreaTopPixels>130<"), std::string::npos) << part;
  EXPECT_EQ(part.find("somebody"), std::string::npos);
  EXPECT_EQ(dropped.size(), 3U);
}

}  // namespace
}  // namespace satin::test
