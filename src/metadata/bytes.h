#pragma once
// Bytes of files: how they are read and written, and what is said where they contradict their format.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace satin::io {

using Bytes = std::span<const std::byte>;
using FileBytes = std::vector<std::byte>;

/// Error(input): the data contradicts its format.
[[noreturn]] void damaged(const char* format, const std::string& detail);
/// Error(input): the data ends before the picture does.
[[noreturn]] void truncated(const char* format);
/// Error(input): the format has this, Satin does not read it.
[[noreturn]] void unsupported(const char* format, const std::string& detail, const std::string& advice);
/// Error(input): the same, with the reason of the library that decodes the format ("libjpeg says: ...").
[[noreturn]] void not_read(const char* format, const std::string& reason, const std::string& advice);
/// Error(input): not_read() if these words of a library are about a feature that it lacks, otherwise
/// damaged(). For libraries without codes for that.
[[noreturn]] void not_decoded(const char* format, const std::string& library, const std::string& reason,
                              const std::string& advice);

[[nodiscard]] bool starts_with(Bytes bytes, std::string_view magic, std::size_t at = 0);
[[nodiscard]] inline FileBytes copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }
[[nodiscard]] inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] inline unsigned byte_at(Bytes bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}
[[nodiscard]] inline std::uint32_t le16(Bytes b, std::size_t at) {
  return byte_at(b, at) | byte_at(b, at + 1) << 8;
}
[[nodiscard]] inline std::uint32_t be16(Bytes b, std::size_t at) {
  return byte_at(b, at) << 8 | byte_at(b, at + 1);
}
[[nodiscard]] inline std::uint32_t le32(Bytes b, std::size_t at) {
  return le16(b, at) | le16(b, at + 2) << 16;
}
[[nodiscard]] inline std::uint32_t be32(Bytes b, std::size_t at) {
  return be16(b, at) << 16 | be16(b, at + 2);
}

/// A growing file in memory that C callbacks can write to.
struct Sink {
  FileBytes bytes;
  std::size_t position = 0;  ///< where the next write goes; used by formats that seek

  /// False if there is no memory.
  [[nodiscard]] bool write(const void* data, std::size_t size) noexcept;
  void add(Bytes more);
  void text(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void u8(unsigned value);
  void le16(unsigned value);
  void le32(std::uint32_t value);
  void be32(std::uint32_t value);
};

/// Reverses the bytes of every sample in place.
void swap_bytes(std::byte* data, std::size_t samples, std::size_t size);

/// The bytes of base 64 (RFC 4648, section 4); blanks and the padding are passed over. Nothing for any other
/// sign, or half a byte.
[[nodiscard]] std::optional<FileBytes> from_base64(std::string_view text);

/// Base 64 with padding and without blanks.
[[nodiscard]] std::string to_base64(Bytes bytes);

}  // namespace satin::io
