#pragma once
// What is to be done with an output that may be there already.

#include <cstddef>
#include <filesystem>

#include "batch/manifest.h"
#include "satin/batch.h"

namespace satin::batch {

/// Where the manifest of this batch lies: in the output folder, that of a single output, or the folder before
/// a pattern's first placeholder. Throws Error(usage) if the output is a stream.
[[nodiscard]] std::filesystem::path manifest_file(const BatchOptions& options, bool folder_output);

enum class Decision { make, replace, leave_existing, leave_unchanged };

/// With `resume` reads the output to compare its hash.
[[nodiscard]] Decision decide(const Batch& work, std::size_t index, const BatchFile& file);

/// What an output is made from now; its size and hash follow when it is written.
[[nodiscard]] Made made_now(const Batch& work, std::size_t index, const BatchFile& file);

/// Removes temporary files that processes left which the manifest knows and which are no more.
void remove_left_over_files(const Batch& work);

}  // namespace satin::batch
