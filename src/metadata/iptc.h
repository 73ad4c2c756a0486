#pragma once
// IPTC data (IIM 4.2): in JPEG one of the image resources of Photoshop (APP13), in TIFF a tag.

#include "metadata/bytes.h"

namespace satin::io {

/// The whole data sets that the block begins with; what follows them is padding or damage.
[[nodiscard]] Bytes iptc_data_sets(Bytes block) noexcept;

/// The data sets in the first resource of that kind; empty if there is none.
[[nodiscard]] FileBytes iptc_in_resources(Bytes resources);

/// Image resources that hold these data sets and nothing else.
[[nodiscard]] FileBytes resources_of_iptc(Bytes iptc);

/// The data sets of a tag, whose type may be bytes or, as Photoshop has it, long numbers, which some writers
/// turn to the byte order of the file.
[[nodiscard]] FileBytes iptc_of_tag(Bytes value);

}  // namespace satin::io
