#pragma once
#include "satin/image.h"

namespace satin {

/// Memory of the caller's allocator, which it gets back; nothing if there is none. Throws Error(usage) for
/// memory that is not aligned, and for half an allocator.
[[nodiscard]] Buffer allocated(const Allocator& allocator, std::size_t bytes);

/// Throws Error(usage) unless both functions are there, or neither is.
void require_whole(const Allocator& allocator);

}  // namespace satin
