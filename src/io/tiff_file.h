#pragma once
// libtiff on files in memory and on the disk, and the two writers: of pictures that are whole in memory, and
// of tiles that arrive one after the other.

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

/// What libtiff works on. Must outlive the handle and stay where it is. Nothing here throws, as libtiff is C.
class TiffFile {
 public:
  TiffFile() = default;
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;
  virtual ~TiffFile() = default;

  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `target` from this offset on; gives how many bytes there were.
  [[nodiscard]] virtual std::size_t read(std::uint64_t at, std::span<std::byte> target) noexcept = 0;
  /// False if that cannot be.
  [[nodiscard]] virtual bool write(std::uint64_t at, Bytes bytes) noexcept = 0;

  std::uint64_t position = 0;
  std::string error;  ///< the first complaint of libtiff
  PixelRange moved;   ///< what is read from here is taken from `shift` bytes behind
  std::uint64_t shift = 0;
};

/// Bytes in memory that are read.
class TiffInput final : public TiffFile {
 public:
  explicit TiffInput(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] std::size_t read(std::uint64_t at, std::span<std::byte> target) noexcept override;
  [[nodiscard]] bool write(std::uint64_t, Bytes) noexcept override { return false; }

 private:
  Bytes bytes_;
};

/// A file on the disk that is read.
class TiffOnDisk final : public TiffFile {
 public:
  explicit TiffOnDisk(const InputFile& file) : file_(file) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.size(); }
  [[nodiscard]] std::size_t read(std::uint64_t at, std::span<std::byte> target) noexcept override;
  [[nodiscard]] bool write(std::uint64_t, Bytes) noexcept override { return false; }

 private:
  const InputFile& file_;
};

struct TiffCloser {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, TiffCloser>;

/// `mode` as for TIFFOpen(). Null if libtiff does not accept the file; the reason is then in `file.error`.
[[nodiscard]] TiffHandle open_tiff(TiffFile& file, const char* mode);

[[nodiscard]] FileBytes encode_tiff(const ImageView& image, const WriteOptions& options);
/// One page for each image.
[[nodiscard]] FileBytes encode_tiff_pages(std::span<const ImageView> images,
                                          std::span<const WriteOptions> options);

/// The compressed bytes of one tile of a file as encode_tiff() makes them. `pixels`, dense and of the tile's
/// shape, may be changed. The sides of a tile are multiples of 16.
[[nodiscard]] FileBytes encode_tiff_tile(const Shape& tile, std::span<std::byte> pixels);

constexpr std::int64_t tile_side = 256;

/// True if offsets of 32 bits, those of classic TIFF, might not reach the end of such a file.
[[nodiscard]] bool needs_big_tiff(std::span<const Shape> pages, const Metadata& metadata);

class TiledTiff {
 public:
  /// `pages`: the picture, then the levels of its pyramid. `metadata` is that of the picture. `big`: BigTIFF.
  TiledTiff(NewFile& file, std::span<const Shape> pages, const Metadata& metadata, bool big);

  /// Appends a compressed tile: the one that follows in its page, from left to right and from top to bottom.
  void add_tile(std::size_t page, Bytes tile);
  /// Once every page has all its tiles.
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

/// Writes all rows of the source, which stands at its top, to the file. Each level of a pyramid holds a row
/// of tiles as the picture does: together no more than the picture's own.
void write_tiles(NewFile& file, RowSource& rows, const RowWriteOptions& options);

}  // namespace satin::io
