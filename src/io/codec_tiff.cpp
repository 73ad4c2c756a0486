// TIFF by libtiff: reading. libtiff delivers blocks (strips or tiles) of samples. TiffBlocks arranges them in
// rows, and TiffColours converts samples to pixels. Pages are read as a whole or row by row.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "io/codec_steps.h"
#include "io/convert.h"
#include "io/tiff_file.h"
#include "metadata/exif.h"
#include "metadata/xmp.h"
#include "satin/error.h"

namespace satin::io {
namespace {

struct TiffLayout {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t samples = 1;
  std::uint16_t bits = 1;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  bool separate = false;  ///< channels are stored in separate planes
  Type type = Type::u8;
  Alpha alpha = Alpha::none;  ///< as stored in the file

  /// Returns the alpha of the pixels: integers with premultiplied alpha are straightened.
  [[nodiscard]] Alpha pixel_alpha() const noexcept {
    const bool straightened = alpha == Alpha::premultiplied && (type == Type::u8 || type == Type::u16);
    return straightened ? Alpha::straight : alpha;
  }
};

/// Throws Error(input) with the error of libtiff, and clears it.
[[noreturn]] void fail(TiffFile& file) {
  if (file.error.empty()) truncated("TIFF");
  const std::string reason = std::exchange(file.error, {});
  if (reason.starts_with("Fax")) damaged("TIFF", reason);  // libtiff calls damaged fax codes unsupported
  not_decoded("TIFF", "libtiff", reason, "Save it with LZW or Deflate.");
}

/// Whether the file begins with a preview and stores the picture in a child directory, as camera RAW does.
bool has_preview_first(TIFF* tiff) {
  std::uint32_t subfile = 0;
  std::uint16_t children = 0;
  toff_t* offsets = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &subfile);
  return (subfile & FILETYPE_REDUCEDIMAGE) != 0 &&
         TIFFGetField(tiff, TIFFTAG_SUBIFD, &children, &offsets) != 0;
}

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
  // A last channel without a description is opacity: this is the meaning for writers that omit the tag.
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0) return Alpha::straight;
  if (kinds[count - 1] == EXTRASAMPLE_ASSOCALPHA) return Alpha::premultiplied;
  return kinds[count - 1] == EXTRASAMPLE_UNASSALPHA ? Alpha::straight : Alpha::none;
}

bool has_cmyk(TIFF* tiff) {
  std::uint16_t inks = INKSET_CMYK;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
  return inks == INKSET_CMYK;
}

/// Returns the photometric interpretation for a file without that tag. Follows libtiff: white is 0 in fax
/// codings.
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

/// Reads the orientation from its tag, or from XMP if the tag is missing, as other programs write it.
void read_orientation(TIFF* tiff, TiffLayout& layout) {
  std::uint32_t size = 0;
  const std::byte* packet = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_ORIENTATION, &layout.orientation) == 0 &&
      TIFFGetField(tiff, TIFFTAG_XMLPACKET, &size, &packet) != 0)
    layout.orientation = static_cast<std::uint16_t>(stored_orientation({}, {packet, size}).value_or(1));
}

/// Strips above this size are read a few rows at a time, where their compression allows it.
constexpr std::uint64_t high_strip = std::uint64_t{1} << 20;

/// Whether libtiff decodes this compression line by line.
bool has_lines(std::uint16_t compression) {
  constexpr std::array lines{COMPRESSION_LZW,      COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE,
                             COMPRESSION_PACKBITS, COMPRESSION_LZMA,    COMPRESSION_ZSTD};
  return std::ranges::find(lines, int{compression}) != lines.end();
}

/// Largest expansion of these compressions: LZW makes 3838 bytes from one 12-bit code.
constexpr std::uint64_t largest_ratio = 2560;

bool has_largest_ratio(std::uint16_t compression) {
  return compression == COMPRESSION_NONE || compression == COMPRESSION_LZW ||
         compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE ||
         compression == COMPRESSION_PACKBITS;
}

template <class Value>
void invert_colours(std::byte* pixels, std::size_t count, std::size_t samples, std::size_t colours) {
  auto* values = reinterpret_cast<Value*>(pixels);
  for (std::size_t i = 0; i < count; ++i, values += samples)
    for (std::size_t c = 0; c < colours; ++c)
      values[c] = static_cast<Value>(std::numeric_limits<Value>::max() - values[c]);
}

void widen_bits(std::byte* pixels, std::size_t count, const TiffLayout& layout) {
  const unsigned step = 255U / ((1U << layout.bits) - 1);
  for (std::byte& value : std::span(pixels, count))
    value = static_cast<std::byte>(std::to_integer<unsigned>(value) * step);
}

/// Reads the current directory. Throws Error(input) for pixels that are not supported.
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

/// The samples of a page, read one row of blocks (strips or tiles) at a time.
class TiffBlocks {
 public:
  /// The handle, whose current directory is that of the page, and its file must outlive the blocks. Throws
  /// Error(input) for blocks that do not fit the page. With `in_rows`, high strips are read a few rows at a
  /// time, in their order, if their compression allows it. Only read() allocates.
  TiffBlocks(TIFF* tiff, TiffFile& file, const TiffLayout& layout, const ReadOptions& options, bool in_rows)
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
    // A tile may reach beyond the picture, but not without bound. For reading in rows, the reader checks its
    // buffer.
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

  /// Returns the height of a row of blocks in pixels. The last one may be lower.
  [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
  /// Returns the size of the buffer that a block needs beside the rows.
  [[nodiscard]] std::size_t held() const noexcept { return direct_ ? 0 : block_bytes_; }

  /// Reads the row of blocks that begins at row `y` to dense interleaved rows, in which samples of 1, 2 and 4
  /// bits become one byte each. Returns false if blocks are missing, which only ReadOptions::allow_partial
  /// permits. Their pixels are then 0.
  bool read(std::uint32_t y, std::byte* rows) {
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

 private:
  /// A strip or tile; width and height are the portion inside the picture.
  struct Block {
    std::uint32_t x, y, width, height;
    std::uint16_t plane;
  };

  [[nodiscard]] bool decode(const Block& block, std::byte* target) {
    const std::uint64_t size = row_bytes_ * (tiled_ ? height_ : block.height);
    const auto wanted = static_cast<tmsize_t>(size);
    const std::uint32_t index = tiled_ ? TIFFComputeTile(tiff_, block.x, block.y, 0, block.plane)
                                       : TIFFComputeStrip(tiff_, block.y, block.plane);
    // Checked before touching memory that a small file claims to need.
    const std::uint64_t stored = std::min<std::uint64_t>(TIFFGetStrileByteCount(tiff_, index), file_.size());
    if (has_largest_ratio(layout_.compression) && stored < size / largest_ratio) return false;
    // libtiff accepts Deflate data that is longer than its block and then does not write the whole block.
    std::memset(target, 0, size);
    const tmsize_t got = tiled_ ? TIFFReadEncodedTile(tiff_, index, target, wanted)
                                : TIFFReadEncodedStrip(tiff_, index, target, wanted);
    return got == wanted && file_.error.empty();
  }

  void read_lines(std::uint32_t y, std::uint32_t count, std::byte* rows) {
    for (std::uint32_t i = 0; i < count; ++i, rows += row_bytes_)
      if (TIFFReadScanline(tiff_, rows, y + i, 0) != 1 || !file_.error.empty()) fail(file_);
  }

  /// Copies a decoded block to the rows.
  void place(const Block& block, std::byte* rows) const {
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

  TIFF* tiff_;
  TiffFile& file_;
  TiffLayout layout_;
  bool partial_;
  bool tiled_;
  bool lines_ = false;   ///< a few rows of a strip are read at a time
  bool direct_ = false;  ///< blocks have the layout of rows
  std::uint32_t width_ = 0;
  std::uint32_t height_ = 0;
  std::uint64_t row_bytes_ = 0;
  std::uint64_t block_bytes_ = 0;
  FileBytes buffer_;  ///< one decoded block
};

/// Conversion of samples to pixels: palettes, samples of few bits, white as zero, inks, and integer
/// premultiplied alpha. Integers lose the colour of faint pixels each time it is multiplied by alpha, so such
/// a file is straightened once, on reading.
class TiffColours {
 public:
  /// `icc` is the profile of the page.
  TiffColours(TIFF* tiff, const TiffLayout& layout, Bytes icc) : layout_(layout) {
    if (layout.photometric == PHOTOMETRIC_PALETTE) read_palette(tiff);
    if (layout.photometric == PHOTOMETRIC_SEPARATED) inks_.emplace(icc, layout.type, false);
  }

  /// Returns the channels of a pixel, which may differ from the number of samples.
  [[nodiscard]] int channels() const noexcept {
    return layout_.photometric == PHOTOMETRIC_PALETTE || inks_ ? 3 : layout_.samples;
  }
  /// Whether the conversion has applied the profile, which the pixels then no longer need.
  [[nodiscard]] bool uses_profile() const noexcept { return inks_.has_value(); }
  /// Returns a warning, or an empty text.
  [[nodiscard]] std::string warning() const { return inks_ ? inks_->warning() : std::string(); }

  /// Converts samples of TiffBlocks to pixels. Both may be at the same address if there are as many channels
  /// as samples.
  void convert(const std::byte* samples, std::byte* pixels, std::size_t count) const {
    if (inks_) return inks_->convert(samples, pixels, count);
    if (layout_.photometric == PHOTOMETRIC_PALETTE) {
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(pixels + 3 * i, palette_[std::to_integer<std::size_t>(samples[i])].data(), 3);
      return;
    }
    if (pixels != samples) std::memcpy(pixels, samples, count * layout_.samples * size_of(layout_.type));
    if (layout_.bits < 8) widen_bits(pixels, count, layout_);
    const std::size_t stride = layout_.samples, colours = stride - (layout_.alpha == Alpha::none ? 0 : 1);
    if (layout_.photometric == PHOTOMETRIC_MINISWHITE)
      layout_.type == Type::u8 ? invert_colours<std::uint8_t>(pixels, count, stride, colours)
                               : invert_colours<std::uint16_t>(pixels, count, stride, colours);
    if (layout_.alpha != layout_.pixel_alpha()) divide_by_alpha(pixels, count, layout_.samples, layout_.type);
  }

 private:
  void read_palette(TIFF* tiff) {
    std::uint16_t* maps[3] = {};
    if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) == 0)
      damaged("TIFF", "it has no palette");
    const std::size_t count = std::size_t{1} << layout_.bits;
    // Some writers store 8-bit values in the 16-bit palette.
    const bool bytes = std::all_of(std::begin(maps), std::end(maps), [&](const std::uint16_t* map) {
      return std::all_of(map, map + count, [](std::uint16_t v) { return v < 256; });
    });
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint32_t value = maps[c][i];
        palette_[i][c] = static_cast<std::byte>(bytes ? value : (value * 255 + 32767) / 65535);
      }
  }

  TiffLayout layout_;
  std::array<std::array<std::byte, 3>, 256> palette_{};
  std::optional<InkConversion> inks_;
};

// Pages.

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
  metadata.exif = exif_block(read_description(file, directory));
  metadata.iptc = iptc_from_tiff(file, directory);
  return metadata;
}

/// Returns the number of pictures that ImageJ's description of a stack names, or 1 without one.
std::uint64_t images_of_stack(TIFF* tiff) {
  const char* text = nullptr;
  std::uint64_t count = 1;
  if (TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) == 0) return count;
  const std::string_view description(text), key("\nimages=");
  const std::size_t at = description.find(key);
  if (description.starts_with("ImageJ=") && at != std::string_view::npos)
    std::from_chars(text + at + key.size(), text + description.size(), count);
  return count;
}

/// Throws if the tags claim more memory than the file has. libtiff keeps the values of all tags of a
/// directory, and many tags can name the same bytes. In honest files values and directories do not overlap,
/// so that they fit the file together.
void check_tags(Bytes bytes) {
  const ExifReader reader(bytes, true);
  const std::uint64_t most = bytes.size() + (std::uint64_t{1} << 20);  // small files may be odd
  std::uint64_t directories = 0;
  std::set<std::uint64_t> seen;
  for (std::uint64_t at = reader.first_directory(); seen.insert(at).second; at = reader.next_of(at)) {
    std::uint64_t values = 0;
    for (std::size_t i = 0; i < reader.entries(at); ++i) {
      const ExifEntry entry = reader.entry(at, i);
      const std::size_t known = bytes_of_type(entry.type);
      const std::uint64_t size = entry.count * std::uint64_t{known != 0 ? known : sizeof(std::uint64_t)};
      if (size <= bytes.size()) values += size;  // libtiff reads no others
    }
    directories += std::uint64_t{reader.entries(at)} * reader.sizes().entry;
    if (values > most || directories > most) damaged("TIFF", "its tags are together larger than the file");
  }
}

/// Returns the bytes of a page's pixels if they are stored uncompressed in one piece, otherwise an empty
/// range.
PixelRange pixels_in_one_piece(TIFF* tiff) {
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  if (compression != COMPRESSION_NONE || TIFFIsTiled(tiff) != 0) return {};
  PixelRange range{TIFFGetStrileOffset(tiff, 0), TIFFGetStrileOffset(tiff, 0)};
  for (std::uint32_t i = 0; i < TIFFNumberOfStrips(tiff); ++i) {
    if (TIFFGetStrileOffset(tiff, i) != range.end) return {};
    range.end += TIFFGetStrileByteCount(tiff, i);
  }
  return range;
}

/// Adds the pictures of a stack above 4 GB, which ImageJ writes with the directory of the first picture
/// alone. The pixels of the others follow those of the first.
void add_stack(TIFF* tiff, std::uint64_t file_size, const ReadOptions& options,
               std::vector<FilePicture>& pages) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  const std::uint64_t images = images_of_stack(tiff);
  const auto [begin, end] = images > 1 ? pixels_in_one_piece(tiff) : PixelRange{};
  if (begin >= end || end > file_size) return;
  const std::uint64_t there = (file_size - begin) / (end - begin);
  if (there == 1) return;  // a single page saved from a stack
  if (there < images && !options.allow_partial) truncated("TIFF");
  if (images > most)
    unsupported("TIFF", "a stack of " + std::to_string(images) + " pictures", "Cut it into smaller ones.");
  for (std::uint64_t i = 1; i < std::min(images, there); ++i)
    pages.push_back({{}, pages.front().at, false, 0, i * (end - begin)});
}

/// Lists the pages by the offsets of their directories. Thumbnails, levels of a pyramid and transparency
/// masks are not pages. If that leaves none, as in camera RAW with a preview before the picture, the first
/// directory is the page.
std::vector<FilePicture> list_pages(Bytes bytes, const ReadOptions& options) {
  check_tags(bytes);
  TiffFile file(bytes);
  const TiffHandle tiff = open_tiff(file, "rm");
  if (tiff == nullptr) fail(file);
  const FilePicture first{{}, TIFFCurrentDirOffset(tiff.get())};
  if (has_preview_first(tiff.get())) return {first};
  std::vector<FilePicture> pages;
  bool complete = true;
  for (bool more = true; more;) {
    std::uint32_t subfile = 0;
    TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SUBFILETYPE, &subfile);
    if ((subfile & FILETYPE_REDUCEDIMAGE) == 0)
      pages.push_back({{}, TIFFCurrentDirOffset(tiff.get()), (subfile & FILETYPE_MASK) != 0});
    more = TIFFLastDirectory(tiff.get()) == 0;
    if (!more && !pages.empty() && TIFFCurrentDirOffset(tiff.get()) == first.at)
      add_stack(tiff.get(), bytes.size(), options, pages);
    if (more && TIFFReadDirectory(tiff.get()) == 0) more = complete = false;
  }
  if (!complete && !options.allow_partial)
    damaged("TIFF", "its page " + std::to_string(pages.size() + 1) + " cannot be read");
  return pages.empty() ? std::vector{first} : pages;
}

/// Opens the file at the directory of a page.
TiffHandle open_page(TiffFile& file, const FilePicture& page) {
  TiffHandle tiff = open_tiff(file, "rm");
  if (tiff == nullptr) fail(file);
  if (TIFFCurrentDirOffset(tiff.get()) != page.at && TIFFSetSubDirectory(tiff.get(), page.at) == 0)
    fail(file);
  if (page.shift != 0) {
    file.moved = pixels_in_one_piece(tiff.get());
    file.shift = page.shift;
  }
  return tiff;
}

/// Adds a warning if the directory after this page is damaged.
void check_next_page(Bytes bytes, const FilePicture& page, std::vector<std::string>& warnings) {
  TiffFile file(bytes);
  const TiffHandle tiff = open_page(file, page);
  if (TIFFLastDirectory(tiff.get()) == 0 && TIFFReadDirectory(tiff.get()) == 0)
    warnings.emplace_back("the page after this one cannot be read.");
}

/// Adds the warning of a page's colours, and drops a profile that has been used up.
void take_over(const TiffColours& colours, Metadata& metadata, std::vector<std::string>& warnings) {
  if (std::string warning = colours.warning(); !warning.empty()) warnings.push_back(std::move(warning));
  if (colours.uses_profile()) metadata.icc.clear();
}

Picture decode_page(Bytes bytes, const FilePicture& page, const ReadOptions& options) {
  TiffFile file(bytes);
  const TiffHandle tiff = open_page(file, page);
  const TiffLayout layout = read_layout(tiff.get());
  check_limits(layout.width, layout.height, layout.samples, layout.type, options.limits);
  file.error.clear();  // errors about tags that were not needed
  TiffBlocks blocks(tiff.get(), file, layout, options, false);
  accept(layout.width, layout.height, layout.samples, layout.type, options, blocks.held());
  Picture picture =
      allocate(layout.width, layout.height, layout.samples, layout.type, layout.pixel_alpha(), options);
  Image& image = picture.image;
  bool complete = true;
  for (std::uint64_t y = 0; y < layout.height; y += blocks.height())
    complete &= blocks.read(static_cast<std::uint32_t>(y), row_of(image, static_cast<std::int64_t>(y)));
  if (!complete) picture.warnings.push_back(partial_warning("TIFF"));
  picture.metadata = read_metadata(tiff.get(), bytes, page.at);

  const TiffColours colours(tiff.get(), layout, picture.metadata.icc);
  take_over(colours, picture.metadata, picture.warnings);
  const auto count = std::size_t{layout.width} * layout.height;
  Image pixels;
  if (Shape shape = image.shape(); shape.channels != colours.channels()) {
    shape.channels = colours.channels();
    pixels = Image(shape, options.allocator);
  }
  colours.convert(image.data(), pixels.empty() ? image.data() : pixels.data(), count);
  if (!pixels.empty()) image = std::move(pixels);
  turn_upright(picture, std::move(image), layout.orientation, options.allocator);
  if (options.allow_partial) check_next_page(bytes, page, picture.warnings);
  return picture;
}

/// Reads rows of a page. Keeps one row of blocks.
class PageRows final : public RowReader {
 public:
  PageRows(const InputFile& file, Bytes bytes, const FilePicture& page, const ReadOptions& options)
      : file_(file), page_(page), options_(options) {
    open();
    check_upright();
    held_ = shape_of(layout_.width, blocks_->height(), layout_.samples, layout_.type, Alpha::none);
    accept_rows(layout_.width, layout_.height, layout_.samples, layout_.type,
                byte_size(held_) + std::uint64_t{blocks_->held()}, options);
    rows_.resize(byte_size(held_));
    metadata = read_metadata(tiff_.get(), bytes, page.at);
    colours_.emplace(tiff_.get(), layout_, metadata.icc);
    take_over(*colours_, metadata, warnings);
    shape =
        shape_of(layout_.width, layout_.height, colours_->channels(), layout_.type, layout_.pixel_alpha());
    if (options.allow_partial) check_next_page(bytes, page, warnings);
  }

  void read(std::int64_t y, const MutableImageView& rows) override {
    const auto row_bytes = static_cast<std::size_t>(interleaved_strides(held_).row);
    for (std::int64_t i = 0; i < rows.shape.height; ++i) {
      const auto row = static_cast<std::uint32_t>(y + i);
      const std::uint32_t begin = row / blocks_->height() * blocks_->height();
      if (!there_ || begin != begin_) load(begin);
      colours_->convert(rows_.data() + (row - begin) * row_bytes, rows.at(0, i), layout_.width);
    }
  }

 private:
  void open() {
    tiff_ = open_page(file_, page_);
    layout_ = read_layout(tiff_.get());
    check_limits(layout_.width, layout_.height, layout_.samples, layout_.type,
                 without_bytes(options_.limits));
    file_.error.clear();  // errors about tags that were not needed
    blocks_.emplace(tiff_.get(), file_, layout_, options_, true);
  }

  void check_upright() const {
    if (layout_.orientation > 1 && layout_.orientation <= 8)
      throw Error(ErrorKind::usage,
                  "its rows are not stored from the top to the bottom (orientation " +
                      std::to_string(layout_.orientation) +
                      "), and are not read one by one. Read the file as a whole (without --stream), or turn "
                      "it first, for example with vips autorot.");
  }

  void load(std::uint32_t begin) {
    there_ = false;  // until load() succeeds
    // Going back opens the file again: libtiff keeps state from further down, such as tables of damaged JPEG
    // data, and would decode the rows above with it.
    if (begin < begin_) open();
    begin_ = begin;
    if (!blocks_->read(begin, rows_.data()) && !damaged_) {
      warnings.push_back(partial_warning("TIFF"));
      damaged_ = true;
    }
    there_ = true;
  }

  TiffFile file_;
  FilePicture page_;
  ReadOptions options_;
  TiffHandle tiff_;
  TiffLayout layout_;
  Shape held_;
  FileBytes rows_;
  std::optional<TiffBlocks> blocks_;
  std::optional<TiffColours> colours_;
  std::uint32_t begin_ = 0;  ///< first row of the row of blocks requested last
  bool there_ = false;       ///< `rows_` holds the row of blocks at `begin_`
  bool damaged_ = false;
};

std::unique_ptr<RowReader> open_page_rows(const InputFile& file, Bytes bytes, const FilePicture& page,
                                          const ReadOptions& options) {
  return std::make_unique<PageRows>(file, bytes, page, options);
}

}  // namespace

Codec tiff_codec() {
  Codec codec{"TIFF", {".tiff", ".tif"}, sniff_tiff};
  codec.several = {"page", list_pages, decode_page, encode_tiff};
  codec.open_rows = open_page_rows;
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
