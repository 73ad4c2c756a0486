#include <limits>

#include "tests/io/support.h"

namespace satin::test {
namespace {

void decode(const std::string& file, const std::string& name = "x") {
  static_cast<void>(decode_image(bytes_of(file), name));
}

TEST(Refusal, FormatsWithoutDecoderGetAdvice) {
  expect_error(ErrorKind::input, "ffmpeg", [] { decode("GIF89a......................"); });
  expect_error(ErrorKind::input, "RAW", [] { decode(std::string("II*\0\x10\0\0\0CR\2\0", 12)); });
  expect_error(ErrorKind::input, "RAW", [] { decode(std::string("MM\0*\0\0\0\10....", 12), "a/b.NEF"); });
  expect_error(ErrorKind::input, "RAW", [] { decode("FUJIFILMCCD-RAW 0201"); });
  expect_error(ErrorKind::input, "OpenEXR", [] { decode("\x76\x2f\x31\x01...."); });
  expect_error(ErrorKind::input, "RAW", [] {
    decode(
        std::string("\0\0\0\x18"
                    "ftypcrx ",
                    12));
  });
  for (const char* name : {"x.arw", "x.cr2", "x.dng", "x.nef", "x.orf", "x.rw2"})
    expect_error(ErrorKind::input, "darktable", [&] { decode(std::string("II*\0\10\0\0\0....", 12), name); });
  expect_error(ErrorKind::input, "pdftoppm", [] { decode("%PDF-1.4"); });
}

TEST(Refusal, UnknownBytes) {
  for (const char* text : {"hello, world", "<svg></svg>",
                           "\x7f"
                           "ELF",
                           "PK\3\4", "P9 1 1", "x"})
    expect_error(ErrorKind::input, "not an image format that Satin reads", [&] { decode(text); });
  expect_error(ErrorKind::input, "not an image format", [] { decode(std::string(4096, '\0')); });
  expect_error(ErrorKind::input, "empty", [] { decode(""); });
}

TEST(Refusal, AnimatedWebP) {
  if (!reads("WebP")) GTEST_SKIP() << "this build has no WebP";
  const std::string frame("VP8X\x0a\0\0\0\x02\0\0\0\3\0\0\3\0\0", 18);
  const std::string size = static_cast<char>(4 + frame.size()) + std::string(3, '\0');
  expect_error(ErrorKind::input, "animation", [&] { decode("RIFF" + size + "WEBP" + frame); });
}

TEST(Refusal, FormatsOfLargerBuildsAreNamed) {
  if (!reads("HEIC"))
    for (const char* brand : {"ftypheic", "ftypavif"})
      expect_error(ErrorKind::input, "libheif", [&] { decode(std::string("\0\0\0\x18", 4) + brand); });
  if (!reads("TIFF")) {
    expect_error(ErrorKind::input, "TIFF", [] { decode(std::string("II*\0\10\0\0\0....", 12)); });
    expect_error(ErrorKind::usage, "SATIN_CODECS=FULL",
                 [] { check_writable("x.tiff", shape_of(1, 1, 1, Type::u8)); });
  }
  if (!reads("WebP")) {
    expect_error(ErrorKind::input, "OpenCV", [] { decode("RIFF....WEBPVP8 "); });
    expect_error(ErrorKind::usage, "WebP", [] { check_writable("x.webp", shape_of(1, 1, 3, Type::u8)); });
  }
}

TEST(Refusal, ShapesThatAFormatDoesNotHold) {
  const auto refuse = [](const char* name, const Shape& shape, const char* text) {
    expect_error(ErrorKind::usage, text, [&] { check_writable(name, shape); });
  };
  refuse("x.png", shape_of(4, 4, 3, Type::f32), ".pfm");
  refuse("x.png", shape_of(4, 4, 3, Type::f32), ".hdr");
  refuse("x.png", shape_of(4, 4, 4, Type::u8), ".pam");
  refuse("x.png", shape_of(4, 4, 4, Type::u8, Alpha::premultiplied), "premultiplied");
  refuse("x.jpg", shape_of(4, 4, 4, Type::u8, Alpha::straight), ".png");
  refuse("x.jpg", shape_of(4, 4, 3, Type::u16), ".png");
  refuse("x.jpg", shape_of(70000, 4, 3, Type::u8), "65500");
  refuse("x.pfm", shape_of(4, 4, 4, Type::f32, Alpha::premultiplied), ".npy");
  refuse("x.hdr", shape_of(4, 4, 1, Type::f32), ".pfm");
  refuse("x.pgm", shape_of(4, 4, 3, Type::u8), ".ppm");
  refuse("x.ppm", shape_of(4, 4, 1, Type::u32), ".npy");
  refuse("x.gif", shape_of(4, 4, 3, Type::u8), "GIF");
  refuse("x.heic", shape_of(4, 4, 3, Type::u8), "HEIC");
  refuse("x.jp2", shape_of(4, 4, 3, Type::u8), "JPEG 2000");
  refuse("x.foo", shape_of(4, 4, 3, Type::u8), ".png");
  refuse("x", shape_of(4, 4, 3, Type::u8), "no extension");
  Shape frames = shape_of(4, 4, 3, Type::u8);
  frames.frames = 2;
  refuse("x.png", frames, "one frame");
}

TEST(Refusal, QualityOutOfRange) {
  WriteOptions options;
  for (const int quality : {0, 101, -5}) {
    options.quality = quality;
    expect_error(ErrorKind::usage, "quality",
                 [&] { check_writable("x.jpg", shape_of(4, 4, 3, Type::u8), options); });
  }
}

TEST(Refusal, HdrOfNegativeOrUndefinedValues) {
  for (const float bad :
       {-1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Image image = random_image(shape_of(4, 4, 3, Type::f32));
    image.view().value<float>(2, 1, 1) = bad;
    expect_error(ErrorKind::input, "2, 1", [&] { static_cast<void>(encode_image(image, ".hdr")); });
  }
}

TEST(Limits, AreCheckedFromTheHeader) {
  ReadLimits pixels;
  pixels.pixels = 99;
  ReadLimits bytes;
  bytes.bytes = 299;
  for (const FormatInfo& info : formats()) {
    if (!info.writes || info.name == "PBM") continue;
    const std::string extension = info.extensions.front();
    const Type type = info.types.substr(0, 2) == "u8" ? Type::u8 : Type::f32;
    const int channels = info.channels.find('3') != std::string::npos ? 3 : 1;
    const Image image = smooth_image(shape_of(10, 10, channels, Type::u8));
    const Image picture = type == Type::u8 ? image.clone() : random_image(shape_of(10, 10, channels, type));
    const FileBytes file = encode_image(picture, extension);
    EXPECT_NO_THROW(static_cast<void>(decode_image(file, "x" + extension))) << info.name;
    expect_error(ErrorKind::input, "limit of 99 pixels",
                 [&] { static_cast<void>(decode_image(file, "x" + extension, pixels)); });
    if (channels == 3)
      expect_error(ErrorKind::input, "limit of 299 bytes",
                   [&] { static_cast<void>(decode_image(file, "x" + extension, bytes)); });
  }
}

TEST(Limits, HugeSizesInSmallFiles) {
  for (const char* text :
       {"P5 999999999 999999999 255\n", "P6 18446744073709551615 18446744073709551615 255\n",
        "P6 4294967296 4294967296 255\n", "Pf\n1000000000000 1000000000000\n-1\n", "P5 30000 30000 255\nx",
        "P2 30000 30000 255 1 2 3", "P5 99999999999999999999999 1 255\n", "Pf\n30000 30000\n-1\nabc",
        "P5 0 5 255\n", "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 99999999999\nMAXVAL 255\nENDHDR\n", "P5 -3 5 255\n"})
    EXPECT_THROW(decode(text), Error) << text;
}

}  // namespace
}  // namespace satin::test
