#pragma once
// Files read row by row, held against the same files read as a whole.

#include <span>
#include <string>

#include "satin/row_files.h"
#include "tests/io/support.h"

namespace satin::test {

/// All rows that are left, a random number of them at a time, in memory whose rows are loose or turned over.
Image rest_of(RowSource& rows, std::int64_t left, unsigned seed = 1);

/// What reading `file` by rows gives is what read_picture() gives: the pixels twice, the metadata and the
/// warnings, or an error of the same kind that names the file. True if it was read.
bool expect_same_by_rows(std::span<const std::byte> file, const std::string& name,
                         const ReadOptions& options = {}, unsigned seed = 1);

}  // namespace satin::test
