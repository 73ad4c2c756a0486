#pragma once
// What the options of a line mean: those of a filter, and those that commands share.

#include "app/command_line.h"
#include "satin/device.h"
#include "satin/filter.h"
#include "satin/io.h"

namespace satin::app {

/// The filter's parameters: its defaults and what the line sets. Throws Error(usage) that names the option.
[[nodiscard]] Parameters parameters_of(const FilterRecord& filter, const ParsedLine& line);

[[nodiscard]] DeviceOptions device_options_of(const ParsedLine& line);
[[nodiscard]] ReadOptions read_options_of(const ParsedLine& line);

/// Bytes for limit_memory().
[[nodiscard]] std::size_t memory_limit_of(const ParsedLine& line);

}  // namespace satin::app
