#pragma once
// Options that several commands share: their descriptions, and their values on a command line.

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/filter.h"
#include "satin/io.h"

namespace satin::app {

// --- Descriptions ---

// Each adds its arguments to `facts`.
[[nodiscard]] OptionSpec flag(const std::string& name, const std::string& help, OptionSpec facts = {});
[[nodiscard]] OptionSpec valued(const std::string& name, const std::string& value, const std::string& help,
                                OptionSpec facts = {});
[[nodiscard]] OptionSpec file(const std::string& name, const std::string& help, OptionSpec facts = {});

/// Returns --model.
[[nodiscard]] OptionSpec model_option(const std::string& help);

/// Joins lists of options.
[[nodiscard]] std::vector<OptionSpec> together(const std::vector<std::vector<OptionSpec>>& lists);

[[nodiscard]] OptionSpec help_option();
[[nodiscard]] OptionSpec simd_option();
/// --recursive, --files-from and --null.
[[nodiscard]] std::vector<OptionSpec> input_options();
/// --device and --threads.
[[nodiscard]] std::vector<OptionSpec> device_options();
/// Returns limits, pages and --allow-partial, for commands that read pictures.
[[nodiscard]] std::vector<OptionSpec> read_options();
/// Returns --jpeg-quality, --dither and --strip.
[[nodiscard]] std::vector<OptionSpec> write_options();
/// Returns the common options of a command that analyses pictures: `own`, then those for devices and reading,
/// --json and --help.
[[nodiscard]] OptionGroup analysis_options(std::vector<OptionSpec> own, const std::string& json_help);

/// Returns the options of a batch: inputs, outputs, resuming, sharding, memory and reports.
[[nodiscard]] OptionGroup batch_option_group(const FilterRecord* filter);

// --- Values ---

/// Returns the filter's defaults with the parameters that the line sets. Throws Error(usage) with the
/// option's name.
[[nodiscard]] Parameters parameters_of(const FilterRecord& filter, const ParsedLine& line);

/// Returns a step with parameters_of() and the files of the filter's side inputs.
[[nodiscard]] PipelineStep step_of(const FilterRecord& filter, const ParsedLine& line);

[[nodiscard]] DeviceOptions device_options_of(const ParsedLine& line);
[[nodiscard]] ReadOptions read_options_of(const ParsedLine& line);

/// Returns the bytes that an option gives; 0 without it.
[[nodiscard]] std::uint64_t bytes_of(const ParsedLine& line, const std::string& option);

/// Returns all options of a batch, with the list of --files-from. Throws Error(usage) for wrong values and
/// combinations.
[[nodiscard]] BatchOptions batch_options_of(const ParsedLine& line);

/// Returns only the options about inputs.
[[nodiscard]] BatchOptions input_options_of(const ParsedLine& line);

}  // namespace satin::app
