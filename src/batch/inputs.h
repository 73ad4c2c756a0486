#pragma once
// From the paths on the command line to the list of files.

#include <filesystem>
#include <optional>
#include <vector>

#include "batch/names.h"
#include "satin/batch.h"

namespace satin::batch {

struct InputList {
  PictureList files;
  std::vector<std::filesystem::path> unread;  ///< what folders and patterns lead to beside pictures, sorted
  bool many = false;                          ///< a folder, a pattern, or more than one file
};

/// Throws Error(usage) for none, and for standard input among others; Error(input) if the folders hold no
/// picture or no file matches a pattern.
[[nodiscard]] InputList find_inputs(const BatchOptions& options);

/// True if the extension is of a format that Satin reads.
[[nodiscard]] bool is_picture(const std::filesystem::path& name);

/// The error for a file that cannot be opened, if so. Pipes and devices pass.
[[nodiscard]] std::optional<Error> reading_problem(const std::filesystem::path& path);

}  // namespace satin::batch
