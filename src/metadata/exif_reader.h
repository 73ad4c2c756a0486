#pragma once
// Directories of TIFF files and of EXIF blocks, which share their structure (TIFF 6.0, section 2).

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// Field types.
constexpr std::uint32_t type_ascii = 2, type_short = 3, type_long = 4, type_rational = 5,
                        type_signed_rational = 10;
/// Numbers of 64 bits, and offsets of directories, in BigTIFF alone.
constexpr std::uint32_t type_long8 = 16, type_ifd8 = 18;
constexpr std::size_t entry_size = 12;

/// Bytes of one value of a type; 0 if there is no such type.
constexpr std::size_t bytes_of_type(std::uint32_t type) {
  constexpr std::array<std::uint8_t, 13> bytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
  return type < bytes.size() ? bytes[type] : 0;
}

struct ExifEntry {
  std::uint32_t tag = 0, type = 0, count = 0;
  std::size_t at = 0;        ///< of the entry
  std::size_t value_at = 0;  ///< of the value, or of the offset of one that does not fit
  std::uint32_t value = 0;   ///< of SHORT or LONG, or in classic files the offset of what does not fit
};

/// Bytes of the numbers of which a directory is made (TIFF 6.0, section 2; BigTIFF widens all but tag and
/// type).
struct DirectorySizes {
  unsigned count = 2, entry = entry_size, number = 4;
};
constexpr DirectorySizes big_sizes{8, 20, 8};

/// Reads one block; every offset is checked against its end.
class ExifReader {
 public:
  /// `with_big`: BigTIFF as well, which EXIF blocks are not.
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
  /// As wide as offsets are.
  [[nodiscard]] std::uint64_t number(std::size_t at) const {
    if (!big_) return u32(at);
    const std::uint64_t first = u32(at), second = u32(at + 4);
    return little_ ? first | second << 32 : first << 32 | second;
  }
  [[nodiscard]] std::size_t first_directory() const { return valid_ ? number(sizes_.number) : 0; }
  [[nodiscard]] const DirectorySizes& sizes() const noexcept { return sizes_; }

  /// Entries that lie inside the block.
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
    // More values than any block has are of no type.
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

  /// The numbers of a SHORT or LONG entry; empty if they do not lie in the block.
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

  /// The next directory; 0 for none.
  [[nodiscard]] std::size_t next_of(std::size_t directory) const {
    const std::size_t link = link_of(directory);
    return link == 0 ? 0 : number(link);
  }

  /// Where the offset of the next directory is kept; 0 if there is no room for it.
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

}  // namespace satin::io
