#pragma once
// Open files of the system, and files and streams that are written, so that no half of one is ever seen.

#include <unistd.h>

#include <filesystem>
#include <optional>
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

}  // namespace satin::io
