#pragma once
// HEIC and AVIF files for tests, written by libheif's encoders.

#include "tests/io/support.h"

namespace satin::test {

/// Contents of a file beside the pixels.
struct HeifRecipe {
  bool avif = false;
  int bits = 8;         ///< bits of the codes in u16 pictures
  int orientation = 1;  ///< orientation as in EXIF, stored by irot and imir
  int primaries = 1, transfer = 13;
  int matrix = 6;  ///< other than 6: green, blue and red are stored as Y, Cb and Cr
  bool full_range = true;
  bool premultiplied = false;
  FileBytes icc{}, exif{}, xmp{};
  std::vector<const Image*> further{};  ///< pictures beside the primary one
};

/// Returns a file of a dense grey, RGB or RGBA picture. If red, green and blue are equal, it holds the exact
/// codes. Colours become YCbCr with a quarter of the chroma.
FileBytes made_heif(const Image& image, const HeifRecipe& recipe = {});

}  // namespace satin::test
