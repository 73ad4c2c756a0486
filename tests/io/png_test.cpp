#include <sys/resource.h>
#ifdef SATIN_TEST_ZLIB
#include <zlib.h>
#endif

#include <cctype>

#include "tests/io/support.h"

namespace satin::test {
namespace {

/// Returns the shape given by the name of a PngSuite file. Transparency adds a channel.
Shape promised(const std::string& name, const Shape& actual) {
  const char colour = name[4];
  const int bits = std::stoi(name.substr(6, 2));
  const bool transparent =
      name.substr(0, 2) == "tb" || name.substr(0, 3) == "tp1" || name.substr(0, 3) == "tm3";
  int channels = colour == '0' ? 1 : colour == '4' ? 2 : colour == '6' ? 4 : 3;
  if (transparent && channels % 2 == 1) ++channels;
  std::int64_t side = 32;
  if (name[0] == 's' && std::isdigit(static_cast<unsigned char>(name[1])) != 0)
    side = std::stoi(name.substr(1, 2));
  Shape shape = actual;
  if (name.substr(0, 3) != "cdf" && name.substr(0, 3) != "cdh" && name.substr(0, 3) != "cds" &&
      name[0] != 'P' && name.substr(0, 4) != "ccwn" && name.substr(0, 2) != "bg" && name.substr(0, 2) != "pp")
    shape.width = shape.height = side;
  if (name.substr(0, 3) == "cdf" || name.substr(0, 3) == "cdh" || name.substr(0, 3) == "cds")
    shape.width = actual.width, shape.height = actual.height;
  shape.channels = channels;
  shape.type = bits == 16 && colour != '3' ? Type::u16 : Type::u8;
  shape.alpha = channels % 2 == 0 ? Alpha::straight : Alpha::none;
  return shape;
}

/// Inserts CgBI before IHDR, as Apple's tools do: the pixels are BGR, and their deflate data has no header.
TEST(Png, ACriticalChunkThatIsNotKnownIsNotCalledDamaged) {
  if (!can_write(".tif")) GTEST_SKIP() << "this build reads PNG by stb_image";
  FileBytes file = encode_image(random_image(shape_of(9, 7, 3, Type::u8)), ".png");
  const FileBytes chunk = bytes_of(std::string("\0\0\0\4CgBI\x50\0\x20\6\x2c\xb8\x77\x66", 16));
  file.insert(file.begin() + 8 + 25, chunk.begin(), chunk.end());  // behind the signature and IHDR
  expect_error(ErrorKind::input, "not read, because libpng says",
               [&] { static_cast<void>(decode_image(file, "x.png")); });
}

TEST(PngSuite, ValidFilesHaveTheirShapesAndBrokenOnesAreRefused) {
  const std::vector<fs::path> files = data_files("pngsuite");
  if (files.empty()) GTEST_SKIP() << "no PngSuite in " << SATIN_TEST_DATA;
  int valid = 0, broken = 0;
  for (const fs::path& file : files) {
    if (file.extension() != ".png") continue;
    const std::string name = file.filename().string();
    if (name[0] == 'x') {
      ++broken;
      EXPECT_THROW(static_cast<void>(read_image(file)), Error) << name;
      continue;
    }
    ++valid;
    try {
      const Image image = read_image(file);
      EXPECT_EQ(describe(image.shape()), describe(promised(name, image.shape()))) << name;
      EXPECT_EQ(image.shape().alpha, promised(name, image.shape()).alpha) << name;
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(broken, 5);
}

TEST(PngSuite, InterlacedFilesEqualTheirPlainTwins) {
  const std::vector<fs::path> files = data_files("pngsuite");
  if (files.empty()) GTEST_SKIP() << "no PngSuite in " << SATIN_TEST_DATA;
  int compared = 0;
  for (const fs::path& file : files) {
    std::string name = file.filename().string();
    const bool basic = name.substr(0, 4) == "basi";
    const bool sized = name[0] == 's' && name[3] == 'i';
    if (!basic && !sized) continue;
    name[3] = 'n';
    expect_same(read_image(file), read_image(file.parent_path() / name), name);
    ++compared;
  }
  EXPECT_GT(compared, 15);
}

std::uint32_t crc_of(const std::string& text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? 0xEDB88320U ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 255U);
  return text;
}

/// Returns the file with an additional chunk after its header.
FileBytes with_chunk(const FileBytes& file, const std::string& name, const std::string& content) {
  constexpr std::size_t end_of_header = 33;
  const std::string chunk = big_endian(static_cast<std::uint32_t>(content.size())) + name + content +
                            big_endian(crc_of(name + content));
  FileBytes result = file;
  const FileBytes inserted = bytes_of(chunk);
  result.insert(result.begin() + end_of_header, inserted.begin(), inserted.end());
  return result;
}

TEST(Png, AnimationsAreRefused) {
  const FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  const FileBytes animated = with_chunk(file, "acTL", std::string(8, '\1'));
  expect_error(ErrorKind::input, "animation", [&] { static_cast<void>(decode_image(animated, "x.png")); });
}

TEST(Png, ExifOrientationIsApplied) {
  const Image image = random_image(shape_of(6, 4, 3, Type::u16));
  const FileBytes file = encode_image(image, ".png");
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const FileBytes marked = with_chunk(file, "eXIf", exif_block(orientation, orientation % 2 == 0));
    expect_same(decode_image(marked, "x.png"), turned(image, orientation), std::to_string(orientation));
  }
}

TEST(Png, WrongChecksumOfThePixelsIsRefused) {
  FileBytes file = encode_image(random_image(shape_of(40, 40, 3, Type::u8)), ".png");
  file[file.size() - 12 - 2] ^= std::byte{1};  // the checksum before IEND
  expect_error(ErrorKind::input, "damaged", [&] { static_cast<void>(decode_image(file, "x.png")); });
}

TEST(Png, HugeChunkOfASmallFileIsRefusedBeforeMemoryIsTaken) {
  const auto peak_mebibytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  const FileBytes claim = bytes_of(big_endian(2113929442U) + "iTXt" + std::string(40, 'x'));
  file.insert(file.begin() + 33, claim.begin(), claim.end());  // behind the header
  const long before = peak_mebibytes();
  EXPECT_THROW(static_cast<void>(decode_image(file, "x.png")), Error);
  EXPECT_LT(peak_mebibytes(), before + 500);
}

#ifdef SATIN_TEST_ZLIB
std::string deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string result(size, '\0');
  compress2(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
            text.size(), 9);
  result.resize(size);
  return result;
}

/// Returns an XMP packet of this length.
std::string packet_of(std::size_t size) {
  const std::string start = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">", end = "</x:xmpmeta>";
  return start + std::string(size - start.size() - end.size(), ' ') + end;
}

TEST(Png, TextsAreInflatedUpToALimit) {
  const FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  const ReadOptions options{.limits = {.bytes = 100'000}};
  for (const std::size_t size : {100'000U, 100'001U}) {
    const std::string content = std::string("XML:com.adobe.xmp\0\1\0\0\0", 22) + deflated(packet_of(size));
    const Picture picture = decode_picture(with_chunk(file, "iTXt", content), "x.png", options);
    EXPECT_EQ(picture.metadata.xmp.size(), size == 100'000U ? size : 0);
    EXPECT_EQ(picture.warnings.size(), size == 100'000U ? 0U : 1U);
    if (!picture.warnings.empty()) {
      EXPECT_NE(picture.warnings.front().find("XMP text is damaged, or larger than 100000"),
                std::string::npos);
    }
  }
}

TEST(Png, TextsThatNobodyAsksForAreNotInflated) {
  const std::string text = std::string("Comment\0\0", 9) + deflated(std::string(7'900'000, 'a'));
  FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  for (int i = 0; i < 20; ++i) file = with_chunk(file, "zTXt", text);
  if (!reset_peak()) GTEST_SKIP() << "this system does not tell the peak of memory";
  const long before = *peak_of_memory();
  const Picture picture = decode_picture(file, "x.png");
  EXPECT_EQ(picture.metadata.png_texts.size(), 20U);
  EXPECT_LT(*peak_of_memory(), before + 4 * 1024);
}

TEST(Png, IgnoredProfilesGiveAWarning) {
  const FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  for (const std::size_t size : {200U, 9'000'000U}) {
    std::string profile(size, '\0');
    profile.replace(0, 4, big_endian(static_cast<std::uint32_t>(size)));
    const Picture picture =
        decode_picture(with_chunk(file, "iCCP", std::string("p\0\0", 3) + deflated(profile)), "x.png");
    EXPECT_TRUE(picture.metadata.icc.empty());
    ASSERT_EQ(picture.warnings.size(), 1U) << size;
    EXPECT_NE(picture.warnings.front().find("ICC profile was left out (iCCP: "), std::string::npos);
  }
}

TEST(Png, LongTextThatIsNotCompressedIsNoDamage) {
  const FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  const std::string packet = packet_of(9'000'000);
  const std::string content = std::string("XML:com.adobe.xmp\0\0\0\0\0", 22) + packet;
  EXPECT_EQ(decode_picture(with_chunk(file, "iTXt", content), "x.png").metadata.xmp, bytes_of(packet));
}
#endif

TEST(Png, HugeHeaderOfASmallFileIsRefusedBeforeMemoryIsTaken) {
  FileBytes file = encode_image(random_image(shape_of(4, 4, 3, Type::u8)), ".png");
  const std::string header =
      "IHDR" + big_endian(30000) + big_endian(30000) + std::string("\x08\x02\0\0\0", 5);
  const FileBytes changed = bytes_of(header + big_endian(crc_of(header)));
  std::copy(changed.begin(), changed.end(), file.begin() + 12);
  EXPECT_THROW(static_cast<void>(decode_image(file, "x.png")), Error);
}

}  // namespace
}  // namespace satin::test
