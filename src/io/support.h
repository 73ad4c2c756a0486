#pragma once
// Small things that several codecs share.

#include <cstring>
#include <string>
#include <string_view>

#include "codec.h"

namespace satin::io {

/// Error(input): the data contradicts its format.
[[noreturn]] void damaged(const char* format, const std::string& detail);
/// Error(input): the data ends before the picture does.
[[noreturn]] void truncated(const char* format);
/// Error(input): the format has this, Satin does not read it.
[[noreturn]] void unsupported(const char* format, const std::string& detail, const std::string& advice);

/// What is said about a picture that ReadOptions::allow_partial let through.
[[nodiscard]] std::string partial_warning(const char* format);

/// JPEG and WebP, where nothing says otherwise.
constexpr int default_quality = 95;

/// Throws Error(input) if a picture of this shape exceeds the limits; works for any size that a header can
/// claim.
void check_limits(std::uint64_t width, std::uint64_t height, int channels, Type type,
                  const ReadLimits& limits);

/// Checks the limits and allocates where the options say. Alpha::straight is assumed for 2 and 4 channels if
/// `alpha` says so.
[[nodiscard]] Image allocate(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha,
                             const ReadOptions& options);

/// Alpha::straight for 2 and 4 channels.
[[nodiscard]] constexpr Alpha alpha_of(int channels) {
  return channels % 2 == 0 ? Alpha::straight : Alpha::none;
}

[[nodiscard]] bool starts_with(Bytes bytes, std::string_view magic, std::size_t at = 0);
[[nodiscard]] FileBytes bytes_in(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
/// ".png", ".tiff" as "`.png`, `.tiff` or `.hdr`".
[[nodiscard]] std::string one_of(const std::vector<std::string>& words);

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
  void text(std::string_view text);
  void u8(unsigned value);
  void le16(unsigned value);
  void le32(std::uint32_t value);
  void be32(std::uint32_t value);
};

/// Reverses the bytes of every sample in place.
void swap_bytes(std::byte* data, std::size_t samples, std::size_t size);

/// Row `y` of a dense host picture.
[[nodiscard]] inline std::byte* row_of(Image& image, std::int64_t y) {
  return image.data() + interleaved_strides(image.shape()).row * y;
}

/// One channel of ink over another, both as reflectance (the whole range = paper): v = c * k / maximum,
/// rounded. This is the plain conversion without colour management.
[[nodiscard]] constexpr std::uint32_t ink(std::uint32_t c, std::uint32_t k, std::uint32_t maximum) {
  return static_cast<std::uint32_t>((std::uint64_t{c} * k + maximum / 2) / maximum);
}

}  // namespace satin::io
