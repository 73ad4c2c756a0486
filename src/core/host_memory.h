#pragma once
// Memory of the host: what a caller's allocator gives, and copies between views.

#include "satin/image.h"

namespace satin {

/// Memory of the caller's allocator, which it gets back; nothing if there is none. Throws Error(usage) for
/// memory that is not aligned, and for half an allocator.
[[nodiscard]] Buffer allocated(const Allocator& allocator, std::size_t bytes);

/// Memory that starts with a line of the cache, to be given back to free_lines() of core/workspace.h. Null if
/// there is none.
[[nodiscard]] void* new_lines(std::size_t bytes) noexcept;

/// Throws Error(usage) unless both functions are there, or neither is.
void require_whole(const Allocator& allocator);

/// Copies row `y` of a frame between two views of one shape, whatever their strides.
void copy_row(const ImageView& from, const MutableImageView& to, std::int64_t y, std::int64_t frame);

/// Copies all rows of all frames.
void copy_pixels(const ImageView& from, const MutableImageView& to);

}  // namespace satin
