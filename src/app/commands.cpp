// The commands of satin as data, made from the registry of filters, and the parser of their command lines.

#include "app/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "app/options.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::app {
namespace {

std::string metavar(const ParameterRecord& parameter) {
  constexpr std::array names{"X",    "X,X,...",    "N",       "X|P%",    "",
                             "NAME", "R|RXxRY|P%", "X,Y,W,H", "#RRGGBB", "X,Y|X%,Y%",
                             "A:B",  "N|P%|WxH",   "X,Y,W,H", "A:B"};  // in the order of the kinds
  const std::string name = names.at(static_cast<std::size_t>(parameter.kind));
  const bool has_words = parameter.kind != ParameterKind::choice && !parameter.choices.empty();
  return has_words ? name + "|NAME" : name;
}

std::string range_of(const ParameterRecord& parameter) {
  constexpr double endless = 1e15;  // larger limits come from the arithmetic; the help omits them
  const bool from = parameter.minimum > -endless;
  const bool to = parameter.maximum < endless;
  if (from && to) return print_real(parameter.minimum) + " to " + print_real(parameter.maximum);
  if (from) return print_real(parameter.minimum) + " or more";
  if (to) return print_real(parameter.maximum) + " or less";
  return "";
}

OptionSpec option_of(const ParameterRecord& parameter) {
  OptionSpec option = valued(parameter.name, metavar(parameter), parameter.help,
                             {.unit = parameter.unit, .choices = parameter.choices});
  if (parameter.kind == ParameterKind::boxes) option.joint = ';';
  if (parameter.kind != ParameterKind::flag) option.default_text = parameter.default_text;
  if (parameter.kind != ParameterKind::flag && parameter.kind != ParameterKind::choice)
    option.range = range_of(parameter);
  return option;
}

OptionSpec option_of(const InputRecord& input) {
  return file(input.name, input.help + (input.required ? " (required)" : ""));
}

std::vector<std::string> written_formats() {
  std::vector<std::string> names;
  for (const FormatInfo& format : formats())
    if (format.writes && !format.extensions.empty()) names.push_back(format.extensions.front().substr(1));
  return names;
}

OptionGroup common_options() {
  std::vector<OptionSpec> device = device_options();
  device.front().help += "; several share the files: cuda:0,cuda:1";
  return {"Common options",
          together({{valued("format", "EXT", "format of the output, regardless of its name",
                            {.choices = written_formats()})},
                    write_options(),
                    read_options(),
                    device,
                    {valued("memory-limit", "BYTES",
                            "memory for a filter, such as 500M or 4G; larger pictures are filtered in "
                            "chunks, or refused if the filter needs the whole picture",
                            {.default_text = "the free memory"}),
                     flag("json", "print a report as JSON on standard output"),
                     flag("quiet", "print only errors, no progress and no warnings", {.letter = 'q'}),
                     help_option()}})};
}

CommandSpec filter_command(const FilterRecord& filter) {
  CommandSpec command;
  command.name = filter.name;
  command.help = filter.help;
  command.usage = "INPUT... -o OUTPUT [options]";
  if (!filter.paper.empty()) command.details = "After " + filter.paper;
  command.filter = &filter;
  command.takes_files = true;
  command.run = run_filter_command;
  std::vector<OptionSpec> own = own_options(filter);
  for (OptionSpec& option : own) {
    const ParameterRecord* parameter = filter.find_parameter(option.name);
    if (parameter == nullptr || !parameter->varies) continue;
    option.help += "; X,X,... or A..B/N: a series -o 'NAME_{index}.jpg'";
  }
  if (!own.empty()) command.groups.push_back({"Filter options", std::move(own)});
  command.groups.push_back(batch_option_group(&filter));
  command.groups.push_back(common_options());
  return command;
}

CommandSpec convert_command() {
  CommandSpec command = filter_command(convert_record());
  command.details =
      "The extension of the output says the format, for several files --format. Metadata, profile and bits\n"
      "travel as they do with filters: what the format cannot hold is named in a warning.";
  return command;
}

CommandSpec depth_command() {
  CommandSpec command = filter_command(convert_record());
  command.name = depth_command_name;
  command.help = "estimate depth by your own model, for satin dof";
  command.details =
      "ONNX Runtime runs the model, and is no part of Satin: pip install --target DIR onnxruntime, and set\n"
      "SATIN_ONNXRUNTIME to DIR. The output has the model's resolution, as f32 in TIFF, OpenEXR, PFM "
      "or\n"
      "NPY, or as 16-bit codes in PNG. satin dof --depth enlarges it along the edges of the picture.";
  for (OptionGroup& group : command.groups)
    std::erase_if(group.options, [](const OptionSpec& option) {
      static const std::set<std::string> left_out = {"in-place", "backup", "stream", "pyramid",
                                                     "gain-map", "dither", "strip",  "jpeg-quality"};
      return left_out.contains(option.name);
    });
  command.groups.insert(command.groups.begin(),
                        {"Model", {model_option("ONNX file of the model, with MODEL.json beside it")}});
  return command;
}

CommandSpec pipeline_command() {
  return {.name = "run",
          .help = "run several filters, one after another",
          .usage = "PIPELINE INPUT... -o OUTPUT [options]",
          .details =
              "PIPELINE is one argument such as \"blur radius=8 | blur sigma=2 mask='my mask.png'\": filters "
              "between bars,\n"
              "each with its options and files as NAME=VALUE. 'satin help FILTER' shows them.",
          .groups = {batch_option_group(nullptr), common_options()},
          .takes_files = true,
          .run = run_pipeline_command};
}

CommandSpec plain_command(const std::string& name, const std::string& help,
                          int (*run)(const CommandSpec&, const ParsedLine&), std::vector<OptionSpec> options,
                          std::vector<std::string> choices = {}) {
  CommandSpec command;
  command.run = run;
  command.name = name;
  command.help = help;
  command.choices = std::move(choices);
  command.usage = "[options]";
  if (!command.choices.empty()) {
    command.usage.clear();
    for (const std::string& choice : command.choices)
      command.usage += (command.usage.empty() ? "" : "|") + choice;
  }
  options.push_back(help_option());
  command.groups.push_back({"Options", std::move(options)});
  return command;
}

CommandSpec completion_command() {
  CommandSpec command = plain_command("completion", "print a completion script for a shell", run_completion,
                                      {}, {"bash", "zsh", "fish"});
  command.details =
      "To switch it on:\n"
      "  bash  satin completion bash > ~/.local/share/bash-completion/completions/satin\n"
      "  zsh   satin completion zsh > ~/.zfunc/_satin, and in ~/.zshrc before compinit: fpath+=~/.zfunc\n"
      "  fish  satin completion fish > ~/.config/fish/completions/satin.fish";
  return command;
}

OptionGroup bench_options() {
  return {
      "Options",
      together({{valued("size", "WxH", "size of the picture", {.unit = "px", .default_text = "3840x2160"}),
                 valued("type", "NAME", "type of its channels",
                        {.default_text = "u8", .choices = {"u8", "u16", "f32"}}),
                 valued("channels", "N", "channels of a pixel; the last of 2 or 4 is alpha",
                        {.range = "1 to 4", .default_text = "3"}),
                 valued("input", "NAME", "the picture, and with it maps and masks",
                        {.default_text = "photograph", .choices = {"photograph", "noise"}})},
                device_options(),
                {flag("types", "compare types of channels and layouts of pixels"), flag("json", "print JSON"),
                 help_option()}})};
}

/// Returns a filter's options for `bench`, where synthetic side inputs replace files.
OptionGroup timed_options(const FilterRecord& filter) {
  OptionGroup group{"Filter options", parameter_options(filter)};
  std::erase_if(group.options,
                [](const OptionSpec& option) { return option.name == "size"; });  // the picture's
  for (const InputRecord& input : filter.inputs)
    group.options.push_back(flag(
        input.name,
        (input.required ? "always with one that is made up: " : "with one that is made up: ") + input.help));
  return group;
}

CommandSpec bench_command(const FilterRecord* filter) {
  CommandSpec command;
  command.name = "bench";
  command.help = "time every filter that makes a picture or a table beside a copy of the same bytes";
  command.usage = "[FILTER] [options]";
  command.run = run_bench;
  command.details =
      "Filters run with the defaults of their commands, from device memory to device memory; every time is "
      "a\n"
      "median. The picture is made: 'photograph' has shaded areas of every size, edges and grain, and with "
      "it\n"
      "come a map of depth in steps, slopes and small errors and a mask with a soft edge; 'noise' is random\n"
      "in all of them. GB/s counts the bytes that must move: the inputs read once and the output written\n"
      "once. 'of copy' is that rate beside the rate of a copy on the same device; the two take turns. One\n"
      "filter alone takes its own options after its name: satin bench blur --radius 32.\n"
      "--types prints a line for each of u8, u16 and f32: the time for packed RGB, or for grey if the "
      "filter\n"
      "refuses RGB, and for every layout the time as a multiple of that of u8. RGBX has an unused channel "
      "after\n"
      "each pixel, 'pitch' unused pixels after each row, 'planar' a plane for each channel; '-' is refused.";
  for (const FilterRecord& each : filters()) command.choices.push_back(each.name);
  if (filter != nullptr) command.groups.push_back(timed_options(*filter));
  command.groups.push_back(bench_options());
  return command;
}

/// Returns the filter that `bench` times, or null for all filters. Throws Error(usage) if the first argument
/// is neither an option nor a filter.
const FilterRecord* filter_to_time(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    for (const FilterRecord& filter : filters())
      if (argument == filter.name) return &filter;
  const bool names_one = arguments.size() > 1 && (arguments[1].empty() || arguments[1].front() != '-');
  return names_one ? &find_filter(arguments[1]) : nullptr;
}

/// Replaces the plain command of filters that do more than filter.
CommandSpec completed(CommandSpec command) {
  static const std::map<std::string_view, CommandSpec (*)(CommandSpec)> own = {
      {"stats", stats_command}, {"bins", bins_command}, {"regions", regions_command}};
  const auto found = own.find(command.name);
  if (found != own.end()) return found->second(std::move(command));
  return command.filter->traits.masks_alone ? with_run_lengths(std::move(command)) : command;
}

}  // namespace

std::vector<OptionSpec> parameter_options(const FilterRecord& filter) {
  std::vector<OptionSpec> options;
  for (const ParameterRecord& parameter : filter.parameters) options.push_back(option_of(parameter));
  return options;
}

std::vector<OptionSpec> own_options(const FilterRecord& filter) {
  std::vector<OptionSpec> options = parameter_options(filter);
  for (const InputRecord& input : filter.inputs) options.push_back(option_of(input));
  return options;
}

std::vector<CommandSpec> commands() {
  std::vector<CommandSpec> all;
  for (const FilterRecord& filter : filters()) all.push_back(completed(filter_command(filter)));
  all.push_back(pipeline_command());
  all.push_back(convert_command());
  all.push_back(depth_command());
  all.push_back(view_command({}));
  all.push_back(info_command());
  const OptionSpec json = flag("json", "print JSON");
  const OptionSpec markdown = flag("markdown", "print a Markdown table");
  all.push_back(plain_command("list", "list the filters", run_list, {json, markdown}));
  all.push_back(plain_command("devices", "list the devices that filters can run on", run_devices,
                              {json, simd_option()}));
  all.push_back(bench_command(nullptr));
  all.push_back(completion_command());
  all.push_back(plain_command("man", "print the manual page, as troff", run_man, {}));
  return all;
}

std::vector<std::string> names_of(const std::vector<CommandSpec>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const CommandSpec& command : all) names.push_back(command.name);
  return names;
}

std::vector<OptionSpec> CommandSpec::options() const {
  std::vector<OptionSpec> all;
  for (const OptionGroup& group : groups) all.insert(all.end(), group.options.begin(), group.options.end());
  return all;
}

std::vector<std::string> option_names(const CommandSpec& command) {
  std::vector<std::string> names;
  for (const OptionSpec& option : command.options()) names.push_back("--" + option.name);
  return names;
}

CommandSpec find_command(const std::vector<std::string>& arguments) {
  const std::string& name = arguments.front();
  const std::vector<CommandSpec> all = commands();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const CommandSpec& command) { return command.name == name; });
  if (found == all.end()) {
    std::vector<std::string> names = names_of(all);
    names.insert(names.end(), {"help", "version"});
    if (name.find_first_of("./") != std::string::npos)
      throw Error(ErrorKind::usage, "'" + name + "' is no filter. The filter comes first: satin blur " +
                                        name + " -o soft.jpg\n'satin help' lists filters and commands.");
    const std::string advice = advice_for(name);
    throw Error(
        ErrorKind::usage,
        "There is no filter or command '" + name + "'." +
            (advice.empty() ? did_you_mean(name, names) + "\n'satin help' lists them." : "\n" + advice));
  }
  if (found->name == "view") return view_command(arguments);
  return found->run == run_bench ? bench_command(filter_to_time(arguments)) : *found;
}

// --- The parser ---

namespace {

std::string flags_of(const OptionSpec& option) {
  const std::string name = "--" + option.name;
  return option.letter == '\0' ? name : std::string{'-', option.letter, ','} + name;
}

/// Refuses `--name=`, which CLI11 would treat as an option whose value is the next argument.
void refuse_empty_values(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.size() > 3 && argument.compare(0, 2, "--") == 0 && argument.find('=') == argument.size() - 1)
      throw Error(ErrorKind::usage,
                  "The option " + argument.substr(0, argument.size() - 1) + " needs a value.");
  }
}

std::string name_in(const std::string& argument) { return argument.substr(0, argument.find('=')); }

/// Suggests the only option whose first or last word is `name`, such as "--jpeg-quality" for "--quality".
/// Empty if there is none or several.
std::string did_you_mean_longer(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t shortest = 5;  // shorter words, such as --k, are ends of many names by chance
  if (name.size() < shortest) return "";
  std::vector<std::string> found;
  std::ranges::copy_if(known, std::back_inserter(found), [&](const std::string& each) {
    return each.starts_with(name + "-") || each.ends_with(name.substr(1));
  });
  return found.size() == 1 ? " Did you mean '" + found.front() + "'?" : "";
}

/// Suggests Satin's option for one of other programs, if the command has it.
std::string did_you_mean_foreign(const std::string& name, const std::vector<std::string>& known) {
  static const std::map<std::string_view, std::string> foreign = {
      {"--fstop", "--f-number"},   {"--f-stop", "--f-number"},         {"--force", "--overwrite"},
      {"--inplace", "--in-place"}, {"--invert", "--invert-mask"},      {"--jobs", "--threads"},
      {"--strip-all", "--strip"},  {"--compression", "--jpeg-quality"}};
  const auto found = foreign.find(name);
  const bool has = found != foreign.end() && std::ranges::find(known, found->second) != known.end();
  return has ? " Did you mean '" + found->second + "'?" : "";
}

[[noreturn]] void refuse_unknown(const CommandSpec& command, const std::string& argument) {
  const std::string name = name_in(argument);
  const std::vector<std::string> known = option_names(command);
  const auto is_known = [&](const std::string& each) {
    return std::ranges::find(known, each) != known.end();
  };
  const bool for_output = (name.starts_with("-o") && !is_known("-" + name)) || name == "--output";
  if (for_output && !is_known("--output"))
    throw Error(ErrorKind::usage, "'satin " + command.name +
                                      "' has no -o: it prints its results. Write them to a file by > FILE.");
  std::string hint = did_you_mean_foreign(name, known);
  if (hint.empty()) hint = did_you_mean(name, known);
  if (hint.empty()) hint = did_you_mean_longer(name, known);
  throw Error(ErrorKind::usage, "Unknown option " + name + "." + hint + "\n'satin help " + command.name +
                                    "' shows the options.");
}

/// Refuses `-radius`, which the parser would read as several one-letter options.
void refuse_single_dashes(const CommandSpec& command, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = option_names(command);
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
  const std::vector<OptionSpec> specs = command.options();
  for (const OptionSpec& spec : specs) {
    CLI::Option* option =
        spec.value.empty() ? parser.add_flag(flags_of(spec)) : parser.add_option(flags_of(spec));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  parse(parser, arguments);

  ParsedLine line;
  line.arguments = take_arguments(command, parser.remaining());
  for (const OptionSpec& spec : specs) {
    const std::vector<std::string>& texts = parser.get_option("--" + spec.name)->results();
    if (texts.size() > 1 && spec.joint == '\0')
      throw Error(ErrorKind::usage, "The option --" + spec.name + " is given twice.");
    if (!texts.empty()) line.options.emplace_back(spec.name, joined(texts, std::string(1, spec.joint)));
  }
  return line;
}

}  // namespace satin::app
