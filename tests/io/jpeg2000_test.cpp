#include <string_view>

#include "tests/io/support.h"

namespace satin::test {
namespace {

// 64 x 48 pixels of (200, 100, 50), without loss, by OpenJPEG.
constexpr std::string_view sample =
    "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a7032680000001669686472"
    "00000030000000400003070700000000000f636f6c7201000000000010000000ba6a703263ff4fff51002f0000000000"
    "40000000300000000000000000000000400000003000000000000000000003070101070101070101ff52000c00000001"
    "000504040001ff5c00134040484850484850484850484850484850ff640025000143726561746564206279204f70656e"
    "4a5045472076657273696f6e20322e352e30ff90000a0000000000330001ff93cfb41001d78943c3e70808818e7fcfb4"
    "14088f9edb1f808080808080808080808080808080ffd9";

// Likewise 2000 x 1500 pixels.
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

}  // namespace
}  // namespace satin::test
