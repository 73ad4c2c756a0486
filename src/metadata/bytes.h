#pragma once
// Bytes of files: reading, writing, and the errors for data that contradicts its format.

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

// These throw Error(input).

[[noreturn]] void damaged(const char* format, const std::string& detail);
/// The data ends before the picture does.
[[noreturn]] void truncated(const char* format);
/// The format has this feature, but Satin does not read it.
[[noreturn]] void unsupported(const char* format, const std::string& detail, const std::string& advice);
/// The format's library does not read this file, for `reason` ("libjpeg says: ...").
[[noreturn]] void not_read(const char* format, const std::string& reason, const std::string& advice);
/// Calls not_read() if the library's reason names a feature that it lacks, otherwise damaged(). For libraries
/// without error codes for that.
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
  std::size_t position = 0;  ///< offset of the next write; used by formats that seek

  /// Returns false if there is not enough memory.
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

/// Decodes base 64 (RFC 4648, section 4) and skips blanks and padding. Returns nothing for any other
/// character, or if the last byte is not complete.
[[nodiscard]] std::optional<FileBytes> from_base64(std::string_view text);

[[nodiscard]] std::string to_base64(Bytes bytes);

}  // namespace satin::io
