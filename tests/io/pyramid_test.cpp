// The levels of a pyramid, compared with means in double precision.

#include <algorithm>
#include <cmath>
#include <random>

#include "satin/row_files.h"
#include "tests/io/tiff_pages.h"

namespace satin::test {
namespace {

double value_of(const Image& image, std::int64_t x, std::int64_t y, int c) {
  const ImageView view = image.view();
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

/// Returns the mean of the existing pixels around (2x, 2y). Straight colours are weighted by alpha.
double mean_of(const Image& image, std::int64_t x, std::int64_t y, int c) {
  const Shape& shape = image.shape();
  const int alpha = shape.channels - 1;
  double sum = 0, weights = 0, plain = 0, count = 0;
  for (std::int64_t j = 2 * y; j < std::min(2 * y + 2, shape.height); ++j)
    for (std::int64_t i = 2 * x; i < std::min(2 * x + 2, shape.width); ++i) {
      const double weight = shape.alpha == Alpha::straight && c != alpha ? value_of(image, i, j, alpha) : 1;
      sum += weight * value_of(image, i, j, c);
      weights += weight;
      plain += value_of(image, i, j, c);
      count += 1;
    }
  return weights > 0 ? sum / weights : plain / count;
}

void expect_level(const Image& level, const Image& below) {
  const Shape& shape = level.shape();
  Shape half = below.shape();
  half.width = (half.width + 1) / 2;
  half.height = (half.height + 1) / 2;
  ASSERT_EQ(shape, half);
  double worst = 0;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        const double mean = mean_of(below, x, y, c);
        const double expected = shape.type == Type::f32 ? mean : std::floor(mean + 0.5);
        worst = std::max(worst, std::abs(value_of(level, x, y, c) - expected));
      }
  EXPECT_LE(worst, shape.type == Type::f32 ? 1e-7 : 0) << describe(shape);
}

/// Makes areas of the picture fully or nearly transparent.
void make_sparse(Image& image, unsigned seed) {
  const MutableImageView view = image.view();
  std::mt19937 random(seed);
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x) {
      if (random() % 3 != 0 && (x / 4 + y / 4) % 2 != 0) continue;
      const int c = view.shape.channels - 1;
      if (view.shape.type == Type::u8) view.value<std::uint8_t>(x, y, c) = random() % 2;
      if (view.shape.type == Type::u16) view.value<std::uint16_t>(x, y, c) = 0;
      if (view.shape.type == Type::f32) view.value<float>(x, y, c) = 0;
    }
}

void expect_pyramid(const Shape& shape, unsigned seed) {
  SCOPED_TRACE(describe(shape));
  const TemporaryFolder folder;
  Image image = random_image(shape, seed);
  if (shape.alpha == Alpha::straight) make_sparse(image, seed);
  ImageRows rows(image);
  RowWriteOptions options;
  options.pyramid = true;
  options.metadata.icc = bytes_of(std::string(16, 'p') + (shape.channels >= 3 ? "RGB " : "GRAY"));
  write_rows(folder / "x.tif", rows, options);
  const std::vector<TiffPage> pages = tiff_pages(folder / "x.tif");
  std::size_t levels = 1;
  for (std::int64_t side = std::max(shape.width, shape.height); side > 256; side = (side + 1) / 2) ++levels;
  ASSERT_EQ(pages.size(), levels);
  expect_same(pages[0].image, image, "the picture");
  EXPECT_EQ(pages[0].subfile, 0U);
  EXPECT_TRUE(pages[0].has_profile);
  for (std::size_t i = 1; i < levels; ++i) {
    EXPECT_EQ(pages[i].subfile, static_cast<std::uint32_t>(FILETYPE_REDUCEDIMAGE));
    EXPECT_EQ(pages[i].tile_width, 256U);
    EXPECT_FALSE(pages[i].has_profile);
    expect_level(pages[i].image, pages[i - 1].image);
  }
  // Readers do not see the levels as pages.
  expect_same(read_image(folder / "x.tif"), image, "read");
}

TEST(Pyramid, HoldsTheMeansOfFour) {
  unsigned seed = 0;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4}) {
      const Alpha alpha = channels % 2 == 0 ? Alpha::straight : Alpha::none;
      expect_pyramid(shape_of(300 + 11 * channels, 520 - 7 * channels, channels, type, alpha), ++seed);
    }
  expect_pyramid(shape_of(301, 259, 4, Type::f32, Alpha::premultiplied), ++seed);
  expect_pyramid(shape_of(259, 301, 4, Type::u8, Alpha::none), ++seed);
}

TEST(Pyramid, IsRightForEverySize) {
  for (const auto& [width, height] :
       {std::pair{1, 1}, {256, 256}, {257, 1}, {1, 257}, {2049, 3}, {5, 1025}, {513, 511}})
    expect_pyramid(shape_of(width, height, 1, Type::u8), static_cast<unsigned>(width));
}

}  // namespace
}  // namespace satin::test
