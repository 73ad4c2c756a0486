// Metadata that stays when areas of the picture were covered.

#include <string>

#include "metadata/exif.h"
#include "satin/metadata.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

using io::ExifDescription;
using io::ExifField;

ExifField text_field(std::string text) {
  text += '\0';
  return {2, static_cast<std::uint32_t>(text.size()), bytes_of(text)};
}

ExifField short_field(unsigned value) {
  return {3, 1, {static_cast<std::byte>(value & 255U), static_cast<std::byte>(value >> 8)}};
}

ExifField bytes_field(const std::string& bytes) {
  return {7, static_cast<std::uint32_t>(bytes.size()), bytes_of(bytes)};
}

std::string block_text(const Metadata& metadata) {
  return {reinterpret_cast<const char*>(metadata.exif.data()), metadata.exif.size()};
}

TEST(Redacted, CameraTimesLensExposureAndCopyrightStay) {
  ExifDescription description;
  description.first[0x010F] = text_field("Maker");
  description.first[0x8298] = text_field("(c) Somebody");
  description.exif[0x9003] = text_field("2026:01:02 03:04:05");
  description.exif[0x8827] = short_field(400);
  description.exif[0xA434] = text_field("50 mm");
  Metadata metadata;
  metadata.icc = bytes_of("profile");
  metadata.exif = io::exif_block(description);
  const Metadata kept = redacted(metadata);
  EXPECT_EQ(kept.exif, metadata.exif);
  EXPECT_EQ(kept.icc, metadata.icc);
}

TEST(Redacted, NothingElseStays) {
  ExifDescription description;
  description.first[0x010F] = text_field("Maker");
  description.first[0x010E] = text_field("SECRET description");
  description.first[0x013B] = text_field("SECRET artist");
  description.exif[0x927C] = bytes_field("SECRET note");
  description.exif[0x9286] = bytes_field("SECRET comment");
  description.exif[0xA431] = text_field("SECRET serial number");
  description.exif[0xC000] = bytes_field("SECRET private");
  description.exif[0x829A] = bytes_field("SECRET in the wrong type");
  description.exif[0x9004] = text_field(std::string("2026") + '\0' + "SECRET behind the end");
  description.exif[0xA434] = text_field("SECRET " + std::string(300, 'x'));
  description.gps[0x0002] = text_field("SECRET place");
  Metadata metadata;
  metadata.exif = io::exif_block(description);
  metadata.xmp = bytes_of("SECRET");
  metadata.iptc = bytes_of("SECRET");
  metadata.jpeg_comments = {bytes_of("SECRET")};
  metadata.png_texts = {{"tEXt", bytes_of("SECRET")}};
  const Metadata kept = redacted(metadata);
  EXPECT_EQ(block_text(kept).find("SECRET"), std::string::npos);
  EXPECT_NE(block_text(kept).find("Maker"), std::string::npos);
  EXPECT_NE(block_text(kept).find("2026"), std::string::npos);
  EXPECT_TRUE(kept.xmp.empty());
  EXPECT_TRUE(kept.iptc.empty());
  EXPECT_TRUE(kept.jpeg_comments.empty());
  EXPECT_TRUE(kept.png_texts.empty());
}

TEST(Redacted, DamageIsHarmless) {
  ExifDescription description;
  description.first[0x0110] = text_field("A model of a camera");
  description.exif[0x829A] = {5, 1, FileBytes(8, std::byte{1})};
  Metadata metadata;
  metadata.exif = io::exif_block(description);
  const FileBytes good = metadata.exif;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const unsigned value : {0U, 0x7FU, 0xFFU}) {
      metadata.exif = good;
      metadata.exif[at] = static_cast<std::byte>(value);
      EXPECT_LE(redacted(metadata).exif.size(), good.size() + 300) << at;
    }
  metadata.exif = bytes_of("no EXIF");
  EXPECT_TRUE(redacted(metadata).exif.empty());
}

}  // namespace
}  // namespace satin::test
