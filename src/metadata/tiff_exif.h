#pragma once
// EXIF of TIFF files, which is not a block but directories of the file itself, and IPTC, which is a tag.

#include <cstdint>
#include <span>

#include "metadata/bytes.h"
#include "metadata/exif_directories.h"

namespace satin::io {

/// The tags of the picture in the directory at this offset that describe it, with its EXIF and GPS
/// directories, as a block of its own; empty if there are none.
[[nodiscard]] FileBytes exif_from_tiff(Bytes file, std::uint64_t directory);

/// The IPTC data of that picture; empty if there is none.
[[nodiscard]] FileBytes iptc_from_tiff(Bytes file, std::uint64_t directory);

/// What a page of a TIFF file is to have.
struct PageTags {
  Bytes exif;
  Bytes iptc;
};

/// Appends the tags of EXIF blocks and IPTC data to a little-endian classic TIFF file of as many pages, whose
/// own tags win. A maker note moves, so that offsets inside it lead nowhere.
void add_to_tiff(FileBytes& file, std::span<const PageTags> pages);

/// Adds what a page is to have to the tags of its directory, whose own win; gives its EXIF, whose other
/// directories go into the file beside it.
[[nodiscard]] ExifDescription add_tags(ExifDirectory& directory, const PageTags& page);

}  // namespace satin::io
