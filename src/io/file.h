#pragma once
// Files of the system: inputs, read as a whole or in places, and outputs, of which nobody ever sees a half.

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

  /// False, with errno set, if the data of the file may not have arrived.
  [[nodiscard]] bool close() noexcept {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_ = -1;
};

/// Gives the system's words for an error code.
[[nodiscard]] std::string error_text(int code);

/// Throws Error(usage) if nothing can be written there. Creates nothing.
void check_target(const std::filesystem::path& path, bool overwrite);

/// Writes and synchronises a temporary file beside the target and renames it. Without `overwrite` a file that
/// appears meanwhile is not replaced. Devices, pipes and "-" are written to directly. The file gets the time
/// `modified`, if that is given.
void write_file(const std::filesystem::path& path, Bytes bytes, bool overwrite,
                std::optional<std::filesystem::file_time_type> modified = {});

/// True for the names of standard input and standard output.
[[nodiscard]] bool is_standard_stream(const std::filesystem::path& path);

/// What messages call it.
[[nodiscard]] std::string name_of_input(const std::filesystem::path& path);

/// Everything in a file or, for "-", in standard input. `accept` sees the first 64 KiB (or all, if it is
/// less) before more is read; it says whether it is, and may throw. Throws Error(input) with the name of the
/// file.
[[nodiscard]] FileBytes read_file(const std::filesystem::path& path, std::uint64_t limit,
                                  const std::function<bool(Bytes)>& accept);

/// A file on the disk that stays open.
class InputFile {
 public:
  /// Throws as read_file(), and Error(usage) for standard input, devices and pipes.
  explicit InputFile(const std::filesystem::path& path);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

  /// Fills `target` from this offset on; gives how many bytes there were: fewer at the end, or with an error
  /// `code` of the system.
  [[nodiscard]] std::size_t read_some(std::uint64_t at, std::span<std::byte> target,
                                      int& code) const noexcept;
  /// Throws Error(input), without the name of the file, unless all of them are there.
  void read(std::uint64_t at, std::span<std::byte> target, const char* format) const;

 private:
  std::string name_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// The bytes of a file as if it were whole in memory, of which the system reads what is touched. For the
/// moment in which headers and metadata are looked for: if another program shortens the file meanwhile, the
/// system ends this one (SIGBUS), so that pixels are read by InputFile.
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
