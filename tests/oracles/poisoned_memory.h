#pragma once
// Memory of a device whose bytes are never 0 by chance, for what is read before it is written.

#include <string>

#include "satin/image.h"

namespace satin::test {

/// Allocates for the device of this id. Every block is filled with a byte of its own, which changes from
/// block to block; of a large one the first 4 MiB are, so that tests of large pictures stay quick. What
/// promises zeros, as WorkspaceAllocator does, has other memory.
[[nodiscard]] Allocator poisoned_memory(const std::string& id);

}  // namespace satin::test
