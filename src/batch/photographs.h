#pragma once
// Pictures of a batch that carry their depth with them: --depth-from photo.

#include <span>

#include "satin/batch.h"

namespace satin::batch {

/// True if the step takes depth from the photograph, or a step of the pipeline does.
[[nodiscard]] bool takes_photo(const PipelineStep& step);
[[nodiscard]] bool takes_photo(const Pipeline& pipeline);

/// Throws Error(usage) for what is asked of photographs without such a step, --keep-depth for a format that
/// cannot keep it, and one file of depth for several pictures.
void check_photo_options(const Pipeline& pipeline, const BatchOptions& options, bool several);

/// Throws Error(usage) for a file of depth that exists, or is another file of the batch.
void check_depth_out(const Batch& work);

/// The depth of a photograph. Throws Error(input) if it has none, or why it cannot be used.
[[nodiscard]] const PhotoDepth& depth_of(const Picture& picture);

/// For photographs whose file holds no JPEG that can be kept as the original (HEIC): the picture becomes one.
void make_original(Picture& picture);

/// The portrait matte as a mask of the picture's size. Throws Error(input) if there is none.
[[nodiscard]] Image matte_of(const Picture& picture, MaskSource source, const Allocator& allocator);

/// The pipeline with what the photograph tells, and what that is.
struct PhotoPipeline {
  Pipeline steps;
  PhotoReport report;
};
[[nodiscard]] PhotoPipeline pipeline_for(const Pipeline& pipeline, const Picture& picture);

/// After a run: the blur at infinity follows from the strength that it found.
void set_blur_at_infinity(PhotoReport& report, std::span<const FoundValue> found, const Shape& picture);

/// Writes the depth to the file that the options name for this picture; says what its codes mean where they
/// are no values.
void write_depth(const Batch& work, std::size_t index, const PhotoDepth& depth, PhotoReport& report);

}  // namespace satin::batch
