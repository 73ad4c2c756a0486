#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "satin/error.h"
#include "satin/param.h"

namespace satin::app {
namespace {

struct DefinedOption {
  const OptionSpec* spec;
  const CLI::Option* option;
};

std::string flags_of(const OptionSpec& option) {
  const std::string name = "--" + option.name;
  return option.letter == '\0' ? name : std::string{'-', option.letter, ','} + name;
}

std::vector<DefinedOption> define_options(CLI::App& parser, const CommandSpec& command) {
  std::vector<DefinedOption> defined;
  for (const OptionGroup& group : command.groups) {
    for (const OptionSpec& spec : group.options) {
      CLI::Option* option =
          spec.value.empty() ? parser.add_flag(flags_of(spec)) : parser.add_option(flags_of(spec));
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      defined.push_back({&spec, option});
    }
  }
  return defined;
}

/// CLI11 takes `--name=` for an option whose value is the next argument.
void refuse_empty_values(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.size() > 3 && argument.compare(0, 2, "--") == 0 && argument.find('=') == argument.size() - 1)
      throw Error(ErrorKind::usage,
                  "The option " + argument.substr(0, argument.size() - 1) + " needs a value.");
  }
}

[[noreturn]] void refuse_unknown(const CommandSpec& command, const std::string& argument) {
  std::vector<std::string> known;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) known.push_back("--" + option.name);
  const std::string name = argument.substr(0, argument.find('='));
  throw Error(ErrorKind::usage, "Unknown option " + name + "." + did_you_mean(name, known) + "\n'satin " +
                                    command.name + " --help' shows the options.");
}

bool looks_like_option(const std::string& argument) {
  if (argument.size() < 2 || argument.front() != '-') return false;
  const char second = argument[1];
  return !(second >= '0' && second <= '9') && second != '.';
}

std::vector<std::string> take_arguments(const CommandSpec& command, const std::vector<std::string>& rest) {
  std::vector<std::string> arguments;
  bool only_arguments = false;
  for (const std::string& text : rest) {
    if (!only_arguments && text == "--") {
      only_arguments = true;
      continue;
    }
    if (!only_arguments && looks_like_option(text)) refuse_unknown(command, text);
    arguments.push_back(text);
  }
  return arguments;
}

std::string joined(const std::vector<std::string>& texts, char joint) {
  std::string all = texts.front();
  for (std::size_t i = 1; i < texts.size(); ++i) all.append(1, joint).append(texts[i]);
  return all;
}

void parse(CLI::App& parser, const std::vector<std::string>& arguments) {
  try {
    parser.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (
      const CLI::ArgumentMismatch&) {  // thrown only when the arguments end before the last option's value
    throw Error(ErrorKind::usage, "The option " + arguments.back() + " needs a value.");
  } catch (const CLI::Error& error) {
    throw Error(ErrorKind::usage, error.what());
  }
}

}  // namespace

std::optional<std::string> ParsedLine::value(std::string_view name) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == options.end()) return std::nullopt;
  return found->second;
}

bool ParsedLine::flag(std::string_view name) const {
  const std::optional<std::string> text = value(name);
  return text && parse_flag("--" + std::string(name), *text);
}

ParsedLine parse_line(const CommandSpec& command, const std::vector<std::string>& arguments) {
  refuse_empty_values(arguments);
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras();
  const std::vector<DefinedOption> defined = define_options(parser, command);
  parse(parser, arguments);

  ParsedLine line;
  line.arguments = take_arguments(command, parser.remaining());
  for (const DefinedOption& entry : defined) {
    const std::vector<std::string>& texts = entry.option->results();
    if (texts.size() > 1 && entry.spec->joint == '\0')
      throw Error(ErrorKind::usage, "The option --" + entry.spec->name + " is given twice.");
    if (!texts.empty()) line.options.emplace_back(entry.spec->name, joined(texts, entry.spec->joint));
  }
  return line;
}

}  // namespace satin::app
