#pragma once
// Rows on their way from a file through a pipeline to a file, changed as whole pictures are changed. They are
// made of those of another source, which outlives them and has no other reader.

#include <memory>
#include <string>

#include "satin/image.h"
#include "satin/rows.h"
#include "satin/tone_curves.h"

namespace satin::batch {

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
