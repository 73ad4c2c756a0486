#pragma once
// Photographs that carry their own depth (--depth-from photo), those for which a model estimates depth or a
// mask, and those that are decoded at a part of their size (--fast-decode).

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "satin/batch.h"

namespace satin::batch {

/// Whether the step, or any step of the pipeline, uses depth that comes with the picture: that of the
/// photograph, or what a model estimates.
[[nodiscard]] bool takes_photo(const PipelineStep& step);
[[nodiscard]] bool takes_photo(const Pipeline& pipeline);

/// Whether any step of the pipeline uses the depth that a model estimates.
[[nodiscard]] bool takes_model(const Pipeline& pipeline);

/// Opens the model of the options if the pipeline or the pictures come from one; null otherwise. Throws as
/// ImageModel::open(), Error(usage) if there is none, or if it estimates something else.
[[nodiscard]] std::shared_ptr<const ImageModel> model_of(const Pipeline& pipeline,
                                                         const BatchOptions& options);

/// Adds to a picture the depth that the model estimates, or replaces it by depth or a mask. `file` is the
/// name of the output, or an extension. Throws as ImageModel.
void use_model(const ImageModel& model, const BatchOptions& options, const std::filesystem::path& file,
               const EstimateOptions& running, Picture& picture);

/// Throws Error(usage) for options about photographs without such a step, for --keep-depth with a format that
/// cannot keep it, and for one depth file with several pictures.
void check_photo_options(const Pipeline& pipeline, const BatchOptions& options, bool several);

/// Throws Error(usage) if a depth file to be written exists, is another file of the batch, or has a format
/// that does not hold depth.
void check_depth_out(const Batch& work);

/// Returns the depth of a photograph. Throws Error(input) if it has none, with the reason.
[[nodiscard]] const PhotoDepth& depth_of(const Picture& picture);

/// Encodes the picture as the original if the file has no JPEG that can be kept as such (HEIC).
void make_original(Picture& picture);

/// Returns the portrait matte as a mask of the picture's size. Throws Error(input) if there is none.
[[nodiscard]] Image matte_of(const Picture& picture, MaskSource source, const Allocator& allocator);

/// A pipeline with the parameters that a photograph determines, and a report about them.
struct PhotoPipeline {
  Pipeline steps;
  PhotoReport report;
};
[[nodiscard]] PhotoPipeline pipeline_for(const Device& device, const Pipeline& pipeline,
                                         const Picture& picture);

/// Returns the photograph of a result that the steps make of another size, without its original: the box of
/// the depth, cut between its own samples and reduced to the nearest ones where it has more than the result,
/// and the focus, if that is inside. All are upright.
[[nodiscard]] Photo framed(const Device& device, const Photo& photo, const Framing& framing);

/// Returns the picture as JPEG after the steps that change the size alone: the original of such a result.
[[nodiscard]] PhotoOriginal framed_original(const Device& device, const Picture& picture,
                                            const Pipeline& steps);

/// Returns how the final result lies on the result of the step that uses the depth of the photograph.
[[nodiscard]] Framing framing_after_photo(const Pipeline& steps, const Shape& picture);

/// Moves the focus, and adapts the blur at infinity, which is a fraction of the longer side.
void frame(PhotoBlur& blur, const Framing& framing);

/// Computes the blur at infinity from the strength that a run found. `after` is framing_after_photo().
void set_blur_at_infinity(PhotoReport& report, std::span<const FoundValue> found, const Framing& after);

/// Returns the facts about the depth, without focus and blur.
[[nodiscard]] PhotoReport report_of(const PhotoDepth& depth);

/// Writes the depth to the file that the options name for this picture, and sets PhotoReport::depth_out.
void write_depth(const Batch& work, std::size_t index, const PhotoDepth& depth, PhotoReport& report);

/// Returns the size at which a picture is large enough for the first filters of the batch, which can
/// be reduced: its own size times their largest factor.
[[nodiscard]] Shape enough_for(const Batch& work, const Shape& picture);

/// Returns the steps for a picture that was decoded at a part of its size.
[[nodiscard]] Pipeline steps_for_reduced(const Pipeline& steps, const Picture& picture);

}  // namespace satin::batch
