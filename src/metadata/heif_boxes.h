#pragma once
// The boxes of HEIC and AVIF files (ISO/IEC 14496-12 and 23008-12): properties of pictures, without decoding
// them.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// Whether the brands of the `ftyp` box are those of a still picture or a sequence of pictures in AV1.
[[nodiscard]] bool is_avif(Bytes bytes);
/// Whether the brands are those of a still picture or a sequence of pictures in HEVC or any other coding.
[[nodiscard]] bool is_heic(Bytes bytes);

struct HeifPicture {
  int bits = 8;
  bool grey = false;
  bool quarter_chroma = false;  ///< chroma of half width and half height (4:2:0)
  bool alpha = false;
  int orientation = 1;  ///< the effect of `irot` and `imir`, as an EXIF orientation
};

/// Reads picture number `item`, or the primary one for 0. Returns nothing if these bytes, which may be the
/// start of a file, have no complete `meta` box or no such picture.
[[nodiscard]] std::optional<HeifPicture> read_heif_boxes(Bytes bytes, std::uint32_t item = 0);

/// Returns the coding of the primary picture, such as "hvc1", "av01" or "grid"; empty if the boxes do not
/// give it.
[[nodiscard]] std::string_view heif_coding(Bytes bytes);

/// Returns the pictures of which others are composed, in ascending order.
[[nodiscard]] std::vector<std::uint32_t> heif_tiles(Bytes bytes);

/// Returns the number of pictures in the longest track of pictures (`moov`), or 0 if there is none.
[[nodiscard]] std::uint32_t heif_sequence_length(Bytes bytes);

/// Whether the boxes of items and their data are complete. Phones add other data after them.
[[nodiscard]] bool is_whole_heif(Bytes bytes);

}  // namespace satin::io
