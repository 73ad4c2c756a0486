#pragma once
// Filters one after another, and the text that says so.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "satin/filter.h"

namespace satin {

/// A file that a filter reads beside the picture.
struct SideInput {
  std::string name;  ///< as in the filter's record: "radius-map"
  std::filesystem::path path;
};

struct PipelineStep {
  Parameters parameters;
  std::vector<SideInput> side_inputs;
};

/// Each step takes the result of the one before it, in that result's pixel type.
using Pipeline = std::vector<PipelineStep>;

/// Takes "blur radius=8 | blur sigma=2 mask='my mask.png'":
///   pipeline = step { "|" step }       step = filter { setting }
///   setting  = name "=" value | flag   value = word | "'" text "'" | '"' text '"'
/// A name is a parameter or a side input of the filter. A table ends a pipeline. Throws Error(usage) that
/// tells the column, counted from 1, and the nearest real name.
[[nodiscard]] Pipeline parse_pipeline(std::string_view text);

}  // namespace satin
