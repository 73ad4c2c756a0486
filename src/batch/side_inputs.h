#pragma once
// Side inputs, such as radius maps and masks: one for all pictures, read once, or one for each picture by a
// pattern.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/rows.h"

namespace satin::batch {

/// Whether the name has placeholders and no file has exactly that name.
[[nodiscard]] bool is_side_pattern(const SideInput& side);

/// Throws Error(usage) for a side input that the filter does not have, that is given twice or missing, for a
/// pattern with an unknown placeholder, and if standard input would be read twice. Throws Error(input) for a
/// file that cannot be read.
void check_side_inputs(const Pipeline& pipeline, const BatchOptions& options);

/// Reads the shared side inputs of a step, in the order of the record; empty for missing ones and patterns.
/// Depth is the channel that its parameter names, or else Z if the file has it. A mask with transparent
/// pixels is replaced by its alpha; `inverts_masks` as BatchOptions::invert_mask. Call check_side_inputs()
/// first.
[[nodiscard]] std::vector<Image> read_side_inputs(const PipelineStep& step, const ReadOptions& options,
                                                  bool inverts_masks, std::vector<std::string>& warnings);

/// Whether pictures have their own image for this input: by a pattern, or depth or a mask from their file.
[[nodiscard]] bool is_own_side(const PipelineStep& step, const InputRecord& input,
                               const BatchOptions& options);

[[nodiscard]] bool has_own_side_inputs(const Pipeline& pipeline, const BatchOptions& options);

/// Reads the own side inputs of a picture, which was read as `picture`: for each step, in the order of the
/// record, the others empty. Returns nothing if there are none. Throws Error(usage) for a channel that the
/// file does not have.
[[nodiscard]] std::vector<std::vector<Image>> read_own_side_inputs(const Batch& work, std::size_t index,
                                                                   const Picture& picture,
                                                                   const ReadOptions& options,
                                                                   std::vector<std::string>& warnings);

/// Throws like SideRows for the shared inputs of a step.
void check_side_rows(const PipelineStep& step, const ReadOptions& options);

/// The side inputs of one picture that is streamed, in the order of RowPipeline.
struct SideRows {
  /// Throws like read_side_inputs(), and like open_rows() for files that cannot be streamed.
  SideRows(const Batch& work, std::size_t index, const ReadOptions& options);

  std::vector<std::unique_ptr<RowSource>> owned;
  std::vector<RowSource*> sources;  ///< null for inputs that are not given
  std::vector<std::string> warnings;
};

/// Throws Error(usage) if a side input of this step does not have the size of the step's picture. `shapes`
/// are those of PipelinePlan, `input` is the name of the file.
void check_sizes(const Pipeline& steps, std::size_t step, std::span<const Shape> shapes,
                 const std::filesystem::path& input, const Shape& picture);

/// Whether any pixel is not opaque.
[[nodiscard]] bool is_transparent(const ImageView& picture);

/// Replaces every value, of u8 or u16 as masks have them, by white minus the value.
void invert(const MutableImageView& mask);

/// Copies the first channel, or the last one, which is alpha. Returns false if other colours differ from the
/// first.
[[nodiscard]] bool take_one_channel(const ImageView& from, bool alpha, const MutableImageView& to);

}  // namespace satin::batch
