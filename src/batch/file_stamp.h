#pragma once
// Hashes of data, and stamps that show whether a file has changed.

#include <sys/stat.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "batch/file_names.h"
#include "satin/error.h"

namespace satin::batch {

/// FNV-1a with 64 bits: the same between runs, machines and versions. It detects accidents, not forgeries.
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

/// Returns the lowest `digits` hexadecimal digits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t value, int digits = 16) {
  std::string text;
  for (int shift = 4 * digits - 4; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
  return text;
}

/// Size and time of a file.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t time = 0;  ///< last change in nanoseconds

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Returns the stamp of a file, or all zeros if it does not exist.
[[nodiscard]] inline FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t second = 1'000'000'000;
  return {static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
}

/// Returns the hash of a file. Throws Error(input) if it cannot be read.
[[nodiscard]] inline std::uint64_t hash_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> block{};
  Hash hash;
  while (file.read(block.data(), block.size()) || file.gcount() > 0)
    hash.add(std::string_view(block.data(), static_cast<std::size_t>(file.gcount())));
  if (!file.eof())
    throw Error(ErrorKind::input, "The output " + quoted(path) + " cannot be read to check it.");
  return hash.value();
}

}  // namespace satin::batch
