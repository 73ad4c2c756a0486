// satin completion: scripts for shells.

#include "app/command_line.h"
#include "app/help.h"
#include "app/report.h"
#include "satin/error.h"

namespace satin::app {
namespace {

std::string option_words(const CommandSpec& command) {
  std::vector<std::string> words;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) words.push_back("--" + option.name);
  return joined(words, " ");
}

/// `text` with a backslash before each of `special`.
std::string escaped(const std::string& text, const std::string& special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Between single quotes of a POSIX shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

std::string bash_choices(const CommandSpec& command) {
  std::string text;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options)
      if (!option.choices.empty())
        text += "    '" + command.name + " --" + option.name + "') COMPREPLY=($(compgen -W '" +
                joined(option.choices, " ") + "' -- \"$current\")); return ;;\n";
  return text;
}

std::string zsh_option(const OptionSpec& option) {
  const std::string help = std::string("[") + escaped(option.help, "\\[]:") + "]";
  if (option.value.empty()) return quoted("--" + option.name + help);
  std::string action;
  if (!option.choices.empty()) action = "(" + joined(option.choices, " ") + ")";
  if (option.is_file) action = "_files";
  return quoted("--" + option.name + "=" + help + ":" + escaped(option.value, ":") + ":" + action);
}

std::string zsh_command(const CommandSpec& command) {
  std::string text = "    " + command.name + ") _arguments";
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) text += " \\\n      " + zsh_option(option);
  if (!command.choices.empty()) text += " \\\n      '1:argument:(" + joined(command.choices, " ") + ")'";
  if (command.takes_files) text += " \\\n      '*:input:_files'";
  return text + " ;;\n";
}

std::string fish_option(const CommandSpec& command, const OptionSpec& option) {
  std::string text =
      "complete -c satin -n '__fish_seen_subcommand_from " + command.name + "' -l " + option.name;
  if (option.letter != '\0') text += std::string(" -s ") + option.letter;
  if (!option.value.empty()) text += option.is_file ? " -rF" : " -x";
  if (!option.choices.empty()) text += " -a '" + joined(option.choices, " ") + "'";
  return text + " -d '" + escaped(option.help, "\\'") + "'\n";
}

std::string bash_completion(const std::vector<CommandSpec>& all) {
  std::string text =
      "# bash completion for satin\n"
      "_satin() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '" +
      joined(names_of(all), " ") +
      " --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command $previous\" in\n";
  for (const CommandSpec& command : all) text += bash_choices(command);
  text +=
      "  esac\n"
      "  case \"$command\" in\n";
  for (const CommandSpec& command : all) {
    text += "    " + command.name + ")\n";
    if (!command.choices.empty())
      text += "      COMPREPLY=($(compgen -W '" + joined(command.choices, " ") + "' -- \"$current\"))\n";
    text += "      [[ $current == -* ]] && COMPREPLY=($(compgen -W '" + option_words(command) +
            "' -- \"$current\")) ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "complete -o default -F _satin satin\n";
}

std::string zsh_completion(const std::vector<CommandSpec>& all) {
  std::string text =
      "#compdef satin\n"
      "_satin() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n";
  for (const CommandSpec& command : all)
    text += "      " + quoted(command.name + ":" + escaped(command.help, "\\:")) + "\n";
  text +=
      "    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CommandSpec& command : all) text += zsh_command(command);
  return text +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _satin ]; then _satin \"$@\"; else compdef _satin satin; fi\n";
}

std::string fish_completion(const std::vector<CommandSpec>& all) {
  std::string text = "# fish completion for satin\n";
  for (const CommandSpec& command : all) {
    text += "complete -c satin -n '__fish_use_subcommand' -f -a " + command.name + " -d '" +
            escaped(command.help, "\\'") + "'\n";
    for (const OptionGroup& group : command.groups)
      for (const OptionSpec& option : group.options) text += fish_option(command, option);
    if (!command.choices.empty())
      text += "complete -c satin -n '__fish_seen_subcommand_from " + command.name + "' -f -a '" +
              joined(command.choices, " ") + "'\n";
  }
  return text;
}

}  // namespace

int run_completion(const CommandSpec& command, const ParsedLine& line) {
  if (line.arguments.size() != 1) throw Error(ErrorKind::usage, "Name one shell: " + command.usage + ".");
  using Script = std::string (*)(const std::vector<CommandSpec>&);
  constexpr Script scripts[] = {bash_completion, zsh_completion, fish_completion};  // as the choices
  print(scripts[parse_choice("shell", line.arguments.front(), command.choices)](commands()));
  return exit_good;
}

}  // namespace satin::app
