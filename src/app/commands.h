#pragma once
// What the command understands, as data: made from the registry, and the source of the parser, the help, the
// man page and the completions.

#include <string>
#include <string_view>
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
  int (*run)(const ParsedLine& line) = nullptr;  ///< of commands in a file of their own: gives the exit code
};

/// The filters in the order of the registry, then the other commands.
[[nodiscard]] std::vector<CommandSpec> commands();

/// `satin bench`, with the options of the filter that it is told to time.
[[nodiscard]] CommandSpec bench_command(const FilterRecord* filter = nullptr);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<CommandSpec>& all);

/// Throws Error(usage) with the nearest real name.
[[nodiscard]] const CommandSpec& find_command(const std::vector<CommandSpec>& all, std::string_view name);

[[nodiscard]] const OptionSpec* find_option(const CommandSpec& command, std::string_view name);

}  // namespace satin::app
