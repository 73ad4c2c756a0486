#pragma once
// What tells a file from an earlier state of itself, and hashes.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace satin::batch {

/// FNV-1a of 64 bits: stable between runs, machines and versions. It finds accidents, not forgeries.
class Hash {
 public:
  Hash& add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * prime;
    return *this;
  }
  Hash& add(std::string_view text) noexcept { return add(std::as_bytes(std::span(text))); }
  Hash& add(std::uint64_t number) noexcept { return add(std::as_bytes(std::span(&number, 1))); }

  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3;

  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// The value as 16 hexadecimal digits.
[[nodiscard]] std::string hexadecimal(std::uint64_t value);

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
