#pragma once
// The boxes of HEIC and AVIF files (ISO/IEC 14496-12 and 23008-12): properties of pictures, without decoding
// them. JPEG 2000 has boxes of the same form.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

struct Box {
  std::string_view type;
  Bytes content;
};

/// Reads boxes and numbers from the front of some bytes. Missing bytes read as 0 and end the reading.
class BoxReader {
 public:
  explicit BoxReader(Bytes bytes) : rest_(bytes) {}

  /// Whether the last complete box was read.
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool cut() const { return cut_; }

  std::uint32_t number(std::size_t size) {
    const Bytes bytes = take(size);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value = value << 8 | byte_at(bytes, i);
    return value;
  }

  Bytes take(std::uint64_t size) {
    cut_ = cut_ || size > rest_.size();
    if (cut_) rest_ = {};
    const Bytes bytes = rest_.first(cut_ ? 0 : size);
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }

  /// Reads the next box, with empty content if it is incomplete. A size of 1 precedes a 64-bit size; a
  /// size of 0 means all remaining bytes (ISO/IEC 14496-12, 4.2).
  Box box() {
    std::uint64_t size = number(4), header = 8;
    const std::string_view type = text_of(take(4));
    if (size == 0) return {type, take(rest_.size())};
    if (size == 1) {
      size = std::uint64_t{number(4)} << 32;
      size |= number(4);
      header = 16;
    }
    cut_ = cut_ || size < header;
    return {type, take(size - header)};
  }

 private:
  Bytes rest_;
  bool cut_ = false;
};

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

/// Whether an item restores light of the primary picture by a gain map (`tmap`, ISO/IEC 23008-12, 6.6.2.4).
[[nodiscard]] bool has_tone_map(Bytes bytes);

/// Returns the number of pictures in the longest track of pictures (`moov`), or 0 if there is none.
[[nodiscard]] std::uint32_t heif_sequence_length(Bytes bytes);

/// Whether the boxes of items and their data are complete. Phones add other data after them.
[[nodiscard]] bool is_whole_heif(Bytes bytes);

}  // namespace satin::io
