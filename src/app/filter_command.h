#pragma once
// satin FILTER INPUT... -o OUTPUT and satin run PIPELINE INPUT... -o OUTPUT

#include "app/command_line.h"
#include "app/commands.h"

namespace satin::app {

/// Returns the exit code of the run; throws Error for what ends it before the first picture.
[[nodiscard]] int run_filter_command(const FilterRecord& filter, const ParsedLine& line);
[[nodiscard]] int run_pipeline_command(const ParsedLine& line);

}  // namespace satin::app
