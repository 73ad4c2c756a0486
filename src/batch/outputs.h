#pragma once
// The names of the outputs.

#include <filesystem>
#include <string>
#include <vector>

#include "batch/inputs.h"
#include "satin/pipeline.h"

namespace satin::batch {

/// What the last step makes.
[[nodiscard]] OutputKind output_kind(const Pipeline& pipeline);

/// True if OUTPUT names a folder: there is one, it ends with '/', or there is more than one picture.
[[nodiscard]] bool output_is_folder(const InputList& inputs, const BatchOptions& options);

/// One path an input, in order. Throws Error(usage) for a format that cannot be written, and if several
/// pictures are to go into what is no folder.
[[nodiscard]] std::vector<std::filesystem::path> name_outputs(const InputList& inputs,
                                                              const BatchOptions& options, OutputKind kind);

/// The extension that decides the format of standard output; for other outputs that of `options`.
[[nodiscard]] std::string output_format(const BatchFile& file, const BatchOptions& options, OutputKind kind);

}  // namespace satin::batch
