#include "tests/io/tiff_writer.h"

#include <algorithm>

namespace satin::test {
namespace {

std::size_t row_bytes(const Tags& tags, std::uint32_t width) {
  const int samples = tags.planar == PLANARCONFIG_SEPARATE ? 1 : tags.samples;
  return (width * static_cast<std::size_t>(samples * tags.bits) + 7) / 8;
}

void write_tiles(TIFF* tiff, const Tags& tags, const unsigned char* pixels, std::uint16_t plane) {
  const std::size_t full = row_bytes(tags, tags.width), part = row_bytes(tags, tags.tile);
  std::vector<unsigned char> tile(part * tags.tile);
  for (std::uint32_t y = 0; y < tags.height; y += tags.tile)
    for (std::uint32_t x = 0; x < tags.width; x += tags.tile) {
      for (std::uint32_t row = 0; row < std::min(tags.tile, tags.height - y); ++row) {
        const std::size_t start = row_bytes(tags, x);
        std::copy_n(pixels + (y + row) * full + start, std::min(part, full - start),
                    tile.begin() + static_cast<std::ptrdiff_t>(row * part));
      }
      TIFFWriteTile(tiff, tile.data(), x, y, 0, plane);
    }
}

}  // namespace

FileBytes make_tiff(const Tags& tags, std::vector<unsigned char> pixels, const char* mode) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), mode);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, tags.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, tags.height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, tags.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, tags.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, tags.format);
  if (tags.photometric != no_photometric) TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, tags.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, tags.planar);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, tags.compression);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, tags.orientation);
  if (!tags.extra.empty())
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(tags.extra.size()), tags.extra.data());
  tags.more(tiff);
  if (tags.tile != 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, tags.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, tags.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, tags.strip);
  }
  const int planes = tags.planar == PLANARCONFIG_SEPARATE ? tags.samples : 1;
  unsigned char* row = pixels.data();
  for (int plane = 0; plane < planes; ++plane) {
    if (tags.tile != 0) write_tiles(tiff, tags, row, static_cast<std::uint16_t>(plane));
    for (std::uint32_t y = 0; y < tags.height; ++y, row += row_bytes(tags, tags.width))
      if (tags.tile == 0) TIFFWriteScanline(tiff, row, y, static_cast<std::uint16_t>(plane));
  }
  TIFFClose(tiff);
  return load(path);
}

}  // namespace satin::test
