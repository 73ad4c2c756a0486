#pragma once
// The markers and the codes of a JPEG file, for a decoder that does not check them as libjpeg does.

#include <optional>

#include "io/codec.h"

namespace satin::io {

/// The file up to its end marker, if it is one frame (baseline, extended or progressive, Huffman codes) whose
/// segments follow one another without a byte between them, with quantisers before the first scan alone, with
/// the restart markers that each scan must have, in order, with all components in one scan unless it is
/// progressive, and with the end marker behind the last scan. Reads the codes of files that are not
/// progressive: all must be there, and none too many. Nothing if anything is otherwise, although libjpeg may
/// take such a file.
[[nodiscard]] std::optional<Bytes> whole_jpeg(Bytes bytes);

}  // namespace satin::io
