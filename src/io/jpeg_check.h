#pragma once
// A look at a JPEG file before stb_image, whose 2.27 trusts what it finds there.

#include "io/codec.h"

namespace satin::io {

/// Throws Error(input) if a code table has more than 256 codes (stb writes behind its array), or if a scan
/// uses a code table or a quantiser that is not defined (stb reads memory that was never set). Visits the
/// same segments as stb.
void check_jpeg_tables(Bytes bytes);

}  // namespace satin::io
