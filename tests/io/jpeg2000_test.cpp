#include <algorithm>
#include <cmath>
#include <string_view>

#include "tests/io/support.h"

namespace satin::test {
namespace {

// 64 x 48 pixels of (200, 100, 50), lossless, by OpenJPEG.
constexpr std::string_view sample =
    "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a7032680000001669686472"
    "00000030000000400003070700000000000f636f6c7201000000000010000000ba6a703263ff4fff51002f0000000000"
    "40000000300000000000000000000000400000003000000000000000000003070101070101070101ff52000c00000001"
    "000504040001ff5c00134040484850484850484850484850484850ff640025000143726561746564206279204f70656e"
    "4a5045472076657273696f6e20322e352e30ff90000a0000000000330001ff93cfb41001d78943c3e70808818e7fcfb4"
    "14088f9edb1f808080808080808080808080808080ffd9";

// 2000 x 1500 pixels of the same kind.
constexpr std::string_view large_sample =
    "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a7032680000001669686472"
    "000005dc000007d00003070700000000000f636f6c7201000000000010000001076a703263ff4fff51002f0000000007"
    "d0000005dc0000000000000000000007d0000005dc00000000000000000003070101070101070101ff52000c00000001"
    "000504040001ff5c00134040484850484850484850484850484850ff640025000143726561746564206279204f70656e"
    "4a5045472076657273696f6e20322e352e30ff90000a0000000000800001ff93cfb08814005cafff7fff6d8f39f00000"
    "000000061212ff7a4a6800000000000309097fff7fc3e62a115054afff7f46c5ebfa6000000000000c2425ff7fcfb08c"
    "115054afff7fff6d8f39f00000000000061212ff7e3f3000000000000000061212ff7f80808080808080808080808080"
    "8080ffd9";

FileBytes bytes_of_digits(std::string_view digits) {
  FileBytes file;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    file.push_back(static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return file;
}

FileBytes sample_file() { return bytes_of_digits(sample); }

TEST(Jpeg2000, IsRead) {
  if (!reads("JPEG 2000")) GTEST_SKIP() << "this build has no JPEG 2000";
  const Image image = decode_image(sample_file(), "x.jp2");
  ASSERT_EQ(image.shape(), shape_of(64, 48, 3, Type::u8));
  const ImageView view = image.view();
  EXPECT_EQ(view.value<std::uint8_t>(63, 47, 0), 200);
  EXPECT_EQ(view.value<std::uint8_t>(0, 0, 1), 100);
  EXPECT_EQ(view.value<std::uint8_t>(30, 20, 2), 50);
  expect_placed(sample_file(), "x.jp2");
}

TEST(Jpeg2000, TruncatedAndOversizedFilesAreRefused) {
  if (!reads("JPEG 2000")) GTEST_SKIP() << "this build has no JPEG 2000";
  const FileBytes file = sample_file();
  for (std::size_t size = 1; size < file.size(); ++size) {
    const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(static_cast<void>(decode_image(part, "x.jp2")), Error) << size;
  }
  ReadLimits limits;
  limits.pixels = 64 * 48 - 1;
  expect_error(ErrorKind::input, "limit", [&] { static_cast<void>(decode_image(file, "x.jp2", limits)); });
}

TEST(Jpeg2000, MemoryOfTheDecoderIsForeseen) {
  if (!reads("JPEG 2000")) GTEST_SKIP() << "this build has no JPEG 2000";
  expect_foreseen_memory(bytes_of_digits(large_sample), "x.jp2");
}

class Jpeg2000File : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads("JPEG 2000")) GTEST_SKIP() << "this build has no JPEG 2000";
  }
  /// Returns the sample with one byte changed, at a distance after a text.
  static FileBytes changed(std::string_view text, std::size_t behind, int value) {
    FileBytes file = sample_file();
    const std::string_view all(reinterpret_cast<const char*>(file.data()), file.size());
    file.at(all.find(text) + behind) = static_cast<std::byte>(value);
    return file;
  }
  /// Returns the sample with an additional box in its header box.
  static FileBytes with_box(const std::string& box) {
    FileBytes file = sample_file();
    file[35] = static_cast<std::byte>(0x2d + box.size());
    const FileBytes more = bytes_of(box);
    file.insert(file.begin() + 32 + 0x2d, more.begin(), more.end());
    return file;
  }
  static void expect_refused(const FileBytes& file, const std::string& reason) {
    expect_error(ErrorKind::input, reason + " is not read",
                 [&] { static_cast<void>(decode_image(file, "x.jp2")); });
  }
};

constexpr std::string_view size_segment = "\xff\x51";

TEST_F(Jpeg2000File, WhatIsNotReadIsNotCalledDamaged) {
  const std::size_t first = 40;  // the bits of the first component, behind the marker
  expect_refused(changed(size_segment, first, 0x87), "signed samples");
  expect_refused(changed(size_segment, first, 3), "4 bits a sample");
  expect_refused(changed(size_segment, first, 23), "24 bits a sample");
  expect_refused(changed(size_segment, first + 3, 15), "different bits");
  expect_refused(changed(size_segment, first + 4, 2), "lower resolution");
  expect_refused(changed(size_segment, 39, 2), "grey and alpha");
  expect_refused(changed(size_segment, 17, 1), "inside of its grid");
}

TEST_F(Jpeg2000File, ColoursAndChannelsThatOpenCvTakesForOthersAreRefused) {
  for (const int space : {12, 14, 18})  // inks, CIELAB, sYCC
    expect_refused(changed("colr", 10, space), "colours of the space " + std::to_string(space));
  expect_refused(with_box(std::string("\0\0\0\x08pclr", 8)), "a palette");
  const auto channels = [](int type) {
    std::string box(
        "\0\0\0\x1c"
        "cdef\0\3"
        "\0\0\0\0\0\1"
        "\0\1\0\0\0\2"
        "\0\2\0\0\0\3",
        28);
    box[25] = static_cast<char>(type);
    return with_box(box);
  };
  EXPECT_NO_THROW(static_cast<void>(decode_image(channels(0), "x.jp2")));
  expect_refused(channels(1), "3 channels of this kind");
  expect_refused(channels(2), "neither colours nor straight alpha");
}

TEST_F(Jpeg2000File, ZerosBehindTheEndArePadding) {
  FileBytes file = sample_file();
  file.insert(file.end(), 3, std::byte{0});
  expect_same(decode_image(file, "x.jp2"), decode_image(sample_file(), "x.jp2"), "padded");
}

TEST_F(Jpeg2000File, NineBitsFillSixteen) {
  const fs::path path = fs::path(SATIN_TEST_DATA) / "faults" / "9bit.j2k";
  if (!fs::exists(path)) GTEST_SKIP() << "no file " << path;
  const Image image = read_image(path);
  ASSERT_EQ(image.shape(), shape_of(128, 128, 1, Type::u16));
  const auto* const values = reinterpret_cast<const std::uint16_t*>(image.data());
  for (int i = 0; i < 128 * 128; ++i) {
    const double code = std::round(values[i] * 511 / 65535.0);
    ASSERT_EQ(values[i], std::floor(code * 65535 / 511 + 0.5)) << i;
  }
  EXPECT_GT(*std::max_element(values, values + 128 * 128), 65000);
}

TEST_F(Jpeg2000File, AProfileTravels) {
  std::string profile(130, '\0');
  profile.replace(16, 4, "RGB ");
  FileBytes file = sample_file();
  const std::string colour = std::string(
                                 "\0\0\0\x8d"
                                 "colr\2\0\0",
                                 11) +
                             profile;
  const FileBytes bytes = bytes_of(colour);
  file.erase(file.begin() + 62, file.begin() + 77);  // the box that is there
  file.insert(file.begin() + 62, bytes.begin(), bytes.end());
  file[35] = static_cast<std::byte>(0x2d - 15 + colour.size());
  EXPECT_EQ(decode_picture(file, "x.jp2").metadata.icc, bytes_of(profile));
  file[62 + 11 + 16] = std::byte{'C'};
  expect_refused(file, "a profile of other colours");
}

}  // namespace
}  // namespace satin::test
