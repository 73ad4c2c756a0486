// The command. Everything about filters comes from the registry.

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/bench_command.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/completion.h"
#include "app/exit_code.h"
#include "app/filter_command.h"
#include "app/help.h"
#include "app/interrupt.h"
#include "app/list_command.h"
#include "app/man.h"
#include "app/report.h"
#include "app/terminal.h"
#include "satin/error.h"
#include "satin/param.h"
#include "satin/version.h"

namespace satin::app {
namespace {

using Arguments = std::vector<std::string>;

void print_completion(const std::vector<CommandSpec>& all, const CommandSpec& command,
                      const ParsedLine& line) {
  if (line.arguments.size() != 1) throw Error(ErrorKind::usage, "Name one shell: " + command.usage + ".");
  const std::string& shell = command.choices[parse_choice("shell", line.arguments.front(), command.choices)];
  if (shell == "bash") print(bash_completion(all));
  if (shell == "zsh") print(zsh_completion(all));
  if (shell == "fish") print(fish_completion(all));
}

void run_plain_command(const std::vector<CommandSpec>& all, const CommandSpec& command,
                       const ParsedLine& line) {
  if (command.name == "completion") return print_completion(all, command, line);
  if (!line.arguments.empty())
    throw Error(ErrorKind::usage, "'satin " + command.name + "' takes no '" + line.arguments.front() + "'.");
  const bool json = line.flag("json");
  if (command.name == "list" && line.flag("markdown")) return print(filter_markdown());
  if (command.name == "list") print(json ? filter_json(all) : filter_table(all, output_columns()));
  if (command.name == "devices") print(json ? device_json() : device_table());
  if (command.name == "man") print(manual_page(all));
}

[[noreturn]] void refuse_leading_option(const std::string& option) {
  const std::vector<std::string> known = {"--help", "--version"};
  throw Error(ErrorKind::usage,
              "Unknown option " + option + "." + did_you_mean(option, known) +
                  "\nOptions come after the filter: satin FILTER INPUT... -o OUTPUT [options].");
}

int run(const Arguments& arguments) {
  if (arguments.empty())
    throw Error(ErrorKind::usage, "There is no filter or command. 'satin --help' shows them.");
  const std::string& first = arguments.front();
  const std::vector<CommandSpec> all = commands();
  if (first == "--version") {
    print(std::string("satin ") + version() + "\n");
    return exit_good;
  }
  if (first == "--help" || first == "-h") {
    print(overview(all, output_columns()));
    return exit_good;
  }
  if (!first.empty() && first.front() == '-') refuse_leading_option(first);
  const Arguments rest(arguments.begin() + 1, arguments.end());
  const CommandSpec command =
      first == "bench" ? bench_command(filter_to_time(rest)) : find_command(all, first);
  const ParsedLine line = parse_line(command, rest);
  if (line.flag("help")) {
    print(help_page(command, output_columns()));
    return exit_good;
  }
  if (command.run != nullptr) return command.run(line);
  if (command.filter != nullptr) return run_filter_command(*command.filter, line);
  if (command.name == "run") return run_pipeline_command(line);
  if (command.name == "bench") {
    run_bench_command(line);
    return exit_good;
  }
  run_plain_command(all, command, line);
  return exit_good;
}

int report(const Error& error, const Arguments& arguments) {
  print_error(error.what());
  if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end()) {
    try {
      print(json_report(error));
    } catch (const Error& second) {
      print_error(second.what());
    }
  }
  return exit_code(error.kind());
}

int run_and_report(const Arguments& arguments) {
  try {
    return run(arguments);
  } catch (const Error& error) {
    return report(error, arguments);
  } catch (const std::bad_alloc&) {
    return report({ErrorKind::environment, "There is not enough memory."}, arguments);
  } catch (const std::exception& error) {
    return report({ErrorKind::input, error.what()}, arguments);
  }
}

}  // namespace
}  // namespace satin::app

int main(int count, char** arguments) {
  satin::app::catch_signals();
  return satin::app::run_and_report({arguments + 1, arguments + count});
}
