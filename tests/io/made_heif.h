#pragma once
// HEIC and AVIF files that the tests make, by libheif's encoders.

#include "tests/io/support.h"

namespace satin::test {

/// What goes into a file beside the pixels.
struct HeifRecipe {
  bool avif = false;
  int bits = 8;         ///< of u16 pictures, whose values are codes of so many bits
  int orientation = 1;  ///< by irot and imir, as EXIF would say it
  int primaries = 1, transfer = 13;
  int matrix = 6;  ///< other than 6: green, blue and red are stored as Y, Cb and Cr
  bool full_range = true;
  bool premultiplied = false;
  FileBytes icc{}, exif{}, xmp{};
  std::vector<const Image*> further{};  ///< pictures beside the primary one
};

/// A file of a dense grey, RGB or RGBA picture. Where red, green and blue are equal it holds the very codes;
/// colours become YCbCr with a quarter of the chroma.
FileBytes made_heif(const Image& image, const HeifRecipe& recipe = {});

}  // namespace satin::test
