// TIFF by libtiff: reading.

#include <algorithm>
#include <cstring>
#include <limits>

#include "io/convert.h"
#include "io/support.h"
#include "io/tiff_file.h"
#include "io/tile_rows.h"
#include "metadata/pixel_tags.h"
#include "metadata/tiff_exif.h"
#include "satin/error.h"

namespace satin::io {
namespace {

struct Layout {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t samples = 1;
  std::uint16_t bits = 1;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  bool separate = false;
  Type type = Type::u8;
  Alpha alpha = Alpha::none;
};

[[noreturn]] void fail(const TiffFile& file) {
  if (file.error.empty()) truncated("TIFF");
  damaged("TIFF", file.error);
}

Type type_of(const Layout& layout) {
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

Alpha read_alpha(TIFF* tiff, const Layout& layout) {
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

void check_photometric(TIFF* tiff, const Layout& layout) {
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
      if (layout.samples == 4 && (layout.type == Type::u8 || layout.type == Type::u16)) return;
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

/// As camera RAW has it: the picture is behind a pointer.
bool has_preview_first(TIFF* tiff) {
  std::uint32_t subfile = 0;
  std::uint16_t children = 0;
  toff_t* offsets = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &subfile);
  return (subfile & FILETYPE_REDUCEDIMAGE) != 0 &&
         TIFFGetField(tiff, TIFFTAG_SUBIFD, &children, &offsets) != 0;
}

Layout read_layout(TIFF* tiff) {
  Layout layout;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &layout.orientation);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric) == 0 && layout.samples >= 3)
    layout.photometric = PHOTOMETRIC_RGB;
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

/// One strip or tile and the part of it that lies inside the picture.
struct Block {
  std::uint32_t x, y, width, height;
  std::size_t row_bytes;
  std::uint16_t plane;
};

/// Copies decoded rows to the picture, in which samples of 1, 2 and 4 bits become one byte each.
void place(const Block& block, const Layout& layout, const std::byte* source, Image& image) {
  const std::size_t size = size_of(layout.type);
  const std::size_t samples = layout.samples;
  for (std::uint32_t y = 0; y < block.height; ++y) {
    const std::byte* from = source + block.row_bytes * y;
    std::byte* to = row_of(image, block.y + std::int64_t{y}) + block.x * samples * size;
    if (layout.bits < 8) {
      const unsigned per_byte = 8U / layout.bits;
      for (std::uint32_t x = 0; x < block.width; ++x) {
        const unsigned shift = (per_byte - 1 - x % per_byte) * layout.bits;
        to[x] = (from[x / per_byte] >> shift) & static_cast<std::byte>((1U << layout.bits) - 1);
      }
    } else if (!layout.separate) {
      std::memcpy(to, from, block.width * samples * size);
    } else {
      for (std::uint32_t x = 0; x < block.width; ++x)
        std::memcpy(to + (x * samples + block.plane) * size, from + x * size, size);
    }
  }
}

/// False if blocks are missing, which only ReadOptions::allow_partial lets through.
bool read_blocks(TIFF* tiff, TiffFile& file, const Layout& layout, const ReadOptions& options, Image& image) {
  const bool tiled = TIFFIsTiled(tiff) != 0;
  std::uint32_t block_width = layout.width;
  std::uint32_t block_height = layout.height;
  if (tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &block_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &block_height);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &block_height);
    block_height = std::min(block_height, layout.height);
  }
  if (block_width == 0 || block_height == 0) fail(file);

  const std::uint64_t per_pixel = (layout.separate ? 1U : layout.samples) * std::uint64_t{layout.bits};
  const std::uint64_t row_bytes = (block_width * per_pixel + 7) / 8;
  const std::uint64_t size = tiled ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff);
  // A tile may reach beyond the picture, but not without bound.
  const std::uint64_t most = std::min<std::uint64_t>(
      options.limits.bytes, std::max<std::uint64_t>(std::uint64_t{64} << 20, 2 * byte_size(image.shape())));
  if (size > most || block_height > most / row_bytes || size != row_bytes * block_height) {
    if (!file.error.empty()) fail(file);
    damaged("TIFF", "its " + std::string(tiled ? "tiles" : "strips") + " do not fit its pixels");
  }

  bool complete = true;
  FileBytes buffer(size);
  const std::uint16_t planes = layout.separate ? layout.samples : std::uint16_t{1};
  for (std::uint16_t plane = 0; plane < planes; ++plane)
    for (std::uint64_t y = 0; y < layout.height; y += block_height)
      for (std::uint64_t x = 0; x < layout.width; x += block_width) {
        const auto x32 = static_cast<std::uint32_t>(x), y32 = static_cast<std::uint32_t>(y);
        const Block block{x32,
                          y32,
                          std::min(block_width, layout.width - x32),
                          std::min(block_height, layout.height - y32),
                          row_bytes,
                          plane};
        const std::uint64_t expected = row_bytes * (tiled ? block_height : block.height);
        const auto wanted = static_cast<tmsize_t>(expected);
        const tmsize_t got =
            tiled
                ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x32, y32, 0, plane), buffer.data(), wanted)
                : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y32, plane), buffer.data(), wanted);
        if (got == wanted && file.error.empty()) {
          place(block, layout, buffer.data(), image);
        } else if (options.allow_partial) {
          complete = false;
          file.error.clear();
        } else {
          fail(file);
        }
      }
  return complete;
}

template <class Value>
void for_each_pixel(Image& image, Value, auto&& change) {
  const Shape& shape = image.shape();
  auto* values = reinterpret_cast<Value*>(image.data());
  const std::int64_t count = shape.width * shape.height;
  for (std::int64_t i = 0; i < count; ++i) change(values + i * shape.channels);
}

/// White as zero, inks and integer premultiplied alpha to what Satin works on. Integers lose the colour of
/// faint pixels when it is multiplied by alpha, so that such a file is straightened once, on reading.
template <class Value>
void normalise(Image& image, const Layout& layout) {
  constexpr std::uint32_t maximum = std::numeric_limits<Value>::max();
  const int colours = layout.alpha == Alpha::none ? layout.samples : layout.samples - 1;
  if (layout.photometric == PHOTOMETRIC_MINISWHITE)
    for_each_pixel(image, Value{}, [&](Value* pixel) {
      for (int c = 0; c < colours; ++c) pixel[c] = static_cast<Value>(maximum - pixel[c]);
    });
  if (layout.alpha == Alpha::premultiplied)
    for_each_pixel(image, Value{}, [&](Value* pixel) {
      const std::uint64_t alpha = pixel[colours];
      for (int c = 0; c < colours && alpha != 0; ++c)
        pixel[c] = static_cast<Value>(
            std::min<std::uint64_t>(maximum, (pixel[c] * std::uint64_t{maximum} + alpha / 2) / alpha));
    });
}

/// Inks to RGB by the file's profile, which the pixels leave behind.
void apply_inks(Picture& picture, const Allocator& allocator) {
  Shape shape = picture.image.shape();
  const auto count = static_cast<std::size_t>(shape.width * shape.height);
  const InkConversion inks(picture.metadata.icc, shape.type, false);
  if (std::string warning = inks.warning(); !warning.empty()) picture.warnings.push_back(std::move(warning));
  shape.channels = 3;
  Image result(shape, allocator);
  inks.convert(picture.image.data(), result.data(), count);
  picture.image = std::move(result);
  picture.metadata.icc.clear();
}

FileBytes block_of(TIFF* tiff, std::uint32_t tag) {
  std::uint32_t size = 0;
  const void* data = nullptr;
  if (TIFFGetField(tiff, tag, &size, &data) == 0 || data == nullptr) return {};
  return copy_of({static_cast<const std::byte*>(data), size});
}

Metadata read_metadata(TIFF* tiff, Bytes file, std::uint64_t directory) {
  Metadata metadata;
  metadata.icc = block_of(tiff, TIFFTAG_ICCPROFILE);
  metadata.xmp = block_of(tiff, TIFFTAG_XMLPACKET);
  if (TIFFIsBigTIFF(tiff) != 0) return metadata;
  metadata.exif = exif_from_tiff(file, directory);
  metadata.iptc = iptc_from_tiff(file, directory);
  return metadata;
}

Image apply_palette(TIFF* tiff, const Image& indices, const Layout& layout, const Allocator& allocator) {
  std::uint16_t* maps[3] = {};
  if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) == 0)
    damaged("TIFF", "it has no palette");
  const std::size_t count = std::size_t{1} << layout.bits;
  // Some writers store bytes where 16 bits belong.
  const bool bytes = std::all_of(std::begin(maps), std::end(maps), [&](const std::uint16_t* map) {
    return std::all_of(map, map + count, [](std::uint16_t v) { return v < 256; });
  });
  Shape shape = indices.shape();
  shape.channels = 3;
  Image result(shape, allocator);
  std::byte* target = result.data();
  for (std::size_t i = 0; i < byte_size(indices.shape()); ++i)
    for (const std::uint16_t* map : maps) {
      const std::uint32_t value = map[std::to_integer<std::size_t>(indices.data()[i])];
      *target++ = static_cast<std::byte>(bytes ? value : (value * 255 + 32767) / 65535);
    }
  return result;
}

void widen_bits(Image& image, const Layout& layout) {
  const unsigned step = 255U / ((1U << layout.bits) - 1);
  for_each_pixel(image, std::uint8_t{},
                 [&](std::uint8_t* value) { *value = static_cast<std::uint8_t>(*value * step); });
}

/// Thumbnails, steps of a pyramid and transparency masks belong to a page and are none.
bool is_page(TIFF* tiff) {
  std::uint32_t subfile = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &subfile);
  return (subfile & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0;
}

/// The pages by the offsets of their directories. Where there is none, as in camera RAW with a preview before
/// the picture, the first directory is taken for one.
std::vector<FilePicture> list_pages(Bytes bytes, const ReadOptions& options) {
  TiffFile file;
  file.input = bytes;
  const TiffHandle tiff = open_tiff(file, "rm");
  if (tiff == nullptr) fail(file);
  const FilePicture first{{}, TIFFCurrentDirOffset(tiff.get())};
  if (has_preview_first(tiff.get())) return {first};
  std::vector<FilePicture> pages;
  bool complete = true;
  for (bool more = true; more;) {
    if (is_page(tiff.get())) pages.push_back({{}, TIFFCurrentDirOffset(tiff.get())});
    more = TIFFLastDirectory(tiff.get()) == 0;
    if (more && TIFFReadDirectory(tiff.get()) == 0) more = complete = false;
  }
  if (!complete && !options.allow_partial)
    damaged("TIFF", "its page " + std::to_string(pages.size() + 1) + " cannot be read");
  return pages.empty() ? std::vector{first} : pages;
}

Picture decode_page(Bytes bytes, const FilePicture& page, const ReadOptions& options) {
  TiffFile file;
  file.input = bytes;
  const TiffHandle tiff = open_tiff(file, "rm");
  if (tiff == nullptr) fail(file);
  if (TIFFCurrentDirOffset(tiff.get()) != page.at && TIFFSetSubDirectory(tiff.get(), page.at) == 0)
    fail(file);
  const Layout layout = read_layout(tiff.get());
  const bool straighten =
      layout.alpha == Alpha::premultiplied && (layout.type == Type::u8 || layout.type == Type::u16);
  Picture picture = allocate(layout.width, layout.height, layout.samples, layout.type,
                             straighten ? Alpha::straight : layout.alpha, options);
  Image& image = picture.image;
  if (options.allow_partial) std::memset(image.data(), 0, byte_size(image.shape()));
  file.error.clear();  // complaints about tags that were not needed
  if (!read_blocks(tiff.get(), file, layout, options, image))
    picture.warnings.push_back(partial_warning("TIFF"));
  picture.metadata = read_metadata(tiff.get(), bytes, page.at);

  if (layout.photometric == PHOTOMETRIC_PALETTE) {
    image = apply_palette(tiff.get(), image, layout, options.allocator);
  } else {
    if (layout.bits < 8) widen_bits(image, layout);
    if (layout.type == Type::u8) normalise<std::uint8_t>(image, layout);
    if (layout.type == Type::u16) normalise<std::uint16_t>(image, layout);
    if (layout.photometric == PHOTOMETRIC_SEPARATED) apply_inks(picture, options.allocator);
  }
  turn_upright(picture, std::move(image), layout.orientation, options.allocator);
  if (options.allow_partial && TIFFLastDirectory(tiff.get()) == 0 && TIFFReadDirectory(tiff.get()) == 0)
    picture.warnings.emplace_back("what follows this page cannot be read.");
  return picture;
}

}  // namespace

Codec tiff_codec() {
  Codec codec{"TIFF", {".tiff", ".tif"}, sniff_tiff, nullptr, encode_tiff};
  codec.several = {"page", list_pages, decode_page, encode_tiff_pages};
  codec.write_rows = write_tiles;
  // The header of an EXIF block is that of a classic TIFF file.
  codec.facts = [](Bytes bytes) { return FileFacts{.orientation = exif_orientation(bytes)}; };
  codec.holds.types = set_of(Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight, Alpha::premultiplied);
  codec.holds.extra = true;
  codec.holds.metadata =
      set_of(Carried::icc, Carried::exif, Carried::xmp, Carried::iptc, Carried::resolution);
  return codec;
}

}  // namespace satin::io
