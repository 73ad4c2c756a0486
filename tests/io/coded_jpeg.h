#pragma once
// JPEG files as Satin does not write them, made by libjpeg.

#include "tests/io/support.h"

namespace satin::test {

/// How a file is coded.
struct JpegSettings {
  int quality = 90;
  int horizontal = 1;  ///< sampling factors of the first component; the others have 1
  int vertical = 1;
  bool progressive = false;
  unsigned restart = 0;  ///< units between restart markers; 0: none
};

/// A u8 picture of 1 or 3 channels.
FileBytes coded_jpeg(const Image& image, const JpegSettings& settings = {});

}  // namespace satin::test
