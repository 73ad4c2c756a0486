#pragma once
// Where the parts of a JPEG file lie (ITU-T T.81, annex B), and of several in one file (CIPA DC-007, MPF).

#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// One segment before the first scan.
struct JpegPart {
  unsigned marker = 0;  ///< 0xE1: APP1
  std::size_t at = 0;   ///< of its marker
  Bytes content;        ///< behind its length
};

/// The segments before the first scan, as far as they are whole.
[[nodiscard]] std::vector<JpegPart> jpeg_parts(Bytes file);

/// Bytes of the first JPEG of the file with its end marker; 0 if it does not end.
[[nodiscard]] std::size_t jpeg_size(Bytes file);

/// True if it is coded without loss (SOF3, SOF7, SOF11, SOF15), which few decoders read.
[[nodiscard]] bool is_lossless_jpeg(Bytes file);

/// The pictures that the index of a file names, the first one too; those that do not lie in the file are
/// empty. Nothing if there is no index.
[[nodiscard]] std::vector<Bytes> mpf_pictures(Bytes file);

/// Returns the offsets of the pictures that the index names beside the first one, without thumbnails, gain
/// maps, depth and mattes.
[[nodiscard]] std::vector<std::size_t> further_jpegs(Bytes file);

/// The first JPEG of a file as one that stands alone: without its XMP and its index, which speak of what lay
/// behind it. Empty if it does not end.
[[nodiscard]] FileBytes jpeg_alone(Bytes file);

}  // namespace satin::io
