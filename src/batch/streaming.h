#pragma once
// Pictures of a batch that are read, filtered and written row by row and are never whole in memory
// (BatchOptions::stream), and pyramids (BatchOptions::pyramid).

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/image.h"
#include "satin/rows.h"
#include "satin/tone_curves.h"

namespace satin::batch {

/// True if outputs are TIFF, whatever the inputs are.
[[nodiscard]] inline bool writes_rows(const BatchOptions& options) {
  return options.stream || options.pyramid;
}

/// True for the extensions of TIFF, in either case.
[[nodiscard]] bool is_tiff(std::string extension);

/// Throws Error(usage) for options that need whole pictures or mean nothing for TIFF, and for JSON.
void check_row_options(const Pipeline& pipeline, const BatchOptions& options);

/// Throws Error(usage) for an output that is not called .tif or .tiff.
void check_row_outputs(const Batch& work);

/// Throws Error(usage) for a pipeline that cannot be run row by row, or whose parameters fit no picture. What
/// takes side inputs is left to the pictures.
void check_row_parameters(const Device& device, const Batch& work);

/// The shapes of a file that write_by_rows() has written, and the warnings that came with it.
struct WrittenRows {
  Shape picture;
  Shape output;
  std::vector<std::string> warnings;
};

/// Reads, filters and writes one file. `replaces`: the output may exist. Throws as open_rows(), RowPipeline
/// and write_rows(); Error(cancelled) if `progress` says so.
[[nodiscard]] WrittenRows write_by_rows(const Device& device, const Batch& work, std::size_t index,
                                        const ReadOptions& reading, bool replaces, const Progress& progress);

/// Throws as check_rows_writable() if outputs are written by rows, otherwise as check_writable().
void check_output(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options,
                  const BatchOptions& batch);

/// Writes the picture with its pyramid, with what write_image() writes beside it.
void write_with_pyramid(const std::filesystem::path& path, const ImageView& picture,
                        const WriteOptions& options, int threads);

/// Codes as f32 in the linear light of their curves.
[[nodiscard]] std::unique_ptr<RowSource> linear_rows(RowSource& source, const ToneCurves& curves);

/// Linear light as codes again, by the same curves.
[[nodiscard]] std::unique_ptr<RowSource> encoded_rows(RowSource& source, const ToneCurves& curves);

/// A map or mask of several channels as its alpha, or as its first channel: reading then throws Error(usage)
/// with this message where the colours differ.
[[nodiscard]] std::unique_ptr<RowSource> one_channel_rows(RowSource& source, bool alpha,
                                                          const std::string& refusal);

/// Whether any pixel is not opaque. Reads all rows of a picture with alpha, and rewinds.
[[nodiscard]] bool is_transparent(RowSource& source);

}  // namespace satin::batch
