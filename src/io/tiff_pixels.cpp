#include "io/tiff_pixels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "metadata/xmp.h"
#include "satin/error.h"

namespace satin::io {
namespace {

Type type_of(const TiffLayout& layout) {
  const bool integer = layout.format == SAMPLEFORMAT_UINT || layout.format == SAMPLEFORMAT_VOID;
  const bool real = layout.format == SAMPLEFORMAT_IEEEFP;
  const int bits = layout.bits;
  if (integer && (bits == 8 || ((bits == 1 || bits == 2 || bits == 4) && layout.samples == 1)))
    return Type::u8;
  if (integer && bits == 16) return Type::u16;
  if (integer && bits == 32) return Type::u32;
  if (integer && bits == 64) return Type::u64;
  if (real && bits == 32) return Type::f32;
  if (real && bits == 64) return Type::f64;
  const char* kind = integer ? "unsigned" : real ? "floating-point" : "signed or complex";
  unsupported("TIFF", std::to_string(bits) + "-bit " + kind + " samples",
              "Convert it to 8 or 16 bits unsigned or to 32-bit floats first.");
}

Alpha read_alpha(TIFF* tiff, const TiffLayout& layout) {
  if (layout.samples % 2 != 0 || layout.photometric == PHOTOMETRIC_SEPARATED) return Alpha::none;
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  // A last channel that nobody describes is opacity: so mean the writers that leave the tag out.
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0) return Alpha::straight;
  switch (kinds[count - 1]) {
    case EXTRASAMPLE_ASSOCALPHA:
      return Alpha::premultiplied;
    case EXTRASAMPLE_UNASSALPHA:
      return Alpha::straight;
    default:
      return Alpha::none;
  }
}

bool has_cmyk(TIFF* tiff) {
  std::uint16_t inks = INKSET_CMYK;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
  return inks == INKSET_CMYK;
}

/// Photometric meaning of samples in a file without that tag. Follows libtiff: white is 0 in fax codings.
std::uint16_t usual_photometric(const TiffLayout& layout) {
  if (layout.samples >= 3) return PHOTOMETRIC_RGB;
  const bool fax = layout.compression == COMPRESSION_CCITTRLE ||
                   layout.compression == COMPRESSION_CCITTFAX3 ||
                   layout.compression == COMPRESSION_CCITTFAX4 || layout.compression == COMPRESSION_CCITTRLEW;
  return fax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
}

void check_photometric(TIFF* tiff, const TiffLayout& layout) {
  switch (layout.photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_MASK:
      return;
    case PHOTOMETRIC_MINISWHITE:
      if (layout.type == Type::u8 || layout.type == Type::u16) return;
      unsupported("TIFF", "white as zero in samples other than 8 or 16 bits",
                  "Convert it to black as zero first.");
    case PHOTOMETRIC_PALETTE:
      if (layout.type == Type::u8 && layout.samples == 1) return;
      unsupported("TIFF", "a palette of this depth", "Convert it to RGB first.");
    case PHOTOMETRIC_SEPARATED:
      if (layout.samples == 4 && has_cmyk(tiff) && (layout.type == Type::u8 || layout.type == Type::u16))
        return;
      unsupported("TIFF", "these inks", "Convert it to RGB first.");
    case PHOTOMETRIC_YCBCR:
      if (layout.compression == COMPRESSION_JPEG && !layout.separate && layout.samples == 3) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        return;
      }
      unsupported("TIFF", "YCbCr colour outside of JPEG compression", "Convert it to RGB first.");
    case PHOTOMETRIC_CFA:
    case 34892:  // linear raw
      unsupported("TIFF", "camera RAW data",
                  "Develop it to a 16-bit .tiff first, for example with darktable.");
    default:
      unsupported("TIFF", "photometric interpretation " + std::to_string(layout.photometric),
                  "Convert it to RGB or gray first.");
  }
}

/// XMP says it where the tag is missing, as other programs that turn pictures write it.
void read_orientation(TIFF* tiff, TiffLayout& layout) {
  std::uint32_t size = 0;
  const std::byte* packet = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_ORIENTATION, &layout.orientation) == 0 &&
      TIFFGetField(tiff, TIFFTAG_XMLPACKET, &size, &packet) != 0)
    layout.orientation = static_cast<std::uint16_t>(stored_orientation({}, {packet, size}).value_or(1));
}

/// Strips above this are read in parts, where that can be.
constexpr std::uint64_t high_strip = std::uint64_t{1} << 20;

/// Compressions that libtiff decodes line after line.
bool has_lines(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_LZW:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_LZMA:
    case COMPRESSION_ZSTD:
      return true;
    default:
      return false;
  }
}

/// Most bytes that these compressions make of one: LZW makes 3838 of a code of 12 bits.
constexpr std::uint64_t largest_ratio = 2560;

bool has_largest_ratio(std::uint16_t compression) {
  return compression == COMPRESSION_NONE || compression == COMPRESSION_LZW ||
         compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE ||
         compression == COMPRESSION_PACKBITS;
}

template <class Value>
void for_each_pixel(std::byte* pixels, std::size_t count, int samples, Value, auto&& change) {
  auto* values = reinterpret_cast<Value*>(pixels);
  for (std::size_t i = 0; i < count; ++i, values += samples) change(values);
}

template <class Value>
void normalise(std::byte* pixels, std::size_t count, const TiffLayout& layout) {
  constexpr std::uint32_t maximum = std::numeric_limits<Value>::max();
  const int colours = layout.alpha == Alpha::none ? layout.samples : layout.samples - 1;
  if (layout.photometric == PHOTOMETRIC_MINISWHITE)
    for_each_pixel(pixels, count, layout.samples, Value{}, [&](Value* pixel) {
      for (int c = 0; c < colours; ++c) pixel[c] = static_cast<Value>(maximum - pixel[c]);
    });
  if (layout.alpha == Alpha::premultiplied)
    for_each_pixel(pixels, count, layout.samples, Value{}, [&](Value* pixel) {
      const std::uint64_t alpha = pixel[colours];
      for (int c = 0; c < colours && alpha != 0; ++c)
        pixel[c] = static_cast<Value>(
            std::min<std::uint64_t>(maximum, (pixel[c] * std::uint64_t{maximum} + alpha / 2) / alpha));
    });
}

void widen_bits(std::byte* pixels, std::size_t count, const TiffLayout& layout) {
  const unsigned step = 255U / ((1U << layout.bits) - 1);
  for_each_pixel(pixels, count, 1, std::uint8_t{},
                 [&](std::uint8_t* value) { *value = static_cast<std::uint8_t>(*value * step); });
}

}  // namespace

void fail(TiffFile& file) {
  if (file.error.empty()) truncated("TIFF");
  const std::string reason = std::exchange(file.error, {});
  if (reason.starts_with("Fax")) damaged("TIFF", reason);  // damaged codes are unsupported to it
  not_decoded("TIFF", "libtiff", reason, "Save it with LZW or Deflate.");
}

bool has_preview_first(TIFF* tiff) {
  std::uint32_t subfile = 0;
  std::uint16_t children = 0;
  toff_t* offsets = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &subfile);
  return (subfile & FILETYPE_REDUCEDIMAGE) != 0 &&
         TIFFGetField(tiff, TIFFTAG_SUBIFD, &children, &offsets) != 0;
}

TiffLayout read_layout(TIFF* tiff) {
  TiffLayout layout;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout.compression);
  read_orientation(tiff, layout);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric) == 0)
    layout.photometric = usual_photometric(layout);
  layout.separate = layout.planar == PLANARCONFIG_SEPARATE && layout.samples > 1;

  if (has_preview_first(tiff))
    unsupported("TIFF", "a preview before the picture (camera RAW)",
                "Develop it to a 16-bit .tiff first, for example with darktable.");
  layout.type = type_of(layout);
  check_photometric(tiff, layout);
  layout.alpha = read_alpha(tiff, layout);
  if (TIFFIsCODECConfigured(layout.compression) == 0)
    unsupported("TIFF", "compression " + std::to_string(layout.compression), "Save it with LZW or Deflate.");
  return layout;
}

TiffBlocks::TiffBlocks(TIFF* tiff, TiffFile& file, const TiffLayout& layout, const ReadOptions& options,
                       bool in_rows)
    : tiff_(tiff),
      file_(file),
      layout_(layout),
      partial_(options.allow_partial),
      tiled_(TIFFIsTiled(tiff) != 0),
      width_(layout.width),
      height_(layout.height) {
  if (tiled_) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width_);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height_);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &height_);
    height_ = std::min(height_, layout.height);
  }
  if (width_ == 0 || height_ == 0) fail(file);

  const std::uint64_t per_pixel = (layout.separate ? 1U : layout.samples) * std::uint64_t{layout.bits};
  row_bytes_ = (width_ * per_pixel + 7) / 8;
  block_bytes_ = tiled_ ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff);
  const Shape whole = shape_of(layout.width, layout.height, layout.samples, layout.type, Alpha::none);
  // A tile may reach beyond the picture, but not without bound. Of rows, the reader checks what it holds.
  const std::uint64_t most = std::min<std::uint64_t>(
      in_rows ? UINT64_MAX : options.limits.bytes,
      std::max<std::uint64_t>(std::uint64_t{64} << 20, 2 * std::uint64_t{byte_size(whole)}));
  if (block_bytes_ > most || height_ > most / row_bytes_ || block_bytes_ != row_bytes_ * height_) {
    if (!file.error.empty()) fail(file);
    damaged("TIFF", "its " + std::string(tiled_ ? "tiles" : "strips") + " do not fit its pixels");
  }
  direct_ = !tiled_ && !layout.separate && layout.bits >= 8;
  lines_ = in_rows && direct_ && !partial_ && block_bytes_ > high_strip && has_lines(layout.compression);
  if (lines_)
    height_ =
        std::min(height_, std::max(static_cast<std::uint32_t>(high_strip / row_bytes_), std::uint32_t{1}));
}

bool TiffBlocks::read(std::uint32_t y, std::byte* rows) {
  const std::uint32_t height = std::min(height_, layout_.height - y);
  if (!direct_) buffer_.resize(block_bytes_);
  if (lines_) {
    read_lines(y, height, rows);
    return true;
  }
  const std::uint16_t planes = layout_.separate ? layout_.samples : std::uint16_t{1};
  bool complete = true;
  for (std::uint16_t plane = 0; plane < planes; ++plane)
    for (std::uint64_t x = 0; x < layout_.width; x += width_) {
      const auto x32 = static_cast<std::uint32_t>(x);
      const Block block{x32, y, std::min(width_, layout_.width - x32), height, plane};
      std::byte* const target = direct_ ? rows : buffer_.data();
      if (!decode(block, target)) {
        if (!partial_) fail(file_);
        std::memset(target, 0, row_bytes_ * height);
        complete = false;
        file_.error.clear();
      }
      if (!direct_) place(block, rows);
    }
  return complete;
}

void TiffBlocks::read_lines(std::uint32_t y, std::uint32_t count, std::byte* rows) {
  for (std::uint32_t i = 0; i < count; ++i, rows += row_bytes_)
    if (TIFFReadScanline(tiff_, rows, y + i, 0) != 1 || !file_.error.empty()) fail(file_);
}

bool TiffBlocks::decode(const Block& block, std::byte* target) {
  const std::uint64_t size = row_bytes_ * (tiled_ ? height_ : block.height);
  const auto wanted = static_cast<tmsize_t>(size);
  const std::uint32_t index = tiled_ ? TIFFComputeTile(tiff_, block.x, block.y, 0, block.plane)
                                     : TIFFComputeStrip(tiff_, block.y, block.plane);
  // Before memory is touched that a small file claims to need.
  const std::uint64_t stored = std::min<std::uint64_t>(TIFFGetStrileByteCount(tiff_, index), file_.size());
  if (has_largest_ratio(layout_.compression) && stored < size / largest_ratio) return false;
  // libtiff takes Deflate data that is longer than its block for good and does not write all of the block.
  std::memset(target, 0, size);
  const tmsize_t got = tiled_ ? TIFFReadEncodedTile(tiff_, index, target, wanted)
                              : TIFFReadEncodedStrip(tiff_, index, target, wanted);
  return got == wanted && file_.error.empty();
}

/// Copies a decoded block to the rows.
void TiffBlocks::place(const Block& block, std::byte* rows) const {
  const std::size_t size = size_of(layout_.type);
  const std::size_t samples = layout_.samples;
  for (std::uint32_t y = 0; y < block.height; ++y) {
    const std::byte* from = buffer_.data() + row_bytes_ * y;
    std::byte* to = rows + (std::size_t{layout_.width} * y + block.x) * samples * size;
    if (layout_.bits < 8) {
      const unsigned per_byte = 8U / layout_.bits;
      for (std::uint32_t x = 0; x < block.width; ++x) {
        const unsigned shift = (per_byte - 1 - x % per_byte) * layout_.bits;
        to[x] = (from[x / per_byte] >> shift) & static_cast<std::byte>((1U << layout_.bits) - 1);
      }
    } else if (!layout_.separate) {
      std::memcpy(to, from, block.width * samples * size);
    } else {
      for (std::uint32_t x = 0; x < block.width; ++x)
        std::memcpy(to + (x * samples + block.plane) * size, from + x * size, size);
    }
  }
}

TiffColours::TiffColours(TIFF* tiff, const TiffLayout& layout, Bytes icc) : layout_(layout) {
  if (layout.photometric == PHOTOMETRIC_PALETTE) read_palette(tiff);
  if (layout.photometric == PHOTOMETRIC_SEPARATED) inks_.emplace(icc, layout.type, false);
}

void TiffColours::read_palette(TIFF* tiff) {
  std::uint16_t* maps[3] = {};
  if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) == 0)
    damaged("TIFF", "it has no palette");
  const std::size_t count = std::size_t{1} << layout_.bits;
  // Some writers store bytes where 16 bits belong.
  const bool bytes = std::all_of(std::begin(maps), std::end(maps), [&](const std::uint16_t* map) {
    return std::all_of(map, map + count, [](std::uint16_t v) { return v < 256; });
  });
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint32_t value = maps[c][i];
      palette_[i][c] = static_cast<std::byte>(bytes ? value : (value * 255 + 32767) / 65535);
    }
}

int TiffColours::channels() const noexcept {
  return layout_.photometric == PHOTOMETRIC_PALETTE || inks_ ? 3 : layout_.samples;
}

void TiffColours::convert(const std::byte* samples, std::byte* pixels, std::size_t count) const {
  if (inks_) return inks_->convert(samples, pixels, count);
  if (layout_.photometric == PHOTOMETRIC_PALETTE) {
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(pixels + 3 * i, palette_[std::to_integer<std::size_t>(samples[i])].data(), 3);
    return;
  }
  if (pixels != samples) std::memcpy(pixels, samples, count * layout_.samples * size_of(layout_.type));
  if (layout_.bits < 8) widen_bits(pixels, count, layout_);
  if (layout_.type == Type::u8) normalise<std::uint8_t>(pixels, count, layout_);
  if (layout_.type == Type::u16) normalise<std::uint16_t>(pixels, count, layout_);
}

}  // namespace satin::io
