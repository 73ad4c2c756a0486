// satin man: the manual page, satin(1) as troff with the man macros.

#include "app/command_line.h"
#include "app/help.h"
#include "app/terminal.h"
#include "satin/version.h"

namespace satin::app {
namespace {

/// Text that troff takes as it is.
std::string plain(const std::string& text) {
  std::string result;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) result = "\\&";
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string tagged(const std::string& tag, const std::string& text) {
  return ".TP\n.B " + plain(tag) + "\n" + plain(text) + "\n";
}

std::string options_of(const OptionGroup& group) {
  std::string text;
  for (const OptionSpec& option : group.options) text += tagged(signature(option), description(option));
  return text;
}

/// A filter's own options; those of all filters are described once.
std::string filter_section(const CommandSpec& command) {
  std::string text = ".SS " + plain(command.name) + "\n" + plain(command.help) + ".\n";
  if (!command.details.empty()) text += ".PP\n" + plain(command.details) + ".\n";
  for (std::size_t i = 0; i + 1 < command.groups.size(); ++i) text += options_of(command.groups[i]);
  return text;
}

std::string filter_sections(const std::vector<CommandSpec>& all) {
  std::string text = ".SH FILTERS\n";
  for (const CommandSpec& command : all)
    if (command.filter != nullptr) text += filter_section(command);
  return text;
}

std::string common_section(const std::vector<CommandSpec>& all) {
  for (const CommandSpec& command : all)
    if (command.filter != nullptr) return ".SH COMMON OPTIONS\n" + options_of(command.groups.back());
  return "";
}

std::string command_section(const std::vector<CommandSpec>& all) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandSpec& command : all)
    if (command.filter == nullptr) text += tagged(command.name + " " + command.usage, command.help + ".");
  return text;
}

}  // namespace

int run_man(const CommandSpec& command, const ParsedLine& line) {
  refuse_arguments(command, line);
  const std::vector<CommandSpec> all = commands();
  print(
      ".TH SATIN 1 \"\" \"satin " + std::string(version()) +
      "\" \"User Commands\"\n"
      ".SH NAME\nsatin \\- filters images with summed\\-area tables\n"
      ".SH SYNOPSIS\n"
      ".B satin\n.I FILTER INPUT...\n.B \\-o\n.I OUTPUT\n[options]\n"
      ".br\n.B satin\n.I COMMAND\n"
      ".SH DESCRIPTION\n"
      "Runs one filter over files, folders or standard input. Of a folder all pictures are taken; several "
      "inputs\n"
      "go to a folder. A file that fails is reported and the others are done.\n" +
      filter_sections(all) + common_section(all) + command_section(all) + ".SH EXIT STATUS\n" +
      tagged("0", "All done.") +
      tagged("1", "An input could not be read or processed, or an output could not be written.") +
      tagged("2",
             "The command line is wrong: an option, a name, a range, sizes that do not match, an output that "
             "is an input or that exists already.") +
      tagged("3", "The machine is the reason: no such device, out of memory, a full disk.") +
      tagged("129, 130, 143",
             "Ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM: 128 and the number of the signal.") +
      ".SH ENVIRONMENT\n" + tagged("NO_COLOR", "If not empty, nothing is coloured."));
  return exit_good;
}

}  // namespace satin::app
