#pragma once
// The commands of satin as data, made from the registry of filters. The parser, the help, the manual page and
// the completions are generated from them.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "satin/filter.h"

namespace satin::app {

struct OptionSpec {
  std::string name{};   ///< without dashes
  char letter = '\0';   ///< short form; '\0' if there is none
  std::string value{};  ///< placeholder of the value in the help; empty for a flag
  std::string help{};   ///< one line
  std::string range{};  ///< valid values, such as "0 to 16384"; empty if there is no limit
  std::string unit{};
  std::string default_text{};
  std::vector<std::string> choices{};
  bool is_file = false;
  char joint = '\0';  ///< separator of the values of an option that may be repeated; '\0' for other options
};

struct OptionGroup {
  std::string title;
  std::vector<OptionSpec> options;
};

/// The options and arguments of a command line, before their meaning is checked.
struct ParsedLine {
  std::vector<std::pair<std::string, std::string>>
      options;                         ///< name and text of each option; "true" for a flag without text
  std::vector<std::string> arguments;  ///< all words that are not options

  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  /// Throws Error(usage) for a text that is neither true nor false.
  [[nodiscard]] bool flag(std::string_view name) const;
};

struct CommandSpec {
  std::string name{};
  std::string help{};     ///< one line
  std::string usage{};    ///< syntax after the name, such as "INPUT... -o OUTPUT [options]"
  std::string details{};  ///< text below the options; may be empty
  std::vector<OptionGroup> groups{};
  std::vector<std::string> choices{};    ///< valid arguments, if there are only a few
  const FilterRecord* filter = nullptr;  ///< filter that the command runs, or null
  bool takes_files = false;
  /// Runs the command and returns the exit code.
  int (*run)(const CommandSpec& command, const ParsedLine& line) = nullptr;

  [[nodiscard]] std::vector<OptionSpec> options() const;
};

/// Returns the filters in the order of the registry, then the other commands.
[[nodiscard]] std::vector<CommandSpec> commands();

/// Returns the command that the first argument names. `bench` and `view` get the options of the filter that
/// the other arguments name. Throws Error(usage) with the nearest existing name.
[[nodiscard]] CommandSpec find_command(const std::vector<std::string>& arguments);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<CommandSpec>& all);

/// Returns the names of a command's options, with dashes.
[[nodiscard]] std::vector<std::string> option_names(const CommandSpec& command);

/// Returns the options of a filter's parameters and of its side inputs, which are files.
[[nodiscard]] std::vector<OptionSpec> own_options(const FilterRecord& filter);
[[nodiscard]] std::vector<OptionSpec> parameter_options(const FilterRecord& filter);

/// Parses the words after the command's name. Throws Error(usage) for an unknown option (with the nearest
/// existing one), an option without its value, and an option that is given twice but accepts one value.
[[nodiscard]] ParsedLine parse_line(const CommandSpec& command, const std::vector<std::string>& arguments);

/// The command whose pictures are the depth that a model estimates.
constexpr const char* depth_command_name = "depth";

// --- Commands ---

int run_filter_command(const CommandSpec& command, const ParsedLine& line);
int run_pipeline_command(const CommandSpec& command, const ParsedLine& line);
int run_bench(const CommandSpec& command, const ParsedLine& line);
int run_list(const CommandSpec& command, const ParsedLine& line);
int run_devices(const CommandSpec& command, const ParsedLine& line);
int run_completion(const CommandSpec& command, const ParsedLine& line);
int run_man(const CommandSpec& command, const ParsedLine& line);

/// Adds --from-rle and --label to a filter of masks, so that run lengths can replace the picture.
[[nodiscard]] CommandSpec with_run_lengths(CommandSpec filter);
/// Makes `stats`, which prints a table and plots histograms.
[[nodiscard]] CommandSpec stats_command(CommandSpec filter);
/// Makes `view`, whose options depend on the filter that `arguments` name. `arguments` may be empty.
[[nodiscard]] CommandSpec view_command(const std::vector<std::string>& arguments);
/// Makes `info`.
[[nodiscard]] CommandSpec info_command();
/// Makes `bins`, which writes files for each zone of tone.
[[nodiscard]] CommandSpec bins_command(CommandSpec filter);
/// Makes `regions`, which also writes pictures and arrays of the labels.
[[nodiscard]] CommandSpec regions_command(CommandSpec filter);

// --- Texts for people (help.cpp) ---

/// Joins words with a separator.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& separator);

/// Throws Error(usage) if the line has arguments.
void refuse_arguments(const CommandSpec& command, const ParsedLine& line);

/// Returns the name of an option for the help, such as "-o, --output PATH".
[[nodiscard]] std::string signature(const OptionSpec& option);

/// Returns the help of an option with its unit, range, choices and default.
[[nodiscard]] std::string description(const OptionSpec& option);

/// Returns two example command lines, or none for commands that need none.
[[nodiscard]] std::vector<std::string> examples_of(std::string_view command);

[[nodiscard]] std::string overview(const std::vector<CommandSpec>& all, std::size_t columns);
[[nodiscard]] std::string help_page(const CommandSpec& command, std::size_t columns);

/// Returns "Name text" with the text wrapped beside the name.
[[nodiscard]] std::string table_row(const std::string& name, const std::string& text, std::size_t name_width,
                                    std::size_t columns);

}  // namespace satin::app
