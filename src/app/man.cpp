// satin man: the manual page, satin(1) as troff with the man macros.

#include <algorithm>
#include <sstream>

#include "app/command_line.h"
#include "app/help.h"
#include "app/report.h"
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

/// Lines that troff leaves as they are.
std::string lines(const std::string& text) {
  std::string result;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) result += plain(line) + "\n";
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

/// True for options that `run` or a filter has too: the page describes them there.
bool is_described_elsewhere(const OptionGroup& group, const CommandSpec& shared) {
  return group.title.starts_with("Options of ") ||
         std::ranges::any_of(shared.groups,
                             [&](const OptionGroup& each) { return each.title == group.title; });
}

/// A command's own options.
std::string section_of(const CommandSpec& command, const CommandSpec& shared) {
  std::string text = ".SS " + plain(command.name + " " + command.usage) + "\n" + plain(command.help) + ".\n";
  if (!command.details.empty()) text += ".PP\n.nf\n" + lines(command.details) + ".fi\n";
  for (const OptionGroup& group : command.groups)
    if (!is_described_elsewhere(group, shared)) text += options_of(group);
  return text;
}

std::string sections(const std::vector<CommandSpec>& all, bool filters, const CommandSpec& shared) {
  std::string text = filters ? ".SH FILTERS\n" : ".SH COMMANDS\n";
  for (const CommandSpec& command : all)
    if ((command.filter != nullptr) == filters) text += section_of(command, shared);
  return text;
}

std::string shared_sections(const CommandSpec& shared) {
  std::string text = ".SH OPTIONS OF ALL FILTERS\n";
  for (const OptionGroup& group : shared.groups)
    text += ".SS " + plain(group.title) + "\n" + options_of(group);
  return text;
}

std::string examples(const std::vector<CommandSpec>& all) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const CommandSpec& command : all)
    for (const std::string& example : examples_of(command.name)) text += plain(example) + "\n";
  return text + ".fi\n";
}

constexpr std::string_view grammar =
    ".SH PIPELINES\n"
    "The argument of\n.B run\nis filters between bars, each with its parameters and files:\n"
    ".PP\n.nf\n"
    "pipeline  = filter { \"|\" filter }\n"
    "filter    = NAME { NAME [ \"=\" value ] }\n"
    "value     = WORD | \"'\" text \"'\" | '\"' text '\"'\n"
    ".fi\n.PP\n"
    "A flag needs no value. A filter that makes JSON or a table (stats, bins, regions, integral) can only be "
    "the last one.\n";

}  // namespace

int run_man(const CommandSpec& command, const ParsedLine& line) {
  refuse_arguments(command, line);
  const std::vector<CommandSpec> all = commands();
  const auto shared = std::ranges::find(all, std::string("run"), &CommandSpec::name);
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
      sections(all, true, *shared) + shared_sections(*shared) + sections(all, false, *shared) +
      std::string(grammar) + examples(all) + ".SH EXIT STATUS\n" + tagged("0", "All done.") +
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
