// The command. Everything about filters comes from the registry.

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/help.h"
#include "app/interrupt.h"
#include "app/report.h"
#include "app/terminal.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/param.h"
#include "satin/version.h"

namespace satin::app {
namespace {

using Arguments = std::vector<std::string>;

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
  if (first == "--version") {
    print(std::string("satin ") + version() + "\n");
    return exit_good;
  }
  if (first == "--help" || first == "-h") {
    print(overview(commands(), output_columns()));
    return exit_good;
  }
  if (!first.empty() && first.front() == '-') refuse_leading_option(first);
  const CommandSpec command = find_command(arguments);
  const ParsedLine line = parse_line(command, {arguments.begin() + 1, arguments.end()});
  if (const auto name = line.value("simd")) limit_simd(*name);
  if (!line.flag("help")) return command.run(command, line);
  print(help_page(command, output_columns()));
  return exit_good;
}

int report(const Error& error, const Arguments& arguments) {
  print_error(error.what());
  if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end()) {
    try {
      print(json_report(error));
    } catch (const Error&) {
      // Nobody reads standard output; the error stands on standard error.
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
