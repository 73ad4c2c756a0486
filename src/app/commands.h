#pragma once
// What the command understands, as data: made from the registry, and the source of the parser, the help, the
// man page and the completions.

#include <string>
#include <vector>

#include "satin/filter.h"

namespace satin::app {

struct OptionSpec {
  std::string name;    ///< without dashes
  char letter = '\0';  ///< of the short form, if there is one
  std::string value;   ///< what stands for the value in the help; empty for a flag
  std::string help;    ///< one line
  std::string range;   ///< "0 to 16384"; empty if anything goes
  std::string unit;
  std::string default_text;
  std::vector<std::string> choices;
  bool is_file = false;
  char joint = '\0';  ///< of an option that may be given several times: stands between its values
};

struct OptionGroup {
  std::string title;
  std::vector<OptionSpec> options;
};

struct ParsedLine;

struct CommandSpec {
  std::string name;
  std::string help;     ///< one line
  std::string usage;    ///< after the name: "INPUT... -o OUTPUT [options]"
  std::string details;  ///< below the options; may be empty
  std::vector<OptionGroup> groups;
  std::vector<std::string> choices;      ///< of the argument, if it is one of a few words
  const FilterRecord* filter = nullptr;  ///< if the command is a filter
  bool takes_files = false;
  /// Gives the exit code.
  int (*run)(const CommandSpec& command, const ParsedLine& line) = nullptr;
};

/// The filters in the order of the registry, then the other commands.
[[nodiscard]] std::vector<CommandSpec> commands();

/// The command that the arguments begin with; that of `bench` with the options of the filter that it is told
/// to time. Throws Error(usage) with the nearest real name.
[[nodiscard]] CommandSpec find_command(const std::vector<std::string>& arguments);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<CommandSpec>& all);

/// The options of a filter's parameters, and of its side inputs as files.
[[nodiscard]] std::vector<OptionSpec> own_options(const FilterRecord& filter);
[[nodiscard]] std::vector<OptionSpec> parameter_options(const FilterRecord& filter);

// --- What commands do, and filters' commands that do more than filter; each in a file of its own. ---

int run_filter_command(const CommandSpec& command, const ParsedLine& line);
int run_pipeline_command(const CommandSpec& command, const ParsedLine& line);
int run_bench(const CommandSpec& command, const ParsedLine& line);
int run_list(const CommandSpec& command, const ParsedLine& line);
int run_devices(const CommandSpec& command, const ParsedLine& line);
int run_completion(const CommandSpec& command, const ParsedLine& line);
int run_man(const CommandSpec& command, const ParsedLine& line);

/// A filter of masks also takes run lengths in place of pictures: --from-rle, --label.
[[nodiscard]] CommandSpec with_run_lengths(CommandSpec filter);
/// Statistics as a table, and as a plot.
[[nodiscard]] CommandSpec stats_command(CommandSpec filter);
/// The page, whose options depend on the filter that the arguments name; `arguments` may be empty.
[[nodiscard]] CommandSpec view_command(const std::vector<std::string>& arguments);
/// What is in files.
[[nodiscard]] CommandSpec info_command();
/// Files for each zone of tone.
[[nodiscard]] CommandSpec bins_command(CommandSpec filter);
/// Pictures and arrays of the labels.
[[nodiscard]] CommandSpec regions_command(CommandSpec filter);

}  // namespace satin::app
