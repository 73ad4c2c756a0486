#pragma once
// Host memory: allocation by the caller's allocator or in cache lines, and copies between views.

#include "satin/image.h"

namespace satin {

/// Allocates by the caller's allocator, which also frees the memory; an empty buffer if it has none. Throws
/// Error(usage) for memory that is not aligned and for half an allocator.
[[nodiscard]] Buffer allocated(const Allocator& allocator, std::size_t bytes);

/// Allocates memory aligned to a cache line, which free_lines() of core/workspace.h frees. Null if there is
/// none.
[[nodiscard]] void* new_lines(std::size_t bytes) noexcept;

/// Throws Error(usage) if the allocator has only one of its two functions.
void require_whole(const Allocator& allocator);

/// Copies row `y` of a frame between two views of one shape and any strides.
void copy_row(const ImageView& from, const MutableImageView& to, std::int64_t y, std::int64_t frame);

void copy_pixels(const ImageView& from, const MutableImageView& to);

}  // namespace satin
