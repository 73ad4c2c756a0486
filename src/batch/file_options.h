#pragma once
// What an output file takes over from its input file.

#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/filter.h"
#include "satin/io.h"

namespace satin::batch {

/// Metadata, named channels and the time of the input, as the options want them; nothing is overwritten.
/// `source` must outlive the result.
[[nodiscard]] WriteOptions write_options(const BatchFile& file, const Picture& source,
                                         const BatchOptions& options, OutputKind kind);

/// What a user should know about the reading and the writing of this file.
[[nodiscard]] std::vector<std::string> file_warnings(const BatchFile& file, const Picture& source,
                                                     const Shape& output, const WriteOptions& options);

}  // namespace satin::batch
