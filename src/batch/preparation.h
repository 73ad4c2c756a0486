#pragma once
// The steps that prepare a batch: checks of options and names, the manifest, and shared side inputs. A batch
// takes all of them once; a session takes some of them again for the files of every run. They throw like
// prepare_batch().

#include <functional>

#include "batch/file_names.h"
#include "satin/batch.h"

namespace satin::batch {

/// Returns a batch that has no files yet. `finds_many` searches for the inputs and returns whether there may
/// be several.
[[nodiscard]] Batch batch_without_files(const Pipeline& pipeline, const BatchOptions& options,
                                        const std::function<bool()>& finds_many);

/// Names the outputs of these inputs and checks that they differ.
void take_files(Batch& work, InputList inputs);

/// Reads the manifest if the batch resumes.
void read_manifest(Batch& work);

/// Checks the files that exist, and changes none.
void check_files(const Batch& work);

void read_shared_sides(Batch& work);

/// Whether an output exists that the manifest should know and does not.
[[nodiscard]] bool meets_unknown_output(const Batch& work);

}  // namespace satin::batch
