#pragma once
// Directories of TIFF files and of EXIF blocks as values: read with every offset checked, and written anew.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// The value of one tag.
struct ExifField {
  std::uint32_t type = 0;
  std::uint32_t count = 0;
  FileBytes value;  ///< little-endian
};
using ExifDirectory = std::map<std::uint32_t, ExifField>;

/// The field of one tag of the directory at this offset of a TIFF file; its `count` is 0 if there is none.
[[nodiscard]] ExifField field_of(Bytes file, std::uint64_t directory, std::uint32_t tag);

/// What a file says of its picture.
struct ExifDescription {
  ExifDirectory first;  ///< words, dates and resolution; nothing that tells where pixels lie
  ExifDirectory exif;
  ExifDirectory gps;
  [[nodiscard]] bool empty() const { return first.empty() && exif.empty() && gps.empty(); }
};

/// Reads the directory at this offset of a TIFF file, or the first one of an EXIF block, which is no BigTIFF.
/// The result is empty if the bytes are neither.
[[nodiscard]] ExifDescription read_description(Bytes file, std::optional<std::uint64_t> directory = {});

/// All tags of the directory of each page of a little-endian file as libtiff writes it.
[[nodiscard]] std::vector<ExifDirectory> read_directories(Bytes file);

/// Where directories are appended.
struct TiffEnd {
  std::uint64_t base = 0;  ///< the offset that the first byte of the sink has in its file
  bool big = false;        ///< BigTIFF: offsets of 64 bits
};

/// Appends the directories, `first` the last of them with pointers to the others and to the directory of the
/// next page, which is 0 at the end. Gives the offset of `first` in the file.
std::uint64_t append_directories(Sink& sink, const TiffEnd& end, ExifDirectory first,
                                 const ExifDescription& description, std::uint64_t next = 0);

/// The same in a classic file that is whole in memory; sets the header's offset to `first` as well.
std::uint32_t append_directories(Sink& sink, ExifDirectory first, const ExifDescription& description,
                                 std::uint32_t next = 0);

/// A block of its own, little-endian; empty if there is nothing in it.
[[nodiscard]] FileBytes exif_block(const ExifDescription& description);

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
