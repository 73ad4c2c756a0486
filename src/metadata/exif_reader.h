#pragma once
// Directories of TIFF files and of EXIF blocks, which share their structure (TIFF 6.0, section 2).

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "metadata/bytes.h"

namespace satin::io {

/// Field types with a value that is a number.
constexpr std::uint32_t type_short = 3, type_long = 4;
constexpr std::size_t entry_size = 12;

/// Bytes of one value of a type; 0 if there is no such type.
constexpr std::size_t bytes_of_type(std::uint32_t type) {
  constexpr std::array<std::uint8_t, 13> bytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
  return type < bytes.size() ? bytes[type] : 0;
}

struct ExifEntry {
  std::uint32_t tag = 0, type = 0, count = 0;
  std::size_t at = 0;       ///< of the entry
  std::uint32_t value = 0;  ///< of SHORT or LONG, or the offset of what does not fit
};

/// Reads one block; every offset is checked against its end.
class ExifReader {
 public:
  explicit ExifReader(Bytes block)
      : block_(block),
        little_(starts_with(block, {"II*\0", 4})),
        valid_(little_ || starts_with(block, {"MM\0*", 4})) {
    valid_ = valid_ && block.size() >= 8;
  }

  [[nodiscard]] bool valid() const noexcept { return valid_; }
  [[nodiscard]] bool little() const noexcept { return little_; }
  [[nodiscard]] std::uint32_t u16(std::size_t at) const {
    return little_ ? le16(block_, at) : be16(block_, at);
  }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const {
    return little_ ? le32(block_, at) : be32(block_, at);
  }
  [[nodiscard]] std::size_t first_directory() const { return valid_ ? u32(4) : 0; }

  /// Entries that lie inside the block.
  [[nodiscard]] std::size_t entries(std::size_t directory) const {
    if (directory == 0 || directory > block_.size() - 2) return 0;
    return std::min<std::size_t>(u16(directory), (block_.size() - directory - 2) / entry_size);
  }

  [[nodiscard]] ExifEntry entry(std::size_t directory, std::size_t index) const {
    ExifEntry entry;
    entry.at = directory + 2 + index * entry_size;
    entry.tag = u16(entry.at);
    entry.type = u16(entry.at + 2);
    entry.count = u32(entry.at + 4);
    entry.value = entry.type == type_short ? u16(entry.at + 8) : u32(entry.at + 8);
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
    const std::uint64_t start = total <= 4 ? entry.at + 8 : u32(entry.at + 8);
    if (start > block_.size() || total > block_.size() - start) return {};
    std::vector<std::uint32_t> result(entry.count);
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = size == 2 ? u16(start + i * size) : u32(start + i * size);
    return result;
  }

  /// Where the offset of the next directory is kept; 0 if there is no room for it.
  [[nodiscard]] std::size_t link_of(std::size_t directory) const {
    const std::size_t at = directory + 2 + entries(directory) * entry_size;
    return directory != 0 && at + 4 <= block_.size() ? at : 0;
  }

 private:
  Bytes block_;
  bool little_;
  bool valid_;
};

}  // namespace satin::io
