#pragma once
// JPEG files of inks, made by libjpeg.

// jpeglib.h needs FILE and size_t first.
#include <cstdio>

#include <jpeglib.h>

#include <vector>

#include "tests/io/support.h"

namespace satin::test {

/// 16 x 16 pixels of these constant inks. With the Adobe marker values are reflectance. No profile: none is
/// written.
FileBytes cmyk_jpeg(const unsigned char (&values)[4], bool adobe, J_COLOR_SPACE stored,
                    const std::vector<unsigned char>& profile = {});

}  // namespace satin::test
