#pragma once
// Compares files read row by row with the same files read as a whole.

#include <span>
#include <string>

#include "satin/row_files.h"
#include "tests/io/support.h"

namespace satin::test {

/// Reads all remaining rows, a random number at a time, into memory with padded or reversed rows.
Image rest_of(RowSource& rows, std::int64_t left, unsigned seed = 1);

/// Expects that reading `file` by rows gives the result of read_picture(): the pixels, twice, the metadata
/// and the warnings, or an error of the same kind that names the file. Returns true if it was read.
bool expect_same_by_rows(std::span<const std::byte> file, const std::string& name,
                         const ReadOptions& options = {}, unsigned seed = 1);

}  // namespace satin::test
