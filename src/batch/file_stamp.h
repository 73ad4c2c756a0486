#pragma once
// What tells a file from an earlier state of itself.

#include <cstdint>
#include <filesystem>

namespace satin::batch {

struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t time = 0;  ///< of the last change, in nanoseconds

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// All zero if there is no such file.
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& path);

/// Throws Error(input) if it cannot be read.
[[nodiscard]] std::uint64_t hash_of_file(const std::filesystem::path& path);

}  // namespace satin::batch
