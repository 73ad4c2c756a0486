// TGA files of every kind, built byte by byte.

#include "tests/io/support.h"

namespace satin::test {
namespace {

using Values = std::vector<unsigned>;

std::string text_of(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

struct Tga {
  int type = 2, width = 2, height = 1, bits = 24, descriptor = 0x20;
  int first_index = 0, entries = 0, entry_bits = 0;
  std::string rest{};   ///< palette and pixels
  int alpha_type = -1;  ///< alpha type of the extension area; none if negative

  [[nodiscard]] FileBytes file() const {
    std::string text = text_of({0, entries != 0 ? 1 : 0, type, first_index, 0, entries, 0, entry_bits, 0, 0,
                                0, 0, width, 0, height, 0, bits, descriptor}) +
                       rest;
    if (alpha_type < 0) return bytes_of(text);
    const int area = static_cast<int>(text.size());
    text += std::string(494, '\0') + static_cast<char>(alpha_type);
    return bytes_of(text + text_of({area, 0, 0, 0, 0, 0, 0, 0}) + std::string("TRUEVISION-XFILE.\0", 18));
  }
};

Values read(const Tga& tga) {
  const Image image = decode_image(tga.file(), "x.tga");
  Values values;
  for (std::size_t i = 0; i < byte_size(image.shape()); ++i)
    values.push_back(std::to_integer<unsigned>(image.data()[i]));
  return values;
}

TEST(Tga, TheDescriptorTellsWhetherTheSixteenthBitIsAlpha) {
  // 3, 2 and 1 of 31 without the bit, and all ones with it.
  Tga tga{.bits = 16, .rest = text_of({0x41, 0x0C, 0xFF, 0xFF})};
  EXPECT_EQ(read(tga), (Values{25, 16, 8, 255, 255, 255}));
  tga.descriptor |= 1;
  EXPECT_EQ(read(tga), (Values{25, 16, 8, 0, 255, 255, 255, 255}));
  tga.bits = 15;
  EXPECT_EQ(read(tga), (Values{25, 16, 8, 255, 255, 255}));
}

TEST(Tga, AnUncountedAlphaByteIsAlphaIfAnyIsSet) {
  Tga tga{.bits = 32, .rest = text_of({1, 2, 3, 0, 4, 5, 6, 0})};
  EXPECT_EQ(read(tga), (Values{3, 2, 1, 6, 5, 4}));
  tga.rest[7] = 9;
  EXPECT_EQ(read(tga), (Values{3, 2, 1, 0, 6, 5, 4, 9}));
  tga.rest[7] = 0;
  tga.descriptor |= 8;
  EXPECT_EQ(read(tga), (Values{3, 2, 1, 0, 6, 5, 4, 0}));
}

TEST(Tga, TheExtensionAreaTellsWhatAlphaIs) {
  Tga tga{.bits = 32, .descriptor = 0x28, .rest = text_of({10, 20, 30, 51, 4, 5, 6, 0})};
  for (const int straight : {-1, 0, 3, 77}) {
    tga.alpha_type = straight;
    EXPECT_EQ(read(tga), (Values{30, 20, 10, 51, 6, 5, 4, 0})) << straight;
  }
  for (const int undefined : {1, 2}) {
    tga.alpha_type = undefined;
    EXPECT_EQ(read(tga), (Values{30, 20, 10, 6, 5, 4})) << undefined;
  }
  tga.alpha_type = 4;  // colours times alpha
  EXPECT_EQ(read(tga), (Values{150, 100, 50, 51, 6, 5, 4, 0}));
}

TEST(Tga, GreyWithAndWithoutAlpha) {
  Tga tga{.type = 3, .bits = 8, .rest = text_of({7, 200})};
  EXPECT_EQ(read(tga), (Values{7, 200}));
  tga = {.type = 3, .bits = 16, .descriptor = 0x28, .rest = text_of({7, 0, 200, 0})};
  EXPECT_EQ(read(tga), (Values{7, 0, 200, 0}));
  tga.descriptor = 0x20;
  EXPECT_EQ(read(tga), (Values{7, 200}));
}

TEST(Tga, PalettesOfEveryDepth) {
  Tga tga{.type = 1, .bits = 8, .first_index = 5, .entries = 2, .entry_bits = 16};
  tga.rest = text_of({0x41, 0x0C, 0xFF, 0xFF, 6, 5});
  EXPECT_EQ(read(tga), (Values{255, 255, 255, 25, 16, 8}));
  tga.descriptor |= 1;
  EXPECT_EQ(read(tga), (Values{255, 255, 255, 255, 25, 16, 8, 0}));
  tga = {
      .type = 1, .bits = 16, .entries = 2, .entry_bits = 24, .rest = text_of({1, 2, 3, 4, 5, 6, 1, 0, 0, 0})};
  EXPECT_EQ(read(tga), (Values{6, 5, 4, 3, 2, 1}));
  tga = {.type = 9,
         .bits = 8,
         .descriptor = 0x28,
         .entries = 1,
         .entry_bits = 32,
         .rest = text_of({1, 2, 3, 4, 0x81, 0})};
  EXPECT_EQ(read(tga), (Values{3, 2, 1, 4, 3, 2, 1, 4}));
  tga.rest.back() = 1;
  expect_error(ErrorKind::input, "palette lacks", [&] { static_cast<void>(read(tga)); });
}

TEST(Tga, AllFourCorners) {
  Tga tga{.height = 2, .bits = 8, .rest = text_of({1, 2, 3, 4})};
  tga.type = 3;
  EXPECT_EQ(read(tga), (Values{1, 2, 3, 4}));
  tga.descriptor = 0x30;
  EXPECT_EQ(read(tga), (Values{2, 1, 4, 3}));
  tga.descriptor = 0x00;
  EXPECT_EQ(read(tga), (Values{3, 4, 1, 2}));
  tga.descriptor = 0x10;
  EXPECT_EQ(read(tga), (Values{4, 3, 2, 1}));
}

TEST(Tga, RunLengths) {
  Tga tga{.type = 11, .width = 5, .bits = 8, .rest = text_of({0x81, 9, 2, 1, 2, 3})};
  EXPECT_EQ(read(tga), (Values{9, 9, 1, 2, 3}));
  for (const std::size_t size : {1U, 3U, 5U}) {
    tga.rest.resize(size);
    expect_error(ErrorKind::input, "ends before", [&] { static_cast<void>(read(tga)); });
    tga.rest = text_of({0x81, 9, 2, 1, 2, 3});
  }
}

}  // namespace
}  // namespace satin::test
