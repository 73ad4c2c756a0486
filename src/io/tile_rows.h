#pragma once
// The rows of a picture to the tiles of a TIFF file, with the levels of a pyramid while they pass.

#include "satin/new_file.h"
#include "satin/row_files.h"

namespace satin::io {

/// Writes all rows of the source, which stands at its top, to the file. Each level of a pyramid holds a row
/// of tiles as the picture does: together no more than the picture's own.
void write_tiles(NewFile& file, RowSource& rows, const RowWriteOptions& options);

}  // namespace satin::io
