// The texts that are generated from the commands and the registry: help pages, lists of filters and devices,
// the manual page and the completion scripts of shells.

#include <algorithm>
#include <array>
#include <sstream>

#include "app/commands.h"
#include "app/report.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/image_model.h"
#include "satin/json.h"
#include "satin/version.h"

namespace satin::app {
namespace {

// --- Help pages ---

/// Two command lines for each command.
constexpr std::string_view examples[] = {
    "satin blur photo.jpg -o soft.jpg --radius 12",
    "satin blur photo.jpg -o varied.jpg --radius-map depth.png --radius-max 24",
    "satin smooth photo.jpg -o smooth.jpg --sigma 40",
    "satin smooth photo.jpg -o sky_only.jpg --sigma 40 --mask mask.png",
    "satin edge-smooth photo.jpg -o flat.jpg --sigma-s 30 --sigma-r 0.2",
    "satin edge-smooth depth.png -o clean_depth.png --guide photo.jpg",
    "satin guided photo.jpg -o even.jpg --radius 8",
    "satin guided depth.png -o fitted_depth.png --guide photo.jpg --eps 0.0004",
    "satin dof photo.jpg --depth depth.png -o portrait.jpg --focus-at 40%,55% --strength 20",
    "satin dof photo.jpg --depth depth.png -o lights.jpg --focus nearest --strength 3% --highlights 4",
    "satin tilt-shift photo.jpg -o toy.jpg --band 8 --falloff 25 --radius 12",
    "satin tilt-shift photo.jpg -o slanted.jpg --angle 20 --place 50%,60%",
    "satin median page.png -o clean.png --radius 2",
    "satin median page.png -o repaired.png --radius 1 --threshold 0.3",
    "satin dilate mask.png -o grown.png --radius 3",
    "satin dilate page.png -o faint.png --radius 1",
    "satin erode page.png -o bold.png --radius 3",
    "satin erode mask.png -o shrunk.png --radius 5x1",
    "satin opening mask.png -o without_specks.png --radius 2",
    "satin opening photo.jpg -o no_highlights.jpg --radius 3",
    "satin closing page.png -o without_dust.png --radius 1",
    "satin closing page.png -o paper.png --radius 20",
    "satin integral page.png -o table.npy",
    "satin integral page.png -o squares.npy --squared",
    "satin threshold page.png -o ink.png --window 75",
    "satin threshold page.png -o global.png --method otsu",
    "satin mask mask.png -o whole.png --fill-all-holes --min-area 50",
    "satin mask mask.png -o edge.png --grow 5 --feather 8",
    "satin redact photo.jpg -o safe.jpg --box 12,8,24,16",
    "satin redact photo.jpg -o blocks.jpg --mask mask.png --method mosaic",
    "satin crop photo.jpg -o part.jpg --box 10,8,64,48",
    "satin crop photo.jpg -o square.jpg --aspect 1:1 --gravity north",
    "satin resize photo.jpg -o small.jpg --size 1600",
    "satin resize photo.jpg -o card.jpg --size 1200x630 --fit cover --gravity 50%,30%",
    "satin local-mean photo.jpg -o mean.png --window 15",
    "satin local-mean depth.png -o depth_mean.png --window 31",
    "satin local-deviation photo.jpg -o busy.png --window 15",
    "satin local-deviation page.png -o writing.png --window 31",
    "satin normalize page.png -o even_page.png",
    "satin normalize photo.jpg -o even_light.jpg --window 201 --mean 0.5 --deviation 0.2",
    "satin stretch page.png -o contrast.png --window 101",
    "satin stretch photo.jpg -o local_contrast.jpg --low 1 --high 99",
    "satin unsharp photo.jpg -o crisp.jpg --sigma 1.5",
    "satin unsharp photo.jpg -o depth_of_light.jpg --radius 5% --amount 0.2",
    "satin gloss sky.pfm -o rough.pfm --roughness 0.5",
    "satin gloss sky.pfm -o levels.pfm --roughness 1 --levels 5",
    "satin stats photo.jpg",
    "satin stats photo.jpg --json --plot histogram.svg",
    "satin bins photo.jpg -o zones/ --bins 8",
    "satin bins depth.png -o layers/ --bins 4",
    "satin regions mask.png",
    "satin regions mask.png --image photo.jpg --min-area 50 -o regions.json",
    "satin run 'blur radius=2 | unsharp amount=0.5' photo.jpg -o clear.jpg",
    "satin run 'threshold window=75 invert | regions min-area=20' page.png -o letters.json",
    "satin convert photo.jpg -o photo.png",
    "satin convert page.png mask.png -o for_mail/ --format jpg",
    "satin depth photo.jpg -o depth.tif --model depth_anything_v2_vits.onnx",
    "satin depth photos/ -o depths/ --model midas_small.onnx --format png",
    "satin info photo.jpg",
    "satin info photo.jpg depth.png --json",
    "satin bench blur --radius 32 --size 640x480",
    "satin bench median --types --size 640x480 --json",
};

constexpr std::size_t widest_name = 26;

std::size_t name_width(const CommandSpec& command) {
  std::size_t width = 0;
  for (const OptionSpec& option : command.options())
    if (signature(option).size() <= widest_name) width = std::max(width, signature(option).size());
  return width;
}

/// A heading of the overview and the categories of filters below it.
struct Purpose {
  std::string_view title;
  std::string_view categories;
};
constexpr std::array purposes = {
    Purpose{"Blur, smooth, clean", "smoothing order"},
    Purpose{"Depth of field", "lens"},
    Purpose{"Sharpness, contrast, light", "sharpening statistics lighting"},
    Purpose{"Size", "size"},
    Purpose{"Masks, pages, secrets", "masks morphology"},
    Purpose{"Numbers out of pictures", "measurement tables"},
};

std::string rows(const std::vector<CommandSpec>& all, std::string_view categories, std::size_t columns) {
  std::size_t width = 0;
  for (const CommandSpec& command : all) width = std::max(width, command.name.size());
  std::string text;
  for (const CommandSpec& command : all) {
    const std::string category = command.filter == nullptr ? "" : command.filter->category;
    const bool belongs =
        category.empty() ? categories.empty() : categories.find(category) != std::string::npos;
    if (belongs) text += table_row(command.name, command.help, width, columns);
  }
  return text;
}

}  // namespace

std::vector<std::string> examples_of(std::string_view command) {
  const std::string start = "satin " + std::string(command) + " ";
  std::vector<std::string> found;
  for (const std::string_view each : examples)
    if (each.starts_with(start)) found.emplace_back(each);
  return found;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (&word == &words.front() ? "" : separator) + word;
  return text;
}

void refuse_arguments(const CommandSpec& command, const ParsedLine& line) {
  if (!line.arguments.empty())
    throw Error(ErrorKind::usage, "'satin " + command.name + "' takes no '" + line.arguments.front() + "'.");
}

std::string signature(const OptionSpec& option) {
  std::string text = option.letter == '\0' ? "" : std::string{'-', option.letter} + ", ";
  text += "--" + option.name;
  return option.value.empty() ? text : text + " " + option.value;
}

std::string description(const OptionSpec& option) {
  std::vector<std::string> facts;
  if (!option.choices.empty()) facts.push_back(joined(option.choices, ", "));
  const bool both = !option.range.empty() && !option.unit.empty();
  if (!option.range.empty() || !option.unit.empty())
    facts.push_back(option.range + (both ? " " : "") + option.unit);
  if (!option.default_text.empty()) facts.push_back("default " + option.default_text);
  return facts.empty() ? option.help : option.help + " (" + joined(facts, "; ") + ")";
}

std::string table_row(const std::string& name, const std::string& text, std::size_t name_width,
                      std::size_t columns) {
  const std::size_t indent = name_width + 4;
  const std::string next_line = std::string("\n").append(indent, ' ');
  std::string row = "  " + name;
  if (row.size() + 2 > indent)
    row += next_line;
  else
    row.resize(indent, ' ');
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > columns) {
      row += next_line;
      column = indent;
    }
    if (column > indent) {
      row += ' ';
      ++column;
    }
    row += word;
    column += word.size();
  }
  return row + "\n";
}

std::string overview(const std::vector<CommandSpec>& all, std::size_t columns) {
  std::string text = "Usage: satin FILTER INPUT... -o OUTPUT [options]\n       satin COMMAND\n";
  for (const Purpose& purpose : purposes)
    text += "\n" + std::string(purpose.title) + "\n" + rows(all, purpose.categories, columns);
  return text + "\nCommands\n" + rows(all, "", columns) +
         "\n'satin help FILTER' shows the options of a filter, 'satin version' the version.\n";
}

std::string help_page(const CommandSpec& command, std::size_t columns) {
  std::string text =
      command.name + ": " + command.help + "\n\nUsage: satin " + command.name + " " + command.usage + "\n";
  const std::size_t width = name_width(command);
  for (const OptionGroup& group : command.groups) {
    text += "\n" + group.title + "\n";
    for (const OptionSpec& option : group.options)
      text += table_row(signature(option), description(option), width, columns);
  }
  if (!command.details.empty()) text += "\n" + command.details + "\n";
  if (const std::vector<std::string> shown = examples_of(command.name); !shown.empty())
    text += "\nExamples\n  " + joined(shown, "\n  ") + "\n";
  return text;
}

namespace {

// --- Lists of filters and devices ---

std::string memory_text(std::size_t bytes) {
  return bytes == 0 ? "" : ", " + std::to_string(bytes >> 20U) + " MiB";
}

std::string filter_table() {
  std::size_t width = 0;
  for (const FilterRecord& filter : filters()) width = std::max(width, filter.name.size());
  std::string text;
  std::string category;
  for (const FilterRecord& filter : filters()) {
    if (filter.category != category) {
      category = filter.category;
      text += (text.empty() ? "" : "\n") + category + "\n";
    }
    text += table_row(filter.name, filter.help, width, output_columns());
  }
  return text;
}

/// Returns the table of filters for README.md.
std::string filter_markdown() {
  std::string text = "| filter | what it does | options | after |\n|---|---|---|---|\n";
  for (const FilterRecord& filter : filters()) {
    std::string options;
    for (const ParameterRecord& parameter : filter.parameters) options += "`--" + parameter.name + "` ";
    for (const InputRecord& input : filter.inputs) options += "`--" + input.name + "` ";
    if (!options.empty()) options.pop_back();
    text += "| **" + filter.name + "** | " + filter.help + " | " + options + " | " + filter.paper + " |\n";
  }
  return text;
}

std::string device_table() {
  std::string text;
  for (const DeviceInfo& device : devices()) {
    text += device.id + "  ";
    text += device.usable ? device.name + memory_text(device.memory) : "not usable: " + device.reason;
    text += '\n';
    if (device.simd.empty()) continue;
    text += "     SIMD: ";
    for (std::size_t i = 0; i < device.simd.size(); ++i)
      text += (i == 0 ? "" : ", ") + device.simd[i] + (i == 0 ? " (in use)" : "");
    text += '\n';
  }
  const ModelRuntime runtime = model_runtime();
  return text + "ONNX Runtime, for depth and masks by a model  " +
         (runtime.problem.empty() ? runtime.version + ", " + printable(runtime.file.native())
                                  : "not usable: " + runtime.problem) +
         '\n';
}

std::string device_json() {
  JsonWriter json;
  json.begin_object().key("devices").array(devices(), [&](const DeviceInfo& device) {
    json.begin_object().key("id").string(device.id).key("name").string(device.name);
    json.key("memory").integer(static_cast<long long>(device.memory)).key("usable").boolean(device.usable);
    json.key("reason").string(device.reason).key("simd").strings(device.simd).end_object();
  });
  const ModelRuntime runtime = model_runtime();
  json.key("onnxruntime").begin_object().key("version").string(runtime.version);
  json.key("file").string(runtime.file.string()).key("reason").string(runtime.problem).end_object();
  return json.end_object().text();
}

}  // namespace

int run_list(const CommandSpec& command, const ParsedLine& line) {
  refuse_arguments(command, line);
  if (line.flag("markdown"))
    print(filter_markdown());
  else
    print(line.flag("json") ? describe_filters() + "\n" : filter_table());
  return exit_good;
}

int run_devices(const CommandSpec& command, const ParsedLine& line) {
  refuse_arguments(command, line);
  print(line.flag("json") ? device_json() + "\n" : device_table());
  return exit_good;
}

namespace {

// --- The manual page: satin(1) as troff with the man macros ---

/// Escapes text for troff.
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

/// Escapes lines for troff and keeps the line breaks.
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

/// Whether `run` or a filter has the same options, which the page then describes there.
bool is_described_elsewhere(const OptionGroup& group, const CommandSpec& shared) {
  return group.title.starts_with("Options of ") ||
         std::ranges::any_of(shared.groups,
                             [&](const OptionGroup& each) { return each.title == group.title; });
}

/// Describes a command and its own options.
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
    if ((command.filter != nullptr && command.filter != &convert_record()) == filters)
      text += section_of(command, shared);
  return text;
}

std::string shared_sections(const CommandSpec& shared) {
  std::string text = ".SH OPTIONS OF ALL FILTERS\n";
  for (const OptionGroup& group : shared.groups)
    text += ".SS " + plain(group.title) + "\n" + options_of(group);
  return text;
}

std::string example_section(const std::vector<CommandSpec>& all) {
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
      "Runs one filter over files, folders or standard input. A folder means all its pictures; several "
      "inputs need\n"
      "a folder as the output. A file that fails is reported and the other files are still processed.\n" +
      sections(all, true, *shared) + shared_sections(*shared) + sections(all, false, *shared) +
      std::string(grammar) + example_section(all) + ".SH EXIT STATUS\n" + tagged("0", "Success.") +
      tagged("1", "An input could not be read or processed, or an output could not be written.") +
      tagged("2",
             "The command line is wrong: an option, a name, a range, sizes that do not match, an output that "
             "is an input or that exists already.") +
      tagged("3", "The environment is the reason: no such device, out of memory, a full disk.") +
      tagged("129, 130, 143",
             "Ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM: 128 and the number of the signal.") +
      ".SH ENVIRONMENT\n" + tagged("NO_COLOR", "If not empty, nothing is coloured."));
  return exit_good;
}

namespace {

// --- Completion scripts ---

/// Puts a backslash before each character of `special`.
std::string escaped(const std::string& text, const std::string& special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Quotes text with single quotes for a POSIX shell.
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
  for (const OptionSpec& option : command.options())
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
  for (const OptionSpec& option : command.options()) text += " \\\n      " + zsh_option(option);
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
    text += "      [[ $current == -* ]] && COMPREPLY=($(compgen -W '" + joined(option_names(command), " ") +
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
    for (const OptionSpec& option : command.options()) text += fish_option(command, option);
    if (!command.choices.empty())
      text += "complete -c satin -n '__fish_seen_subcommand_from " + command.name + "' -f -a '" +
              joined(command.choices, " ") + "'\n";
  }
  return text;
}

/// Returns the commands and `help`, which main() runs itself.
std::vector<CommandSpec> completed_commands() {
  std::vector<CommandSpec> all = commands();
  const std::vector<std::string> names = names_of(all);
  all.push_back({.name = "help", .help = "show the options of a filter or a command", .choices = names});
  return all;
}

}  // namespace

int run_completion(const CommandSpec& command, const ParsedLine& line) {
  if (line.arguments.size() != 1) throw Error(ErrorKind::usage, "Name one shell: " + command.usage + ".");
  using Script = std::string (*)(const std::vector<CommandSpec>&);
  constexpr Script scripts[] = {bash_completion, zsh_completion, fish_completion};  // as the choices
  print(scripts[parse_choice("shell", line.arguments.front(), command.choices)](completed_commands()));
  return exit_good;
}

}  // namespace satin::app
