#pragma once
// Device memory whose bytes are never 0 by chance, to find reads of uninitialized memory.

#include <string>

#include "satin/image.h"

namespace satin::test {

/// Allocates for the device of this id. Each block is filled with another byte; of a large one only the first
/// 4 MiB, so that tests of large pictures stay fast. Allocators that promise zeros, as WorkspaceAllocator
/// does, use other memory.
[[nodiscard]] Allocator poisoned_memory(const std::string& id);

}  // namespace satin::test
