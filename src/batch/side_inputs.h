#pragma once
// Radius maps, masks and the like: read once, used with every picture.

#include <span>
#include <vector>

#include "satin/batch.h"

namespace satin::batch {

/// Throws Error(usage) for a name that the filter does not have, one that is given twice, a required one that
/// is missing, and standard input that is to be read twice; Error(input) for a file that cannot be read.
void check_side_inputs(const Pipeline& pipeline, const BatchOptions& options);

/// In the order of the record, empty where none is given. To be called after check_side_inputs().
[[nodiscard]] std::vector<Image> read_side_inputs(const PipelineStep& step);

/// Throws Error(usage) if a side input does not have the size of the picture, whose name is `input`.
void check_sizes(const PipelineStep& step, std::span<const Image> side_images,
                 const std::filesystem::path& input, const Shape& picture);

}  // namespace satin::batch
