#pragma once
// Contents of a picture file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "satin/io.h"

namespace [[gnu::visibility("default")]] satin {

/// Facts about a file, and the picture that is read from it.
struct FileInfo {
  std::string format;       ///< name of the format, such as "HEIC"
  std::uint64_t bytes = 0;  ///< size of the file
  std::size_t pages =
      1;  ///< number of pictures, without thumbnails and other pictures that belong to one of them
  std::vector<std::string> parts;  ///< names of the parts of an OpenEXR file, if it has named parts
  int orientation = 1;    ///< orientation of the stored pixels, 1 to 8 as in EXIF; `picture` is upright
  std::string profile;    ///< name of the ICC profile, or of the colours that the file gives by number; empty
                          ///< if there are none
  bool gain_map = false;  ///< whether there is a second picture for displays of higher range
  /// The chosen picture, or else the first, with Picture::photo and the metadata as stored in the file.
  Picture picture;
};

/// Reads a file as read_picture() with ReadOptions::photo_depth does. If the file holds several pictures and
/// the options choose none, it reads the first. Throws as read_picture().
[[nodiscard]] FileInfo read_file_info(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace satin
