#pragma once
// TIFF files of kinds that Satin reads but does not write, made by libtiff.

#include <tiffio.h>

#include <functional>
#include <vector>

#include "tests/io/support.h"

namespace satin::test {

/// value for a missing tag
constexpr int no_photometric = -1;

struct Tags {
  std::uint32_t width = 37, height = 21;
  int samples = 1, bits = 8, photometric = PHOTOMETRIC_MINISBLACK, planar = PLANARCONFIG_CONTIG;
  int compression = COMPRESSION_NONE, orientation = ORIENTATION_TOPLEFT, format = SAMPLEFORMAT_UINT;
  std::vector<std::uint16_t> extra;
  std::uint32_t tile = 0;  ///< side of a tile; 0 for strips
  std::uint32_t strip = 16;
  std::function<void(TIFF*)> more = [](TIFF*) {};
};

/// `pixels` in the order of libtiff: row by row, with separate planes one after the other.
FileBytes make_tiff(const Tags& tags, std::vector<unsigned char> pixels, const char* mode = "w");

}  // namespace satin::test
