#pragma once
// TIFF files of tiles that are written from the front to the back, for pictures that are never whole in
// memory. A file begins with its tiles, in the order in which they come; the directories of all pages follow
// them, and the header, which leads to the first one, is set at last.

#include <span>
#include <vector>

#include "metadata/exif.h"
#include "satin/metadata.h"
#include "satin/new_file.h"
#include "satin/row_files.h"
#include "satin/view.h"

namespace satin::io {

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
