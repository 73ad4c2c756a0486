#pragma once
// satin bench [FILTER] [options]

#include <string>
#include <vector>

#include "app/command_line.h"
#include "satin/filter.h"

namespace satin::app {

/// The filter whose options may follow, null if all are to be timed. Throws Error(usage) if the first
/// argument is neither an option nor a filter.
[[nodiscard]] const FilterRecord* filter_to_time(const std::vector<std::string>& arguments);

/// Times and prints. A filter that refuses the picture has a row that says so if all are timed; alone it is
/// an error.
void run_bench_command(const ParsedLine& line);

}  // namespace satin::app
