#pragma once
// Reading and writing image files. A target of its own (satin_io); the core library knows no file format.
//
// The format of an input is told by its first bytes, that of an output by the extension of its name. Depth is kept:
// a 16-bit PNG is read as u16 and written as 16 bits. Colour order is always RGB.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "satin/image.h"

namespace satin {

/// Limits that are checked before anything is allocated.
struct ReadLimits {
  std::uint64_t pixels = std::uint64_t{1} << 30;
  std::uint64_t bytes = std::uint64_t{1} << 34;
};

/// One entry of the list of formats.
struct FormatInfo {
  std::string name;                     ///< "PNG"
  std::vector<std::string> extensions;  ///< ".png"; lower case
  bool reads = false;
  bool writes = false;
  std::string types;  ///< "u8 u16"; what it can hold when written
};

/// The formats that this build reads or writes.
[[nodiscard]] std::vector<FormatInfo> formats();

/// Reads a picture, upright (EXIF orientation applied), in host memory. `-` is standard input.
/// Throws Error(input) with the file's name, the reason and the remedy.
[[nodiscard]] Image read_image(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Decodes a picture from memory; `name` is used in messages only.
[[nodiscard]] Image decode_image(std::span<const std::byte> bytes, const std::string& name, const ReadLimits& limits = {});

struct WriteOptions {
  bool overwrite = false;  ///< otherwise an existing file is refused with Error(usage)
  int quality = 95;        ///< JPEG and WebP, 1 to 100
  std::string format;      ///< extension with its dot; empty: that of the path. Needed when the path is `-`
};

/// Throws Error(usage) if a picture of this shape cannot be written under this name: unknown extension, a type or a
/// number of channels that the format does not hold, a missing folder, an existing file without `overwrite`.
void check_writable(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options = {});

/// Writes a host picture atomically: encoded in memory, written to a temporary file in the same folder, synchronised,
/// renamed. On failure an existing file is untouched and nothing is left behind. `-` is standard output.
/// Throws as check_writable(); Error(input) if it cannot be written; Error(environment) if the disk is full.
void write_image(const std::filesystem::path& path, const ImageView& image, const WriteOptions& options = {});

/// The encoded file in memory; `extension` with its dot chooses the format.
[[nodiscard]] std::vector<std::byte> encode_image(const ImageView& image, const std::string& extension,
                                                  const WriteOptions& options = {});

}  // namespace satin
