// BMP with every header and coding, built byte by byte.

#include <array>
#include <cmath>

#include "tests/io/support.h"

namespace satin::test {
namespace {

using Values = std::vector<unsigned>;

/// A file whose headers a test can set freely.
struct Bmp {
  unsigned header = 40;
  std::int32_t width = 1, height = 1;
  unsigned bits = 24, compression = 0, used = 0, planes = 1;
  Values masks{};
  std::string palette{};  ///< as it is stored
  std::string pixels{};

  [[nodiscard]] std::string text() const {
    const bool is_core = header == 12;
    std::string info = number(header, 4);
    for (const std::int32_t size : {width, height})
      info += number(static_cast<unsigned>(size), is_core ? 2 : 4);
    info += number(planes, 2) + number(bits, 2);
    if (!is_core)
      info += number(compression, 4) + std::string(12, '\0') + number(used, 4) + std::string(4, '\0');
    for (const unsigned mask : masks) info += number(mask, 4);
    if (masks.empty() || info.size() < header) info.resize(header);
    return "BM" + number(0, 8) + number(static_cast<unsigned>(14 + info.size() + palette.size()), 4) + info +
           palette + pixels;
  }
  [[nodiscard]] FileBytes file() const { return bytes_of(text()); }

  static std::string number(unsigned value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(i < 4 ? value >> 8 * i : 0);
    return text;
  }
};

Values values_of(const Image& image) {
  Values values;
  for (std::size_t i = 0; i < byte_size(image.shape()); ++i)
    values.push_back(std::to_integer<unsigned>(image.data()[i]));
  return values;
}

Values read(const Bmp& bmp) { return values_of(decode_image(bmp.file(), "x.bmp")); }

void expect_refused(const std::string& text, const Bmp& bmp) {
  expect_error(ErrorKind::input, text, [&] { static_cast<void>(read(bmp)); });
}

/// Returns a palette: blue, green and red of entry i are 10 i, 20 i and 5 i, modulo 256.
std::string palette_of(unsigned entries, bool is_core) {
  std::string palette;
  for (unsigned i = 0; i < entries; ++i) {
    for (const unsigned factor : {10U, 20U, 5U}) palette += static_cast<char>(factor * i);
    if (!is_core) palette += '\0';
  }
  return palette;
}

Values colours_of(const Values& indices) {
  Values values;
  for (const unsigned index : indices)
    for (const unsigned factor : {5U, 20U, 10U}) values.push_back(factor * index % 256);
  return values;
}

std::string text_of(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

TEST(Bmp, PalettesOfEveryDepthAndHeader) {
  struct Case {
    unsigned bits;
    std::string row;
    Values indices;
  };
  const Case cases[] = {{1, text_of({0xA0, 0, 0, 0}), {1, 0, 1, 0}},
                        {2, text_of({0x1B, 0, 0, 0}), {0, 1, 2, 3}},
                        {4, text_of({0x01, 0xEF, 0, 0}), {0, 1, 14, 15}},
                        {8, text_of({0, 1, 254, 255}), {0, 1, 254, 255}}};
  for (const Case& c : cases)
    for (const unsigned header : {12U, 16U, 40U, 52U, 56U, 64U, 108U, 124U}) {
      Bmp bmp{header, 4, 1, c.bits};
      bmp.palette = palette_of(1U << c.bits, header == 12);
      bmp.pixels = c.row;
      EXPECT_EQ(read(bmp), colours_of(c.indices)) << c.bits << " bits, header of " << header;
    }
}

TEST(Bmp, ShortPalettes) {
  Bmp bmp{
      .width = 2, .bits = 4, .used = 3, .palette = palette_of(3, false), .pixels = text_of({0x12, 0, 0, 0})};
  EXPECT_EQ(read(bmp), colours_of({1, 2}));
  bmp.pixels[0] = 0x13;
  expect_refused("palette lacks", bmp);
  bmp.palette = palette_of(16, false);  // more than the header says
  expect_refused("palette lacks", bmp);
  bmp.palette.clear();
  expect_refused("palette is missing", bmp);
}

TEST(Bmp, GreyPalettesAreOneChannel) {
  const Bmp bmp{.width = 2,
                .bits = 1,
                .palette = text_of({9, 9, 9, 0, 200, 200, 200, 0}),
                .pixels = text_of({0x40, 0, 0, 0})};
  EXPECT_EQ(read(bmp), (Values{9, 200}));
}

TEST(Bmp, RowsFromBelowAndFromAbove) {
  Bmp bmp{.width = 1, .height = 2, .pixels = text_of({1, 2, 3, 0, 4, 5, 6, 0})};
  EXPECT_EQ(read(bmp), (Values{6, 5, 4, 3, 2, 1}));
  bmp.height = -2;
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 6, 5, 4}));
  bmp.palette = palette_of(4, false);  // unused with 24 bits
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 6, 5, 4}));
}

/// Returns the bits of the mask as 8 bits, rounded to nearest.
unsigned scaled(unsigned pixel, unsigned mask) {
  if (mask == 0) return 0;
  double value = 0, highest = 0, weight = 1;
  for (unsigned bit = 0; bit < 32; ++bit)
    if ((mask >> bit & 1U) != 0) {
      value += (pixel >> bit & 1U) != 0 ? weight : 0;
      highest += weight;
      weight *= 2;
    }
  return static_cast<unsigned>(std::floor(value * 255 / highest + 0.5));
}

TEST(Bmp, MasksOfEveryWidth) {
  const std::array<unsigned, 4> sets[] = {{0xF800, 0x07E0, 0x001F, 0},       // 5-6-5
                                          {0x0F00, 0x00F0, 0x000F, 0xF000},  // 4-4-4-4
                                          {0x7C00, 0x03E0, 0x001F, 0x8000},  // 5-5-5-1
                                          {0xE000, 0x1FF8, 0x0007, 0},       // 3-10-3
                                          {0x3FF00000, 0x000FFC00, 0x3FF, 0xC0000000},
                                          {0x000000FF, 0x0000FF00, 0x00FF0000, 0xFF000000},
                                          {0x00000001, 0x00000002, 0xFFFFFFF0, 0},
                                          {0xFF00, 0, 0x00FF0000, 0}};
  for (const auto& masks : sets)
    for (unsigned pixel : {0x00000000U, 0xFFFFFFFFU, 0x12345678U, 0x9ABCDEF0U, 0x00010821U, 0x84108410U}) {
      const bool is_small = (masks[0] | masks[1] | masks[2] | masks[3]) <= 0xFFFF;
      if (is_small) pixel &= 0xFFFFU;
      Bmp bmp{.header = 108, .bits = is_small ? 16U : 32U, .compression = 3};
      bmp.masks = {masks.begin(), masks.end()};
      bmp.pixels = Bmp::number(pixel, 4);
      Values expected;
      for (const unsigned mask : masks)
        if (expected.size() < 3 || mask != 0) expected.push_back(scaled(pixel, mask));
      EXPECT_EQ(read(bmp), expected) << std::hex << masks[0] << ", " << pixel;
    }
}

TEST(Bmp, SixteenBitsWithoutMasksAreFiveEach) {
  const Bmp bmp{.width = 2, .bits = 16, .pixels = text_of({0x41, 0x0C, 0xFF, 0xFF})};
  EXPECT_EQ(read(bmp), (Values{25, 16, 8, 255, 255, 255}));  // 3, 2 and 1 of 31
}

TEST(Bmp, MasksBehindTheSmallHeader) {
  Bmp bmp{
      .bits = 16, .compression = 3, .masks = {0xF800, 0x07E0, 0x001F}, .pixels = text_of({0, 0xF8, 0, 0})};
  EXPECT_EQ(read(bmp), (Values{255, 0, 0}));
  bmp.compression = 6;
  bmp.masks = {0x0F00, 0x00F0, 0x000F, 0xF000};
  EXPECT_EQ(read(bmp), (Values{136, 0, 0, 255}));
  bmp = {.header = 52, .bits = 16, .compression = 6, .masks = {0x0F00, 0x00F0, 0x000F}};
  bmp.pixels = text_of({0, 8, 0, 0});  // which no mask of alpha precedes
  EXPECT_EQ(read(bmp), (Values{136, 0, 0}));
}

TEST(Bmp, MasksThatMeanNothingAreRefused) {
  Bmp bmp{.bits = 16, .compression = 3, .masks = {0, 0, 0}, .pixels = std::string(4, '\0')};
  expect_refused("empty", bmp);
  bmp.masks = {0xF100, 0x07E0, 0x001F};
  expect_refused("one run", bmp);
  bmp.masks = {0x1F0000, 0x07E0, 0x001F};
  expect_refused("one run", bmp);
}

TEST(Bmp, BitsBesideTheColoursAreAlphaIfOneIsSet) {
  Bmp bmp{.width = 2, .bits = 32, .pixels = text_of({1, 2, 3, 0, 4, 5, 6, 0})};
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 6, 5, 4}));
  bmp.pixels[7] = 9;
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 0, 6, 5, 4, 9}));
  EXPECT_EQ(decode_image(bmp.file(), "x.bmp").shape().alpha, Alpha::straight);
  bmp.compression = 3;
  bmp.masks = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
  bmp.pixels[7] = 0;
  bmp.header = 56;
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 6, 5, 4}));
  bmp.header = 108;  // from version 4 on the mask is meant
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 0, 6, 5, 4, 0}));
  bmp.masks[3] = 0;
  bmp.pixels[7] = 9;
  EXPECT_EQ(read(bmp), (Values{3, 2, 1, 6, 5, 4}));
}

Bmp with_runs(unsigned bits, std::initializer_list<int> codes) {
  return {.width = 6,
          .height = 2,
          .bits = bits,
          .compression = bits == 8 ? 1U : 2U,
          .palette = palette_of(1U << bits, false),
          .pixels = text_of(codes)};
}

TEST(Bmp, RunLengthsOfEightBits) {
  // The lower row is a run and three single pixels with a byte of padding. The upper one begins after a step.
  EXPECT_EQ(read(with_runs(8, {3, 7, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 2, 0, 2, 9, 0, 1})),
            colours_of({0, 0, 9, 9, 0, 0, 7, 7, 7, 1, 2, 3}));
  EXPECT_EQ(read(with_runs(8, {2, 5, 0, 2, 1, 1, 1, 6, 0, 1})),
            colours_of({0, 0, 0, 6, 0, 0, 5, 5, 0, 0, 0, 0}));
  EXPECT_EQ(read(with_runs(8, {0, 1})), colours_of(Values(12, 0)));
  EXPECT_EQ(read(with_runs(8, {6, 1, 0, 0, 6, 2})), colours_of({2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1}));
}

TEST(Bmp, RunLengthsOfFourBits) {
  EXPECT_EQ(read(with_runs(4, {5, 0x12, 0, 0, 0, 5, 0xAB, 0xCD, 0xE0, 0, 1, 0x70, 0, 1})),
            colours_of({10, 11, 12, 13, 14, 7, 1, 2, 1, 2, 1, 0}));
}

TEST(Bmp, DamagedRunLengthsAreRefused) {
  expect_refused("does not fit its row", with_runs(8, {7, 1}));
  expect_refused("does not fit its row", with_runs(8, {0, 7, 1, 2, 3, 4, 5, 6, 7, 0}));
  expect_refused("leaves the picture", with_runs(8, {0, 2, 7, 0}));
  expect_refused("leaves the picture", with_runs(8, {0, 2, 0, 3}));
  for (const Bmp& bmp : {with_runs(8, {6, 1}), with_runs(8, {6, 1, 0, 0, 5, 1}), with_runs(8, {0, 2, 1}),
                         with_runs(8, {0, 4, 1, 2}), with_runs(4, {0, 4, 1}), with_runs(8, {})})
    expect_refused("ends before", bmp);
}

TEST(Bmp, OtherCodingsAreRefusedWithTheirName) {
  Bmp bmp{.bits = 0, .compression = 4, .pixels = std::string(9, '\0')};
  expect_refused("JPEG inside is not read", bmp);
  bmp.compression = 5;
  expect_refused("PNG inside is not read", bmp);
  bmp = {.header = 64, .bits = 1, .compression = 3, .pixels = std::string(9, '\0')};
  expect_refused("compression 3 of OS/2 is not read", bmp);
  bmp = {.bits = 64, .pixels = std::string(9, '\0')};
  expect_refused("64 bits a pixel", bmp);
  bmp = {.bits = 4, .compression = 1, .pixels = std::string(9, '\0')};
  expect_refused("4 bits a pixel in compression 1", bmp);
  bmp = {.planes = 3, .pixels = std::string(9, '\0')};
  expect_refused("plane", bmp);
}

TEST(Bmp, MemoryIsAllocatedOnlyForExistingPixels) {
  std::vector<Bmp> files{{.width = 30000, .height = 23000, .bits = 24},
                         {.header = 12, .width = 30000, .height = 23000, .bits = 24},
                         {.width = 0x7FFFFFFF, .height = 2, .bits = 1, .palette = palette_of(2, false)},
                         {.width = 30000, .height = -23000, .bits = 32}};
  for (const auto& [bits, compression] : {std::pair{8U, 1U}, {4U, 2U}})
    files.push_back({.width = 30000,
                     .height = 23000,
                     .bits = bits,
                     .compression = compression,
                     .palette = palette_of(2, false),
                     .pixels = text_of({0, 1})});
  for (const Bmp& bmp : files) {
    ReadOptions options;
    options.limits.pixels = options.limits.bytes = std::uint64_t{1} << 40;
    bool is_asked = false;
    options.accept = [&](const Shape&, std::uint64_t) { is_asked = true; };
    expect_error(ErrorKind::input, "ends before",
                 [&] { static_cast<void>(decode_picture(bmp.file(), "x.bmp", options)); });
    EXPECT_FALSE(is_asked) << bmp.bits;
  }
}

TEST(Bmp, EveryPartOfAFileIsRefused) {
  Bmp masked{.header = 56, .bits = 32, .compression = 3, .masks = {0xFF, 0xFF00, 0xFF0000, 0xFF000000}};
  masked.pixels = text_of({1, 2, 3, 4});
  const Bmp core{
      .header = 12, .width = 8, .bits = 4, .palette = palette_of(16, true), .pixels = text_of({1, 2, 3, 4})};
  for (const Bmp& bmp :
       {masked, core, with_runs(8, {6, 1, 0, 0, 6, 2}), with_runs(4, {0, 6, 1, 2, 3, 0, 0, 0, 6, 0})}) {
    const FileBytes file = bmp.file();
    static_cast<void>(decode_image(file, "x.bmp"));
    expect_placed(file, "x.bmp");
    for (std::size_t size = 0; size < file.size(); ++size) {
      const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THROW(static_cast<void>(decode_image(part, "x.bmp")), Error) << size << " of " << file.size();
    }
  }
}

}  // namespace
}  // namespace satin::test
