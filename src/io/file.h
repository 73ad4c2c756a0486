#pragma once
// Files and streams as a whole: reading them, and writing them so that no half of one is ever seen.

#include <filesystem>
#include <functional>
#include <optional>

#include "io/codec.h"

namespace satin::io {

/// True for the names of standard input and standard output.
[[nodiscard]] bool is_standard_stream(const std::filesystem::path& path);

/// Everything in a file or, for "-", in standard input. `accept` sees the first 64 KiB (or all, if it is
/// less) before more is read; it says whether it is, and may throw. Throws Error(input) with the name of the
/// file.
[[nodiscard]] FileBytes read_file(const std::filesystem::path& path, std::uint64_t limit,
                                  const std::function<bool(Bytes)>& accept);

/// Throws Error(usage) if nothing can be written there. Creates nothing.
void check_target(const std::filesystem::path& path, bool overwrite);

/// Writes and synchronises a temporary file beside the target and renames it. Without `overwrite` a file that
/// appears meanwhile is not replaced. Devices, pipes and "-" are written to directly. The file gets the time
/// `modified`, if that is given.
void write_file(const std::filesystem::path& path, Bytes bytes, bool overwrite,
                std::optional<std::filesystem::file_time_type> modified = {});

}  // namespace satin::io
