#include "app/commands.h"

#include <algorithm>
#include <map>
#include <utility>

#include "app/options.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::app {
namespace {

std::string metavar(const ParameterRecord& parameter) {
  switch (parameter.kind) {
    case ParameterKind::real:
      return "X";
    case ParameterKind::reals:
      return "X,X,...";
    case ParameterKind::integer:
      return "N";
    case ParameterKind::length:
      return "X|P%";
    case ParameterKind::flag:
      return "";
    case ParameterKind::choice:
      return "NAME";
    case ParameterKind::radius:
      return "R|RXxRY|P%";
    case ParameterKind::boxes:
      return "X,Y,W,H";
    case ParameterKind::colour:
      return "#RRGGBB";
    case ParameterKind::point:
      return "X,Y|X%,Y%";
    case ParameterKind::range:
      return "A:B";
  }
  return "VALUE";
}

std::string range_of(const ParameterRecord& parameter) {
  constexpr double endless = 1e15;  // a limit of the arithmetic, of no interest to a reader
  const bool from = parameter.minimum > -endless;
  const bool to = parameter.maximum < endless;
  if (from && to) return print_real(parameter.minimum) + " to " + print_real(parameter.maximum);
  if (from) return print_real(parameter.minimum) + " or more";
  if (to) return print_real(parameter.maximum) + " or less";
  return "";
}

OptionSpec option_of(const ParameterRecord& parameter) {
  OptionSpec option;
  option.name = parameter.name;
  option.value = metavar(parameter);
  option.help = parameter.help;
  option.unit = parameter.unit;
  option.choices = parameter.choices;
  if (parameter.kind == ParameterKind::boxes) option.joint = ';';
  if (parameter.kind != ParameterKind::flag) option.default_text = parameter.default_text;
  if (parameter.kind != ParameterKind::flag && parameter.kind != ParameterKind::choice)
    option.range = range_of(parameter);
  return option;
}

OptionSpec option_of(const InputRecord& input) {
  OptionSpec option;
  option.name = input.name;
  option.value = "FILE";
  option.help = input.help + (input.required ? " (required)" : "");
  option.is_file = true;
  return option;
}

std::vector<std::string> written_formats() {
  std::vector<std::string> names;
  for (const FormatInfo& format : formats())
    if (format.writes && !format.extensions.empty()) names.push_back(format.extensions.front().substr(1));
  return names;
}

OptionGroup common_options() {
  OptionGroup group{"Common options", {}};
  group.options.push_back(valued("format", "EXT", "format of the output, whatever its name"));
  group.options.back().choices = written_formats();
  for (const OptionSpec& option : write_options()) group.options.push_back(option);
  for (const OptionSpec& option : read_options()) group.options.push_back(option);
  for (const OptionSpec& option : device_options()) {
    group.options.push_back(option);
    if (option.name == "device") group.options.back().help += "; several share the files: cuda:0,cuda:1";
  }
  group.options.push_back(valued(
      "memory-limit", "BYTES",
      "memory that a filter may take, such as 500M or 4G; larger pictures are done in parts, or refused "
      "where the filter must see the whole"));
  group.options.back().default_text = "what is free";
  group.options.push_back(flag("json", "print a report as JSON on standard output"));
  group.options.push_back(flag("quiet", "no progress and no warnings, only errors", 'q'));
  group.options.push_back(help_option());
  return group;
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

CommandSpec pipeline_command() {
  CommandSpec command;
  command.name = "run";
  command.help = "run several filters, one after another";
  command.usage = "PIPELINE INPUT... -o OUTPUT [options]";
  command.details =
      "PIPELINE is one argument such as \"blur radius=8 | blur sigma=2 mask='my mask.png'\": filters between "
      "bars,\n"
      "each with its options and files as NAME=VALUE. 'satin help FILTER' shows them.";
  command.takes_files = true;
  command.run = run_pipeline_command;
  command.groups.push_back(batch_option_group(nullptr));
  command.groups.push_back(common_options());
  return command;
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
  OptionSpec size = valued("size", "WxH", "size of the picture");
  size.default_text = "3840x2160";
  size.unit = "px";
  OptionSpec type = valued("type", "NAME", "type of its channels");
  type.choices = {"u8", "u16", "f32"};
  type.default_text = "u8";
  OptionSpec channels = valued("channels", "N", "channels of a pixel; the last of 2 or 4 is alpha");
  channels.range = "1 to 4";
  channels.default_text = "3";
  OptionSpec input = valued("input", "NAME", "the picture, and with it maps and masks");
  input.choices = {"photograph", "noise"};
  input.default_text = "photograph";
  OptionGroup group{"Options", {size, type, channels, input}};
  for (const OptionSpec& option : device_options()) group.options.push_back(option);
  group.options.push_back(flag("json", "print it as JSON"));
  group.options.push_back(help_option());
  return group;
}

/// A filter's options with made-up side inputs in place of files.
OptionGroup timed_options(const FilterRecord& filter) {
  OptionGroup group{"Filter options", parameter_options(filter)};
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
      "filter alone takes its own options after its name: satin bench blur --radius 32.";
  for (const FilterRecord& each : filters()) command.choices.push_back(each.name);
  if (filter != nullptr) command.groups.push_back(timed_options(*filter));
  command.groups.push_back(bench_options());
  return command;
}

/// The filter whose options may follow `bench`, null if all are to be timed. Throws Error(usage) if the first
/// argument is neither an option nor a filter.
const FilterRecord* filter_to_time(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    for (const FilterRecord& filter : filters())
      if (argument == filter.name) return &filter;
  const bool names_one = arguments.size() > 1 && (arguments[1].empty() || arguments[1].front() != '-');
  return names_one ? &find_filter(arguments[1]) : nullptr;
}

/// The filters whose commands do more than filter.
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
  all.push_back(view_command({}));
  all.push_back(info_command());
  const OptionSpec json = flag("json", "print it as JSON");
  const OptionSpec markdown = flag("markdown", "print it as a Markdown table");
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

}  // namespace satin::app
