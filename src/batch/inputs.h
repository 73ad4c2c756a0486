#pragma once
// From the paths on the command line to the list of files.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "satin/batch.h"

namespace satin::batch {

/// A file to read, and the name that it has below the folder it was found in.
struct FoundInput {
  std::filesystem::path path;
  std::filesystem::path relative;
  std::optional<Error> problem;
};

struct InputList {
  std::vector<FoundInput> files;
  bool has_folder = false;
};

[[nodiscard]] bool is_stream(const std::filesystem::path& path);

/// Throws Error(usage) for none, and for standard input among others; Error(input) if the folders hold no
/// picture.
[[nodiscard]] InputList find_inputs(const BatchOptions& options);

/// The error for a file that cannot be opened, if so. Pipes and devices pass.
[[nodiscard]] std::optional<Error> reading_problem(const std::filesystem::path& path);

}  // namespace satin::batch
