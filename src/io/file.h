#pragma once
// Files of the operating system. Inputs are read as a whole or in places. Outputs are written to a temporary
// file and renamed, so that no program ever sees half of one.

#include <unistd.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "metadata/bytes.h"

namespace satin::io {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { static_cast<void>(close()); }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  [[nodiscard]] int get() const noexcept { return descriptor_; }

  /// Returns false and sets errno if the system may not have stored the data.
  [[nodiscard]] bool close() noexcept {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_ = -1;
};

/// Returns the system's message for an error code.
[[nodiscard]] std::string error_text(int code);

/// Throws Error(usage) if this path cannot be written. Creates nothing.
void check_target(const std::filesystem::path& path, bool overwrite);

/// Writes and synchronises a temporary file beside the target and renames it. Without `overwrite` a file that
/// appears meanwhile is not replaced. Devices, pipes and "-" are written directly; it is no error if the pipe
/// of standard output is closed. The file gets the modification time `modified`, if that is given, and
/// `before_rename` is called as by NewFile::finish().
void write_file(const std::filesystem::path& path, Bytes bytes, bool overwrite,
                std::optional<std::filesystem::file_time_type> modified = {},
                const std::function<void(const std::filesystem::path& temporary)>& before_rename = {});

/// Whether the path is "-", which names standard input or standard output.
[[nodiscard]] bool is_standard_stream(const std::filesystem::path& path);

/// Returns the name of an input for messages.
[[nodiscard]] std::string name_of_input(const std::filesystem::path& path);

/// Reads a file or, for "-", standard input. `accept` sees the first 64 KiB (or everything, if that is less)
/// before more is read. It decides whether the rest is read, and may throw. Errors are Error(input) and name
/// the file.
[[nodiscard]] FileBytes read_file(const std::filesystem::path& path, std::uint64_t limit,
                                  const std::function<bool(Bytes)>& accept);

/// An input file that stays open. Its bytes can be read from any offset.
class InputFile {
 public:
  /// Throws like read_file(), and Error(usage) for standard input, devices and pipes.
  explicit InputFile(const std::filesystem::path& path);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

  /// Fills `target` from offset `at` on and returns the number of bytes read. It is smaller at the end of the
  /// file, or after an error, whose code is then in `code`.
  [[nodiscard]] std::size_t read_some(std::uint64_t at, std::span<std::byte> target,
                                      int& code) const noexcept;
  /// Throws Error(input), without the name of the file, if the file ends before `target` is full.
  void read(std::uint64_t at, std::span<std::byte> target, const char* format) const;

 private:
  std::string name_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// Maps a file into memory, for the short time in which headers and metadata are examined. If another program
/// truncates the file meanwhile, the system ends this process (SIGBUS): pixels are therefore read by
/// InputFile.
class MappedFile {
 public:
  /// Throws Error(input), without the name of the file.
  explicit MappedFile(const InputFile& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace satin::io
