#pragma once
// From the paths on the command line to the list of files.

#include <filesystem>
#include <optional>

#include "batch/names.h"
#include "satin/batch.h"

namespace satin::batch {

struct InputList {
  PictureList files;
  bool many = false;  ///< a folder, a pattern, or more than one file
};

/// Throws Error(usage) for none, and for standard input among others; Error(input) if the folders hold no
/// picture or no file matches a pattern.
[[nodiscard]] InputList find_inputs(const BatchOptions& options);

/// The error for a file that cannot be opened, if so. Pipes and devices pass.
[[nodiscard]] std::optional<Error> reading_problem(const std::filesystem::path& path);

}  // namespace satin::batch
