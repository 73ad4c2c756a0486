#include "tests/io/tiff_pages.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>

namespace satin::test {
namespace {

int complaints = 0;

void count_complaint(const char*, const char*, va_list) { ++complaints; }

template <class Value>
Value tag(TIFF* tiff, std::uint32_t number) {
  Value value{};
  TIFFGetFieldDefaulted(tiff, number, &value);
  return value;
}

Type type_of(std::uint16_t bits, std::uint16_t format) {
  if (format == SAMPLEFORMAT_IEEEFP) return bits == 32 ? Type::f32 : Type::f64;
  return bits == 8 ? Type::u8 : bits == 16 ? Type::u16 : bits == 32 ? Type::u32 : Type::u64;
}

Image read_tiles(TIFF* tiff, const Shape& shape, std::uint32_t width, std::uint32_t height) {
  Image image(shape);
  const MutableImageView view = image.view();
  std::vector<std::byte> tile(static_cast<std::size_t>(TIFFTileSize(tiff)));
  const auto row = static_cast<std::size_t>(TIFFTileRowSize(tiff));
  for (std::uint32_t y = 0; y < shape.height; y += height)
    for (std::uint32_t x = 0; x < shape.width; x += width) {
      EXPECT_GE(TIFFReadTile(tiff, tile.data(), x, y, 0, 0), 0);
      const auto bytes =
          static_cast<std::size_t>(std::min<std::int64_t>(width, shape.width - x) * view.strides.pixel);
      for (std::uint32_t i = 0; i < std::min<std::int64_t>(height, shape.height - y); ++i)
        std::memcpy(view.at(x, y + i), tile.data() + i * row, bytes);
    }
  return image;
}

Image read_strips(TIFF* tiff, const Shape& shape) {
  Image image(shape);
  for (std::uint32_t y = 0; y < shape.height; ++y)
    EXPECT_GE(TIFFReadScanline(tiff, image.view().at(0, y), y, 0), 0);
  return image;
}

TiffPage read_page(TIFF* tiff) {
  TiffPage page;
  page.big = TIFFIsBigTIFF(tiff) != 0;
  page.subfile = tag<std::uint32_t>(tiff, TIFFTAG_SUBFILETYPE);
  page.compression = tag<std::uint16_t>(tiff, TIFFTAG_COMPRESSION);
  page.photometric = tag<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC);
  page.format = tag<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT);
  page.bits = tag<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE);
  if (page.compression != COMPRESSION_NONE) page.predictor = tag<std::uint16_t>(tiff, TIFFTAG_PREDICTOR);
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) != 0) page.extra.assign(kinds, kinds + count);
  std::uint32_t size = 0;
  void* profile = nullptr;
  page.has_profile = TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &size, &profile) != 0;

  Shape shape =
      shape_of(tag<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH), tag<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH),
               tag<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL), type_of(page.bits, page.format));
  if (!page.extra.empty() && page.extra.back() == EXTRASAMPLE_UNASSALPHA) shape.alpha = Alpha::straight;
  if (!page.extra.empty() && page.extra.back() == EXTRASAMPLE_ASSOCALPHA) shape.alpha = Alpha::premultiplied;
  if (TIFFIsTiled(tiff) == 0) {
    page.image = read_strips(tiff, shape);
    return page;
  }
  page.tile_width = tag<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH);
  page.tile_height = tag<std::uint32_t>(tiff, TIFFTAG_TILELENGTH);
  page.image = read_tiles(tiff, shape, page.tile_width, page.tile_height);
  return page;
}

double exposure_time(TIFF* tiff) {
  toff_t directory = 0;
  float time = 0;
  if (TIFFGetField(tiff, TIFFTAG_EXIFIFD, &directory) == 0) return 0;
  EXPECT_EQ(TIFFReadEXIFDirectory(tiff, directory), 1);
  EXPECT_EQ(TIFFGetField(tiff, EXIFTAG_EXPOSURETIME, &time), 1);
  return static_cast<double>(time);
}

}  // namespace

std::vector<TiffPage> tiff_pages(const fs::path& path) {
  complaints = 0;
  const TIFFErrorHandler errors = TIFFSetErrorHandler(count_complaint);
  const TIFFErrorHandler warnings = TIFFSetWarningHandler(count_complaint);
  std::vector<TiffPage> pages;
  TIFF* const tiff = TIFFOpen(path.c_str(), "r");
  EXPECT_NE(tiff, nullptr) << path;
  for (std::uint16_t i = 0; tiff != nullptr && TIFFSetDirectory(tiff, i) != 0; ++i) {
    pages.push_back(read_page(tiff));
    pages.back().exposure_time = exposure_time(tiff);
    TIFFSetDirectory(tiff, i);
    if (TIFFLastDirectory(tiff) != 0) break;
  }
  if (tiff != nullptr) TIFFClose(tiff);
  TIFFSetErrorHandler(errors);
  TIFFSetWarningHandler(warnings);
  EXPECT_EQ(complaints, 0) << path;
  return pages;
}

}  // namespace satin::test
