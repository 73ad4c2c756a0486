#pragma once
// Atomic writing of files that do not fit in memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace [[gnu::visibility("default")]] satin {

/// A file that is written step by step and appears complete or not at all. Until finish() its bytes are in a
/// temporary file in the same folder. Throws as write_image().
class NewFile {
 public:
  /// `overwrite` allows an existing file to be replaced.
  NewFile(const std::filesystem::path& path, bool overwrite);
  /// Removes the temporary file unless finish() was called.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends bytes.
  void add(std::span<const std::byte> bytes);
  /// Overwrites bytes that were added, starting at offset `at`. Use it for a header that depends on the whole
  /// file.
  void replace(std::uint64_t at, std::span<const std::byte> bytes);
  /// Synchronises the file, renames it to its target, and sets its time if one is given. `before_rename`, if
  /// given, is called with the name of the complete temporary file; if it throws, the target stays as it is.
  void finish(std::optional<std::filesystem::file_time_type> modified = {},
              const std::function<void(const std::filesystem::path& temporary)>& before_rename = {});

 private:
  class Temporary;

  std::filesystem::path path_;
  std::filesystem::path target_;  ///< the path with links resolved
  bool overwrite_;
  std::unique_ptr<Temporary> temporary_;
};

}  // namespace satin
