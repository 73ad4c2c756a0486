#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

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

std::vector<std::string> names_of_options(const CommandSpec& command) {
  std::vector<std::string> names;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) names.push_back("--" + option.name);
  return names;
}

std::string name_in(const std::string& argument) { return argument.substr(0, argument.find('=')); }

/// A question that names the one option whose first or last word is `name`: "--jpeg-quality" for "--quality".
/// Empty if there are none or several.
std::string did_you_mean_longer(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t shortest = 5;  // shorter words, such as --k, are ends of many names by chance
  if (name.size() < shortest) return "";
  std::vector<std::string> found;
  std::ranges::copy_if(known, std::back_inserter(found), [&](const std::string& each) {
    return each.starts_with(name + "-") || each.ends_with(name.substr(1));
  });
  return found.size() == 1 ? " Did you mean '" + found.front() + "'?" : "";
}

[[noreturn]] void refuse_unknown(const CommandSpec& command, const std::string& argument) {
  const std::string name = name_in(argument);
  const std::vector<std::string> known = names_of_options(command);
  const auto is_known = [&](const std::string& each) {
    return std::ranges::find(known, each) != known.end();
  };
  const bool for_output = (name.starts_with("-o") && !is_known("-" + name)) || name == "--output";
  if (for_output && !is_known("--output"))
    throw Error(ErrorKind::usage, "'satin " + command.name +
                                      "' has no -o: it prints its results. Write them to a file by > FILE.");
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) hint = did_you_mean_longer(name, known);
  throw Error(ErrorKind::usage, "Unknown option " + name + "." + hint + "\n'satin help " + command.name +
                                    "' shows the options.");
}

/// The parser would take `-radius` for five options of one letter.
void refuse_single_dashes(const CommandSpec& command, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = names_of_options(command);
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.size() > 2 && argument[0] == '-' &&
        std::ranges::find(known, "-" + name_in(argument)) != known.end())
      refuse_unknown(command, argument);
  }
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
  refuse_single_dashes(command, arguments);
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
