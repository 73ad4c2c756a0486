#pragma once
// Radius maps, masks and the like: read once, used with every picture.

#include <vector>

#include "satin/batch.h"

namespace satin::batch {

/// Throws Error(usage) for a name that the filter does not have, one that is given twice and a required one
/// that is missing; Error(input) for one that cannot be read.
void check_side_inputs(const FilterRecord& filter, const BatchOptions& options);

/// In the order of the record, empty where none is given. To be called after check_side_inputs().
[[nodiscard]] std::vector<Image> read_side_inputs(const FilterRecord& filter, const BatchOptions& options);

/// Throws Error(usage) if a side input does not have the size of the picture.
void check_sizes(const FilterRecord& filter, const Batch& batch, const BatchFile& file, const Shape& picture);

}  // namespace satin::batch
