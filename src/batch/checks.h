#pragma once
// What must hold before any work starts.

#include <vector>

#include "satin/batch.h"

namespace satin::batch {

/// Throws unless every output differs from every other, from every input and from every side input, exists
/// only if it may be overwritten, and lies in a folder that can be written. `folder`: missing folders will be
/// created.
void check_outputs(const Batch& work, bool folder);

}  // namespace satin::batch
