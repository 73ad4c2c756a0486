#pragma once

#include "scan/check.h"

namespace satin {

/// Stages the arrays, which have been checked, and selects; returns how many.
std::int64_t select(const Device& device, Selection selection, MutableArrayView result, Stream stream);

/// Refuses u32 for indices that need more.
void require_index_type(const Arrays& arrays, const ArrayView& indices);

}  // namespace satin
