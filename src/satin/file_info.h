#pragma once
// What is in a picture file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "satin/io.h"

namespace [[gnu::visibility("default")]] satin {

/// A file, with the picture that is read from it.
struct FileInfo {
  std::string format;              ///< "HEIC"
  std::uint64_t bytes = 0;         ///< of the file
  std::size_t pages = 1;           ///< pictures that are no part of another one
  std::vector<std::string> parts;  ///< names of the parts of an OpenEXR file that have one
  int orientation = 1;             ///< how the picture is stored, 1 to 8 as in EXIF; `picture` is upright
  std::string profile;             ///< name of the ICC profile, or of colours by number; empty for none
  bool gain_map = false;           ///< it has a second picture for displays of higher range
  /// The one that the options choose, else the first, with Picture::photo; its metadata as the file has it.
  Picture picture;
};

/// Reads a file as read_picture() with ReadOptions::photo_depth does; of several pictures the first one
/// unless the options choose another. Throws as read_picture().
[[nodiscard]] FileInfo read_file_info(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace satin
