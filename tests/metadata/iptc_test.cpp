// IPTC data in JPEG and TIFF files.

#include "metadata/iptc.h"

#include <algorithm>
#include <random>

#include "metadata/jpeg_markers.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

std::string big_endian(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 255U);
  return text;
}

std::string data_set(int number, const std::string& value) {
  return std::string("\x1c\2") + static_cast<char>(number) + big_endian(value.size(), 2) + value;
}

/// A data set whose length does not fit into two bytes.
std::string long_data_set(int number, const std::string& value) {
  return std::string("\x1c\2") + static_cast<char>(number) + std::string("\x80\4", 2) +
         big_endian(value.size(), 4) + value;
}

const std::string caption = data_set(120, "An odd caption") + data_set(25, "key") + data_set(25, "word");

std::string resource(int number, const std::string& name, const std::string& data) {
  std::string text =
      "8BIM" + big_endian(static_cast<std::size_t>(number), 2) + static_cast<char>(name.size()) + name;
  if (text.size() % 2 != 0) text += '\0';
  text += big_endian(data.size(), 4) + data;
  return text.size() % 2 != 0 ? text + '\0' : text;
}

FileBytes jpeg_with_segments(const std::vector<std::string>& contents) {
  FileBytes file = encode_image(smooth_image(shape_of(20, 10, 3, Type::u8)), ".jpg");
  std::string segments;
  for (const std::string& content : contents)
    segments += "\xff\xed" + big_endian(content.size() + 2, 2) + content;
  const FileBytes inserted = bytes_of(segments);
  file.insert(file.begin() + 2, inserted.begin(), inserted.end());
  return file;
}

const std::string photoshop("Photoshop 3.0\0", 14);

FileBytes iptc_of(const FileBytes& file) { return decode_picture(file, "x").metadata.iptc; }

FileBytes written(const std::string& extension, const std::string& iptc) {
  WriteOptions options;
  options.metadata.iptc = bytes_of(iptc);
  return encode_image(smooth_image(shape_of(20, 10, 3, Type::u8)), extension, options);
}

class Iptc : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads("TIFF")) GTEST_SKIP() << "this build has no TIFF and keeps nothing in JPEG";
  }
};

TEST_F(Iptc, TravelsBetweenJpegAndTiff) {
  const std::string large = caption + long_data_set(120, std::string(150001, 'x')) + data_set(5, "title");
  for (const std::string& iptc : {caption, data_set(5, ""), data_set(5, "abc"), large})
    for (const std::string first : {".jpg", ".tif"})
      for (const std::string second : {".jpg", ".tif"}) {
        const Picture picture = decode_picture(written(first, iptc), "x");
        EXPECT_EQ(picture.metadata.iptc, bytes_of(iptc)) << first;
        WriteOptions options;
        options.metadata = picture.metadata;
        EXPECT_EQ(iptc_of(encode_image(picture.image, second, options)), bytes_of(iptc)) << first << second;
      }
}

TEST_F(Iptc, GoesBesideExifInTiff) {
  WriteOptions options;
  options.metadata.iptc = bytes_of(caption);
  options.metadata.exif = bytes_of(std::string("II*\0\10\0\0\0\1\0\x0f\1\2\0\4\0\0\0Abc\0\0\0\0\0", 26));
  const Picture picture =
      decode_picture(encode_image(smooth_image(shape_of(8, 8, 1, Type::u8)), ".tif", options), "x");
  EXPECT_EQ(picture.metadata.iptc, bytes_of(caption));
  EXPECT_FALSE(picture.metadata.exif.empty());
}

TEST_F(Iptc, IsFoundAmongOtherResourcesAndAcrossSegments) {
  const std::string all = resource(0x03ED, "", "resolution") +
                          resource(0x040C, "odd", "\xff\xd8\xff preview") +
                          resource(0x0404, "name", caption) + resource(0x0404, "", data_set(5, "second"));
  EXPECT_EQ(iptc_of(jpeg_with_segments({photoshop + all})), bytes_of(caption));
  for (std::size_t cut = 0; cut <= all.size(); ++cut)
    EXPECT_EQ(iptc_of(jpeg_with_segments({photoshop + all.substr(0, cut), photoshop + all.substr(cut)})),
              bytes_of(caption))
        << cut;
  const FileBytes again = written(".jpg", caption);
  const std::string text(reinterpret_cast<const char*>(again.data()), again.size());
  EXPECT_NE(text.find("8BIM\4\4"), std::string::npos);
  EXPECT_TRUE(iptc_of(jpeg_with_segments({"Photoshop 2.5" + all})).empty());
}

TEST_F(Iptc, PaddingAndDamageAreLeftOut) {
  const std::string three_zeros(3, '\0');
  EXPECT_EQ(iptc_of(jpeg_with_segments({photoshop + resource(0x0404, "", caption + three_zeros)})),
            bytes_of(caption));
  EXPECT_EQ(iptc_of(jpeg_with_segments({photoshop + resource(0x0404, "", caption + "\x1c\2\5\xff")})),
            bytes_of(caption));
  EXPECT_TRUE(iptc_of(jpeg_with_segments({photoshop + resource(0x0404, "", "no data sets")})).empty());
}

TEST_F(Iptc, TagsOfAnyByteOrderAreRead) {
  std::string turned = caption;
  turned.resize((turned.size() + 3) / 4 * 4);
  for (std::size_t i = 0; i < turned.size(); i += 4)
    std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(i),
                 turned.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  EXPECT_EQ(io::iptc_of_tag(bytes_of(turned)), bytes_of(caption));
  EXPECT_EQ(io::iptc_of_tag(bytes_of(caption)), bytes_of(caption));
  for (const std::size_t size : {0U, 1U, 3U, 4U, 5U})
    EXPECT_TRUE(io::iptc_of_tag(bytes_of(turned.substr(0, size))).empty()) << size;
}

/// Returns a big-endian file with one black pixel and this tag.
std::string big_endian_tiff(int type, const std::string& value) {
  constexpr std::size_t entries = 10, after = 8 + 2 + entries * 12 + 4;
  std::string text = std::string("MM\0*", 4) + big_endian(8, 4) + big_endian(entries, 2);
  const auto entry = [&](std::size_t tag, std::size_t of_type, std::size_t count, std::size_t number) {
    text += big_endian(tag, 2) + big_endian(of_type, 2) + big_endian(count, 4) +
            (of_type == 3 ? big_endian(number, 2) + std::string(2, '\0') : big_endian(number, 4));
  };
  const std::size_t numbers[][2] = {{256, 1}, {257, 1}, {258, 8}, {259, 1}, {262, 1}};
  for (const auto& [tag, number] : numbers) entry(tag, 3, 1, number);
  entry(273, 4, 1, after);
  entry(277, 3, 1, 1);
  entry(278, 3, 1, 1);
  entry(279, 4, 1, 1);
  entry(0x83BB, static_cast<std::size_t>(type), value.size() / (type == 4 ? 4 : 1), after + 2);
  return text + big_endian(0, 4) + std::string(2, '\0') + value;
}

TEST_F(Iptc, BigEndianFilesAreRead) {
  std::string words = caption;
  words.resize((words.size() + 3) / 4 * 4);
  std::string turned = words;
  for (std::size_t i = 0; i < turned.size(); i += 4)
    std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(i),
                 turned.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  constexpr int byte = 1, long_number = 4, undefined = 7;
  EXPECT_EQ(iptc_of(bytes_of(big_endian_tiff(byte, caption))), bytes_of(caption));
  EXPECT_EQ(iptc_of(bytes_of(big_endian_tiff(undefined, caption))), bytes_of(caption));
  EXPECT_EQ(iptc_of(bytes_of(big_endian_tiff(long_number, words))), bytes_of(caption));
  EXPECT_EQ(iptc_of(bytes_of(big_endian_tiff(long_number, turned))), bytes_of(caption));
}

TEST_F(Iptc, FormatsThatCannotHoldItGiveAWarning) {
  Metadata metadata;
  metadata.iptc = bytes_of(caption);
  EXPECT_EQ(what_is_lost(".jpg", metadata), "");
  EXPECT_EQ(what_is_lost(".tif", metadata), "");
  EXPECT_EQ(what_is_lost(".bmp", metadata), "BMP holds no IPTC.");
}

TEST_F(Iptc, HostileResourcesAreHarmless) {
  const std::string good = resource(0x03ED, "name", "data") + resource(0x0404, "", caption);
  std::mt19937 random(7);
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char value : {'\0', '\1', '\x7f', '\x80', '\xff', static_cast<char>(random())}) {
      std::string bad = good;
      bad[at] = value;
      EXPECT_LE(io::iptc_in_resources(bytes_of(bad)).size(), bad.size());
      EXPECT_LE(io::iptc_of_tag(bytes_of(bad)).size(), bad.size());
    }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_LE(io::iptc_in_resources(bytes_of(good.substr(0, size))).size(), size);
  for (std::size_t size = 0; size < caption.size(); ++size) {
    const FileBytes part = bytes_of(caption.substr(0, size));
    EXPECT_LE(io::iptc_data_sets(part).size(), size);
  }
  for (const int digits : {0, 1, 4, 5, 255}) {
    const std::string odd =
        std::string("\x1c\2\x78\x80") + static_cast<char>(digits) + "\xff\xff\xff\xff\xff";
    EXPECT_EQ(io::iptc_data_sets(bytes_of(odd)).size(), digits == 0 ? 5U : 0U) << digits;
  }
}

TEST_F(Iptc, HostileTagsAreHarmless) {
  const FileBytes good = written(".tif", caption);
  const std::string tag = "\xbb\x83";
  const FileBytes wanted = bytes_of(tag);
  const auto entry = std::search(good.begin(), good.end(), wanted.begin(), wanted.end());
  ASSERT_NE(entry, good.end());
  const auto start = static_cast<std::size_t>(entry - good.begin());
  for (std::size_t at = start + 2; at < start + 12; ++at)
    for (const unsigned value : {0U, 1U, 7U, 0x7FU, 0xFFU}) {
      FileBytes bad = good;
      bad[at] = static_cast<std::byte>(value);
      try {
        EXPECT_LE(iptc_of(bad).size(), bad.size());
      } catch (const Error&) {  // libtiff may refuse it
      }
    }
}

}  // namespace
}  // namespace satin::test
