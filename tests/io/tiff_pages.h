#pragma once
// The contents of a TIFF file as libtiff reads them, without Satin's reader.

#include <tiffio.h>

#include <vector>

#include "tests/io/support.h"

namespace satin::test {

struct TiffPage {
  Image image;
  bool big = false;
  std::uint32_t subfile = 0, tile_width = 0, tile_height = 0;
  std::uint16_t compression = 0, predictor = 0, photometric = 0, format = 0, bits = 0;
  std::vector<std::uint16_t> extra;
  bool has_profile = false;
  double exposure_time = 0;  ///< from EXIF
};

/// Returns all directories of a file whose samples are interleaved. libtiff must not warn.
std::vector<TiffPage> tiff_pages(const fs::path& path);

}  // namespace satin::test
