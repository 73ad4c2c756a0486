#pragma once
// libtiff on files in memory, and its writing.

#include <tiffio.h>

#include <memory>
#include <span>
#include <string>

#include "io/support.h"

namespace satin::io {

/// A file in memory: `input` for reading, `output` for writing. Must outlive the handle and stay where it is.
struct TiffFile {
  Bytes input;
  Sink output;
  bool writing = false;
  std::size_t position = 0;
  std::string error;  ///< the first complaint of libtiff
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

}  // namespace satin::io
