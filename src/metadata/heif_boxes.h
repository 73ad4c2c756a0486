#pragma once
// The boxes of HEIC and AVIF files (ISO/IEC 14496-12 and 23008-12): what they say of the picture, without its
// pixels.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// True if these brands of the `ftyp` box make the file a still picture or a sequence of pictures in AV1.
[[nodiscard]] bool is_avif(Bytes bytes);
/// True if the brands say a still picture or a sequence of pictures in HEVC or any other coding.
[[nodiscard]] bool is_heic(Bytes bytes);

/// A picture. `orientation` is what `irot` and `imir` do, as EXIF would say it.
struct HeifPicture {
  int bits = 8;
  bool grey = false;
  bool quarter_chroma = false;  ///< half as wide and half as high (4:2:0)
  bool alpha = false;
  int orientation = 1;
};

/// The picture with the number `item`; 0 is the primary one. Nothing if there is no whole `meta` box in these
/// bytes, which may be the start of a file, or no such picture in it.
[[nodiscard]] std::optional<HeifPicture> read_heif_boxes(Bytes bytes, std::uint32_t item = 0);

/// How the primary picture is coded, such as "hvc1", "av01" or "grid"; empty if the boxes do not say.
[[nodiscard]] std::string_view heif_coding(Bytes bytes);

/// The pictures of which others are composed, in ascending order.
[[nodiscard]] std::vector<std::uint32_t> heif_parts(Bytes bytes);

/// Number of pictures in the longest track of pictures (`moov`); 0 if there is none.
[[nodiscard]] std::uint32_t heif_sequence_length(Bytes bytes);

/// True if the boxes of the items and of their data end in the file. Phones put what is no box behind them.
[[nodiscard]] bool is_whole_heif(Bytes bytes);

}  // namespace satin::io
