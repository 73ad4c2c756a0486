// The entry point of the command satin: finds the command, parses its line, runs it and maps errors to exit
// codes.

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/interrupt.h"
#include "app/report.h"
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

[[noreturn]] void refuse_nothing() {
  throw Error(ErrorKind::usage,
              "Name a filter and a picture: satin blur photo.jpg -o soft.jpg --radius 12\n"
              "'satin --help' lists filters and commands, 'satin help blur' shows the options of one.");
}

[[noreturn]] void refuse_no_input(const CommandSpec& command) {
  throw Error(ErrorKind::usage, "There is no input. Usage: satin " + command.name + " " + command.usage +
                                    "\n'satin help " + command.name + "' shows the options.");
}

int run(Arguments arguments) {
  if (arguments.empty()) refuse_nothing();
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    if (!arguments.empty() && arguments.front() != "help") arguments.insert(arguments.begin() + 1, "--help");
  }
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h" ||
      arguments.front() == "help") {
    print(overview(commands(), output_columns()));
    return exit_good;
  }
  const std::string& first = arguments.front();
  if (first == "--version" || first == "-V" || first == "version") {
    print(std::string("satin ") + version() + "\n");
    return exit_good;
  }
  if (!first.empty() && first.front() == '-') refuse_leading_option(first);
  const CommandSpec command = find_command(arguments);
  if (command.takes_files && arguments.size() == 1) refuse_no_input(command);
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
      // Standard output is closed; the error is on standard error already.
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
