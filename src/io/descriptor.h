#pragma once
// Open files of the system.

#include <unistd.h>

#include <string>
#include <utility>

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

}  // namespace satin::io
