#pragma once
// Files and streams that are written, so that no half of one is ever seen.

#include <filesystem>
#include <optional>

#include "metadata/bytes.h"

namespace satin::io {

/// Throws Error(usage) if nothing can be written there. Creates nothing.
void check_target(const std::filesystem::path& path, bool overwrite);

/// Writes and synchronises a temporary file beside the target and renames it. Without `overwrite` a file that
/// appears meanwhile is not replaced. Devices, pipes and "-" are written to directly. The file gets the time
/// `modified`, if that is given.
void write_file(const std::filesystem::path& path, Bytes bytes, bool overwrite,
                std::optional<std::filesystem::file_time_type> modified = {});

}  // namespace satin::io
