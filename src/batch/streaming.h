#pragma once
// Streaming: pictures of a batch that are read, filtered and written row by row and are never whole in memory
// (BatchOptions::stream). Also writes pyramids (BatchOptions::pyramid), of streamed and of whole pictures.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "satin/batch.h"
#include "satin/image.h"
#include "satin/rows.h"

namespace satin::batch {

/// Whether all outputs are TIFF files, whatever the inputs are.
[[nodiscard]] inline bool writes_rows(const BatchOptions& options) {
  return options.stream || options.pyramid;
}

/// Whether this is an extension of TIFF, in either case.
[[nodiscard]] bool is_tiff(std::string extension);

/// Throws Error(usage) for options that need whole pictures or have no meaning for TIFF, and for pipelines
/// that make JSON.
void check_row_options(const Pipeline& pipeline, const BatchOptions& options);

/// Throws Error(usage) for an output without the extension .tif or .tiff.
void check_row_outputs(const Batch& work);

/// Throws Error(usage) for a pipeline that cannot be streamed, or whose parameters fit no picture. Pipelines
/// with side inputs are checked for each picture instead.
void check_row_parameters(const Device& device, const Batch& work);

/// Reads, filters and writes one file, and sets shapes, pages and warnings of its result. With `replaces` the
/// output may exist; `before_rename` as in WriteOptions. Throws like open_rows(), RowPipeline and
/// write_rows(), and Error(cancelled) if `progress` cancels.
void write_by_rows(const Device& device, const Batch& work, std::size_t index, const ReadOptions& reading,
                   bool replaces,
                   const std::function<void(const std::filesystem::path& temporary)>& before_rename,
                   const Progress& progress, FileResult& done);

/// Throws like check_rows_writable() if outputs are written by rows, otherwise like check_writable().
void check_output(const std::filesystem::path& path, const Shape& shape, const WriteOptions& options,
                  const BatchOptions& batch);

/// Writes a picture and its pyramid, with the metadata that write_image() writes.
void write_with_pyramid(const std::filesystem::path& path, const ImageView& picture,
                        const WriteOptions& options, int threads);

/// Reduces a map or mask of several channels to its alpha or its first channel. Reading then throws
/// Error(usage) with the message `refusal` if the colours differ. `source` outlives the rows and has no other
/// reader.
[[nodiscard]] std::unique_ptr<RowSource> one_channel_rows(RowSource& source, bool alpha,
                                                          const std::string& refusal);

/// Inverts a mask. `source` as above.
[[nodiscard]] std::unique_ptr<RowSource> inverted_rows(RowSource& source);

/// Whether any pixel is not opaque. Reads all rows of a picture with alpha, and rewinds.
[[nodiscard]] bool is_transparent(RowSource& source);

}  // namespace satin::batch
