#pragma once
// Files that are too long for memory and yet appear as a whole.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace [[gnu::visibility("default")]] satin {

/// A file that is written piece by piece, for as long as it takes, and is there as a whole or not at all.
/// Until then its bytes are in a temporary file in the same folder. Errors are those of write_image().
class NewFile {
 public:
  /// `overwrite` allows replacing a file that exists.
  NewFile(const std::filesystem::path& path, bool overwrite);
  /// Removes the temporary file unless the new one is finished.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends.
  void add(std::span<const std::byte> bytes);
  /// Writes over bytes that were added, from this offset on: a header that only the end of the file tells.
  void replace(std::uint64_t at, std::span<const std::byte> bytes);
  /// Synchronises the file and gives it its name, and its time if that is given.
  void finish(std::optional<std::filesystem::file_time_type> modified = {});

 private:
  class Temporary;

  std::filesystem::path path_;
  std::filesystem::path target_;  ///< behind links
  bool overwrite_;
  std::unique_ptr<Temporary> temporary_;
};

}  // namespace satin
