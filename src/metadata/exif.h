#pragma once
// EXIF blocks and TIFF directories, which share their structure (TIFF 6.0, section 2; CIPA DC-008).
//
// ExifReader reads directories in place, with every offset checked. ExifDirectory holds one as values, to be
// written again. Functions behind them read and change the tags of an EXIF block that describe the pixels,
// and convert resolutions.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

/// Types of fields.
constexpr std::uint32_t type_ascii = 2, type_short = 3, type_long = 4, type_rational = 5,
                        type_signed_rational = 10;
/// Types of 64-bit numbers and offsets of directories, only in BigTIFF.
constexpr std::uint32_t type_long8 = 16, type_ifd8 = 18;
constexpr std::size_t entry_size = 12;

/// Returns the bytes of one value of a type, or 0 if there is no such type.
constexpr std::size_t bytes_of_type(std::uint32_t type) {
  constexpr std::array<std::uint8_t, 13> bytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
  return type < bytes.size() ? bytes[type] : 0;
}

struct ExifEntry {
  std::uint32_t tag = 0, type = 0, count = 0;
  std::size_t at = 0;        ///< offset of the entry
  std::size_t value_at = 0;  ///< offset of the value, or of a pointer to a value that does not fit
  std::uint32_t value = 0;   ///< SHORT or LONG value, or in classic files the pointer
};

/// Bytes of the numbers in a directory. BigTIFF widens all but tag and type.
struct DirectorySizes {
  unsigned count = 2, entry = entry_size, number = 4;
};
constexpr DirectorySizes big_sizes{8, 20, 8};

/// Reads one block; every offset is checked against its end.
class ExifReader {
 public:
  /// `with_big` also accepts BigTIFF, which EXIF blocks never are.
  explicit ExifReader(Bytes block, bool with_big = false)
      : block_(block),
        little_(starts_with(block, "II")),
        big_(with_big &&
             (starts_with(block, {"II+\0\x08\0\0\0", 8}) || starts_with(block, {"MM\0+\0\x08\0\0", 8}))),
        valid_(big_ || starts_with(block, {"II*\0", 4}) || starts_with(block, {"MM\0*", 4})),
        sizes_(big_ ? big_sizes : DirectorySizes{}) {
    valid_ = valid_ && block.size() >= (big_ ? 16 : 8);
  }

  [[nodiscard]] bool valid() const noexcept { return valid_; }
  [[nodiscard]] bool little() const noexcept { return little_; }
  [[nodiscard]] std::uint32_t u16(std::size_t at) const {
    return little_ ? le16(block_, at) : be16(block_, at);
  }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const {
    return little_ ? le32(block_, at) : be32(block_, at);
  }
  /// Reads a number of the width of offsets.
  [[nodiscard]] std::uint64_t number(std::size_t at) const {
    if (!big_) return u32(at);
    const std::uint64_t first = u32(at), second = u32(at + 4);
    return little_ ? first | second << 32 : first << 32 | second;
  }
  [[nodiscard]] std::size_t first_directory() const { return valid_ ? number(sizes_.number) : 0; }
  [[nodiscard]] const DirectorySizes& sizes() const noexcept { return sizes_; }

  /// Returns the number of entries inside the block.
  [[nodiscard]] std::size_t entries(std::size_t directory) const {
    if (directory == 0 || directory > block_.size() - sizes_.count) return 0;
    const std::uint64_t count = big_ ? number(directory) : u16(directory);
    return std::min<std::uint64_t>(count, (block_.size() - directory - sizes_.count) / sizes_.entry);
  }

  [[nodiscard]] ExifEntry entry(std::size_t directory, std::size_t index) const {
    ExifEntry entry;
    entry.at = directory + sizes_.count + index * sizes_.entry;
    entry.value_at = entry.at + 4 + sizes_.number;
    entry.tag = u16(entry.at);
    const std::uint64_t count = number(entry.at + 4);
    // An entry with more values than any block can hold gets no type.
    entry.type = count <= UINT32_MAX ? u16(entry.at + 2) : 0;
    entry.count = static_cast<std::uint32_t>(count);
    entry.value = entry.type == type_short ? u16(entry.value_at) : u32(entry.value_at);
    return entry;
  }

  [[nodiscard]] std::optional<ExifEntry> find(std::size_t directory, std::uint32_t tag) const {
    for (std::size_t i = 0; i < entries(directory); ++i)
      if (const ExifEntry found = entry(directory, i); found.tag == tag) return found;
    return std::nullopt;
  }

  /// Returns the numbers of a SHORT or LONG entry; empty if they are not inside the block.
  [[nodiscard]] std::vector<std::uint32_t> numbers(const ExifEntry& entry) const {
    if (entry.type != type_short && entry.type != type_long) return {};
    const std::uint64_t size = entry.type == type_short ? 2 : 4, total = entry.count * size;
    const std::uint64_t start = total <= sizes_.number ? entry.value_at : number(entry.value_at);
    if (start > block_.size() || total > block_.size() - start) return {};
    std::vector<std::uint32_t> result(entry.count);
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = size == 2 ? u16(start + i * size) : u32(start + i * size);
    return result;
  }

  /// Returns the offset of the next directory, or 0 if there is none.
  [[nodiscard]] std::size_t next_of(std::size_t directory) const {
    const std::size_t link = link_of(directory);
    return link == 0 ? 0 : number(link);
  }

  /// Returns where the offset of the next directory is stored, or 0 if that is not inside the block.
  [[nodiscard]] std::size_t link_of(std::size_t directory) const {
    const std::size_t at = directory + sizes_.count + entries(directory) * sizes_.entry;
    return directory != 0 && at + sizes_.number <= block_.size() ? at : 0;
  }

 private:
  Bytes block_;
  bool little_;
  bool big_;
  bool valid_;
  DirectorySizes sizes_;
};

/// The value of one tag.
struct ExifField {
  std::uint32_t type = 0;
  std::uint32_t count = 0;
  FileBytes value;  ///< little-endian
};
using ExifDirectory = std::map<std::uint32_t, ExifField>;

/// The directories that describe a picture.
struct ExifDescription {
  ExifDirectory first;  ///< texts, dates and resolution, but no tags about the storage of pixels
  ExifDirectory exif;
  ExifDirectory gps;
  [[nodiscard]] bool empty() const { return first.empty() && exif.empty() && gps.empty(); }
};

/// Reads the directory at this offset of a TIFF file, or the first one of an EXIF block. The result is empty
/// if the bytes are neither.
[[nodiscard]] ExifDescription read_description(Bytes file, std::optional<std::uint64_t> directory = {});

/// Reads all tags of the directory of each page of a little-endian file as libtiff writes it.
[[nodiscard]] std::vector<ExifDirectory> read_directories(Bytes file);

/// The end of the file to which directories are appended.
struct TiffEnd {
  std::uint64_t base = 0;  ///< offset in the file of the first byte of the sink
  bool big = false;        ///< BigTIFF, with 64-bit offsets
};

/// Appends the directories. `first` comes last, with pointers to the others and to the directory of the next
/// page (0: none). Returns the offset of `first` in the file.
std::uint64_t append_directories(Sink& sink, const TiffEnd& end, ExifDirectory first,
                                 const ExifDescription& description, std::uint64_t next = 0);

/// Returns a little-endian EXIF block; empty for an empty description.
[[nodiscard]] FileBytes exif_block(const ExifDescription& description);

/// Returns the IPTC data of the directory at this offset; empty if there is none.
[[nodiscard]] FileBytes iptc_from_tiff(Bytes file, std::uint64_t directory);

/// Metadata for a page of a TIFF file.
struct PageTags {
  Bytes exif;
  Bytes iptc;
};

/// Appends the tags of EXIF blocks and IPTC data to a little-endian classic TIFF file of as many pages. The
/// file's own tags have priority. Offsets inside a maker note become invalid because it moves.
void add_to_tiff(FileBytes& file, std::span<const PageTags> pages);

/// Adds the metadata of a page to its directory, whose own tags have priority. Returns the EXIF description,
/// whose other directories the caller writes to the file.
[[nodiscard]] ExifDescription add_tags(ExifDirectory& directory, const PageTags& page);

/// Returns the orientation, 1 to 8, in an EXIF block that starts with its TIFF header; nothing if it has none
/// or is malformed.
[[nodiscard]] std::optional<int> exif_orientation(Bytes exif) noexcept;

/// Returns a block with only the orientation.
[[nodiscard]] FileBytes exif_of_orientation(int orientation);

/// Adapts the block in place to a picture of this size and orientation. Sets the pixel dimensions and removes
/// pictures of the old state: previews in other directories, and values that hold an encoded picture, such as
/// maker notes. Their bytes are overwritten, like all bytes outside entries and values, because maker notes
/// point to previews elsewhere. A block that is not EXIF becomes empty.
void describe_in_exif(FileBytes& exif, std::int64_t width, std::int64_t height, int orientation = 1);

/// Moves the subject's place and adapts the resolution of the focal plane, from a picture that `orientation`
/// turns upright to a result of another size. Removes a subject outside the result, and crops. Call it before
/// describe_in_exif(), which sets the size. Returns whether anything was removed.
bool frame_in_exif(FileBytes& exif, const Framing& framing, int orientation = 1);

// Resolution in pixels per length, in the units of each format.

/// Whole pixels per unit, as in JFIF and pHYs.
struct StoredResolution {
  std::uint32_t x = 0, y = 0;
  unsigned unit = 0;  ///< the format's number of the unit; 0: none
};

// These functions return nothing for numbers without information: 0, or square pixels without a unit.
[[nodiscard]] std::optional<Resolution> resolution_of_exif(Bytes exif);
[[nodiscard]] std::optional<Resolution> resolution_of_jfif(Bytes segment);
[[nodiscard]] std::optional<Resolution> resolution_of_physical(Bytes chunk);

// These functions return nothing if the numbers do not fit the format.
[[nodiscard]] std::optional<StoredResolution> jfif_of(const Resolution& resolution);
[[nodiscard]] std::optional<StoredResolution> physical_of(const Resolution& resolution);

/// Converts a resolution per metre to one per inch, because TIFF has only inches and centimetres.
[[nodiscard]] Resolution without_metres(const Resolution& resolution);

/// Exchanges x and y, also in the EXIF block, for a picture that is turned by 90 degrees.
void turn_resolution(Metadata& metadata);

}  // namespace satin::io
