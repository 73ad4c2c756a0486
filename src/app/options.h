#pragma once
// Options that several commands share: how they are described, and what they mean on a line.

#include <cstdint>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/commands.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/filter.h"
#include "satin/io.h"

namespace satin::app {

// --- Descriptions. ---

[[nodiscard]] OptionSpec flag(const std::string& name, const std::string& help, char letter = '\0');
[[nodiscard]] OptionSpec valued(const std::string& name, const std::string& value, const std::string& help,
                                char letter = '\0');
[[nodiscard]] OptionSpec file(const std::string& name, const std::string& help, char letter = '\0');

[[nodiscard]] OptionSpec help_option();
[[nodiscard]] OptionSpec simd_option();
/// --recursive, --files-from and --null.
[[nodiscard]] std::vector<OptionSpec> input_options();
/// --device and --threads.
[[nodiscard]] std::vector<OptionSpec> device_options();
/// Limits and patience of whatever reads pictures.
[[nodiscard]] std::vector<OptionSpec> read_options();
/// How output files differ from input files.
[[nodiscard]] std::vector<OptionSpec> write_options();
/// The common options of a command that looks at pictures: its own, then --device, --threads, --json and
/// --help.
[[nodiscard]] OptionGroup analysis_options(std::vector<OptionSpec> own, const std::string& json_help);

/// What is read, what becomes of existing outputs, which files are done, and what is told.
[[nodiscard]] OptionGroup batch_option_group(const FilterRecord* filter);

// --- Meanings. ---

/// The filter's parameters: its defaults and what the line sets. Throws Error(usage) that names the option.
[[nodiscard]] Parameters parameters_of(const FilterRecord& filter, const ParsedLine& line);

/// The filter with parameters_of() and the files of its side inputs.
[[nodiscard]] PipelineStep step_of(const FilterRecord& filter, const ParsedLine& line);

[[nodiscard]] DeviceOptions device_options_of(const ParsedLine& line);
[[nodiscard]] ReadOptions read_options_of(const ParsedLine& line);

/// The bytes that an option says; 0 without it.
[[nodiscard]] std::uint64_t bytes_of(const ParsedLine& line, const std::string& option);

/// Throws Error(usage) for values and combinations; reads the list of --files-from.
[[nodiscard]] BatchOptions batch_options_of(const ParsedLine& line);

/// What the line says of the inputs, and nothing else.
[[nodiscard]] BatchOptions input_options_of(const ParsedLine& line);

}  // namespace satin::app
