#pragma once
// Directories of TIFF files and of EXIF blocks as values: read with every offset checked, and written anew.

#include <map>

#include "metadata/bytes.h"

namespace satin::io {

/// The value of one tag.
struct ExifField {
  std::uint32_t type = 0;
  std::uint32_t count = 0;
  FileBytes value;  ///< little-endian
};
using ExifDirectory = std::map<std::uint32_t, ExifField>;

/// The field of one tag of the first directory; its `count` is 0 if there is none.
[[nodiscard]] ExifField first_field(Bytes file, std::uint32_t tag);

/// What a file says of its picture.
struct ExifDescription {
  ExifDirectory first;  ///< words, dates and resolution; nothing that tells where pixels lie
  ExifDirectory exif;
  ExifDirectory gps;
  [[nodiscard]] bool empty() const { return first.empty() && exif.empty() && gps.empty(); }
};

/// Empty if the bytes are neither a classic TIFF file nor an EXIF block.
[[nodiscard]] ExifDescription read_description(Bytes file);

/// All tags of the first directory of a little-endian file.
[[nodiscard]] ExifDirectory read_first_directory(Bytes file);

/// Appends the directories, `first` the last of them with pointers to the others, and sets the header's
/// offset to it.
void append_directories(Sink& sink, ExifDirectory first, const ExifDescription& description);

/// A block of its own, little-endian; empty if there is nothing in it.
[[nodiscard]] FileBytes exif_block(const ExifDescription& description);

}  // namespace satin::io
