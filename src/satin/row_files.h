#pragma once
// Files that are read and written row by row, for pictures that do not fit in memory.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "satin/io.h"
#include "satin/rows.h"

namespace [[gnu::visibility("default")]] satin {

/// A picture whose rows are read from a file on demand.
class FileRows : public RowSource {
 public:
  /// Metadata of the picture, as Picture::metadata.
  [[nodiscard]] virtual const Metadata& metadata() const noexcept = 0;
  /// Warnings, as Picture::warnings. With ReadOptions::allow_partial, reading rows may add some.
  [[nodiscard]] virtual const std::vector<std::string>& warnings() const noexcept = 0;
};

/// Opens a file of TIFF (strips or tiles, BigTIFF too), NPY, PFM, binary PNM or PAM: pixels, metadata and
/// warnings are those of read_picture(). Rows are read from the file on demand, so the file must not change.
///
/// The options `limits.pixels`, `page`, `allow_partial` and `accept` apply. `limits.bytes` applies to the
/// bytes in memory, which `accept` receives as the additional bytes. In memory are, for TIFF, one row of
/// tiles and one tile, or one strip. For strips above 1 MiB with LZW, Deflate, PackBits, LZMA or Zstandard it
/// is 1 MiB of rows and the compressed strip (the whole strip with `allow_partial`); for other formats, 1 MiB
/// or one row.
///
/// Throws as read_picture(); read() throws when it reaches damaged data. Throws Error(usage) with the remedy
/// for files that cannot be read by rows: other formats, PNM with numbers as text, TIFF files with a rotated
/// or mirrored orientation, standard input, devices and pipes.
[[nodiscard]] std::unique_ptr<FileRows> open_rows(const std::filesystem::path& path,
                                                  const ReadOptions& options = {});

/// The rows of a picture in memory.
class ImageRows final : public RowSource {
 public:
  /// `picture` is one frame in host memory, which must outlive this object. Throws Error(usage) for any other
  /// view.
  explicit ImageRows(const ImageView& picture);

  [[nodiscard]] const Shape& shape() const noexcept override { return picture_.shape; }
  void rewind() override { next_ = 0; }
  void read(const MutableImageView& rows) override;

 private:
  ImageView picture_;
  std::int64_t next_ = 0;
};

/// Options of write_rows().
struct RowWriteOptions {
  bool overwrite = false;  ///< replaces an existing file, which is otherwise refused with Error(usage)
  bool pyramid = false;    ///< adds pictures of half the size, down to one tile
  int threads = 0;         ///< threads that compress; 0: all that the process may use
  Metadata metadata{};     ///< metadata to write
  std::optional<std::filesystem::file_time_type> modified{};  ///< modification time; unset: now
  /// Called as WriteOptions::before_rename is, when the temporary file is complete.
  std::function<void(const std::filesystem::path& temporary)> before_rename{};
};

/// Throws Error(usage) if rows of this shape cannot be written under this name: as check_writable(), and for
/// names that do not end in .tif or .tiff, standard output, devices and pipes, and pyramids of types other
/// than u8, u16 and f32. Creates nothing.
void check_rows_writable(const std::filesystem::path& path, const Shape& shape,
                         const RowWriteOptions& options = {});

/// Rewinds the source and writes all its rows to a TIFF file of 256 x 256 tiles (BigTIFF if it may exceed 4
/// GB), with the compression and the metadata of write_image(). The file appears complete or not at all.
///
/// The levels of a pyramid are pages of reduced resolution after the picture, each half as wide and high as
/// the previous one, rounded up. Each pixel is the mean of four stored values, rounded to nearest, ties up;
/// at odd edges, of the pixels that exist. Straight alpha weights the colours.
///
/// Memory holds one row of tiles, raw and compressed, and with a pyramid one for each level, so it grows only
/// with the width. Each call of read() requests the rows of one row of tiles. Throws as
/// check_rows_writable(), what the source throws, and Error(environment) if the disk is full or there is no
/// memory for a row of tiles.
void write_rows(const std::filesystem::path& path, RowSource& rows, const RowWriteOptions& options = {});

}  // namespace satin
