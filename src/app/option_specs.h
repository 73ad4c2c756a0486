#pragma once
// Options that several commands share, and short ways to describe one.

#include <string>
#include <vector>

#include "app/commands.h"

namespace satin::app {

[[nodiscard]] OptionSpec flag(const std::string& name, const std::string& help, char letter = '\0');
[[nodiscard]] OptionSpec valued(const std::string& name, const std::string& value, const std::string& help,
                                char letter = '\0');
[[nodiscard]] OptionSpec file(const std::string& name, const std::string& help, char letter = '\0');

[[nodiscard]] OptionSpec help_option();
/// --recursive, --files-from and --null.
[[nodiscard]] std::vector<OptionSpec> input_options();
/// --device and --threads.
[[nodiscard]] std::vector<OptionSpec> device_options();
/// Limits and patience of whatever reads pictures.
[[nodiscard]] std::vector<OptionSpec> read_options();
[[nodiscard]] OptionSpec jpeg_decoder_option();
/// How output files differ from input files.
[[nodiscard]] std::vector<OptionSpec> write_options();
/// The common options of a command that looks at pictures: its own, then --device, --threads, --json and
/// --help.
[[nodiscard]] OptionGroup analysis_options(std::vector<OptionSpec> own, const std::string& json_help);

}  // namespace satin::app
