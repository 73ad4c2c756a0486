#pragma once
// Files of pictures that are never whole in memory.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
  /// What a reader should know of the file, as Picture::warnings. With ReadOptions::allow_partial more comes
  /// while rows are read.
  [[nodiscard]] virtual const std::vector<std::string>& warnings() const noexcept = 0;
};

/// Opens a file of TIFF (strips or tiles, BigTIFF too), NPY, PFM, binary PNM or PAM: pixels, metadata and
/// warnings are those of read_picture(). Rows are read from the file when they are asked for, so that it must
/// stay as it is.
///
/// Of the options the limit of pixels, `page`, `allow_partial` and `accept` count; the limit of bytes holds
/// for what is in memory, and `accept` is told that as beside the picture. Held are a row of tiles and a
/// tile, or a strip; of strips above 1 MiB that LZW, Deflate, PackBits, LZMA or Zstandard compress, 1 MiB of
/// rows and the compressed strip (all of the strip with `allow_partial`); of other formats 1 MiB or a row.
///
/// Throws as read_picture(), where data is damaged by read() once it is reached; Error(usage) with the remedy
/// for what is not read by rows: other formats, numbers as text in PNM, TIFF files whose orientation is not
/// that of their rows, standard input, devices and pipes.
[[nodiscard]] std::unique_ptr<FileRows> open_rows(const std::filesystem::path& path,
                                                  const ReadOptions& options = {});

/// The rows of a picture that is whole in memory.
class ImageRows final : public RowSource {
 public:
  /// One frame in host memory, which must outlive the rows. Throws Error(usage) for another one.
  explicit ImageRows(const ImageView& picture);

  [[nodiscard]] const Shape& shape() const noexcept override { return picture_.shape; }
  void rewind() override { next_ = 0; }
  void read(const MutableImageView& rows) override;

 private:
  ImageView picture_;
  std::int64_t next_ = 0;
};

/// How write_rows() writes.
struct RowWriteOptions {
  bool overwrite = false;  ///< otherwise an existing file is refused with Error(usage)
  bool pyramid = false;    ///< pictures of half the size behind the picture, down to one tile
  int threads = 0;         ///< that compress; 0: all that the process may use
  Metadata metadata{};     ///< goes into the file beside the pixels
  std::optional<std::filesystem::file_time_type> modified{};  ///< time of the file; otherwise now
};

/// Throws Error(usage) if rows of this shape cannot be written under this name: as check_writable(), and for
/// names that do not end in .tif or .tiff, standard output, devices and pipes, and pyramids of types other
/// than u8, u16 and f32. Creates nothing.
void check_rows_writable(const std::filesystem::path& path, const Shape& shape,
                         const RowWriteOptions& options = {});

/// Rewinds the source and writes all of its rows to a TIFF file of 256 x 256 tiles, BigTIFF where 4 GB could
/// be passed, with the compression and the metadata of write_picture(). The file appears whole or not at all.
///
/// The levels of a pyramid are pages of reduced resolution behind the picture, each half as wide and high as
/// the one before, rounded up. A pixel of one is the mean of four of the values as they are stored, rounded
/// to nearest, ties up; at odd edges that of the pixels that exist; straight colours are weighted by alpha.
///
/// Holds a row of tiles, as stored and compressed, and with a pyramid one of each level: memory grows with
/// the width alone. The source is asked for as many rows as a tile has, or what is left. Throws as
/// check_rows_writable(), what the source throws, and Error(environment) if the disk is full or there is no
/// memory for a row of tiles.
void write_rows(const std::filesystem::path& path, RowSource& rows, const RowWriteOptions& options = {});

}  // namespace satin
