#pragma once
// Names with wildcards, which a shell did not see or left alone: photos/**/*.jpg

#include <filesystem>
#include <functional>

namespace satin::batch {

/// True if there is a wildcard (* ? [) and no file of that very name.
[[nodiscard]] bool is_glob(const std::filesystem::path& path);

/// The folder before the first wildcard; empty for none.
[[nodiscard]] std::filesystem::path fixed_folder_of_glob(const std::filesystem::path& pattern);

/// Calls `found` for every file below that folder that matches, some perhaps twice, with its name from there.
/// `*`, `?` and `[a-z]` match within a name, `**` matches any number of folders but enters no links; names
/// that begin with a dot match only if that is spelled out. Folders that cannot be read hold nothing.
void expand_glob(const std::filesystem::path& pattern,
                 const std::function<void(const std::filesystem::path& relative)>& found);

}  // namespace satin::batch
