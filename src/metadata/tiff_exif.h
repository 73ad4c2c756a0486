#pragma once
// EXIF of TIFF files, which is not a block but directories of the file itself, and IPTC, which is a tag.

#include "metadata/bytes.h"

namespace satin::io {

/// The tags of the first picture that describe it, with its EXIF and GPS directories, as a block of its own;
/// empty if there are none. Classic TIFF alone.
[[nodiscard]] FileBytes exif_from_tiff(Bytes file);

/// The IPTC data of the first picture; empty if there is none. Classic TIFF alone.
[[nodiscard]] FileBytes iptc_from_tiff(Bytes file);

/// Appends the tags of an EXIF block and IPTC data to a little-endian classic TIFF file of one picture, whose
/// own tags win. A maker note moves, so that offsets inside it lead nowhere.
void add_to_tiff(FileBytes& file, Bytes exif, Bytes iptc);

}  // namespace satin::io
