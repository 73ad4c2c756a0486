#pragma once
// Files of pictures that are never whole in memory.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "satin/io.h"
#include "satin/rows.h"

namespace [[gnu::visibility("default")]] satin {

/// A picture whose rows stay in its file until they are read.
class FileRows : public RowSource {
 public:
  /// Of the picture, as Picture::metadata.
  [[nodiscard]] virtual const Metadata& metadata() const noexcept = 0;
  /// What a reader should know of the file, as Picture::warnings.
  [[nodiscard]] virtual const std::vector<std::string>& warnings() const noexcept = 0;
};

/// Opens a TIFF file (strips or tiles, BigTIFF too), NPY, PFM or PNM: the pixels are those of read_picture().
/// Of the options the limit of pixels, `page`, `allow_partial` and `accept` count; the limit of bytes holds
/// for what is in memory. Throws as read_picture(), and Error(usage) with the remedy for formats that cannot
/// be read by rows (PNG, JPEG ...) and for TIFF files that would have to be turned or whose colours are
/// separated by CMYK.
[[nodiscard]] std::unique_ptr<FileRows> open_rows(const std::filesystem::path& path,
                                                  const ReadOptions& options = {});

/// How write_rows() writes.
struct RowWriteOptions {
  bool overwrite = false;  ///< otherwise an existing file is refused with Error(usage)
  bool pyramid = false;    ///< pictures of half the size behind the picture, down to one tile
  Metadata metadata{};     ///< goes into the file beside the pixels
};

/// Writes all rows to a TIFF file of 256 x 256 tiles, BigTIFF where 4 GB could be passed, compressed as
/// write_picture() compresses TIFF. The levels of a pyramid are pages of reduced resolution behind the
/// picture; a pixel of one is the mean of four, rounded to nearest, of straight alpha weighted by it. The
/// file appears whole or not at all. Holds rows of tiles: memory grows with the width alone. Throws
/// Error(usage) as write_picture() and for names that do not end in .tif or .tiff, Error(environment) if the
/// disk is full.
void write_rows(const std::filesystem::path& path, RowSource& rows, const RowWriteOptions& options = {});

}  // namespace satin
