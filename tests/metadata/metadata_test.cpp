// Metadata blocks that are edited in place, and the coding of JPEG files.

#include <string_view>

#include "metadata/jpeg_markers.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

struct Endian {
  bool little;
  std::string number(std::uint32_t value, int bytes) const {
    std::string text;
    for (int i = 0; i < bytes; ++i)
      text += static_cast<char>(value >> (8 * (little ? i : bytes - 1 - i)) & 255U);
    return text;
  }
  std::string entry(std::uint32_t tag, std::uint32_t type, std::uint32_t count, std::uint32_t value) const {
    return number(tag, 2) + number(type, 2) + number(count, 4) +
           (type == 3 ? number(value, 2) + std::string(2, '\0') : number(value, 4));
  }
};

constexpr std::string_view preview = "\xff\xd8\xff\xe1the old picture";

/// Orientation, make, EXIF directory with sizes and a maker note, a second directory with a thumbnail.
std::string full_exif(const Endian& e, bool note_has_preview) {
  const std::string note = note_has_preview ? "Note" + std::string(preview) : "Note of the maker, no preview";
  constexpr std::uint32_t first = 8, make = first + 2 + 3 * 12 + 4, exif = make + 6,
                          values = exif + 2 + 3 * 12 + 4;
  const auto second = values + static_cast<std::uint32_t>(note.size());
  const std::uint32_t thumbnail = second + 2 + 2 * 12 + 4;
  return std::string(e.little ? "II" : "MM") + e.number(42, 2) + e.number(first, 4) +            //
         e.number(3, 2) + e.entry(0x010F, 2, 6, make) + e.entry(0x0112, 3, 1, 8) +               //
         e.entry(0x8769, 4, 1, exif) + e.number(second, 4) + std::string("Maker\0", 6) +         //
         e.number(3, 2) + e.entry(0x927C, 7, static_cast<std::uint32_t>(note.size()), values) +  //
         e.entry(0xA002, 3, 1, 9999) + e.entry(0xA003, 4, 1, 9999) + e.number(0, 4) + note +     //
         e.number(2, 2) + e.entry(0x0201, 4, 1, thumbnail) +                                     //
         e.entry(0x0202, 4, 1, static_cast<std::uint32_t>(preview.size())) + e.number(0, 4) +
         std::string(preview);
}

FileBytes jpeg_with_exif(const std::string& block) {
  const FileBytes file = encode_image(smooth_image(shape_of(20, 10, 3, Type::u8)), ".jpg");
  const std::size_t length = block.size() + 8;
  const std::string segment = std::string("\xff\xe1") + static_cast<char>(length >> 8) +
                              static_cast<char>(length & 255U) + std::string("Exif\0\0", 6) + block;
  FileBytes result = file;
  const FileBytes inserted = bytes_of(segment);
  result.insert(result.begin() + 2, inserted.begin(), inserted.end());
  return result;
}

std::string_view text_in(const FileBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Metadata, ExifDescribesTheUprightPictureWithoutPreviews) {
  if (!reads("TIFF")) GTEST_SKIP() << "this build has no libjpeg";
  for (const bool little : {true, false})
    for (const bool in_note : {true, false}) {
      const Endian e{little};
      const Picture picture = decode_picture(jpeg_with_exif(full_exif(e, in_note)), "x.jpg");
      EXPECT_EQ(picture.image.shape().width, 10);
      const std::string_view block = text_in(picture.metadata.exif);
      EXPECT_EQ(block.find(preview), std::string_view::npos);
      EXPECT_EQ(block.find("the old picture"), std::string_view::npos);
      EXPECT_NE(block.find("Maker"), std::string_view::npos);
      EXPECT_EQ(block.find("Note of the maker") != std::string_view::npos, !in_note);
      EXPECT_NE(block.find(e.entry(0x0112, 3, 1, 1)), std::string_view::npos);
      EXPECT_NE(block.find(e.entry(0xA002, 4, 1, 10)), std::string_view::npos);
      EXPECT_NE(block.find(e.entry(0xA003, 4, 1, 20)), std::string_view::npos);
    }
}

/// Returns a directory with previews wherever cameras and editors store them: in strips, as a JPEG stream, in
/// sub-directories, in following directories and in a private tag.
std::string exif_of_previews(const Endian& e) {
  constexpr std::uint32_t first = 8, below = first + 2 + 7 * 12 + 4, second = below + 2 + 2 * 12 + 4,
                          third = second + 2 + 4, pictures = third + 2 + 2 * 12 + 4;
  const auto size = static_cast<std::uint32_t>(preview.size());
  const auto at = [&](std::uint32_t i) { return pictures + i * size; };
  std::string block = std::string(e.little ? "II" : "MM") + e.number(42, 2) + e.number(first, 4) +  //
                      e.number(7, 2) + e.entry(0x0111, 4, 1, at(0)) + e.entry(0x0112, 3, 1, 1) +    //
                      e.entry(0x0117, 4, 1, size) + e.entry(0x014A, 4, 1, below) +                  //
                      e.entry(0x0201, 4, 1, at(1)) + e.entry(0x0202, 4, 1, size) +                  //
                      e.entry(0xC6D2, 7, size, at(2)) + e.number(second, 4);
  block += e.number(2, 2) + e.entry(0x0201, 4, 1, at(3)) + e.entry(0x0202, 4, 1, size) + e.number(0, 4);
  block += e.number(0, 2) + e.number(third, 4);
  block += e.number(2, 2) + e.entry(0x0111, 4, 1, at(4)) + e.entry(0x0117, 4, 1, size) + e.number(first, 4);
  for (int i = 0; i < 5; ++i) block += preview;
  return block + "the end";
}

TEST(Metadata, PreviewsGoFromEveryDirectory) {
  if (!reads("TIFF")) GTEST_SKIP() << "this build has no libjpeg";
  for (const bool little : {true, false}) {
    const Endian e{little};
    const Picture picture = decode_picture(jpeg_with_exif(exif_of_previews(e)), "x.jpg");
    const std::string_view block = text_in(picture.metadata.exif);
    EXPECT_EQ(block.find("the old picture"), std::string_view::npos);
    EXPECT_EQ(block.find("\xff\xd8"), std::string_view::npos);
    EXPECT_NE(block.find(e.entry(0x0112, 3, 1, 1)), std::string_view::npos);
    for (const std::uint32_t tag : {0x0111U, 0x0117U, 0x014AU, 0x0201U, 0x0202U, 0xC6D2U})
      EXPECT_EQ(block.find(e.number(tag, 2) + e.number(4, 2)), std::string_view::npos) << tag;
  }
}

/// Returns directories of EXIF, GPS and interoperability with a value each, and between them previews without
/// a tag.
std::string exif_with_gaps(const Endian& e) {
  const std::string gap(preview);
  std::string block = std::string(e.little ? "II" : "MM") + e.number(42, 2) + e.number(8, 4);
  const auto place = [&](std::uint32_t behind) { return static_cast<std::uint32_t>(block.size()) + behind; };
  const auto size = static_cast<std::uint32_t>(gap.size());
  constexpr std::uint32_t one = 2 + 12 + 4, two = one + 12, value = 12;
  const std::uint32_t exif = place(two + size), gps = exif + two + value + size,
                      inter = gps + one + value + size;
  block += e.number(2, 2) + e.entry(0x8769, 4, 1, exif) + e.entry(0x8825, 4, 1, gps) + e.number(0, 4) + gap;
  block += e.number(2, 2) + e.entry(0x927C, 7, value, place(two)) + e.entry(0xA005, 4, 1, inter) +
           e.number(0, 4) + "Note of them" + gap;
  block += e.number(1, 2) + e.entry(0x001D, 2, value, place(one)) + e.number(0, 4) + "2026:11:28.." + gap;
  block += e.number(1, 2) + e.entry(0x1000, 129, value, place(one)) + e.number(0, 4) + "Related file" + gap;
  return block;
}

// Maker notes of Nikon, Panasonic and Sigma point to previews elsewhere.
TEST(Metadata, BytesOutsideTagsAreOverwritten) {
  if (!reads("TIFF")) GTEST_SKIP() << "this build has no libjpeg";
  for (const bool little : {true, false}) {
    const std::string before = exif_with_gaps({little});
    const Picture picture = decode_picture(jpeg_with_exif(before), "x.jpg");
    std::string expected = before;
    for (std::size_t at = 0; (at = expected.find(preview, at)) != std::string::npos;)
      expected.replace(at, preview.size(), preview.size(), '\0');
    expected.resize(before.size() - preview.size());
    EXPECT_EQ(text_in(picture.metadata.exif), expected);
  }
}

TEST(Metadata, AProfileOfOtherPixelsIsDroppedWithAWarning) {
  if (!reads("TIFF")) GTEST_SKIP() << "this build has no libjpeg";
  for (const int channels : {1, 3})
    for (const std::string space : {"GRAY", "RGB "}) {
      FileBytes file = encode_image(smooth_image(shape_of(16, 8, channels, Type::u8)), ".jpg");
      Metadata metadata;
      metadata.icc = bytes_of(std::string(16, 'p') + space + std::string(100, 'p'));
      FileBytes segments;
      for (const auto& segment : io::jpeg_segments(metadata)) {
        const std::size_t length = segment.content.size() + 2;
        const FileBytes head = bytes_of(std::string("\xff\xe2") + static_cast<char>(length >> 8) +
                                        static_cast<char>(length & 255U));
        segments.insert(segments.end(), head.begin(), head.end());
        segments.insert(segments.end(), segment.content.begin(), segment.content.end());
      }
      file.insert(file.begin() + 2, segments.begin(), segments.end());
      const Picture picture = decode_picture(file, "x.jpg");
      const bool fits = (channels == 1) == (space == "GRAY");
      EXPECT_EQ(picture.metadata.icc.empty(), !fits);
      ASSERT_EQ(picture.warnings.size(), fits ? 0U : 1U);
      if (!fits) {
        EXPECT_NE(picture.warnings[0].find("ICC profile"), std::string::npos);
      }
    }
}

TEST(Metadata, HostileExifIsHarmless) {
  const std::string good = full_exif({true}, true);
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = value;
      EXPECT_NO_THROW(static_cast<void>(decode_picture(jpeg_with_exif(bad), "x.jpg"))) << at;
    }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NO_THROW(static_cast<void>(decode_picture(jpeg_with_exif(good.substr(0, size)), "x.jpg"))) << size;
}

// A thousand tags that all point to one large value.
TEST(Metadata, DirectoriesThatShareValuesDoNotGrow) {
  if (!reads("TIFF")) GTEST_SKIP() << "this build has no TIFF";
  const Endian e{true};
  constexpr std::uint32_t tags = 1000, bytes = 100000;
  std::string block =
      std::string("II*\0\10\0\0\0\1\0", 10) + e.entry(0x8769, 4, 1, 26) + e.number(0, 4) + e.number(tags, 2);
  for (std::uint32_t i = 0; i < tags; ++i) block += e.entry(0xA100 + i, 7, bytes, 8);
  block += e.number(0, 4) + std::string(bytes, 'x');
  WriteOptions options;
  options.metadata.exif = bytes_of(block);
  const FileBytes file = encode_image(smooth_image(shape_of(8, 8, 1, Type::u8)), ".tif", options);
  EXPECT_LT(file.size(), 4 * block.size());
  EXPECT_LT(decode_picture(file, "x.tif").metadata.exif.size(), 4 * block.size());
}

TEST(Metadata, JpegCodingIsKeptUnlessTold) {
  if (!reads("TIFF")) GTEST_SKIP() << "this build has no libjpeg";
  WriteOptions low;
  low.quality = 40;
  const Image image = smooth_image(shape_of(64, 48, 3, Type::u8));
  const Picture first = decode_picture(encode_image(image, ".jpg", low), "x.jpg");
  ASSERT_TRUE(first.metadata.jpeg.has_value());
  WriteOptions kept;
  kept.metadata = first.metadata;
  EXPECT_EQ(decode_picture(encode_image(first.image, ".jpg", kept), "x.jpg").metadata.jpeg,
            first.metadata.jpeg);
  kept.quality = 90;
  EXPECT_NE(decode_picture(encode_image(first.image, ".jpg", kept), "x.jpg").metadata.jpeg,
            first.metadata.jpeg);
}

TEST(Metadata, BlocksThatAFormatCannotHoldGiveAWarning) {
  Metadata metadata;
  EXPECT_EQ(what_is_lost(".bmp", metadata), "");
  metadata.icc = bytes_of("profile");
  metadata.xmp = bytes_of("packet");
  EXPECT_EQ(what_is_lost(".BMP", metadata), "BMP holds no ICC profile or XMP.");
  if (reads("TIFF")) {
    EXPECT_EQ(what_is_lost(".tif", metadata), "");
  }
}

TEST(Metadata, LongBlocksGiveAWarningUnlessRedundant) {
  Metadata metadata;
  metadata.iptc = bytes_of("data sets");
  if (!what_is_lost(".jpg", metadata).empty()) GTEST_SKIP() << "this build has no libjpeg";
  metadata.exif.resize(70000);
  EXPECT_EQ(what_is_lost(".jpg", metadata), "JPEG holds no EXIF above 64 KiB.");
  metadata.exif.resize(65527);
  EXPECT_EQ(what_is_lost(".jpg", metadata), "");
  EXPECT_EQ(io::jpeg_segments(metadata).front().content.size(), io::jpeg_segment_limit);
  metadata.png.gamma = 45455;
  EXPECT_EQ(what_is_lost(".jpg", metadata), "JPEG holds no gAMA.");
  metadata.png.srgb_intent = 0;
  metadata.png.code_points = {1, 13, 0, 1};
  EXPECT_EQ(what_is_lost(".jpg", metadata), "");
}

}  // namespace
}  // namespace satin::test
