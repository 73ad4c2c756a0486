// Text headers, byte orders and scales of PNM, PFM, NPY and BMP, compared with values computed by hand.

#include "tests/io/support.h"

namespace satin::test {
namespace {

Image decode(const std::string& file) { return decode_image(bytes_of(file), "x"); }

template <class Value>
std::vector<Value> values_of(const Image& image) {
  const auto* first = reinterpret_cast<const Value*>(image.data());
  return {first, first + byte_size(image.shape()) / sizeof(Value)};
}

TEST(Pnm, PlainFiles) {
  EXPECT_EQ(values_of<std::uint8_t>(decode("P1\n# note\n3 2\n101\n0 1 0\n")),
            (std::vector<std::uint8_t>{0, 255, 0, 255, 0, 255}));
  EXPECT_EQ(values_of<std::uint8_t>(decode("P2 2 1 255 7 255")), (std::vector<std::uint8_t>{7, 255}));
  EXPECT_EQ(values_of<std::uint16_t>(decode("P3\n1 1 # size\n65535\n1 2 65535\n")),
            (std::vector<std::uint16_t>{1, 2, 65535}));
}

TEST(Pnm, OtherLargestValuesFillTheType) {
  EXPECT_EQ(values_of<std::uint8_t>(decode("P2 3 1 15 0 7 15")), (std::vector<std::uint8_t>{0, 119, 255}));
  EXPECT_EQ(values_of<std::uint16_t>(decode(std::string("P5 2 1 1023\n\x03\xff\x01\x00", 16))),
            (std::vector<std::uint16_t>{65535, 16400}));
  expect_error(ErrorKind::input, "exceeds", [] { decode("P5 2 1 1\n\1\2"); });
}

TEST(Pnm, BinaryFiles) {
  EXPECT_EQ(values_of<std::uint8_t>(decode("P4\n9 1\n\xff\x80")), (std::vector<std::uint8_t>(9, 0)));
  EXPECT_EQ(values_of<std::uint16_t>(decode("P5 1 1 65535\n\x12\x34")), (std::vector<std::uint16_t>{0x1234}));
  const Image pam = decode("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcd");
  EXPECT_EQ(pam.shape(), shape_of(1, 1, 4, Type::u8, Alpha::straight));
}

std::string pam(const std::string& depth, const std::string& maximum, const std::string& tuple,
                const std::string& pixel) {
  return "P7\nWIDTH 1\nHEIGHT 1\nDEPTH " + depth + "\nMAXVAL " + maximum + "\nTUPLTYPE " + tuple +
         "\nENDHDR\n" + pixel;
}

TEST(Pnm, InksOfPamBecomeRgb) {
  const Picture picture =
      decode_picture(bytes_of(pam("4", "255", "CMYK", std::string("\x33\0\xff\x33", 4))), "x");
  EXPECT_EQ(picture.image.shape(), shape_of(1, 1, 3, Type::u8));
  EXPECT_EQ(values_of<std::uint8_t>(picture.image), (std::vector<std::uint8_t>{163, 204, 0}));
  ASSERT_EQ(picture.warnings.size(), 1U);
  EXPECT_NE(picture.warnings[0].find("CMYK without a profile"), std::string::npos);
  EXPECT_EQ(
      values_of<std::uint16_t>(decode(pam("4", "1000", "CMYK", std::string("\0\0\1\xf4\3\xe8\1\xf4", 8)))),
      (std::vector<std::uint16_t>{32767, 16383, 0}));
  expect_error(ErrorKind::input, "inks and alpha", [] { decode(pam("5", "255", "CMYK_ALPHA", "abcde")); });
}

TEST(Pnm, TypesOfTuplesFitTheirChannels) {
  const auto alpha = [](const char* depth, const char* tuple) {
    return decode(pam(depth, "255", tuple, "abcd")).shape().alpha;
  };
  EXPECT_EQ(alpha("4", "RGB_ALPHA"), Alpha::straight);
  EXPECT_EQ(alpha("2", "GRAYSCALE_ALPHA"), Alpha::straight);
  EXPECT_EQ(alpha("2", "CHANNELS"), Alpha::none);
  EXPECT_EQ(values_of<std::uint8_t>(decode(pam("2", "1", "BLACKANDWHITE_ALPHA", std::string("\0\1", 2)))),
            (std::vector<std::uint8_t>{0, 255}));
  for (const auto& wrong : {std::pair{"3", "RGB_ALPHA"},
                            {"4", "RGB"},
                            {"1", "GRAYSCALE_ALPHA"},
                            {"3", "CMYK"},
                            {"2", "GRAYSCALE"}})
    expect_error(ErrorKind::input, "TUPLTYPE", [&] { alpha(wrong.first, wrong.second); });
}

TEST(Pfm, BothByteOrdersFromBottomToTop) {
  const std::string one("\x3f\x80\0\0", 4), two("\x40\0\0\0", 4);
  EXPECT_EQ(values_of<float>(decode("Pf\n1 2\n1.0\n" + one + two)), (std::vector<float>{2.0F, 1.0F}));
  const std::string small_one("\0\0\x80\x3f", 4), small_two("\0\0\0\x40", 4);
  EXPECT_EQ(values_of<float>(decode("Pf\n1 2\n-1\n" + small_one + small_two)),
            (std::vector<float>{2.0F, 1.0F}));
}

std::string npy(std::string header, const std::string& data) {
  header += '\n';
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

TEST(Npy, ByteOrdersAndShapes) {
  EXPECT_EQ(values_of<std::uint16_t>(decode(npy("{'descr': '>u2', 'fortran_order': False, 'shape': (1, 2), }",
                                                std::string("\0\1\1\0", 4)))),
            (std::vector<std::uint16_t>{1, 256}));
  EXPECT_EQ(decode(npy("{'shape': (1, 2, 3), 'fortran_order': False, 'descr': '|u1'}", "abcdef")).shape(),
            shape_of(2, 1, 3, Type::u8));
  expect_error(ErrorKind::input, "ascontiguousarray",
               [] { decode(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2), }", "ab")); });
  expect_error(ErrorKind::input, "astype", [] {
    decode(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }", "12345678"));
  });
  expect_error(ErrorKind::input, "(h, w)",
               [] { decode(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "ab")); });
  expect_error(ErrorKind::input, "damaged", [] { decode(npy("{'descr': '|u1'}", "ab")); });
}

TEST(Npy, DataStartsAtAMultipleOf64) {
  const Image image = random_image(shape_of(5, 3, 2, Type::u32));
  const FileBytes file = encode_image(image, ".npy");
  EXPECT_EQ((file.size() - byte_size(image.shape())) % 64, 0U);
}

TEST(Bmp, PaletteWithoutTheColourOfAPixelIsRefused) {
  const Image image = random_image(shape_of(4, 4, 1, Type::u8));
  FileBytes file = encode_image(image, ".bmp");
  // Two colours remain, and the pixels follow directly.
  file[10] = std::byte{14 + 40 + 2 * 4};
  file[11] = std::byte{0};
  expect_error(ErrorKind::input, "palette", [&] { static_cast<void>(decode_image(file, "x.bmp")); });
}

TEST(Tga, RightToLeftIsTurned) {
  const Image image = random_image(shape_of(5, 4, 3, Type::u8));
  FileBytes file = encode_image(image, ".tga");
  file[17] |= std::byte{0x10};
  expect_same(decode_image(file, "x.tga"), turned(image, 2), "right to left");
  expect_placed(file, "x.tga");
}

TEST(Tga, IsKnownByItsBytesAlone) {
  const Image image = random_image(shape_of(5, 4, 3, Type::u8));
  expect_same(decode_image(encode_image(image, ".tga"), "picture"), image, "no extension");
}

}  // namespace
}  // namespace satin::test
