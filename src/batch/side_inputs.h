#pragma once
// Radius maps, masks and the like: one for all pictures, read once, or one for each by a pattern.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/rows.h"

namespace satin::batch {

/// True if the name has placeholders and there is no file of that very name.
[[nodiscard]] bool is_side_pattern(const SideInput& side);

/// Throws Error(usage) for a name that the filter does not have, one that is given twice, a required one that
/// is missing, a pattern with an unknown placeholder, and standard input that is to be read twice;
/// Error(input) for a file that cannot be read.
void check_side_inputs(const Pipeline& pipeline, const BatchOptions& options);

/// In the order of the record, empty where none is given and for patterns. Depth is the channel of the file
/// that the parameter for it names, otherwise Z of a file that has one. A mask with transparent pixels is its
/// alpha. What may surprise is added to `warnings`. To be called after check_side_inputs().
[[nodiscard]] std::vector<Image> read_side_inputs(const PipelineStep& step, const ReadOptions& options,
                                                  std::vector<std::string>& warnings);

/// True if pictures have this input of their own: by a pattern, or depth or a mask from their file.
[[nodiscard]] bool is_own_side(const PipelineStep& step, const InputRecord& input,
                               const BatchOptions& options);

/// True if pictures have side inputs of their own: by patterns, or depth or a mask from their file.
[[nodiscard]] bool has_own_side_inputs(const Pipeline& pipeline, const BatchOptions& options);

/// For each step those of one picture, which was read from its file as `picture`, in the order of the record,
/// the others empty; nothing if there are none. Adds `warnings` as read_side_inputs(). Throws Error(usage)
/// for a channel that the file does not have.
[[nodiscard]] std::vector<std::vector<Image>> read_own_side_inputs(const Batch& work, std::size_t index,
                                                                   const Picture& picture,
                                                                   const ReadOptions& options,
                                                                   std::vector<std::string>& warnings);

/// Throws as SideRows for the inputs of a step that all pictures share.
void check_side_rows(const PipelineStep& step, const ReadOptions& options);

/// The side inputs of one picture whose rows stay in their files, in the order of RowPipeline.
class SideRows {
 public:
  /// Throws as read_side_inputs(), and as open_rows() for what cannot be read by rows.
  SideRows(const Batch& work, std::size_t index, const ReadOptions& options);

  /// Null for those that are not used.
  [[nodiscard]] const std::vector<RowSource*>& sources() const noexcept { return sources_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  std::vector<std::unique_ptr<RowSource>> owned_;
  std::vector<RowSource*> sources_;
  std::vector<std::string> warnings_;
};

/// Throws Error(usage) if a side input does not have the size of the picture, whose name is `input`. Width 0:
/// it is not used.
void check_sizes(const PipelineStep& step, std::span<const Shape> sides, const std::filesystem::path& input,
                 const Shape& picture);
/// This overload checks pictures that are in memory.
void check_sizes(const PipelineStep& step, std::span<const ImageView> side_images,
                 const std::filesystem::path& input, const Shape& picture);

/// Whether any pixel is not opaque.
[[nodiscard]] bool is_transparent(const ImageView& picture);

/// Copies the first channel, or alpha, which is the last one; false if it was to be the first one and other
/// colours differ from it.
[[nodiscard]] bool take_one_channel(const ImageView& from, bool alpha, const MutableImageView& to);

}  // namespace satin::batch
