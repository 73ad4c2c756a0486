#pragma once
// Memory for one picture after another.

#include <cstdint>

#include "satin/image.h"

namespace satin::batch {

/// An allocator that asks `source` for blocks and keeps those that it gets back for pictures of about their
/// size (it rounds up by an eighth at most), so that pictures of one size soon cost no call of `source`. It
/// holds `most` bytes at most, in use or not, and no more than `first` and an eighth of what it has handed
/// out, so that blocks that are slow to get pay off: before it would hold more, it gives up blocks that
/// nobody uses. Where that is not enough, and where `source` gives nothing, the memory is the system's.
/// Whatever holds memory may outlive this; the last of them returns the blocks to `source`.
[[nodiscard]] Allocator pooled(const Allocator& source, std::uint64_t first, std::uint64_t most);

}  // namespace satin::batch
