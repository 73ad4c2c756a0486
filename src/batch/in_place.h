#pragma once
// Batches that replace their inputs: what they refuse, what the manifests know about their files, and the
// backups of the originals.
//
// A file is complete under a temporary name before anything happens to the original. Then the original gets
// its second name (the backup), the manifest records the hash of the new file, and a rename puts that in its
// place. Wherever this ends early, the original is whole; a record whose hash is not that of the file is not
// true yet, and the file is filtered again.

#include <filesystem>
#include <string>

#include "batch/manifest.h"
#include "satin/batch.h"

namespace satin::batch {

/// Throws Error(usage) for options and pipelines that do not go with replacing the inputs, and for --backup
/// without it.
void check_in_place_options(const Pipeline& pipeline, const BatchOptions& options);

/// Throws Error(usage) for a file whose format is read but not written.
void check_in_place_formats(const Batch& work);

/// Throws Error(usage) for symbolic links, for files that were filtered in place already, and for backups
/// that exist. Leaves the files that `resume` skips, and the backups of such runs, to decide_in_place().
void check_in_place(const Batch& work);

/// Decides whether a file is filtered. Throws as check_in_place().
[[nodiscard]] Decision decide_in_place(const Batch& work, std::size_t index,
                                       const std::filesystem::path& file);

/// Gives the original its second name, or copies it where the file system knows no links. Throws Error(input)
/// if that fails, and never replaces a file.
void keep_backup(const std::filesystem::path& file, const BatchOptions& options);

}  // namespace satin::batch
