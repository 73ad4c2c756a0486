#pragma once
// libtiff on files in memory and on the disk, and the two TIFF writers: encode_tiff() for pictures in memory,
// and TiledTiff for pictures that arrive row by row and are never whole in memory.

#include <tiffio.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/codec_steps.h"
#include "io/file.h"
#include "metadata/exif.h"
#include "satin/metadata.h"
#include "satin/new_file.h"
#include "satin/row_files.h"
#include "satin/view.h"

namespace satin::io {

/// A range of bytes in a file.
struct PixelRange {
  std::uint64_t begin = 0, end = 0;
};

/// A file for libtiff: an input in memory or on the disk, or an output in memory. It must outlive the handle
/// and keep its address. Nothing here throws, as libtiff is C.
class TiffFile {
 public:
  TiffFile() = default;
  explicit TiffFile(Bytes input) : input_(input) {}
  explicit TiffFile(const InputFile& input) : disk_(&input) {}
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept {
    return disk_ != nullptr ? disk_->size() : bytes().size();
  }
  /// Fills `target` from offset `at` on and returns the number of bytes read.
  [[nodiscard]] std::size_t read(std::uint64_t at, std::span<std::byte> target) noexcept;

  std::uint64_t position = 0;
  std::string error;  ///< first error of libtiff
  PixelRange moved;   ///< reads in this range are redirected by `shift` bytes
  std::uint64_t shift = 0;
  Sink output;

 private:
  [[nodiscard]] Bytes bytes() const noexcept { return input_.empty() ? Bytes(output.bytes) : input_; }

  Bytes input_;
  const InputFile* disk_ = nullptr;
};

struct TiffCloser {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, TiffCloser>;

/// Opens a file with a `mode` of TIFFOpen(). Returns null, with the reason in `file.error`, if libtiff
/// rejects it.
[[nodiscard]] TiffHandle open_tiff(TiffFile& file, const char* mode);

/// Writes one page for each image.
[[nodiscard]] FileBytes encode_tiff(std::span<const ImageView> images, std::span<const WriteOptions> options);

/// Compresses one tile as encode_tiff() compresses pictures, and returns its bytes. `pixels`, dense and of
/// the shape of the tile, may be changed. The sides of a tile are multiples of 16.
[[nodiscard]] FileBytes encode_tiff_tile(const Shape& tile, std::span<std::byte> pixels);

constexpr std::int64_t tile_side = 256;

/// Whether a tiled file of these pages might need offsets beyond the 32 bits of classic TIFF.
[[nodiscard]] bool needs_big_tiff(std::span<const Shape> pages, const Metadata& metadata);

/// A TIFF file of tiles that is written from the front to the back. It begins with its tiles, in the order in
/// which they arrive. The directories of all pages follow, and the header, which points to the first one, is
/// set last.
class TiledTiff {
 public:
  /// `pages` are the shapes of the picture and of the levels of its pyramid. `metadata` belongs to the
  /// picture. `big` selects BigTIFF.
  TiledTiff(NewFile& file, std::span<const Shape> pages, const Metadata& metadata, bool big);

  /// Appends the next compressed tile of a page. Tiles come from left to right and from top to bottom.
  void add_tile(std::size_t page, Bytes tile);
  /// Writes directories and header. Call it when every page has all its tiles.
  void finish();

 private:
  struct Page {
    ExifDirectory tags;
    ExifDescription description;
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint32_t> sizes;
  };

  void append(Bytes bytes);

  NewFile& file_;
  bool big_;
  std::uint64_t end_ = 0;
  std::vector<Page> pages_;
};

/// Writes all rows of the source, which is at its first row, as a tiled file. Each level of a pyramid keeps
/// one row of tiles, like the picture: together they need no more memory than the picture's own row of tiles.
void write_tiles(NewFile& file, RowSource& rows, const RowWriteOptions& options);

}  // namespace satin::io
