#pragma once
// What must hold before any work starts.

#include "satin/batch.h"

namespace satin::batch {

/// Throws unless every output differs from every other and its name tells a format.
void check_distinct(const Batch& work);

/// Throws unless every output differs from every input and every side input, exists only if it may be
/// replaced or left out, and lies in a folder that can be written.
void check_outputs(const Batch& work);

}  // namespace satin::batch
