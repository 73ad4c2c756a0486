#pragma once
// The pixels of a TIFF page: strips and tiles, and what their samples mean.

#include <array>
#include <optional>

#include "io/convert.h"
#include "io/tiff_file.h"

namespace satin::io {

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
  bool separate = false;  ///< planes one after the other
  Type type = Type::u8;
  Alpha alpha = Alpha::none;  ///< as stored

  /// Integers with premultiplied alpha are straightened.
  [[nodiscard]] Alpha pixel_alpha() const noexcept {
    const bool straightened = alpha == Alpha::premultiplied && (type == Type::u8 || type == Type::u16);
    return straightened ? Alpha::straight : alpha;
  }
};

/// Error(input) with what libtiff complained of, which is then forgotten.
[[noreturn]] void fail(TiffFile& file);

/// As camera RAW has it: the picture is behind a pointer.
[[nodiscard]] bool has_preview_first(TIFF* tiff);

/// The current directory. Throws Error(input) for pixels that are not read.
[[nodiscard]] TiffLayout read_layout(TIFF* tiff);

/// Samples of a page, read by rows of blocks, which are strips or tiles.
class TiffBlocks {
 public:
  /// The handle, whose current directory is that of the page, and its file must outlive the blocks. Throws
  /// Error(input) for blocks that do not fit the page. With `in_rows`, high strips whose compression allows
  /// it are read a few rows at a time, in their order. Memory is taken by read().
  TiffBlocks(TIFF* tiff, TiffFile& file, const TiffLayout& layout, const ReadOptions& options, bool in_rows);

  /// Rows of pixels in a row of blocks, of which the last one may have fewer.
  [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
  /// Bytes that a block takes beside the rows.
  [[nodiscard]] std::size_t held() const noexcept { return direct_ ? 0 : block_bytes_; }

  /// The row of blocks that begins at this row of pixels, to dense interleaved rows, in which samples of 1, 2
  /// and 4 bits become one byte each. False if blocks are missing, which only ReadOptions::allow_partial lets
  /// through: their pixels are then 0.
  bool read(std::uint32_t y, std::byte* rows);

 private:
  /// One strip or tile and the part of it that lies inside the picture.
  struct Block {
    std::uint32_t x, y, width, height;
    std::uint16_t plane;
  };

  [[nodiscard]] bool decode(const Block& block, std::byte* target);
  void read_lines(std::uint32_t y, std::uint32_t count, std::byte* rows);
  void place(const Block& block, std::byte* rows) const;

  TIFF* tiff_;
  TiffFile& file_;
  TiffLayout layout_;
  bool partial_;
  bool tiled_;
  bool lines_ = false;   ///< a few rows of a strip at a time
  bool direct_ = false;  ///< blocks are stored as rows are
  std::uint32_t width_ = 0;
  std::uint32_t height_ = 0;
  std::uint64_t row_bytes_ = 0;
  std::uint64_t block_bytes_ = 0;
  FileBytes buffer_;  ///< one block
};

/// What samples mean: palettes, few bits, white as zero, inks and integer premultiplied alpha become what
/// Satin works on. Integers lose the colour of faint pixels when it is multiplied by alpha, so that such a
/// file is straightened once, on reading.
class TiffColours {
 public:
  /// `icc` is the profile of the page.
  TiffColours(TIFF* tiff, const TiffLayout& layout, Bytes icc);

  /// Of a pixel, which may differ from the samples.
  [[nodiscard]] int channels() const noexcept;
  /// True if the pixels have left the profile behind.
  [[nodiscard]] bool uses_profile() const noexcept { return inks_.has_value(); }
  /// Empty if there is nothing to say.
  [[nodiscard]] std::string warning() const { return inks_ ? inks_->warning() : std::string(); }

  /// Samples as TiffBlocks has them to pixels, which may lie where the samples do if there are as many.
  void convert(const std::byte* samples, std::byte* pixels, std::size_t count) const;

 private:
  void read_palette(TIFF* tiff);

  TiffLayout layout_;
  std::array<std::array<std::byte, 3>, 256> palette_{};
  std::optional<InkConversion> inks_;
};

}  // namespace satin::io
