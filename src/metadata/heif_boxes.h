#pragma once
// The boxes of HEIC and AVIF files (ISO/IEC 14496-12 and 23008-12): what they say of the picture, without its
// pixels.

#include <cstdint>
#include <optional>

#include "metadata/bytes.h"

namespace satin::io {

/// True if these brands of the `ftyp` box make the file a still picture or a sequence of pictures in AV1.
[[nodiscard]] bool is_avif(Bytes bytes);
/// True if the brands say a still picture or a sequence of pictures in HEVC or any other coding.
[[nodiscard]] bool is_heic(Bytes bytes);

/// The primary picture. `orientation` is what `irot` and `imir` do, as EXIF would say it.
struct HeifPicture {
  int bits = 8;
  bool grey = false;
  bool quarter_chroma = false;  ///< half as wide and half as high (4:2:0)
  bool alpha = false;
  int orientation = 1;
};

/// Nothing if there is no whole `meta` box in these bytes, which may be the start of a file, or no primary
/// picture in it.
[[nodiscard]] std::optional<HeifPicture> read_heif_boxes(Bytes bytes);

/// True if the boxes of the items and of their data end in the file. Phones put what is no box behind them.
[[nodiscard]] bool is_whole_heif(Bytes bytes);

}  // namespace satin::io
